package archtest

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// leaves are the innermost packages, which every package may import (docs/rules/engineering.md#layers).
var leaves = []string{
	"internal/money", "internal/calendar", "internal/id", "internal/failure", "internal/clock", "internal/personal",
	"internal/loginname",
	"internal/inputtext",
}

// kits are test kits. Outside of tests only other kits import them. They may import the packages that they test.
var kits = []string{
	"internal/archtest", "internal/coretest", "internal/decidertest", "internal/processtest", "internal/storetest",
	"internal/exampletest", "internal/benchtest", "internal/postgres/pgtest/...", "internal/deps",
	"internal/paper/papertest",
	"eventstore/contract/...", "eventstore/feed/feedtest", "projections/runner/projectiontest", "httpapi/apitest/...",
}

// Third-party modules that several rules name.
const (
	uuidModule      = "github.com/google/uuid"
	pgxModule       = "github.com/jackc/pgx/v5"
	watermillModule = "github.com/ThreeDotsLabs/watermill"
	storeModule     = "github.com/EventStore/EventStore-Client-Go/v4"
	normModule      = "golang.org/x/text/unicode/norm"
)

// impure are the packages of the standard library that a pure layer must not import, with everything below them.
var impure = []string{
	"context", "os", "io", "net", "log", "database", "math/rand", "crypto/rand", "syscall", "bufio", "embed", "runtime",
	"sync", "unsafe", "plugin", "testing",
}

// pureAfterAll are packages below the impure ones that only parse text or have types. Pure layers may import them.
var pureAfterAll = []string{"io/fs", "net/mail", "net/netip", "net/url"}

// valuer is needed by types with secrets, to hide them from logs. Vocabularies may import it, rules may not.
var valuer = []string{"log/slog"}

// layer says what one kind of package may import. A pattern that ends in "/..." matches the folder and everything
// below; "*" matches one folder.
type layer struct {
	folders []string // patterns of the packages in the layer
	own     []string // patterns of packages of the module that it may import
	never   []string // exceptions from own
	foreign []string // modules that it may import; nil = any
	pure    bool     // nothing impure of the standard library
	but     []string // exceptions from pure
}

