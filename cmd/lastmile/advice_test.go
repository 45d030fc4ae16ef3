package main

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/dev"
)

// booksFile is the path of the page that says what to do about faults in the books, relative to this package.
const booksFile = "../../docs/books.md"

// advice gives a page in one line, so that a call or a command may stand at the end of a line and go on in the next.
func advice(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// routersFile and readmeFile are pages with calls for people, relative to this package.
const (
	routersFile = "../../docs/routers.md"
	readmeFile  = "../../README.md"
)

// namedCall finds a call in a sentence: its method, path and query.
var namedCall = regexp.MustCompile("`(GET|POST|PUT|PATCH|DELETE) (/[a-z:/-]*)(\\?[^`]*)?`")

// typedCall finds the address of a call in a command line: its path, in which a variable of the shell stands for an id,
// and its query.
var typedCall = regexp.MustCompile(
	`(?:\$LASTMILE|http://[a-z.]*localhost:8080)(/[A-Za-z$/-]*)(\?[^"' ]*)?["' ]`)

// variable is an id in the path of a command line.
var variable = regexp.MustCompile(`\$[A-Z]+`)

// parametersIn lists the names in the query of a call.
func parametersIn(t *testing.T, query string) []string {
	t.Helper()
	values, err := url.ParseQuery(strings.TrimPrefix(query, "?"))
	if err != nil {
		t.Errorf("%s: %v", query, err)
	}
	return slices.Sorted(maps.Keys(values))
}

// TestAdvice_NamesCallsThatExist compares the calls that the pages for operators name with the routes of the running
// program, and their parameters. A person who looks for a cure must not find a call that is not there, or that is
// refused for its parameter.
func TestAdvice_NamesCallsThatExist(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	calls := []httpapi.Route{{Method: "GET", Path: "/metrics"}} // before the table of routes
	calls = append(calls, slices.Concat(server.Routes(), devapi.Clock{}.Routes())...)
	parameter := regexp.MustCompile(`:[a-zA-Z]+`)
	for file, least := range map[string][2]int{ // calls in sentences, and in command lines
		booksFile: {20, 0}, operationsFile: {5, 10}, routersFile: {10, 0}, readmeFile: {0, 5}, accessFile: {30, 0},
	} {
		page := advice(t, file)
		named, typed := namedCall.FindAllStringSubmatch(page, -1), typedCall.FindAllStringSubmatch(page, -1)
		if len(named) < least[0] || len(typed) < least[1] {
			t.Errorf("%s: found %d calls and %d command lines", file, len(named), len(typed))
		}
		for _, m := range named {
			wanted := parametersIn(t, m[3])
			if !slices.ContainsFunc(calls, func(r httpapi.Route) bool {
				return r.Method == m[1] && r.Path == m[2] && takes(r, wanted)
			}) {
				t.Errorf("%s names %s, which does not exist", file, m[0])
			}
		}
		for _, m := range typed {
			wanted := parametersIn(t, m[2])
			if !slices.ContainsFunc(calls, func(r httpapi.Route) bool {
				return parameter.ReplaceAllString(r.Path, "$$ID") == variable.ReplaceAllString(m[1], "$$ID") &&
					takes(r, wanted)
			}) {
				t.Errorf("%s calls %s, which does not exist", file, m[0])
			}
		}
	}
}

// takes reports whether a route has all these parameters.
func takes(r httpapi.Route, parameters []string) bool {
	return !slices.ContainsFunc(parameters, func(name string) bool { return !slices.Contains(r.Parameters(), name) })
}

// TestAdvice_HasACureForEachKindOfUniqueValue compares the table of cures with the claims in the source.
func TestAdvice_HasACureForEachKindOfUniqueValue(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../aggregates/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			source += advice(t, file)
		}
	}
	var claimed, cured []string
	for _, m := range regexp.MustCompile(`Kind: "([a-z0-9_]+)", Value:`).FindAllStringSubmatch(source, -1) {
		claimed = append(claimed, m[1])
	}
	page, err := os.ReadFile(booksFile)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| Kind | Cure |")
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(cells[1], -1) {
				cured = append(cured, m[1])
			}
		}
	}
	slices.Sort(claimed)
	slices.Sort(cured)
	if diff := cmp.Diff(claimed, cured); diff != "" || len(claimed) < 10 {
		t.Errorf("kinds of unique values (-claimed +cured):\n%s", diff)
	}
}

// TestAdvice_NamesCommandsThatExist parses every command line of the program in the page about faults in the books.
func TestAdvice_NamesCommandsThatExist(t *testing.T) {
	t.Parallel()
	checkCommandLines(t, booksFile, "`lastmile( [^`]*)`|bin/lastmile( [a-z]+ [a-z]+ --org acme)", 6)
}

// checkCommandLines parses every command line of the program that a page has. pattern finds what follows the name of
// the program; there must be at least as many as given.
func checkCommandLines(t *testing.T, file, pattern string, least int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "erasures.txt")
	if err := os.WriteFile(list, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`'[^']*'`)
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
	if len(found) < least {
		t.Fatalf("%s: found %d commands", file, len(found))
	}
	for _, m := range found {
		given := strings.Join(m[1:], "")
		line := strings.ReplaceAll(quoted.ReplaceAllString(given, "quoted"), "erasures.txt", list)
		parser, err := kong.New(&cli{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(line)); err != nil {
			t.Errorf("%s: lastmile%s: %v", file, given, err)
		}
	}
}

// TestSetup_NamesEveryCommand compares the rule about commands with the program: it names every one, and marks as not
// built only what is not there.
func TestSetup_NamesEveryCommand(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(advice(t, "../../docs/rules/setup.md"), "### Commands ")
	rule, _, _ := strings.Cut(rest, " ### ")
	built, ahead, found := strings.Cut(rule, "*In part ahead of its code:")
	if !found {
		t.Fatal("docs/rules/setup.md: the rule has another form")
	}
	parser, err := kong.New(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range parser.Model.Children {
		if !regexp.MustCompile("`(lastmile )?" + c.Name + "[` ]").MatchString(built) {
			t.Errorf("docs/rules/setup.md does not name the command %s", c.Name)
		}
		if strings.Contains(ahead, "`"+c.Name) {
			t.Errorf("docs/rules/setup.md says that the command %s is not built", c.Name)
		}
	}
}
