package bookscases_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/usecases/books"
)

// TestCodes_EachHasItsSectionAndItsMeaning compares the codes with the headings of docs/books.md.
func TestCodes_EachHasItsSectionAndItsMeaning(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/books.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections, codes []string
	for _, m := range regexp.MustCompile(`(?m)^### ([a-z_]+)\n[A-Z]`).FindAllSubmatch(text, -1) {
		sections = append(sections, string(m[1]))
	}
	for _, code := range bookscases.Codes() {
		codes = append(codes, string(code))
		if code.Meaning() == "" {
			t.Errorf("%s has no meaning", code)
		}
	}
	slices.Sort(sections)
	slices.Sort(codes)
	if diff := cmp.Diff(codes, sections); diff != "" {
		t.Errorf("sections of docs/books.md (-codes +sections):\n%s", diff)
	}
}
