package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of docs/rules/engineering.md#lengths.
const (
	maxFunctionLines = 60
	maxFileLines     = 500
	maxColumns       = 120
	tabColumns       = 4
	maxParameters    = 5 // after ctx
)

// exempt reports whether a file is generated. The limits do not hold for generated files.
func exempt(s *source) bool {
	return strings.HasSuffix(s.name, "_gen.go")
}

// checkLengths finds functions and files that are too long. Comments and blank lines count.
func checkLengths(s *source) []Violation {
	if strings.HasSuffix(s.name, "_gen.go") {
		return nil
	}
	var found []Violation
	if lines := len(s.text) - 1; lines > maxFileLines {
		found = append(found, s.at(s.tree.Package, "length", "file of %d lines, limit %d", lines, maxFileLines))
	}
	for _, d := range s.tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if lines := s.line(fn.End()) - s.line(fn.Type.Pos()) + 1; lines > maxFunctionLines {
			found = append(found, s.at(fn.Pos(), "length", "func %s of %d lines, limit %d", fn.Name.Name, lines,
				maxFunctionLines))
		}
	}
	return found
}

// checkColumns finds lines that are too long. A tab counts as 4 columns, wherever it stands.
func checkColumns(s *source) []Violation {
	if exempt(s) {
		return nil
	}
	var found []Violation
	for i, line := range s.text {
		columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
		if columns > maxColumns {
			place := fmt.Sprintf("%s:%d", s.name, i+1)
			found = append(found, Violation{place, "columns", fmt.Sprintf("%d, limit %d", columns, maxColumns)})
		}
	}
	return found
}

// checkParameters finds functions, methods and literals with too many parameters; a struct is better there. A context
// does not count.
func checkParameters(s *source) []Violation {
	if exempt(s) {
		return nil
	}
	var found []Violation
	check := func(pos token.Pos, name string, f *ast.FuncType) {
		if n := parameters(f); n > maxParameters {
			found = append(found, s.at(pos, "parameters", "%s has %d, limit %d after ctx", name, n, maxParameters))
		}
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch f := n.(type) {
		case *ast.FuncDecl:
			check(f.Pos(), "func "+f.Name.Name, f.Type)
		case *ast.FuncLit:
			check(f.Pos(), "a function literal", f.Type)
		}
		return true
	})
	return found
}

// parameters counts the parameters of a function, without a context and without the T of a test, which has a context.
func parameters(f *ast.FuncType) int {
	n := 0
	for _, field := range f.Params.List {
		named := field.Type
		if pointer, ok := named.(*ast.StarExpr); ok {
			named = pointer.X
		}
		if t, ok := named.(*ast.SelectorExpr); ok &&
			slices.Contains([]string{"Context", "T", "TB", "F", "B"}, t.Sel.Name) {
			continue
		}
		n += max(1, len(field.Names)) // a parameter without a name is one
	}
	return n
}

// numbered finds an argument of SQL with a number above 5.
var numbered = regexp.MustCompile(`(?:^|[^\w$])\$(?:[6-9]|[1-9][0-9]+)\b`)

// checkArguments finds SQL with more than five numbered arguments. It reads the literals of the source, so it does not
// see statements that a program puts together.
func checkArguments(s *source) []Violation {
	if exempt(s) || s.dir == "internal/archtest" { // this package speaks about such numbers
		return nil
	}
	var found []Violation
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && numbered.MatchString(text.Value) {
			found = append(found, s.at(text.Pos(), "arguments", manyNumbered))
		}
		return true
	})
	return found
}

// manyNumbered is the text of both violations, in Go and in SQL files.
const manyNumbered = "more than five by number: use pgx.NamedArgs"

// checkSQL is checkArguments for a file of SQL.
func checkSQL(name string, body []byte) ([]Violation, error) {
	if numbered.Match(body) {
		return []Violation{{name + ":1", "arguments", manyNumbered}}, nil
	}
	return nil, nil
}
