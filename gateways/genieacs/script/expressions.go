package script

import (
	"math/big"

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
	if c.fault == nil {
		c.within(e, func() { c.oneExpression(e) })
	}
}

// oneExpression is expression without its bounds.
func (c *checker) oneExpression(e ast.Expression) {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		if _, is := e.Value.(*big.Int); is {
			c.refuse(e, "numbers without an end are not allowed")
		}
	case *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
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
		c.dot(e, false)
	case *ast.BracketExpression:
		c.expression(e.Left)
		c.index(e.Member)
	case *ast.AssignExpression:
		c.assign(e)
	case *ast.BinaryExpression:
		if e.Operator == token.PLUS && !c.small(e.Left) && !c.small(e.Right) {
			c.refuse(e, sumText, maxPiece)
		}
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
		for _, one := range e.Value {
			c.element(one)
		}
	default:
		c.structure(e)
	}
}

// element walks through an entry of a list. One that is a list of a variable would let lists grow without bounds in a
// few lines, so it is written out, or is certainly a number, a text or a truth value.
func (c *checker) element(e ast.Expression) {
	plain := c.numeric(e)
	switch e := e.(type) {
	case nil, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.TemplateLiteral, *ast.UnaryExpression,
		*ast.ArrayLiteral:
		plain = true
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE: // one of the operands
		default:
			plain = true
		}
	}
	if !plain {
		c.refuse(e, "an entry of a list must be a text or a number: write +x or \"\" + x for a variable")
	}
	c.optional(e)
}

// sumText refuses a sum that is none of numbers. A text of two others, put together again and again, would grow until
// the server has no memory left.
const sumText = "one side of + must be a number, or a text of at most %d bytes: write +x for a variable"

// maxPiece bounds a text that may be joined to another one, in bytes.
const maxPiece = 16

// small reports whether an expression makes a text only a little longer.
func (c *checker) small(e ast.Expression) bool {
	text, is := e.(*ast.StringLiteral)
	return is && len(text.Value.String()) <= maxPiece || c.numeric(e)
}

// assign walks through what gives a variable another value.
func (c *checker) assign(e *ast.AssignExpression) {
	if e.Operator == token.PLUS && !c.small(e.Right) {
		c.refuse(e, sumText, maxPiece)
	}
	c.target(e.Left, c.numeric(e.Right))
	c.expression(e.Right)
}

// structure walks through functions and templates; every other expression is refused.
func (c *checker) structure(e ast.Expression) {
	switch e := e.(type) {
	case *ast.ObjectLiteral:
		c.refuse(e, "braces with members can only be given to declare, clear and log")
	case *ast.TemplateLiteral:
		if e.Tag != nil {
			c.refuse(e, "a template cannot be a call")
		}
		for _, one := range e.Expressions {
			if !c.numeric(one) {
				c.refuse(one, "a template has numbers alone here: write ${+x}")
			}
			c.expression(one)
		}
	case *ast.FunctionLiteral:
		if e.Async || e.Generator {
			c.refuse(e, "async functions and generators are not allowed")
		}
		c.scopes = append(c.scopes, scope{})
		if e.Name != nil {
			c.declareName(e.Name, e.Name.Name.String(), false)
		}
		before := c.steps
		c.function(e.ParameterList, e.DeclarationList, e.Body.List)
		c.count(e.Body, before)
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
	before := c.steps
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
	c.count(e.Body, before)
}

// handed walks through what a call of the server gets. It is used up at once, so that texts may be put together here,
// and members be given. Sets says that the server makes the parameters so.
func (c *checker) handed(e ast.Expression, sets bool) {
	object, is := e.(*ast.ObjectLiteral)
	if !is {
		c.spent(e)
		return
	}
	for _, p := range object.Value {
		if sets && attributeOf(p) == "path" {
			c.instances(p)
		}
		c.attribute(p)
	}
}

// MaxInstances bounds how many instances of an object a declaration may make.
const MaxInstances = 16

// instances refuses a number of instances that is not written out, or is great: the server makes all of them in its
// memory, where no limit of time holds, before it asks the device for the first.
func (c *checker) instances(p ast.Property) {
	if keyed, is := p.(*ast.PropertyKeyed); is {
		if number, is := keyed.Value.(*ast.NumberLiteral); is {
			if n, is := number.Value.(int64); is && n <= MaxInstances { // a literal has no sign
				return
			}
		}
	}
	c.refuse(p, "path must be a number from 0 to %d here: as many instances are made", MaxInstances)
}

// described refuses what declare or clear gets behind the path, and for clear the instant, when it is not seen whole.
func (c *checker) described(call string, list []ast.Expression) {
	for i, e := range list {
		name, is := e.(*ast.Identifier)
		switch e.(type) {
		case *ast.NullLiteral, *ast.ObjectLiteral:
			continue
		}
		if is && name.Name.String() == "undefined" || i == 0 && call == "clear" {
			continue
		}
		c.refuse(e, "%s needs its attributes in braces, or null", call)
	}
}

// spent walks through a value that a call of the server uses up.
func (c *checker) spent(e ast.Expression) {
	switch e := e.(type) {
	case *ast.ArrayLiteral:
		for _, one := range e.Value {
			if one != nil {
				c.spent(one)
			}
		}
	case *ast.BinaryExpression:
		if e.Operator != token.PLUS {
			c.expression(e)
			return
		}
		c.spent(e.Left)
		c.spent(e.Right)
	case *ast.TemplateLiteral:
		if e.Tag != nil {
			c.refuse(e, "a template cannot be a call")
		}
		for _, one := range e.Expressions {
			c.spent(one)
		}
	default:
		c.expression(e)
	}
}

// attribute walks through a member of an object for the server, which calls functions in it where no limit holds.
func (c *checker) attribute(p ast.Property) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		c.attributeName(p, p.Name.Name.String())
		c.use(&p.Name)
		c.optional(p.Initializer)
	case *ast.PropertyKeyed:
		key, ok := p.Key.(*ast.StringLiteral)
		if p.Computed || !ok || p.Kind != ast.PropertyKindValue {
			c.refuse(p, "names of members must be written out, and have values")
			return
		}
		c.attributeName(p, key.Value.String())
		switch p.Value.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
			c.refuse(p, "a member cannot be a function")
		default: // walked through below
		}
		c.spent(p.Value)
	default:
		c.refuse(p, "this member is not allowed")
	}
}

