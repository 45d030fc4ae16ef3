package script

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
)

// Steps of a run. Each statement and expression in a loop or a function is one; a call of a method is many, because
// what it looks through may be long. Loops and functions count theirs with each turn: the server runs the scripts of
// all organizations one after the other, each again after each answer of the device.
const (
	// CountName is the function that counts; no script has a variable of this name.
	CountName   = "__step"
	methodSteps = 50
)

// unbraced refuses a body before which no call can be put.
const unbraced = "put the bodies of loops and functions in braces"

// maxDepth bounds how many statements and expressions stand in each other: the time of the check grows with it by more
// than its square.
const maxDepth = 200

// within walks on, unless that is too deep.
func (c *checker) within(at ast.Node, walk func()) {
	if c.depth == maxDepth {
		c.refuse(at, "no more than %d expressions and statements may stand in each other", maxDepth)
		return
	}
	c.depth++
	c.steps++
	walk()
	c.depth--
}

// maxCounted bounds a script with what counts its steps, in bytes: the server takes no longer ones.
const maxCounted = 192 << 10

// count notes that a turn of a loop, or a call of a function, has the steps since before. The call stands in the line
// of its body: messages of the server keep the lines of the script.
func (c *checker) count(body ast.Node, before int) {
	if c.gathers || body == nil {
		return
	}
	begins, behind, form := body, 0, "if(!%s(%d));else "
	switch body := body.(type) {
	case *ast.BlockStatement:
		behind, form = 1, "%s(%d);"
	case *ast.ExpressionBody:
		form = "!%s(%d)?0:"
	case *ast.IfStatement: // the parser does not say where it begins
		begins, form = body.Test, "!%s(%d)?0:"
	}
	at := int(begins.Idx0())
	if at == 0 {
		c.refuse(nil, unbraced)
	}
	c.counts[at-c.file.Base()+behind] = fmt.Sprintf(form, CountName, max(c.steps-before, 1))
}

// counted is a text with its counting calls.
func (c *checker) counted(text string) string {
	var out strings.Builder
	last := 0
	for _, at := range slices.SortedFunc(maps.Keys(c.counts), cmp.Compare[int]) {
		out.WriteString(text[last:at])
		out.WriteString(c.counts[at])
		last = at
	}
	out.WriteString(text[last:])
	return out.String()
}
