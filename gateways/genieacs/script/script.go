// Package script checks the provision of an organization before it is given to the CPE server, where the scripts of all
// organizations run in one place and under one roof with the extension that answers every device's credentials. What
// Counted lets pass uses declare, clear, commit, log, args, Date, Math and its own variables, and nothing else: all
// that is not known to be harmless is refused.
//
// A script must not hide what it declares: the path of declare and clear is made of texts and numbers. Tags begin with
// the organization's prefix, and ManagementServer is not theirs: who sets it takes a device away from the platform.
// Passwords and keys are neither read nor written: the server has those of the customer before in clear. What a script
// throws, or hides in an object, the server touches where no limit of time holds, and a text that is doubled a few
// times takes all its memory: so neither is there. Source: docs/rules/cpe.md#custom-provisions,
// docs/facts/genieacs.md#provisions.
package script

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// MaxSize bounds a script, in bytes.
const MaxSize = 64 << 10

// maxSigns bounds short functions, and values in templates.
const maxSigns = 1000

// Fault says what is wrong with a script, and in which of its lines, counted from 1.
type Fault struct {
	Line int
	Text string // a phrase that fits behind "line 3: "
}

// Error shows line and text.
func (f *Fault) Error() string { return fmt.Sprintf("line %d: %s", f.Line, f.Text) }

// The server wraps a script in a function, so that return is allowed at its top; the first line is the wrapper's.
const (
	opening = "\"use strict\";(function(){\n"
	closing = "\n})();"
)

// counted checks a script, and gives it with calls of CountName, which get the steps of each turn and each call. It
// runs in a child process alone (Counted): the parser has no bound of its own.
func counted(source, tagPrefix string) (string, error) {
	if fault := checkText(source); fault != nil {
		return "", fault
	}
	program, err := parser.ParseFile(nil, "", opening+source+closing, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return "", syntax(err, source)
	}
	body, ok := wrapped(program)
	if !ok {
		return "", &Fault{Line: 1, Text: "brackets do not close what they open"}
	}
	c := &checker{
		file: program.File, prefix: tagPrefix, varied: map[string]bool{}, gathers: true, counts: map[int]string{},
	}
	c.function(body.ParameterList, body.DeclarationList, body.Body.List)
	c.gathers = false
	c.function(body.ParameterList, body.DeclarationList, body.Body.List)
	if c.fault != nil {
		return "", c.fault
	}
	if _, err := goja.CompileAST(program, true); err != nil {
		return "", syntax(err, source)
	}
	return c.bounded(source)
}

// bounded puts the counting calls into a script. Where one does not fit, the script has an unusual form.
func (c *checker) bounded(source string) (string, error) {
	whole := c.counted(opening + source + closing)
	text := whole[len(opening) : len(whole)-len(closing)]
	if len(text) > maxCounted {
		return "", &Fault{Line: 1, Text: "the script has too many loops and functions"}
	}
	program, err := parser.ParseFile(nil, "", whole, 0, parser.WithDisableSourceMaps)
	if err == nil {
		_, err = goja.CompileAST(program, true)
	}
	if err != nil {
		fault := syntax(err, source)
		fault.Text = unbraced
		return "", fault
	}
	return text, nil
}

// checkText refuses what the parser here and the server's engine read differently: the server takes HTML's comments for
// comments, behind which code could hide from this check.
func checkText(source string) *Fault {
	if !utf8.ValidString(source) || strings.ContainsRune(source, 0) {
		return &Fault{Line: 1, Text: "the script is not text in UTF-8"}
	}
	if len(source) > MaxSize {
		return &Fault{Line: 1, Text: fmt.Sprintf("the script has more than %d bytes", MaxSize)}
	}
	for _, sign := range []string{"=>", "${"} { // in each other they take the parser long
		if strings.Count(source, sign) > maxSigns {
			return &Fault{Line: 1, Text: fmt.Sprintf("the script has more than %d times %s", maxSigns, sign)}
		}
	}
	for i, line := range strings.Split(source, "\n") {
		switch {
		case strings.Contains(line, "<!--") || strings.Contains(line, "-->"):
			return &Fault{Line: i + 1, Text: "comments of HTML are not allowed"}
		case strings.ContainsAny(line, "\u2028\u2029"):
			return &Fault{Line: i + 1, Text: "U+2028 and U+2029 are not allowed"}
		}
	}
	if strings.TrimSpace(source) == "" {
		return &Fault{Line: 1, Text: "the script is empty"}
	}
	return nil
}