// layers are tried in order; the first one with a matching folder counts. A package without a layer is a violation.
var layers = []layer{
	{folders: []string{"internal/id"}, foreign: []string{uuidModule}},
	{folders: []string{"internal/loginname"}, foreign: []string{normModule}},
	{folders: leaves, foreign: []string{}},
	{folders: kits, own: []string{"..."}},
	{folders: []string{"scripts/..."}, foreign: []string{}},
	{folders: []string{"internal/..."}, own: []string{"internal/..."}, never: kits},
	{folders: []string{"events"}, own: leaves, foreign: []string{uuidModule}, pure: true, but: valuer},
	{folders: []string{"events/catalog"}, own: with(leaves, "events"), foreign: []string{uuidModule}},
	{
		folders: []string{"commands"}, own: with(leaves, "events"), foreign: []string{uuidModule}, pure: true,
		but: valuer,
	},
	{
		folders: []string{"commands/bus"},
		own:     []string{"internal/...", "events", "events/catalog", "commands", "aggregates", "eventstore"},
		never:   kits,
	},
	{
		folders: []string{"aggregates", "aggregates/*", "aggregates/network/routerplan"}, pure: true,
		own:     with(leaves, "events", "commands", "aggregates", "aggregates/access/course"),
		foreign: []string{uuidModule},
	},
	{ // one rule for the aggregate that acts and the preview
		folders: []string{"aggregates/access/course"}, pure: true, own: with(leaves, "events"), foreign: []string{},
	},
	{
		folders: []string{"processmanagers/runner"}, never: kits,
		own: []string{
			"internal/...", "events", "events/catalog", "commands", "commands/bus", "eventstore", "eventstore/feed",
			"processmanagers", "jobs", "jobs/runner",
		},
	},
	{
		folders: []string{"processmanagers", "processmanagers/*/*"},
		own:     with(leaves, "events", "commands", "processmanagers", "aggregates/access/course"),
		foreign: []string{uuidModule}, pure: true,
	},
	{
		folders: []string{"projections/runner"},
		own:     []string{"internal/...", "events", "events/catalog", "eventstore", "eventstore/feed"}, never: kits,
	},
	{
		folders: []string{"projections/outbox"}, own: []string{"internal/...", "events", "projections/runner"},
		never: kits, foreign: []string{pgxModule, uuidModule, watermillModule},
	},
	{ // one rule for all packages that show, use or enforce access
		folders: []string{"projections/access/entitlement"}, own: with(leaves, "events"), foreign: []string{},
		pure: true,
	},
	{
		folders: []string{"projections/*"}, never: kits, foreign: []string{pgxModule, uuidModule},
		own: []string{"internal/...", "events", "projections/runner", "projections/access/entitlement"},
	},
	{
		folders: []string{"eventstore"},
		own:     with(leaves, "internal/loop", "events", "events/catalog", "eventstore/hotcodec"),
	},
	{folders: []string{"eventstore/hotcodec"}}, // the protocol alone
	{
		folders: []string{"eventstore/feed"},
		own:     with(leaves, "internal/loop", "events", "events/catalog", "eventstore"),
	},
	{
		folders: []string{"eventstore/..."}, never: kits,
		own: []string{"internal/...", "eventstore/embedded/...", "eventstore/hotcodec"},
	},
	{folders: []string{"jobs"}, own: with(leaves, "events", "commands"), foreign: []string{uuidModule}, pure: true},
	{
		folders: []string{"jobs/runner"}, own: []string{"internal/...", "events", "commands", "commands/bus", "jobs"},
		never: kits,
	},
	{ // what a router should have is decided by pure rules; a job compares and carries out
		folders: []string{"jobs/network"}, never: kits,
		own: []string{
			"internal/...", "events", "commands", "commands/bus", "gateways/...", "projections/...", "jobs",
			"jobs/runner", "aggregates/network/...",
		},
	},
	{ // what a session should have is in the directory that answers sign-ins; a job compares and carries out
		folders: []string{"jobs/access"}, never: kits,
		own: []string{
			"internal/...", "events", "commands", "commands/bus", "gateways/...", "projections/...", "jobs",
			"jobs/runner", "aggregates/access", "aggregates/network", "aggregates/network/routerplan", "radius",
			"radius/coa", "radius/directory",
		},
	},
	{ // the pure rules say whether a sighting contradicts its receipt, and which account has the money
		folders: []string{"jobs/payments"}, never: kits,
		own: []string{
			"internal/...", "events", "commands", "commands/bus", "gateways/...", "projections/...", "jobs",
			"jobs/runner", "aggregates/payments", "aggregates/billing",
		},
	},
	{
		folders: []string{"jobs/*"}, never: kits,
		own: []string{
			"internal/...", "events", "commands", "commands/bus", "gateways/...", "projections/...", "jobs",
			"jobs/runner",
		},
	},
	{folders: []string{"gateways/..."}, own: []string{"internal/...", "gateways/breaker"}, never: kits},
	{folders: []string{"docs"}, own: []string{}, foreign: []string{}},
	{ // the core of the HTTP API imports no area
		folders: []string{"httpapi"}, never: kits,
		own: []string{"internal/...", "events", "commands", "commands/bus", "projections/runner", "usecases", "docs"},
	},
	{ // who may sign in, in memory: the one place that knows both the protocol and the customers
		folders: []string{"radius/directory"}, never: kits,
		own: []string{"internal/...", "events", "projections/access/entitlement", "radius"},
	},
	{ // between the server and the tables of telemetry
		folders: []string{"radius/accounting"}, own: []string{"internal/...", "radius"}, never: kits,
	},
	{ // endpoints of an area import the core and use cases, not other areas
		folders: []string{"httpapi/*", "radius/..."}, never: kits,
		own: []string{
			"internal/...", "events", "commands", "commands/bus", "projections/...", "usecases", "usecases/*",
			"httpapi",
		},
	},
	{ // the books fold what several kinds of aggregates claim, so they know the form of a definition
		folders: []string{"usecases/books"}, never: kits, foreign: []string{uuidModule},
		own: []string{"internal/...", "events", "commands", "aggregates", "aggregates/*"},
	},
	{ // several commands and reads in one function, without HTTP
		folders: []string{"usecases", "usecases/*"}, never: kits,
		own: []string{
			"internal/...", "events", "commands", "commands/bus", "aggregates/*", "aggregates/network/routerplan",
			"aggregates/access/course", "projections/...", "usecases",
		},
	},
	{folders: []string{"simulators/..."}, own: []string{"internal/...", "simulators/..."}, never: kits},
	{folders: []string{"web"}, own: []string{"internal/failure", "httpapi"}, never: kits}, // the pages talk to the API
	{folders: []string{"cmd/..."}, own: []string{"..."}, never: kits},
}

