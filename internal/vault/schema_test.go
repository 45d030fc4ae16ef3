package vault_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgreSQL prepares every statement of the package against the migrated schema, also those that few paths reach.
func TestStatements_FitTheSchema(t *testing.T) {
	t.Parallel()
	k := open(t)
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		texts := map[string]string{}
		switch name := f.Name(); {
		case strings.HasSuffix(name, ".sql"):
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[strings.TrimSuffix(name, ".sql")] = string(body)
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			maps.Copy(texts, statements(t, name))
		}
		for name, sql := range texts {
			seen++
			k.prepare(t, f.Name(), name, sql)
		}
	}
	if seen < 40 {
		t.Errorf("found only %d statements", seen)
	}
}

// prepare has PostgreSQL parse one statement; the file's name is for the error message.
func (k *kit) prepare(t *testing.T, file, name, sql string) {
	t.Helper()
	text, _, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), nil, replaceSchema(k.db, sql), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.db.Owner.Exec(t.Context(), "prepare "+strings.ToLower(name)+" as "+text); err != nil {
		t.Errorf("%s: %s: %v", file, name, err)
	}
}

// statements gives the constants of a file whose names end in SQL, by their names.
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

// constant evaluates a string constant made of literals and of constants in known; false for anything else.
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
