package script

import (
	"github.com/dop251/goja/ast"
)

// function walks through a function: its parameters and all that its var statements declare are known in all of it.
func (c *checker) function(parameters *ast.ParameterList, vars []*ast.VariableDeclaration, body []ast.Statement) {
	c.scopes = append(c.scopes, scope{})
	if parameters != nil {
		for _, p := range parameters.List {
			c.bind(p.Target, nil)
		}
		if parameters.Rest != nil {
			c.refuse(parameters.Rest, restText)
		}
		for _, p := range parameters.List {
			c.optional(p.Initializer)
		}
	}
	for _, v := range vars {
		for _, b := range v.List {
			c.bind(b.Target, b.Initializer)
		}
	}
	c.block(body)
	c.scopes = c.scopes[:len(c.scopes)-1]
}

// restText refuses what makes a list of values that are not written out.
const restText = "three dots are not allowed"

// bind declares the names of a variable, which may be a pattern. Value is that of its declaration; nil for none.
func (c *checker) bind(target ast.BindingTarget, value ast.Expression) {
	switch t := target.(type) {
	case *ast.Identifier:
		c.declareName(t, t.Name.String(), value != nil && c.numeric(value))
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			c.place(e)
		}
		if t.Rest != nil {
			c.refuse(t.Rest, restText)
		}
	default: // patterns of objects reach members by names
		c.refuse(target, "patterns with braces are not allowed")
	}
}

// place declares one element of a pattern.
func (c *checker) place(e ast.Expression) {
	switch e := e.(type) {
	case nil:
	case ast.BindingTarget:
		c.bind(e, nil)
	case *ast.AssignExpression:
		c.place(e.Left)
		c.expression(e.Right)
	case *ast.Binding:
		c.bind(e.Target, nil)
		c.optional(e.Initializer)
	default:
		c.refuse(e, "this is not allowed in a pattern")
	}
}

// block walks through statements with a scope of their own.
func (c *checker) block(list []ast.Statement) {
	c.scopes = append(c.scopes, scope{})
	for _, s := range list {
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			for _, b := range s.List {
				c.bind(b.Target, b.Initializer)
			}
		case *ast.FunctionDeclaration:
			if s.Function.Name != nil {
				c.declareName(s.Function.Name, s.Function.Name.Name.String(), false)
			}
		default: // other statements declare nothing for their neighbours
		}
	}
	for _, s := range list {
		c.statement(s)
	}
	c.scopes = c.scopes[:len(c.scopes)-1]
}

// statement walks through one statement; those that are not listed are refused.
func (c *checker) statement(s ast.Statement) {
	if c.fault == nil && s != nil {
		c.within(s, func() { c.oneStatement(s) })
	}
}

// oneStatement is statement without its bounds.
func (c *checker) oneStatement(s ast.Statement) {
	switch s := s.(type) {
	case *ast.EmptyStatement, *ast.BranchStatement:
	case *ast.BlockStatement:
		c.block(s.List)
	case *ast.ExpressionStatement:
		c.expression(s.Expression)
	case *ast.VariableStatement:
		c.initializers(s.List)
	case *ast.LexicalDeclaration:
		c.initializers(s.List)
	case *ast.FunctionDeclaration:
		c.expression(s.Function)
	case *ast.IfStatement:
		c.expression(s.Test)
		c.alone(s.Consequent)
		c.alone(s.Alternate)
	case *ast.ReturnStatement:
		c.optional(s.Argument)
	case *ast.LabelledStatement:
		c.alone(s.Statement)
	case *ast.SwitchStatement:
		c.expression(s.Discriminant)
		var all []ast.Statement
		for _, one := range s.Body {
			c.optional(one.Test)
			all = append(all, one.Consequent...)
		}
		c.block(all)
	case *ast.ThrowStatement:
		c.refuse(s, "throw is not allowed: return ends a script")
	case *ast.TryStatement:
		c.refuse(s, "try is not allowed: declarations work by exceptions")
	default:
		c.loop(s)
	}
}

// alone walks through the statement of an if or a loop, which may be a block or not.
func (c *checker) alone(s ast.Statement) {
	if s != nil {
		c.block([]ast.Statement{s})
	}
}

// loop walks through loops; every other statement is refused.
func (c *checker) loop(s ast.Statement) {
	c.scopes = append(c.scopes, scope{})
	before := c.steps
	var body ast.Statement
	switch s := s.(type) {
	case *ast.WhileStatement:
		body = s.Body
		c.expression(s.Test)
		c.alone(s.Body)
	case *ast.DoWhileStatement:
		body = s.Body
		c.alone(s.Body)
		c.expression(s.Test)
	case *ast.ForStatement:
		body = s.Body
		switch first := s.Initializer.(type) {
		case nil:
		case *ast.ForLoopInitializerExpression:
			c.expression(first.Expression)
		case *ast.ForLoopInitializerVarDeclList:
			c.initializers(first.List)
		case *ast.ForLoopInitializerLexicalDecl:
			for _, b := range first.LexicalDeclaration.List {
				c.bind(b.Target, b.Initializer)
			}
			c.initializers(first.LexicalDeclaration.List)
		default:
			c.refuse(s, "this loop is not allowed")
		}
		c.optional(s.Test)
		c.optional(s.Update)
		c.alone(s.Body)
	case *ast.ForInStatement:
		body = s.Body
		c.into(s.Into)
		c.expression(s.Source)
		c.alone(s.Body)
	case *ast.ForOfStatement:
		body = s.Body
		c.into(s.Into)
		c.expression(s.Source)
		c.alone(s.Body)
	default:
		c.refuse(s, "this statement is not allowed")
	}
	c.count(body, before)
	c.scopes = c.scopes[:len(c.scopes)-1]
}

// into declares the variable of a loop over values.
func (c *checker) into(f ast.ForInto) {
	switch f := f.(type) {
	case *ast.ForIntoVar:
		c.bind(f.Binding.Target, nil)
	case *ast.ForDeclaration:
		c.bind(f.Target, nil)
	case *ast.ForIntoExpression:
		c.target(f.Expression, false)
	default:
		c.refuse(f, "this loop is not allowed")
	}
}

// initializers walks through the values of declarations, whose names are known already.
func (c *checker) initializers(list []*ast.Binding) {
	for _, b := range list {
		c.optional(b.Initializer)
	}
}
