package main

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// accessFile is the path of the page about access, relative to this package.
const accessFile = "../../docs/access.md"

// accessPage is the text of the page about access.
func accessPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(accessFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// accessRows lists the names in backticks of the first cells of one chapter's table, sorted.
func accessRows(t *testing.T, title string) []string {
	t.Helper()
	_, rest, found := strings.Cut(accessPage(t), "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no chapter %q", accessFile, title)
	}
	chapter, _, _ := strings.Cut(rest, "\n## ")
	var names []string
	for row := range strings.Lines(chapter) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([A-Za-z_0-9]+)`").FindAllStringSubmatch(cells[1], -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return names
}

// wordsIn lists what the first group of a pattern finds in a file of the source, sorted and each once.
func wordsIn(t *testing.T, file, pattern string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// noticed lists the words of the results of packets that become refusals without a sign-in that was judged.
func noticed(t *testing.T) []string {
	t.Helper()
	source := advice(t, "../../radius/directory/refusals_notices.go")
	_, list, _ := strings.Cut(source, "[]radius.Result{")
	list, _, _ = strings.Cut(list, "}")
	var words []string
	for _, m := range regexp.MustCompile(`radius\.([A-Za-z]+)`).FindAllStringSubmatch(list, -1) {
		word := regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(m[1], "${1}_${2}")
		words = append(words, strings.ToLower(word))
	}
	return words
}

// repairs lists the kinds of differences, and what a repair answers.
func repairs(t *testing.T) []string {
	t.Helper()
	words := append(wordsIn(t, "../../events/access_difference.go", `(?m)^\t\w+\s+AccessDifferenceKind = "([a-z_]+)"`),
		wordsIn(t, "../../jobs/access/audit_repair.go", `(?m)^\tRepair\w+\s+RepairOutcome = "([a-z_]+)"`)...)
	_, fails, _ := strings.Cut(advice(t, "../../httpapi/access/differences.go"), "a sentence. Fails:")
	fails, _, _ = strings.Cut(fails, "Repair func")
	for _, m := range regexp.MustCompile(`[a-z]+_[a-z_]+`).FindAllString(fails, -1) {
		if m != "difference_not_found" {
			words = append(words, m)
		}
	}
	return words
}

// TestAccessPage_ExplainsWhatMayBeNull: a field of the answers about access that is null at times has a meaning, and
// that of sign-ins which are dropped and counted nowhere else has one, too.
func TestAccessPage_ExplainsWhatMayBeNull(t *testing.T) {
	t.Parallel()
	page, names := accessPage(t), []string{"incomplete"}
	for _, file := range []string{"differences.go", "explain.go"} {
		names = append(names, wordsIn(t, "../../httpapi/access/"+file,
			`(?m)^\t\w+\s+\*[\w.]+\s+.json:"(\w+)[",]`)...)
	}
	for _, name := range names {
		if !regexp.MustCompile("`([a-zA-Z]+\\.)?" + name + "`").MatchString(page) {
			t.Errorf("docs/access.md does not speak of %s", name)
		}
	}
	if len(names) < 15 {
		t.Errorf("found only %q", names)
	}
}

// TestAccessPage_SendsSupportWhereItMayGo: what only an admin may read is said to be an admin's where it is named.
func TestAccessPage_SendsSupportWhereItMayGo(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	closed, found := map[string]bool{}, 0
	for _, r := range server.Routes() {
		closed[r.Path] = closed[r.Path] || r.Method == "GET" && r.Access == httpapi.AccessAdmin
	}
	for line := range strings.Lines(accessPage(t)) {
		for _, m := range regexp.MustCompile("`GET (/[^`?]*)").FindAllStringSubmatch(line, -1) {
			found++
			if closed[m[1]] && !strings.Contains(line, "admin") {
				t.Errorf("docs/access.md sends support to %s: %s", m[1], line)
			}
		}
	}
	if found < 20 {
		t.Errorf("found only %d addresses", found)
	}
}

// TestAccessPage_HasEachCode compares the tables of outcomes with the source.
func TestAccessPage_HasEachCode(t *testing.T) {
	t.Parallel()
	const code = `(?m)^\tCode\w+\s+(?:Code\s+)?= "([a-z_]+)"`
	refusals := append(wordsIn(t, "../../radius/directory/refusals.go", code), noticed(t)...)
	slices.Sort(refusals)
	causes := wordsIn(t, "../../internal/telemetry/report.go", `(?m)^\tReason\w+\s+= "([a-z_]+)"`)
	_, list, _ := strings.Cut(advice(t, "../../internal/telemetry/report.go"), "causes = [...]string{")
	list, _, _ = strings.Cut(list, "}")
	for _, m := range regexp.MustCompile(`"([a-z_]+)"`).FindAllStringSubmatch(list, -1) {
		causes = append(causes, m[1])
	}
	slices.Sort(causes)
	for title, c := range map[string]struct {
		source []string
		least  int
	}{
		"Reasons": {wordsIn(t, "../../projections/access/entitlement/entitlement.go", code), 15},
		"Dunning states": {wordsIn(t, "../../events/access_dunning.go",
			`(?m)^\tDunning\w+\s+DunningState = "([a-z_]+)"`), 5},
		"Refused sign-ins":    {refusals, 20},
		"How a session ended": {causes, 23},
		"Looks at routers": {append(wordsIn(t, "../../jobs/access/audit.go",
			`(?m)^\tUnseen\w+\s+= "([a-z_]+)"`), "why"), 6},
		"Access differences": {repairs(t), 16},
		"Vouchers": {wordsIn(t, "../../projections/access/vouchers_query.go",
			`(?m)^\tVoucher\w+\s+= "([a-z_]+)"`), 4},
	} {
		slices.Sort(c.source)
		rows := slices.Compact(accessRows(t, title)) // one outcome may have a row for each kind of customer
		if diff := cmp.Diff(c.source, rows); diff != "" || len(c.source) < c.least {
			t.Errorf("docs/access.md, %s (-source +page), of %d:\n%s", title, len(c.source), diff)
		}
	}
}

// TestTimeline_HasWordsForEachReasonOfAChangedSession: whatever code the source has.
func TestTimeline_HasWordsForEachReasonOfAChangedSession(t *testing.T) {
	t.Parallel()
	codes := wordsIn(t, "../../projections/access/entitlement/entitlement.go",
		`(?m)^\tCode\w+\s+(?:Code\s+)?= "([a-z_]+)"`)
	enforced := wordsIn(t, "../../events/access_enforcement_reasons.go", `(?m)^\tEnforced\w+\s+= "([a-z_]+)"`)
	if len(codes) < 15 || len(enforced) < 8 {
		t.Fatalf("found %q and %q", codes, enforced)
	}
	for _, code := range codes {
		if entitlement.Code(code).Words() == "" {
			t.Errorf("no words for %s", code)
		}
	}
	for _, code := range enforced {
		if events.EnforcedWords(code) == "" {
			t.Errorf("no words for %s", code)
		}
	}
	files, err := filepath.Glob("../../jobs/access/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		own := regexp.MustCompile(`(?m)^(?:\t|const )Reason\w+\s+= "`)
		if found := own.FindString(advice(t, file)); found != "" {
			t.Errorf("%s: a reason without words: %s", file, found)
		}
	}
}

