package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/projections/audit"
)

func TestReadModels_EachProjectionOfTheSourceIsFilled(t *testing.T) {
	t.Parallel()
	filled := map[string]bool{}
	for _, m := range readModels() {
		filled[fmt.Sprintf("%T", m)] = true
	}
	files, err := filepath.Glob("../../projections/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range appliers(file) {
			if found++; !filled[file.Name.Name+"."+model] {
				t.Errorf("%s: no area's readModels has %s: its tables would stay empty", name, model)
			}
		}
	}
	if found < len(filled) {
		t.Errorf("%d projections are found in the source, %d are filled: the search misses some", found, len(filled))
	}
}

// appliers lists the types of a file with the method Apply of a projection. The Apply of a read model in memory has
// another signature and is left out.
func appliers(file *ast.File) []string {
	var out []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != "Apply" || f.Type.Params.NumFields() != 2 {
			continue
		}
		if receiver, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
			out = append(out, receiver.Name)
		}
	}
	return out
}

func TestReadModels_EachHasRowsOfAStoryToCompareWith(t *testing.T) {
	t.Parallel()
	for _, m := range readModels() {
		if m.Name() == auditviews.LogName { // its entries are compared one by one in projections/audit
			continue
		}
		found, err := filepath.Glob("../../projections/*/testdata/" + m.Name() + ".golden")
		if err != nil || len(found) != 1 {
			t.Errorf("%s has %d golden files: tell its story in a test with projectiontest (%v)", m.Name(), len(found),
				err)
		}
	}
}
