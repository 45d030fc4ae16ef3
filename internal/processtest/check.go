package processtest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// whole compares two values with their unexported fields. An empty list or map equals nil, because JSON does not always
// keep the difference.
var whole = cmp.Options{cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateEmpty()}

// CheckKeys wants every event to belong to the instance with the key, and the list to have an event of every type that
// the process handles.
func CheckKeys[S any](t testing.TB, p processmanagers.Process[S], key string, list ...events.Event) {
	t.Helper()
	missing := map[string]bool{}
	for _, h := range p.On {
		if missing[h.Type] {
			t.Errorf("%s is handled twice", h.Type)
		}
		missing[h.Type] = true
	}
	for _, e := range list {
		if got := p.Key(recorded(e, events.Metadata{})); got != key {
			t.Errorf("%s belongs to %q, not to %q", e.EventType(), got, key)
		}
		delete(missing, e.EventType())
	}
	for name := range missing {
		t.Errorf("no example of %s", name)
	}
}

// instance returns the key of the instance that an input reaches, which must be the instance of the example.
func (s Scenario[S]) instance(in processmanagers.Input) string {
	s.t.Helper()
	if in.Event == nil {
		return s.key
	}
	switch key := s.p.Key(*in.Event); {
	case key == "":
		s.t.Fatalf("%s never reaches the process: it is not handled, or has no key", in.Event.Type)
	case s.key != "" && key != s.key:
		s.t.Fatalf("%s reaches instance %s, not %s of this example", in.Event.Type, key, s.key)
	default:
		return key
	}
	return ""
}

// read decodes the state from its row, as the runner does.
func (s Scenario[S]) read() (state S) {
	s.t.Helper()
	if len(s.state) > 0 {
		if err := json.Unmarshal(s.state, &state); err != nil {
			s.t.Fatalf("the state cannot be read: %v", err)
		}
	}
	return state
}

// write encodes a state for its row. Decoding the row must give the same state.
func (s Scenario[S]) write(state S) []byte {
	s.t.Helper()
	row, err := json.Marshal(state)
	if err != nil {
		s.t.Fatalf("the state cannot be written: %v", err)
	}
	s.state = row
	if diff := cmp.Diff(state, s.read(), whole); diff != "" {
		s.t.Fatalf("the state is not the same after JSON (-before +after)\n%s", diff)
	}
	return row
}

// decide calls Decide twice, compares the answers and checks that the runner could store the output.
func (s Scenario[S]) decide(state S, in processmanagers.Input) (processmanagers.Output, error) {
	s.t.Helper()
	output, err := s.p.Decide(state, in, s.now)
	again, errAgain := s.p.Decide(state, in, s.now)
	if diff := cmp.Diff(output, again, whole); diff != "" || (err == nil) != (errAgain == nil) {
		s.t.Fatalf("Decide gives something else the second time: is it pure? (-first +second)\n%s%v, %v", diff, err,
			errAgain)
	}
	s.checkUntouched("Decide", state)
	if err == nil {
		s.checkOutput(output)
	}
	return output, err
}

// evolve calls Evolve twice and compares the answers.
func (s Scenario[S]) evolve(state S, in processmanagers.Input) S {
	s.t.Helper()
	after, again := s.p.Evolve(state, in), s.p.Evolve(state, in)
	if diff := cmp.Diff(after, again, whole); diff != "" {
		s.t.Fatalf("Evolve gives something else the second time: is it pure? (-first +second)\n%s", diff)
	}
	s.checkUntouched("Evolve", state)
	return after
}

// checkUntouched wants Decide or Evolve, named by who, not to have changed the given state.
func (s Scenario[S]) checkUntouched(who string, state S) {
	s.t.Helper()
	if diff := cmp.Diff(s.read(), state, whole); diff != "" {
		s.t.Fatalf("%s changes the state that it is given (-before +after)\n%s", who, diff)
	}
}

// checkOutput wants an output that the runner can store and carry out.
func (s Scenario[S]) checkOutput(out processmanagers.Output) {
	s.t.Helper()
	for _, c := range out.Commands {
		if err := c.Validate(); err != nil {
			s.t.Fatalf("%s is not valid: %v\n%+v", c.CommandName(), err, c)
		}
		checkRow(s.t, c.CommandName(), c)
	}
	for _, j := range out.Jobs {
		checkRow(s.t, j.Kind(), j)
	}
	timers := map[string]bool{}
	for _, timer := range out.Timers {
		if timer.Name == "" || timers[timer.Name] {
			s.t.Fatalf("timer %q has no name, or is armed twice: %+v", timer.Name, out.Timers)
		}
		timers[timer.Name] = true
	}
}

// checkRow wants a command or a job to be the same after JSON, and its type to have no field for personal text.
func checkRow(t testing.TB, name string, value any) {
	t.Helper()
	kind := reflect.TypeOf(value)
	if personal.HeldBy(kind) {
		t.Fatalf("%s can hold personal text, which must not be in a row", name)
	}
	row, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%s cannot be written: %v", name, err)
	}
	back := reflect.New(kind)
	if err := json.Unmarshal(row, back.Interface()); err != nil {
		t.Fatalf("%s cannot be read: %v", name, err)
	}
	if diff := cmp.Diff(value, back.Elem().Interface(), whole); diff != "" {
		t.Fatalf("%s is not the same after JSON (-before +after)\n%s", name, diff)
	}
}
