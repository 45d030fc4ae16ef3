package processmanagers_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// The ids in the events of these tests.
var (
	plan = id.Derive[id.Plan]("test", "plan")
	org  = id.Derive[id.Organization]("test", "org")
)

// counting counts its inputs: archived plans by plan, and revised ones by the organization of the metadata.
func counting() processmanagers.Process[int] {
	return processmanagers.Process[int]{
		Name: "counting",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.PlanArchived) string { return e.PlanID.String() }),
			{
				Type: events.PlanRevised{}.EventType(),
				Key:  func(e events.Envelope) string { return e.Meta.OrgID.String() },
			},
		},
		Decide: func(int, processmanagers.Input, time.Time) (processmanagers.Output, error) {
			return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "again"}}}, nil
		},
		Evolve: func(n int, _ processmanagers.Input) int { return n + 1 },
		Ended:  func(n int) bool { return n == 2 },
	}
}

func TestKey_IsThatOfTheTypeOrNone(t *testing.T) {
	t.Parallel()
	p := counting()
	for want, e := range map[string]events.Envelope{
		plan.String(): {Event: events.PlanArchived{PlanID: plan}},
		org.String():  {Event: events.PlanRevised{PlanID: plan}, Meta: events.Metadata{OrgID: org}},
		"":            {Event: events.PlanCreated{PlanID: plan}, Meta: events.Metadata{OrgID: org}},
	} {
		if got := p.Key(e); got != want {
			t.Errorf("%s has key %q, want %q", e.Event.EventType(), got, want)
		}
	}
	if got := p.Key(events.Envelope{Event: events.PlanArchived{}}); got != "" {
		t.Errorf("an event without an id has key %q", got)
	}
}

func TestErased_StepsOverStatesAsJSON(t *testing.T) {
	t.Parallel()
	def := counting().Erase()
	want := []string{events.PlanArchived{}.EventType(), events.PlanRevised{}.EventType()}
	if diff := cmp.Diff(want, def.Types); diff != "" || def.Name != "counting" {
		t.Errorf("%s (-want +have)\n%s", def.Name, diff)
	}
	first, err := def.Step(&processmanagers.Stored{}, processmanagers.Input{}, time.Time{})
	if err != nil || string(first.State) != "1" || first.Ended || len(first.Output.Timers) != 1 {
		t.Errorf("first: %+v, %v", first, err)
	}
	second, err := def.Step(&processmanagers.Stored{JSON: first.State}, processmanagers.Input{}, time.Time{})
	if err != nil || string(second.State) != "2" || !second.Ended {
		t.Errorf("second: %+v, %v", second, err)
	}
	wrong := processmanagers.Stored{JSON: []byte("no number")}
	if _, err := def.Step(&wrong, processmanagers.Input{}, time.Time{}); err == nil {
		t.Error("a state that cannot be read was taken")
	}
}

func TestErased_KnowsKeysAndEventsThatBeginNoInstance(t *testing.T) {
	t.Parallel()
	p := counting()
	p.On = append(p.On, processmanagers.Follow(func(e events.PlanCreated) string { return e.PlanID.String() }))
	def := p.Erase()
	for _, e := range []events.Event{events.PlanCreated{PlanID: plan}, events.PlanArchived{PlanID: plan}} {
		if got := def.Key(events.Envelope{Event: e}); got != plan.String() {
			t.Errorf("%s has key %q, want %q", e.EventType(), got, plan)
		}
	}
	for event, want := range map[string]bool{
		events.PlanCreated{}.EventType(): true, events.PlanArchived{}.EventType(): false,
		events.SessionEnded{}.EventType(): false,
	} {
		if got := def.Follows(event); got != want {
			t.Errorf("%s only follows others: %t, want %t", event, got, want)
		}
	}
}

func TestErased_KnowsWhichEventsBeginBriefInstances(t *testing.T) {
	t.Parallel()
	p := counting()
	p.On = append(p.On, processmanagers.Brief(func(e events.PlanCreated) string { return e.PlanID.String() },
		func(e events.PlanCreated) bool { return e.PlanID == plan }))
	def := p.Erase()
	for want, e := range map[bool]events.Event{true: events.PlanCreated{PlanID: plan}, false: events.PlanCreated{}} {
		if got := def.Brief(events.Envelope{Event: e}); got != want {
			t.Errorf("%+v is brief: %t, want %t", e, got, want)
		}
	}
	if def.Brief(events.Envelope{Event: events.PlanArchived{PlanID: plan}}) {
		t.Error("every event is brief")
	}
}

func TestErased_WithoutAnEndGoesOnForEver(t *testing.T) {
	t.Parallel()
	p := counting()
	p.Ended = nil
	state := processmanagers.Stored{JSON: []byte("1")}
	if step, err := p.Erase().Step(&state, processmanagers.Input{}, time.Time{}); err != nil || step.Ended {
		t.Errorf("%+v, %v", step, err)
	}
}

func TestErased_GivesTheErrorOfAStepAndNothingElse(t *testing.T) {
	t.Parallel()
	wrong := errors.New("it cannot be decided")
	p := counting()
	p.Decide = func(int, processmanagers.Input, time.Time) (processmanagers.Output, error) {
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "half done"}}}, wrong
	}
	var anew processmanagers.Stored
	if step, err := p.Erase().Step(&anew, processmanagers.Input{}, time.Time{}); !errors.Is(err, wrong) ||
		step.State != nil || step.Output.Timers != nil {
		t.Errorf("%+v, %v", step, err)
	}
	unwritable := processmanagers.Process[float64]{
		Decide: func(float64, processmanagers.Input, time.Time) (out processmanagers.Output, err error) { return },
		Evolve: func(float64, processmanagers.Input) float64 { return math.NaN() },
	}
	if step, err := unwritable.Erase().Step(&anew, processmanagers.Input{}, time.Time{}); err == nil {
		t.Errorf("a state that cannot be stored became %q", step.State)
	}
}

func TestErased_ReadsAStateOnceForAllItsSteps(t *testing.T) {
	t.Parallel()
	def := counting().Erase()
	state := processmanagers.Stored{JSON: []byte("1")}
	for _, body := range []string{"1", "no number"} {
		state.JSON = []byte(body)
		step, err := def.Step(&state, processmanagers.Input{}, time.Time{})
		if err != nil || string(step.State) != "2" {
			t.Errorf("%+v, %v", step, err)
		}
	}
}