// with returns a new list and leaves the given one unchanged.
func with(list []string, more ...string) []string { return append(slices.Clone(list), more...) }

// checkImports compares the imports of a file with its layer. A test may import any package that it needs, but only
// tests of the store may import the store's client.
func checkImports(s *source) []Violation {
	at := slices.IndexFunc(layers, func(l layer) bool { return matchesAny(l.folders, s.dir) })
	if at < 0 {
		return []Violation{s.at(s.tree.Package, "layer", "folder %q is in no layer of internal/archtest", s.dir)}
	}
	var found []Violation
	for _, spec := range s.tree.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser refuses such a path
		}
		if reason := forbidden(s, layers[at], name); reason != "" {
			found = append(found, s.at(spec.Pos(), "import", "%s: %s", name, reason))
		}
	}
	return found
}

// forbidden returns the reason why a file must not import a package, "" when it may.
func forbidden(s *source, l layer, name string) string {
	own, isOwn := strings.CutPrefix(name, Module+"/")
	switch {
	case below(name, storeModule) && !strings.HasPrefix(s.dir, "eventstore") && s.dir != "internal/deps":
		return "only eventstore uses the client"
	case isOwn && strings.HasPrefix(own, "cmd/") && !strings.HasPrefix(s.dir, "cmd/"):
		return "nothing imports cmd"
	case s.test:
		return ""
	case isOwn && strings.HasPrefix(own, "simulators/") && !matchesAny(with(kits, "cmd/...", "simulators/..."), s.dir):
		return "simulators are for tests and cmd"
	case isOwn && (own == s.dir || matchesAny(l.own, own) && !matchesAny(l.never, own)):
		return ""
	case isOwn && sameArea(s.dir, own) && !matchesAny(l.never, own):
		return ""
	case isOwn:
		return "this layer must not import that package"
	case isStandard(name):
		if l.pure && slices.ContainsFunc(impure, func(i string) bool { return below(name, i) }) &&
			!slices.Contains(with(pureAfterAll, l.but...), name) {
			return "this layer is pure"
		}
		return ""
	case l.foreign != nil && !slices.ContainsFunc(l.foreign, func(m string) bool { return below(name, m) }):
		return "this layer must not import that module"
	}
	return ""
}

// sameArea reports whether a package lies below the folder itself, such as its own fixtures.
func sameArea(dir, own string) bool { return dir != "" && strings.HasPrefix(own, dir+"/") }

// isStandard reports whether a path is of the standard library: its first part has no dot.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

// below reports whether a path is the parent or lies below it.
func below(name, parent string) bool { return name == parent || strings.HasPrefix(name, parent+"/") }

// matchesAny reports whether a folder matches one of the patterns.
func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}

// matches compares one pattern. "..." matches every folder, and a malformed pattern none.
func matches(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if parent, all := strings.CutSuffix(pattern, "/..."); all {
		return below(dir, parent)
	}
	ok, err := path.Match(pattern, dir)
	return ok && err == nil
}
