package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourcePath is a path in backticks that begins with a folder of the module; a name with a placeholder is a pattern.
var sourcePath = regexp.MustCompile(
	"`((?:aggregates|cmd|commands|docs|events|eventstore|gateways|httpapi|internal|jobs|" +
		"processmanagers|projections|scripts|simulators|usecases)/[^`\\s]*)`")

// placeholder stands for any name in a path that tells where something goes.
var placeholder = regexp.MustCompile(`<[a-z]+>|…`)

func TestDocs_PathsOfTheSourceExist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range sourcePath.FindAllStringSubmatch(string(text), -1) {
			for _, path := range alternatives(found[1]) {
				pattern := filepath.Join(root, placeholder.ReplaceAllString(path, "*"))
				if list, err := filepath.Glob(pattern); err != nil || len(list) == 0 {
					t.Errorf("%s names %s, which does not exist", filepath.Base(page), path)
				}
			}
		}
	}
}

// alternatives spells out the braces of a path: a/{b,c} is a/b and a/c.
func alternatives(path string) []string {
	before, rest, ok := strings.Cut(path, "{")
	if !ok {
		return []string{path}
	}
	list, after, _ := strings.Cut(rest, "}")
	var out []string
	for _, one := range strings.Split(list, ",") {
		out = append(out, alternatives(before+one+after)...)
	}
	return out
}