// bodyFields lists the names of a body's fields in JSON. embedded ones are those that a type inside it brings.
func bodyFields(body reflect.Type) (all, embedded []string) {
	for i := range body.NumField() {
		f := body.Field(i)
		if f.Anonymous {
			inner, _ := bodyFields(f.Type)
			all, embedded = append(all, inner...), append(embedded, inner...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all, embedded
}

// TestAccessPage_HasEachSetting compares the tables of settings with the configuration and with the bodies of requests.
func TestAccessPage_HasEachSetting(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	bodies := map[string]reflect.Type{}
	for _, r := range server.Routes() {
		if r.Request != nil {
			bodies[r.Method+" "+r.Path] = reflect.TypeOf(r.Request)
		}
	}
	policies, _ := bodies["PUT /settings/dunning"].FieldByName("Default")
	policy, _ := bodyFields(policies.Type.Elem())
	plan, onlyNetwork := bodyFields(bodies["POST /plans"])
	router, _ := bodyFields(bodies["POST /nas/devices"])
	var variables, onlyAccess []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
		variables = append(variables, name)
		if regexp.MustCompile(`^(RADIUS|WALLED|ACCESS|SESSION|ADDRESS|USAGE|ENFORCE)_`).MatchString(name) {
			onlyAccess = append(onlyAccess, name)
		}
	}
	for title, c := range map[string]struct{ known, needed []string }{
		"Dunning policy": {policy, policy}, "Fields of a plan": {plan, onlyNetwork},
		"Settings of a router": {router, []string{"radiusSecret", "coaPort", "requireMessageAuthenticator"}},
		"Variables":            {variables, onlyAccess},
	} {
		written := accessRows(t, title)
		for _, name := range c.needed {
			if !slices.Contains(written, name) {
				t.Errorf("docs/access.md, %s: %s is missing", title, name)
			}
		}
		for _, name := range written {
			if !slices.Contains(c.known, name) {
				t.Errorf("docs/access.md, %s: there is no %s", title, name)
			}
		}
		if len(written) == 0 || len(c.needed) == 0 {
			t.Errorf("docs/access.md, %s: found %d names, of %d", title, len(written), len(c.needed))
		}
	}
}
