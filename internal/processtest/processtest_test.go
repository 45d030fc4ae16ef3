package processtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// The plans of these tests, one process instance each, and the time of every input.
var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	plan  = id.Derive[id.Plan]("test", "plan")
	other = id.Derive[id.Plan]("test", "other plan")
)

// note is the command of the invented process. It is valid when it has a text.
type note struct {
	Text   string
	Hidden string `json:"-"`
}

func (note) CommandName() string     { return "test.Note" }
func (note) Target() commands.Target { return commands.At("plan", plan) }

// Validate refuses an empty text.
func (n note) Validate() error {
	if n.Text == "" {
		return errors.New("no text")
	}
	return nil
}

// call is a command with personal text, which the runner must not store.
type call struct{ Phone personal.Text }

func (call) CommandName() string     { return "test.Call" }
func (call) Target() commands.Target { return commands.At("plan", plan) }
func (call) Validate() error         { return nil }

// ring is the job of the invented process.
type ring struct{ Times int }

func (ring) Kind() string { return "test.ring" }

// whole also compares the unexported field of state.
var whole = cmp.AllowUnexported(state{})

// state counts the inputs of an instance by reason. JSON loses the field lost.
type state struct {
	Reasons map[string]int `json:"reasons,omitempty"`
	Over    bool           `json:"over,omitempty"`
	lost    bool
}

// archived makes an event; the invented process does what the reason says.
func archived(reason string) events.PlanArchived {
	return events.PlanArchived{PlanID: plan, Reason: reason}
}

// process reacts to archived plans. chance returns the number of a job, so a changing chance makes the process impure.
func process(chance func() int) processmanagers.Process[state] {
	return processmanagers.Process[state]{
		Name: "test",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.PlanArchived) string { return e.PlanID.String() }),
		},
		Decide: func(s state, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
			return decide(s, in, now, chance)
		},
		Evolve: evolve,
		Ended:  func(s state) bool { return s.Over },
	}
}

// decide does what the reason of an event says, and rings when a timer is due.
func decide(
	s state, in processmanagers.Input, now time.Time, chance func() int,
) (out processmanagers.Output, err error) {
	switch {
	case in.Timeout != nil:
		out.Jobs = []commands.Job{ring{s.Reasons["note"]}}
	case in.Refusal != nil:
		out.Commands = []commands.Command{note{Text: in.Refusal.Code}}
	}
	if in.Event == nil {
		return out, nil
	}
	e, _ := in.Event.Event.(events.PlanArchived)
	switch e.Reason {
	case "note":
		out.Commands = []commands.Command{note{Text: "seen"}}
		out.Timers = []processmanagers.Timer{{Name: "later", At: now.Add(time.Hour)}}
	case "empty note":
		out.Commands = []commands.Command{note{}}
	case "hidden note":
		out.Commands = []commands.Command{note{Text: "seen", Hidden: "lost in JSON"}}
	case "call":
		out.Commands = []commands.Command{call{}}
	case "chance":
		out.Jobs = []commands.Job{ring{chance()}}
	case "two timers":
		out.Timers = []processmanagers.Timer{{Name: "later"}, {Name: "later", At: now}}
	case "change in Decide":
		s.Reasons["note"] = 7
	case "stop":
		err = errors.New("poison")
	}
	return out, err
}

// evolve counts the reasons; some reasons make it break the rules of a process.
func evolve(s state, in processmanagers.Input) state {
	if in.Event == nil {
		return s
	}
	e, _ := in.Event.Event.(events.PlanArchived)
	seen := map[string]int{e.Reason: 1}
	for reason, times := range s.Reasons {
		seen[reason] += times
	}
	if e.Reason == "change in Evolve" {
		s.Reasons["note"]++
	}
	return state{Reasons: seen, Over: e.Reason == "over", lost: e.Reason == "field lost"}
}

// pure always returns the same number, unlike chance.
func pure() int { return 1 }

// start begins an example of the pure process without events.
func start(t testing.TB) processtest.Scenario[state] { return processtest.For(t, process(pure), now) }

