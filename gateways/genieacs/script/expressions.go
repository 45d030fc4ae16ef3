package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// optional is expression for one that may be missing.
func (c *checker) optional(e ast.Expression) {
	if e != nil {
		c.expression(e)
	}
}

// all walks through several expressions; a hole in a list is none.
func (c *checker) all(list []ast.Expression) {
	for _, e := range list {
		c.optional(e)
	}
}

// expression walks through one expression; those that are not listed are refused.
func (c *checker) expression(e ast.Expression) {
	if c.fault != nil {
		return
	}
	switch e := e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
	case *ast.Identifier:
		c.use(e)
	case *ast.CallExpression:
		c.call(e)
	case *ast.NewExpression:
		if name, ok := e.Callee.(*ast.Identifier); !ok || name.Name != "Date" {
			c.refuse(e, "new is allowed for Date only")
		}
		c.all(e.ArgumentList)
	case *ast.DotExpression:
		c.dot(e)
	case *ast.BracketExpression:
		c.expression(e.Left)
		c.index(e.Member)
	case *ast.AssignExpression:
		c.target(e.Left)
		c.expression(e.Right)
	case *ast.BinaryExpression:
		c.expression(e.Left)
		c.expression(e.Right)
	case *ast.ConditionalExpression:
		c.expression(e.Test)
		c.expression(e.Consequent)
		c.expression(e.Alternate)
	case *ast.UnaryExpression:
		c.unary(e)
	case *ast.SequenceExpression:
		c.all(e.Sequence)
	case *ast.ArrayLiteral:
		c.all(e.Value)
	default:
		c.structure(e)
	}
}

// structure walks through functions, objects and templates; every other expression is refused.
func (c *checker) structure(e ast.Expression) {
	switch e := e.(type) {
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			c.property(p)
		}
	case *ast.SpreadElement:
		c.expression(e.Expression)
	case *ast.TemplateLiteral:
		if e.Tag != nil {
			c.refuse(e, "a template cannot be a call")
		}
		c.all(e.Expressions)
	case *ast.FunctionLiteral:
		if e.Async || e.Generator {
			c.refuse(e, "async functions and generators are not allowed")
		}
		c.scopes = append(c.scopes, scope{})
		if e.Name != nil {
			c.declareName(e.Name, e.Name.Name.String())
		}
		c.function(e.ParameterList, e.DeclarationList, e.Body.List)
		c.scopes = c.scopes[:len(c.scopes)-1]
	case *ast.ArrowFunctionLiteral:
		c.arrow(e)
	case *ast.RegExpLiteral:
		c.refuse(e, "regular expressions are not allowed")
	case *ast.ThisExpression:
		c.refuse(e, "this is not allowed")
	default:
		c.refuse(e, "this expression is not allowed")
	}
}

// arrow walks through a short function.
func (c *checker) arrow(e *ast.ArrowFunctionLiteral) {
	if e.Async {
		c.refuse(e, "async functions and generators are not allowed")
	}
	switch body := e.Body.(type) {
	case *ast.BlockStatement:
		c.function(e.ParameterList, e.DeclarationList, body.List)
	case *ast.ExpressionBody:
		c.function(e.ParameterList, e.DeclarationList, []ast.Statement{
			&ast.ExpressionStatement{Expression: body.Expression},
		})
	default:
		c.refuse(e, "this function is not allowed")
	}
}

// property walks through a member of an object.
func (c *checker) property(p ast.Property) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		c.member(p, p.Name.Name.String())
		c.use(&p.Name)
		c.optional(p.Initializer)
	case *ast.PropertyKeyed:
		key, ok := p.Key.(*ast.StringLiteral)
		switch {
		case p.Computed || p.Kind == ast.PropertyKindGet || p.Kind == ast.PropertyKindSet:
			c.refuse(p, "names of members must be written out, and have values")
		case ok:
			c.member(p, key.Value.String())
		}
		c.expression(p.Value)
	case *ast.SpreadElement:
		c.expression(p.Expression)
	default:
		c.refuse(p, "this member is not allowed")
	}
}

// use refuses a name that is neither an own one nor a value of the server.
func (c *checker) use(name *ast.Identifier) {
	text := name.Name.String()
	switch {
	case c.own(text), values[text]:
	case calls[text]:
		c.refuse(name, "%s can only be called by its name", text)
	case objects[text]:
		c.refuse(name, "%s can only be used with one of its members", text)
	default:
		c.refuse(name, "%s is not allowed", text)
	}
}

// dot walks through a member by its name.
func (c *checker) dot(e *ast.DotExpression) {
	c.member(e, e.Identifier.Name.String())
	if name, ok := e.Left.(*ast.Identifier); ok && objects[name.Name.String()] && !c.own(name.Name.String()) {
		return // a constant, or a function as a value: what is set on it is refused by target
	}
	c.expression(e.Left)
}

// index refuses a member whose name is made by the script, unless it is certainly a number.
func (c *checker) index(e ast.Expression) {
	switch e := e.(type) {
	case *ast.NumberLiteral:
	case *ast.StringLiteral:
		c.member(e, e.Value.String())
	default:
		if !numeric(e) {
			c.refuse(e, "an index must be a number: write [+i] for a variable")
		}
		c.expression(e)
	}
}

// numeric reports whether an expression has a number, whatever its operands have.
func numeric(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return true
	case *ast.UnaryExpression:
		switch e.Operator {
		case token.PLUS, token.MINUS, token.INCREMENT, token.DECREMENT, token.BITWISE_NOT:
			return true
		}
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER:
			return true
		case token.PLUS:
			return numeric(e.Left) && numeric(e.Right)
		}
	}
	return false
}

// unary walks through an operator with one operand.
func (c *checker) unary(e *ast.UnaryExpression) {
	switch e.Operator {
	case token.INCREMENT, token.DECREMENT:
		c.target(e.Operand)
	case token.NOT, token.PLUS, token.MINUS, token.BITWISE_NOT, token.TYPEOF, token.VOID:
		c.expression(e.Operand)
	default:
		c.refuse(e, "%s is not allowed", e.Operator)
	}
}

// target walks through what is assigned to: an own variable, or a member of one.
func (c *checker) target(e ast.Expression) {
	switch e := e.(type) {
	case *ast.Identifier:
		if !c.own(e.Name.String()) {
			c.refuse(e, "%s is not a variable of the script", e.Name)
		}
	case *ast.DotExpression:
		c.member(e, e.Identifier.Name.String())
		c.target(e.Left)
	case *ast.BracketExpression:
		c.target(e.Left)
		c.index(e.Member)
	default:
		c.refuse(e, "only variables of the script can be assigned to")
	}
}

// call walks through a call. Those of the server are known by their names.
func (c *checker) call(e *ast.CallExpression) {
	name, ok := e.Callee.(*ast.Identifier)
	if !ok || c.own(name.Name.String()) {
		c.expression(e.Callee)
		c.all(e.ArgumentList)
		return
	}
	text := name.Name.String()
	switch {
	case !calls[text]:
		c.refuse(name, "%s is not allowed", text)
	case text == "declare", text == "clear":
		if len(e.ArgumentList) == 0 {
			c.refuse(e, "%s needs a path", text)
			return
		}
		c.path(e.ArgumentList[0], text == "declare")
	}
	c.all(e.ArgumentList)
}
