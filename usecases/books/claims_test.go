package bookscases_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClaims_OfEveryCategoryAreChecked: every definition that has unique values is one of the categories of claims.go.
func TestClaims_OfEveryCategoryAreChecked(t *testing.T) {
	t.Parallel()
	checked, err := os.ReadFile("claims.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../aggregates/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	has := regexp.MustCompile(`\bClaims:\s+claims`)
	definition := regexp.MustCompile(`(?m)^func ([A-Z]\w+)\(\) aggregates\.Definition`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !has.Match(text) {
			continue
		}
		found++
		m := definition.FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has no definition", file)
		}
		if name := filepath.Base(filepath.Dir(file)) + "." + string(m[1]) + "()"; !strings.Contains(string(checked),
			"kindOf("+name) {
			t.Errorf("the unique values of %s are not checked", name)
		}
	}
	if found < 8 {
		t.Errorf("found %d definitions with unique values", found)
	}
}
