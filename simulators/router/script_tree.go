package router

// expr is a part of a script that has a value; machine.eval has a case for each kind.
type expr interface{ isExpr() }

// The kinds of expressions.
type (
	// literal is a value that stands in the text.
	literal struct{ value any }
	// joined is a string with variables or commands in it.
	joined struct{ parts []expr }
	// variable is $name.
	variable struct{ name string }
	// substitution is [command].
	substitution struct{ body []command }
	// block is {commands}; the command that takes it decides when it runs.
	block struct{ body []command }
	// list is {1;2;3}.
	list struct{ items []expr }
	// binary is two operands with an operator between them.
	binary struct {
		op          string
		left, right expr
	}
	// unary is an operand with ! or - before it.
	unary struct {
		op string
		x  expr
	}
	// property is a name in a condition about items.
	property struct{ name string }
)

func (literal) isExpr()      {}
func (joined) isExpr()       {}
func (variable) isExpr()     {}
func (substitution) isExpr() {}
func (block) isExpr()        {}
func (list) isExpr()         {}
func (binary) isExpr()       {}
func (unary) isExpr()        {}
func (property) isExpr()     {}

// command is one statement. The first of scope, call, name and verb that is set decides its kind.
type command struct {
	line  int
	name  string // of a command of the language such as "put"; "" for others
	call  string // variable that is called
	inner []command
	scope bool   // inner is a block of its own
	menu  string // of a menu's command
	verb  string // the menu's command; "" only goes to the menu
	args  []argument
	where expr // condition of find or print; nil matches all
}

// argument is a value; name is "" for a positional one.
type argument struct {
	name  string
	value expr
}

// arg finds a named argument; nil when it is absent.
func (c command) arg(name string) expr {
	for _, a := range c.args {
		if a.name == name {
			return a.value
		}
	}
	return nil
}

// positional gives the arguments without names, in order.
func (c command) positional() []expr {
	var out []expr
	for _, a := range c.args {
		if a.name == "" {
			out = append(out, a.value)
		}
	}
	return out
}