// syntax gives the first syntax error its line in the script as its author sees it.
func syntax(err error, source string) *Fault {
	last := strings.Count(source, "\n") + 1
	at := func(line int) int { return min(max(line-1, 1), last) }
	var list parser.ErrorList
	var compile *goja.CompilerSyntaxError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		return &Fault{Line: at(list[0].Position.Line), Text: list[0].Message}
	case errors.As(err, &compile) && compile.File != nil:
		return &Fault{Line: at(compile.File.Position(compile.Offset).Line), Text: compile.Message}
	}
	return &Fault{Line: 1, Text: "the script cannot be read"}
}

// wrapped gives the function around the script; false when the script has closed it.
func wrapped(program *ast.Program) (*ast.FunctionLiteral, bool) {
	if len(program.Body) != 2 {
		return nil, false
	}
	statement, ok := program.Body[1].(*ast.ExpressionStatement)
	if !ok {
		return nil, false
	}
	call, ok := statement.Expression.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) > 0 {
		return nil, false
	}
	body, ok := call.Callee.(*ast.FunctionLiteral)
	return body, ok
}

// scope has the names that a function or a block declares.
type scope map[string]bool

// checker walks through a script twice: first it gathers which variables always have numbers, then it remembers the
// first fault.
type checker struct {
	file    *file.File
	prefix  string
	scopes  []scope
	varied  map[string]bool // names of variables, in whatever scope, that may have something else than a number
	gathers bool
	fault   *Fault
	depth   int
	steps   int            // statements and expressions until now
	counts  map[int]string // counting calls, by their offsets
}

// varies notes that a variable may have something else than a number.
func (c *checker) varies(name string) {
	if c.gathers {
		c.varied[name] = true
	}
}

// refuse notes a fault, unless there is one, or the checker only gathers.
func (c *checker) refuse(at ast.Node, text string, args ...any) {
	if c.fault != nil || c.gathers {
		return
	}
	line := 1
	if at != nil {
		line = max(c.file.Position(int(at.Idx0())-c.file.Base()).Line-1, 1)
	}
	c.fault = &Fault{Line: line, Text: fmt.Sprintf(text, args...)}
}

// own reports whether a name is one of the script's own in scope.
func (c *checker) own(name string) bool {
	for _, s := range c.scopes {
		if s[name] {
			return true
		}
	}
	return false
}

// The names of the server that a script may use: calls are only called, objects only looked into, the rest is a value.
var (
	calls   = map[string]bool{"declare": true, "clear": true, "commit": true, "log": true}
	objects = map[string]bool{"Date": true, "Math": true}
	values  = map[string]bool{"args": true, "undefined": true}
)

// given reports whether a name is one of those above.
func given(name string) bool { return calls[name] || objects[name] || values[name] }

// list makes a set of words.
func list(words string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields(words) {
		out[word] = true
	}
	return out
}

// The members that a script may use. Attributes are those of parameters, fields other values, methods are called. None
// changes its value, leads to what made it, makes a text or a list longer, or puts lists into lists.
var (
	attributes = list("path value writable object notification accessList")
	fields     = list("size length PI E")
	methods    = list(`
		charAt charCodeAt endsWith every filter find findIndex forEach includes indexOf lastIndexOf reduce
		slice some startsWith substring toFixed toLowerCase toUpperCase trim trimEnd trimStart
		getDate getDay getFullYear getHours getMilliseconds getMinutes getMonth getSeconds getTime getTimezoneOffset
		getUTCDate getUTCDay getUTCFullYear getUTCHours getUTCMilliseconds getUTCMinutes getUTCMonth getUTCSeconds
		now toISOString UTC parse
		abs ceil floor max min pow random round sign sqrt trunc`)
)

// declareName adds an own name, which must not be one of the server's or of the language. Number says that it has one
// from the beginning.
func (c *checker) declareName(at ast.Node, name string, number bool) {
	if given(name) || name == "eval" || name == "arguments" || name == "ext" || name == CountName {
		c.refuse(at, "%s cannot be the name of a variable", name)
	}
	c.scopes[len(c.scopes)-1][name] = true
	if !number {
		c.varies(name)
	}
}
