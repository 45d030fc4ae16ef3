package catalog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sourceTypes lists the types of package events that have a method EventType.
func sourceTypes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources of package events: %v", err)
	}
	var found []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "EventType" {
				continue
			}
			receiver, ok := fn.Recv.List[0].Type.(*ast.Ident)
			if !ok {
				t.Fatalf("%s: EventType of something that is not a plain struct", name)
			}
			found = append(found, receiver.Name)
		}
	}
	slices.Sort(found)
	return found
}

func TestCatalog_HasEveryTypeOfPackageEvents(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, e := range all() {
		listed = append(listed, reflect.TypeOf(e).Name())
	}
	slices.Sort(listed)
	if diff := cmp.Diff(sourceTypes(t), listed); diff != "" {
		t.Errorf("types.go does not list the types of package events (-events +listed)\n%s", diff)
	}
}

func TestCatalog_NamesFollowTheFileAndTheType(t *testing.T) {
	t.Parallel()
	for _, e := range all() {
		name, word := e.EventType(), reflect.TypeOf(e).Name()
		area, rest, _ := strings.Cut(name, ".")
		if area == "claims" {
			word = strings.TrimPrefix(word, "Claim")
		}
		if got, _, _ := strings.Cut(rest, "."); got != word {
			t.Errorf("%s is named %s", reflect.TypeOf(e), name)
		}
	}
}

func TestGolden_NoFileIsLeftOver(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".json")
		if _, err := standard.present(name); err != nil {
			t.Errorf("%s is of no event type: a recorded fact can no longer be read", f.Name())
		}
	}
}
