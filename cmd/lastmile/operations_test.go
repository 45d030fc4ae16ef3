package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// operationsFile is the path of the operators' manual, relative to this package.
const operationsFile = "../../docs/operations.md"

// section gives the text of one chapter of the operators' manual, up to the next heading of the same level.
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

// documentedMetrics lists the names in the manual's table of metrics, sorted.
func documentedMetrics(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(lastmile_[a-z_]+)").FindAllStringSubmatch(section(t, "Metrics"),
		-1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// shownMetrics lists the names on a page of metrics that begin with lastmile_, sorted.
func shownMetrics(page []byte) []string {
	var names []string
	for _, m := range regexp.MustCompile("(?m)^# HELP (lastmile_[a-z_]+) ").FindAllSubmatch(page, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return names
}

// TestOperations_EachProcessSaysWhatWaits compares the table of processes that stop with those that there are.
func TestOperations_EachProcessSaysWhatWaits(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(section(t, "Read models"), "| Process |")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented, real []string
	for _, row := range strings.Split(table, "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cell, -1) {
			documented = append(documented, m[1])
		}
	}
	for _, p := range processes() {
		real = append(real, p.Erase().Name)
	}
	slices.Sort(documented)
	slices.Sort(real)
	if diff := cmp.Diff(real, documented); diff != "" {
		t.Errorf("every process has a row in docs/operations.md (-processes +operations.md):\n%s", diff)
	}
}

// TestOperations_CommandsExist parses every command line of the program in the operators' manual.
func TestOperations_CommandsExist(t *testing.T) {
	t.Parallel()
	checkCommandLines(t, operationsFile, "(?m)bin/lastmile( [^\n`#>]*)", 10)
}

// TestOperations_SimulatorIsDescribed compares the tables of behaviours and faults with the simulator.
func TestOperations_SimulatorIsDescribed(t *testing.T) {
	t.Parallel()
	chapter := section(t, "Provider simulator")
	behaviours, rest, _ := strings.Cut(chapter, "**A customer pays the paybill**")
	sim := provider.New(provider.Config{})
	_, table, _ := strings.Cut(behaviours, "| Behaviour |")
	name := regexp.MustCompile("`([a-z_]+)`")
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(cells[1], -1) {
			if err := sim.SetPhone("default", provider.Phone{Behaviour: m[1]}); err != nil {
				t.Errorf("behaviour: %v", err)
			}
		}
	}
	var documented, real []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-zA-Z0-9]+)`[^|]*\\|").FindAllStringSubmatch(rest, -1) {
		documented = append(documented, m[1])
	}
	faults := reflect.TypeFor[provider.Faults]()
	for i := range faults.NumField() {
		real = append(real, faults.Field(i).Tag.Get("json"))
	}
	slices.Sort(documented)
	slices.Sort(real)
	if diff := cmp.Diff(real, documented); diff != "" {
		t.Errorf("faults (-simulator +operations.md):\n%s", diff)
	}
}

// TestOperations_HandsetFaultsAreDescribed compares the table of faults with the simulator.
func TestOperations_HandsetFaultsAreDescribed(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(section(t, "Handset simulator"), "| Fault |")
	var documented, real []string
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-zA-Z]+)`").FindAllStringSubmatch(cells[1], -1) {
				documented = append(documented, m[1])
			}
		}
	}
	faults := reflect.TypeFor[handset.Faults]()
	for i := range faults.NumField() {
		real = append(real, faults.Field(i).Tag.Get("json"))
	}
	slices.Sort(documented)
	slices.Sort(real)
	if diff := cmp.Diff(real, documented); diff != "" {
		t.Errorf("faults (-simulator +operations.md):\n%s", diff)
	}
}

// TestOperations_TheProxyTakesTheLargestBody holds the example of nginx against the limits of the routes: a smaller
// limit there refuses imports, statements and firmware before the program sees them.
func TestOperations_TheProxyTakesTheLargestBody(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`client_max_body_size (\d+)m;`).FindStringSubmatch(section(t, "Production set-up"))
	if m == nil {
		t.Fatal("the example of nginx names no client_max_body_size")
	}
	megabytes, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	server, ok := (*newKit(t).start().app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	for _, r := range server.Routes() {
		if r.BodyLimit > megabytes<<20 {
			t.Errorf("%s %s takes %d bytes, the proxy of the example %d MiB", r.Method, r.Path, r.BodyLimit, megabytes)
		}
	}
}
