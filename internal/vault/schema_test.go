package vault_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Every statement of the package is understood by the database as migrated, also those that few paths reach.
func TestStatements_FitTheSchema(t *testing.T) {
	t.Parallel()
	k := open(t)
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		for name, sql := range statements(t, f.Name()) {
			seen++
			if _, err := k.db.Owner.Exec(t.Context(),
				"prepare "+strings.ToLower(name)+" as "+replaceSchema(k.db, sql)); err != nil {
				t.Errorf("%s: %s: %v", f.Name(), name, err)
			}
		}
	}
	if seen < 40 {
		t.Errorf("found only %d statements", seen)
	}
}

// statements gives the constants of a file whose names end in SQL.
func statements(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, decl := range parsed.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if ok && len(value.Values) == 1 {
				if text, ok := constant(value.Values[0], texts); ok {
					texts[value.Names[0].Name] = text
				}
			}
		}
	}
	for name := range texts {
		if !strings.HasSuffix(name, "SQL") {
			delete(texts, name)
		}
	}
	return texts
}

// constant evaluates a string constant made of literals and earlier constants.
func constant(e ast.Expr, known map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, ok := known[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		left, ok1 := constant(e.X, known)
		right, ok2 := constant(e.Y, known)
		return left + right, ok1 && ok2
	}
	return "", false
}