func TestScenario_ToldAsItIs(t *testing.T) {
	t.Parallel()
	noted := start(t).Given(archived("note"))
	start(t).When(archived("note")).Then(processmanagers.Output{
		Commands: []commands.Command{note{Text: "seen"}},
		Timers:   []processmanagers.Timer{{Name: "later", At: now.Add(time.Hour)}},
	}).ThenState(state{Reasons: map[string]int{"note": 1}}, whole).ThenGoesOn()
	noted.Given(archived("note")).WhenDue("later", now).
		Then(processmanagers.Output{Jobs: []commands.Job{ring{2}}})
	noted.WhenDue("later", now).Then(processmanagers.Output{Jobs: []commands.Job{ring{1}}})
	noted.WhenRefused(note{}, "no").
		Then(processmanagers.Output{Commands: []commands.Command{note{Text: "no"}}})
	noted.At(now.Add(time.Minute)).When(archived("quiet")).ThenNothing()
	noted.When(archived("stop")).ThenStops()
}

func TestScenario_AnEndedInstanceBeginsAnew(t *testing.T) {
	t.Parallel()
	start(t).Given(archived("note")).When(archived("over")).ThenEnded().
		WhenDue("later", now).Then(processmanagers.Output{Jobs: []commands.Job{ring{0}}})
}

// fake is the testing.TB of an example that should fail: it remembers the failure.
type fake struct {
	testing.TB
	failed bool
}

// stopped is the value of the panic that ends an example as Fatalf would.
type stopped struct{}

// Helper does nothing: a fake reports no lines.
func (f *fake) Helper() {}

// Errorf notes the failure; the example goes on.
func (f *fake) Errorf(string, ...any) { f.failed = true }

// Fatalf notes the failure and ends the example by a panic.
func (f *fake) Fatalf(string, ...any) {
	f.failed = true
	panic(stopped{})
}

// finds reports whether an example fails, by Errorf or Fatalf.
func finds(t *testing.T, tell func(testing.TB)) bool {
	f := &fake{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != (stopped{}) {
				panic(p)
			}
		}()
		tell(f)
	}()
	return f.failed
}

// when begins an example with a first event "note" and a second one with the given reason.
func when(t testing.TB, reason string) processtest.Scenario[state] {
	return start(t).Given(archived("note")).When(archived(reason))
}

func TestScenario_FindsWhatIsOtherwise(t *testing.T) {
	t.Parallel()
	calls := 0
	chance := func() int { calls++; return calls }
	for name, tell := range map[string]func(testing.TB){
		"other output":   func(t testing.TB) { when(t, "note").Then(processmanagers.Output{}) },
		"no output":      func(t testing.TB) { when(t, "quiet").Then(when(t, "note").Output()) },
		"output":         func(t testing.TB) { when(t, "note").ThenNothing() },
		"no stop":        func(t testing.TB) { when(t, "note").ThenStops() },
		"stop":           func(t testing.TB) { when(t, "stop").ThenNothing() },
		"on after stop":  func(t testing.TB) { when(t, "stop").Given(archived("note")) },
		"other state":    func(t testing.TB) { when(t, "note").ThenState(state{}, whole) },
		"end":            func(t testing.TB) { when(t, "over").ThenGoesOn() },
		"no end":         func(t testing.TB) { when(t, "note").ThenEnded() },
		"no input":       func(t testing.TB) { start(t).ThenNothing() },
		"other instance": func(t testing.TB) { start(t).Given(archived("note"), events.PlanArchived{PlanID: other}) },
		"no instance":    func(t testing.TB) { start(t).Given(events.PlanArchived{}) },
		"not handled":    func(t testing.TB) { start(t).Given(events.PlanRevised{PlanID: plan}) },
		"invalid":        func(t testing.TB) { when(t, "empty note") },
		"lost in a row":  func(t testing.TB) { when(t, "hidden note") },
		"personal":       func(t testing.TB) { when(t, "call") },
		"two timers":     func(t testing.TB) { when(t, "two timers") },
		"lost state":     func(t testing.TB) { when(t, "field lost") },
		"impure Decide":  func(t testing.TB) { processtest.For(t, process(chance), now).Given(archived("chance")) },
		"Decide changes": func(t testing.TB) { when(t, "change in Decide") },
		"Evolve changes": func(t testing.TB) { when(t, "change in Evolve") },
		"no example":     func(t testing.TB) { processtest.CheckKeys(t, process(pure), plan.String()) },
		"other key": func(t testing.TB) {
			processtest.CheckKeys(t, process(pure), other.String(), archived("note"))
		},
	} {
		if !finds(t, tell) {
			t.Errorf("%s: not found", name)
		}
	}
	processtest.CheckKeys(t, process(pure), plan.String(), archived("note"))
}
