package decidertest_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// archive is the command of the invented aggregate of these tests.
type archive struct{ Reason string }

func (archive) CommandName() string     { return "test.Archive" }
func (archive) Target() commands.Target { return commands.At("plan", id.Derive[id.Plan]("test")) }
func (archive) Validate() error         { return nil }

// state is the list of reasons so far.
type state []string

// owner is the organization that every list of reasons belongs to.
var owner = id.Derive[id.Organization]("test")

// unlisted are rules whose definition lists no command.
func unlisted() aggregates.Definition[state, archive, events.PlanArchived] {
	def := rules(pure)
	def.Commands = nil
	return def
}

// rules refuse an empty reason and ignore the last one again. A now that returns different texts makes them impure.
func rules(now func() string) aggregates.Definition[state, archive, events.PlanArchived] {
	return aggregates.Definition[state, archive, events.PlanArchived]{
		Category: "plan", Commands: []archive{{}},
		Missing: func() error { return failure.NewNotFound("reasons_not_found", "") },
		Owner: func(s state) id.Organization {
			if len(s) == 0 {
				return id.Organization{}
			}
			return owner
		},
		Evolve: func(s state, e events.PlanArchived) state { return append(s[:len(s):len(s)], e.Reason) },
		Decide: func(s state, c archive, _ time.Time) ([]events.PlanArchived, error) {
			switch {
			case c.Reason == "":
				return nil, failure.NewConflict("reason_missing", "")
			case len(s) > 0 && s[len(s)-1] == c.Reason:
				return nil, nil
			}
			return []events.PlanArchived{{Reason: c.Reason + now()}}, nil
		},
		Close: func(state) events.PlanArchived { return events.PlanArchived{Reason: "lost"} },
	}
}

// pure adds no text to the reason.
func pure() string { return "" }

func TestScenario_ToldAsItIs(t *testing.T) {
	t.Parallel()
	decidertest.For(t, rules(pure), time.Unix(0, 0)).
		When(archive{}).ThenFails("reason_missing").
		When(archive{"old"}).Then(events.PlanArchived{Reason: "old"}).
		When(archive{"old"}).ThenNothing().
		Given(events.PlanArchived{Reason: "new"}).ThenState(state{"old", "new"}).
		BelongsTo(owner, "reasons_not_found")
}

// fake is the testing.TB of a scenario that should fail: it remembers the failure.
type fake struct {
	testing.TB
	failed bool
}

// stopped is the value of the panic that ends a scenario as Fatalf would.
type stopped struct{}

// Helper does nothing: a fake reports no lines.
func (f *fake) Helper() {}

// Fatalf notes the failure and ends the scenario by a panic.
func (f *fake) Fatalf(string, ...any) {
	f.failed = true
	panic(stopped{})
}

func TestScenario_FindsWhatIsOtherwise(t *testing.T) {
	t.Parallel()
	calls := 0
	impure := func() string { calls++; return string(rune('a' + calls)) }
	for name, tell := range map[string]func(testing.TB){
		"other event":   func(t testing.TB) { start(t).When(archive{"x"}).Then(events.PlanArchived{Reason: "y"}) },
		"no event":      func(t testing.TB) { start(t).When(archive{"x"}).ThenNothing() },
		"no failure":    func(t testing.TB) { start(t).When(archive{"x"}).ThenFails("reason_missing") },
		"other failure": func(t testing.TB) { start(t).When(archive{}).ThenFails("other") },
		"failure":       func(t testing.TB) { start(t).When(archive{}).Then() },
		"no question":   func(t testing.TB) { start(t).Then() },
		"asked before": func(t testing.TB) {
			start(t).When(archive{"x"}).Then(events.PlanArchived{Reason: "x"}).ThenNothing()
		},
		"unlisted":      func(t testing.TB) { decidertest.For(t, unlisted(), time.Time{}).When(archive{"x"}) },
		"other owner":   func(t testing.TB) { start(t).BelongsTo(owner, "reasons_not_found") },
		"other missing": func(t testing.TB) { start(t).BelongsTo(id.Organization{}, "other") },
		"impure":        func(t testing.TB) { decidertest.For(t, rules(impure), time.Time{}).When(archive{"x"}) },
		"lost state":    func(t testing.TB) { start(t).Given(events.PlanArchived{Reason: "x"}).SurvivesClosing() },
	} {
		f := &fake{TB: t}
		func() {
			defer func() {
				if p := recover(); p != nil && p != (stopped{}) {
					panic(p)
				}
			}()
			tell(f)
		}()
		if !f.failed {
			t.Errorf("%s: not found", name)
		}
	}
}

// start begins a scenario with pure rules at the UNIX epoch.
func start(t testing.TB) *decidertest.Scenario[state, archive, events.PlanArchived] {
	return decidertest.For(t, rules(pure), time.Unix(0, 0))
}
