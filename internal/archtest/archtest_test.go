package archtest

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestModule_KeepsTheRules(t *testing.T) {
	t.Parallel()
	found, err := Check(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// own is an import of a package of this module, as Go source.
func own(p string) string { return `import _ "` + Module + "/" + p + `"` }

// violations are bodies of files that each break exactly one rule.
var violations = []struct{ name, file, body, want string }{
	{"leaf uses a module", "internal/money/x.go", `import _ "github.com/google/uuid"`, "import"},
	{"leaf uses a leaf", "internal/money/x.go", own("internal/id"), "import"},
	{"internal uses events", "internal/vault/x.go", own("events"), "import"},
	{"events use a store", "events/x.go", own("eventstore"), "import"},
	{"aggregate uses bus", "aggregates/billing/x.go", own("commands/bus"), "import"},
	{"aggregate uses another area", "aggregates/billing/x.go", own("aggregates/payments"), "import"},
	{"aggregate has a context", "aggregates/billing/x.go", `import _ "context"`, "import"},
	{"aggregate logs", "aggregates/billing/x.go", `import _ "log/slog"`, "import"},
	{"aggregate uses pgx", "aggregates/billing/x.go", `import _ "github.com/jackc/pgx/v5"`, "import"},
	{"process uses projection", "processmanagers/subscribers/renewal/x.go", own("projections/billing"), "import"},
	{"process uses runner", "processmanagers/subscribers/renewal/x.go", own("processmanagers/runner"), "import"},
	{"projection uses commands", "projections/billing/x.go", own("commands"), "import"},
	{"engine uses an area", "commands/bus/x.go", own("aggregates/billing"), "import"},
	{"client outside the store", "commands/bus/x.go", `import _ "` + storeModule + `/esdb"`, "import"},
	{"client in a test", "httpapi/x_test.go", `import _ "` + storeModule + `/esdb"`, "import"},
	{"gateway uses commands", "gateways/routeros/x.go", own("commands"), "import"},
	{"httpapi uses radius", "httpapi/x.go", own("radius"), "import"},
	{"endpoint uses a rule", "httpapi/billing/x.go", own("aggregates/billing"), "import"},
	{"endpoint uses another area's", "httpapi/billing/x.go", own("httpapi/payments"), "import"},
	{"face knows an area", "httpapi/x.go", own("projections/billing"), "import"},
	{"use case knows HTTP", "usecases/billing/x.go", own("httpapi"), "import"},
	{"use case uses another area's", "usecases/billing/x.go", own("usecases/payments"), "import"},
	{"httpapi uses the store", "httpapi/x.go", own("eventstore"), "import"},
	{"simulator in the product", "gateways/mobilemoney/x.go", own("simulators/provider"), "import"},
	{"a kit in the product", "httpapi/x.go", own("internal/storetest"), "import"},
	{"cmd is imported", "httpapi/x_test.go", own("cmd/lastmile"), "import"},
	{"aggregate reads files", "aggregates/billing/x.go", `import _ "io"`, "import"},
	{"job vocabulary has a context", "jobs/x.go", `import _ "context"`, "import"},
	{"unknown folder", "newcomers/x.go", "", "layer"},
	{"machine time", "httpapi/x.go", "import \"time\"\n\n// An example.\nvar x = time.Now()", "time"},
	{
		"machine time by another name", "httpapi/x.go", "import clock \"time\"\n\n// An example.\nvar x = clock.Since",
		"time",
	},
	{
		"machine time that is set", "httpapi/x.go", "// An example.\nfunc x() {\n\tnow := clock.System()\n\t_ = now\n}",
		"time",
	},
	{"func without comment", "httpapi/x.go", "func x() {}", "comment"},
	{"method of several lines", "httpapi/x.go", "// An example.\ntype T int\n\nfunc (T) x() {\n}", "comment"},
	{"comment of another func", "httpapi/x.go", "// y adds.\nfunc x() {}", "comment"},
	{"type without comment", "httpapi/x.go", "type x int", "comment"},
	{"member without comment", "httpapi/x.go", "const (\n\t// An example.\n\ta = 1\n\tb = 2\n)", "comment"},
	{"helper of a test", "httpapi/x_test.go", "func x() {}", "comment"},
	{"long function", "httpapi/x.go", "// An example.\nfunc x() {\n" + strings.Repeat("\n", 59) + "}", "length"},
	{"long file", "httpapi/x.go", strings.Repeat("\n", 500), "length"},
	{"long line", "radius/x.go", "// An example.\nvar x = 1 // " + strings.Repeat("é", 109), "columns"},
	{"long line by its tabs", "radius/x.go", "\t\t\t// " + strings.Repeat("x", 106), "columns"},
	{"long line of a test", "radius/x_test.go", "// " + strings.Repeat("x", 118), "columns"},
	{"many parameters", "radius/x.go", "// An example.\nfunc x(a, b int, c string, d, e, f bool) {}", "parameters"},
	{"many without names", "radius/x.go", "// An example.\nfunc x(int, int, int, int, int, int) {}", "parameters"},
	{"many of a method", "radius/x.go", "// An example.\nfunc (t T) x(a, b, c, d, e int, f ...any) {}", "parameters"},
	{"many of a literal", "radius/x.go", "// An example.\nvar x = func(a, b, c, d, e, f int) {}", "parameters"},
	{"sixth by number", "radius/x.go", "// An example.\nconst x = `values ($1, $2, $3, $4, $5, $6)`", "arguments"},
	{"twelfth by number", "radius/x.go", "// An example.\nconst x = \"where a = $12\"", "arguments"},
	{"alias", "cmd/lastmile/x.go", `import rules "` + Module + `/aggregates/billing"`, "name"},
	{"comment that repeats", "httpapi/x.go", "// limit is the limit.\nconst limit = 1", "words"},
	{"turn of phrase", "httpapi/x.go", "// open tells whether calls are refused.\nvar open bool", "words"},
	{"bare goroutine", "jobs/billing/x.go", "// An example.\nfunc x() {\n\tgo run()\n}", "goroutine"},
	{
		"goroutine of a group", "usecases/billing/x.go",
		"// An example.\nfunc x() {\n\twait.Go(func() { run() })\n}", "goroutine",
	},
	{
		"cleanup of a test of the program", "cmd/lastmile/x_test.go",
		"func TestX(t *testing.T) {\n\tt.Cleanup(stop)\n}", "end",
	},
	{
		"cleanup of its kit", "cmd/lastmile/x_test.go",
		"// An example.\nfunc (k *kit) x() {\n\tk.t.Cleanup(k.stop)\n}", "end",
	},
	{"bare nolint", "httpapi/x.go", "// An example.\nvar x = 1 //nolint", "nolint"},
	{"nolint without reason", "httpapi/x.go", "// An example.\nvar x = 1 //nolint:gosec", "nolint"},
	{"todo", "httpapi/x.go", "// TODO: later", "todo"},
}

func TestCheckFile_FindsEachKindOfViolation(t *testing.T) {
	t.Parallel()
	for _, c := range violations {
		found, err := checkFile(c.file, []byte("package "+nameOf(path.Dir(c.file))+"\n\n"+c.body+"\n"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(found) != 1 || found[0].Rule != c.want {
			t.Errorf("%s: want one %s, have %v", c.name, c.want, found)
		}
	}
}

func TestCheckFile_TheRuleOfAccessIsPure(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"context", pgxModule, Module + "/projections/runner", Module + "/aggregates/subscribers",
	} {
		found, err := checkFile("projections/access/entitlement/x.go",
			[]byte("package entitlement\n\nimport _ \""+name+"\"\n"))
		if err != nil || len(found) != 1 || found[0].Rule != "import" {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}

func TestCheckFile_LetsPassWhatIsRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, body string }{
		{"id uses uuid", "internal/id/x.go", `import _ "github.com/google/uuid"`},
		{"aggregate uses commands", "aggregates/billing/x.go", own("commands")},
		{"test of an aggregate uses bus", "aggregates/billing/x_test.go", own("commands/bus")},
		{"projection uses pgx", "projections/billing/x.go", `import _ "github.com/jackc/pgx/v5/pgtype"`},
		{"projection asks for access", "projections/billing/x.go", own("projections/access/entitlement")},
		{"store uses the client", "eventstore/x.go", `import _ "` + storeModule + `/esdb"`},
		{"cmd wires", "cmd/lastmile/x.go", own("simulators/provider")},
		{"command hides a secret", "commands/x.go", `import _ "log/slog"`},
		{"address in a rule", "aggregates/network/x.go", `import _ "net/netip"`},
		{
			"method of one line", "events/x.go",
			"// An example.\ntype T int\n\nfunc (T) EventType() string { return \"\" }",
		},
		{
			"goroutine that catches panics", "jobs/billing/x.go",
			"// An example.\nfunc x() {\n\twait.Go(func() { _ = loop.Try(run) })\n}",
		},
		{"loop with a name", "jobs/billing/x.go", "// An example.\nfunc x() {\n\tloops.Go(\"numbers\", run)\n}"},
		{"commented group", "httpapi/x.go", "// Numbers.\nconst (\n\ta = 1\n\tb = 2\n)"},
		{"assertion", "httpapi/x.go", "var _ = 1"},
		{"test", "httpapi/x_test.go", "func TestX() {}"},
		{"function of 60 lines", "httpapi/x.go", "// An example.\nfunc x() {\n" + strings.Repeat("\n", 58) + "}"},
		{"line of 120 columns", "radius/x.go", "\t// " + strings.Repeat("é", 113)},
		{"generated line", "radius/x_gen.go", "// " + strings.Repeat("x", 118)},
		{
			"five after ctx", "radius/x.go",
			"// An example.\nfunc x(ctx context.Context, a, b int, c string, d, e bool) {}",
		},
		{"five by number", "radius/x.go", "// An example.\nconst x = `values ($1, $2, $3, $4, $5)`"},
		{"many by name", "radius/x.go", "// An example.\nconst x = `values (@a, @b, @c, @d, @e, @f)`"},
		{"a dollar that is no argument", "radius/x.go", "// An example.\nconst x = `$2a$10$N9qo8uLO`"},
		{"reasoned nolint", "httpapi/x.go", "// An example.\nvar x = 1 //nolint:gosec // constant"},
		{"todo with issue", "httpapi/x.go", "// TODO(#12): later"},
	} {
		found, err := checkFile(c.file, []byte("package "+nameOf(path.Dir(c.file))+"\n\n"+c.body+"\n"))
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v %v", c.name, found, err)
		}
	}
}

func TestCheckSQL_WantsNamesForManyArguments(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{"select $5, @name": 0, "select $1,\n$6": 1} {
		if found, err := checkSQL("projections/x.sql", []byte(body)); err != nil || len(found) != want {
			t.Errorf("%q: %v %v", body, found, err)
		}
	}
}

func TestCheckFile_RefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	if _, err := checkFile("httpapi/x.go", []byte("package")); err == nil {
		t.Error("half a file was passed over")
	}
}

func TestCheckFile_APackageIsNamedByAreaAndLayer(t *testing.T) {
	t.Parallel()
	for file, name := range map[string]string{
		"aggregates/billing/x.go": "billing", "usecases/billing/x.go": "billingcases",
		"projections/billing/x.go": "billingviews", "jobs/billing/x.go": "billingjobs",
		"httpapi/billing/x.go": "billingapi", "jobs/runner/x.go": "jobrunner",
		"processmanagers/billing/invoicing/x.go": "invoicing",
	} {
		for given, wrong := range map[string]int{name: 0, name + "_test": 0, "rules": 1} {
			found, err := checkFile(file, []byte("package "+given+"\n"))
			if err != nil || len(found) != wrong {
				t.Errorf("%s named %s: %v %v", file, given, found, err)
			}
		}
	}
	own := []byte("package main\n\nimport billingviews \"" + Module + "/projections/billing\"\n")
	if found, err := checkFile("cmd/lastmile/x.go", own); err != nil || len(found) > 0 {
		t.Errorf("the package's own name before its import: %v %v", found, err)
	}
}
