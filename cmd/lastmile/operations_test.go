package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// operationsFile is what operators read, seen from this package.
const operationsFile = "../../docs/operations.md"

// section is the text of a chapter of the operators' page.
func section(t *testing.T, title string) string {
	t.Helper()
	text, err := os.ReadFile(operationsFile)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no chapter %q", operationsFile, title)
	}
	chapter, _, _ := strings.Cut(rest, "\n## ")
	return chapter
}

// TestOperations_ConfigurationTableIsComplete compares names and defaults of the table with the configuration's tags.
func TestOperations_ConfigurationTableIsComplete(t *testing.T) {
	t.Parallel()
	documented, real := map[string]string{}, map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| (?:`([^`]*)`|[^|`]*) \\|")
	for _, m := range row.FindAllStringSubmatch(section(t, "Configuration"), -1) {
		if _, twice := documented[m[1]]; twice {
			t.Errorf("%s stands twice in the table", m[1])
		}
		documented[m[1]] = m[2]
	}
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		name, _, _ := strings.Cut(config.Field(i).Tag.Get("env"), ",")
		real[name] = config.Field(i).Tag.Get("envDefault")
	}
	if diff := cmp.Diff(real, documented); diff != "" {
		t.Errorf("every variable has a row in docs/operations.md, Configuration (-config.go +operations.md):\n%s", diff)
	}
}

// documentedMetrics are the names in the table of metrics, sorted.
func documentedMetrics(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(lastmile_[a-z_]+)").FindAllStringSubmatch(section(t, "Metrics"), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// shownMetrics are the names on a page of metrics that are our own, sorted.
func shownMetrics(page []byte) []string {
	var names []string
	for _, m := range regexp.MustCompile("(?m)^# HELP (lastmile_[a-z_]+) ").FindAllSubmatch(page, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return names
}