// attributeOf is the name of a member; "value" for one whose name is not written out.
func attributeOf(p ast.Property) string {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String()
	case *ast.PropertyKeyed:
		if key, is := p.Key.(*ast.StringLiteral); is {
			return key.Value.String()
		}
	}
	return "value"
}

// attributeName refuses members that are no attributes of parameters.
func (c *checker) attributeName(at ast.Node, name string) {
	if !attributes[name] {
		c.refuse(at, "%s is no attribute of a parameter", name)
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

// dot walks through a member by its name. A function of a value can only be called: as a value it would work on others.
func (c *checker) dot(e *ast.DotExpression, called bool) {
	switch name := e.Identifier.Name.String(); {
	case attributes[name], fields[name], methods[name] && called:
	case methods[name]:
		c.refuse(e, "%s can only be called", name)
	default:
		c.refuse(e, "%s is not allowed", name)
	}
	if name, ok := e.Left.(*ast.Identifier); ok && objects[name.Name.String()] && !c.own(name.Name.String()) {
		return
	}
	c.expression(e.Left)
}

// index refuses a member whose name is made by the script, unless it is certainly a number.
func (c *checker) index(e ast.Expression) {
	if !c.numeric(e) {
		c.refuse(e, "an index must be a number: write [+i] for a variable")
	}
	c.expression(e)
}

// numeric reports whether an expression has a number, whatever else its operands have.
func (c *checker) numeric(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return true
	case *ast.Identifier:
		name := e.Name.String()
		return !c.gathers && c.own(name) && !c.varied[name]
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
			return c.numeric(e.Left) && c.numeric(e.Right)
		}
	}
	return false
}

// unary walks through an operator with one operand.
func (c *checker) unary(e *ast.UnaryExpression) {
	switch e.Operator {
	case token.INCREMENT, token.DECREMENT:
		c.target(e.Operand, true)
	case token.NOT, token.PLUS, token.MINUS, token.BITWISE_NOT, token.TYPEOF, token.VOID:
		c.expression(e.Operand)
	default:
		c.refuse(e, "%s is not allowed", e.Operator)
	}
}

// target walks through what gets a value: an own variable. Lists and what the server gave are never changed: the
// server goes on working with them.
func (c *checker) target(e ast.Expression, number bool) {
	name, ok := e.(*ast.Identifier)
	switch {
	case !ok:
		c.refuse(e, "only variables of the script can be assigned to")
	case !c.own(name.Name.String()):
		c.refuse(e, "%s is not a variable of the script", name.Name)
	case !number:
		c.varies(name.Name.String())
	}
}

// call walks through a call. Those of the server are known by their names.
func (c *checker) call(e *ast.CallExpression) {
	name, ok := e.Callee.(*ast.Identifier)
	if !ok || c.own(name.Name.String()) {
		if member, is := e.Callee.(*ast.DotExpression); is {
			c.steps += methodSteps
			c.dot(member, true)
		} else {
			c.expression(e.Callee)
		}
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
		c.path(e.ArgumentList[0], text == "declare", text == "declare" && tellsValues(e.ArgumentList[1:]))
		c.described(text, e.ArgumentList[1:])
	}
	for i, one := range e.ArgumentList {
		c.handed(one, text == "declare" && i >= setsFrom)
	}
}

// setsFrom is the place of what declare is to make of parameters, behind their path and what is to be known of them.
const setsFrom = 2

// tellsValues reports whether a declaration with these attributes may tell the values of its parameters; what is
// written can be read afterwards, too.
func tellsValues(list []ast.Expression) bool {
	for _, e := range list {
		switch e := e.(type) {
		case *ast.NullLiteral:
		case *ast.ObjectLiteral:
			for _, p := range e.Value {
				if attributeOf(p) == "value" {
					return true
				}
			}
		default: // its members are not seen
			return true
		}
	}
	return false
}
