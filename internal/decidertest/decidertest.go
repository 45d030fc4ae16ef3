// Package decidertest states the rules of an aggregate as examples: given these events, when this command, then those
// events, no event, or a failure. It needs no event store.
package decidertest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Scenario is one example, built call by call. The first check that fails ends the test.
type Scenario[S any, C commands.Command, E events.Event] struct {
	t     testing.TB
	def   aggregates.Definition[S, C, E]
	now   time.Time
	state S

	asked   bool
	decided []E
	err     error
}

// For begins an example with an empty stream. now is the time of every decision until At.
func For[S any, C commands.Command, E events.Event](
	t testing.TB, def aggregates.Definition[S, C, E], now time.Time,
) *Scenario[S, C, E] {
	return &Scenario[S, C, E]{t: t, def: def, now: now}
}

// Given applies events to the state. After Then it may be called again, to go on with another When.
func (s *Scenario[S, C, E]) Given(list ...E) *Scenario[S, C, E] {
	s.t.Helper()
	for _, e := range list {
		s.state = s.def.Evolve(s.state, e)
	}
	s.asked, s.decided, s.err = false, nil, nil
	return s
}

// At sets the time of later decisions.
func (s *Scenario[S, C, E]) At(now time.Time) *Scenario[S, C, E] {
	s.now = now
	return s
}

// When decides a command. The command must be valid, meant for the aggregate and listed in its definition, because the
// bus reads stored commands by that list. Deciding must not change the state and must give the same answer twice.
func (s *Scenario[S, C, E]) When(cmd C) *Scenario[S, C, E] {
	s.t.Helper()
	if err := cmd.Validate(); err != nil {
		s.t.Fatalf("%s is not valid: %v", cmd.CommandName(), err)
	}
	if got := cmd.Target().Category; got != s.def.Category {
		s.t.Fatalf("%s is for %q, not for %q", cmd.CommandName(), got, s.def.Category)
	}
	if !slices.ContainsFunc(s.def.Commands, func(c C) bool { return c.CommandName() == cmd.CommandName() }) {
		s.t.Fatalf("the definition does not list %s", cmd.CommandName())
	}
	s.decided, s.err = s.def.Decide(s.state, cmd, s.now)
	again, err := s.def.Decide(s.state, cmd, s.now)
	if diff := cmp.Diff(s.decided, again); diff != "" || failure.CodeOf(err) != failure.CodeOf(s.err) {
		s.t.Fatalf("%s is decided differently the second time: is it pure? (-first +second)\n%s", cmd.CommandName(),
			diff)
	}
	s.asked = true
	return s
}

// Then compares the decided events and applies them to the state.
func (s *Scenario[S, C, E]) Then(want ...E) *Scenario[S, C, E] {
	s.t.Helper()
	s.checkAsked()
	if s.err != nil {
		s.t.Fatalf("want events, have failure: %v", s.err)
	}
	if diff := cmp.Diff(want, s.decided); diff != "" {
		s.t.Fatalf("decided otherwise (-want +have)\n%s", diff)
	}
	return s.happened()
}

// ThenEvents applies the decided events and returns them, for tests that compare only parts.
func (s *Scenario[S, C, E]) ThenEvents() []E {
	s.t.Helper()
	s.checkAsked()
	if s.err != nil {
		s.t.Fatalf("want events, have failure: %v", s.err)
	}
	decided := s.decided
	s.happened()
	return decided
}

// happened applies the decided events and checks that the codec can encode them.
func (s *Scenario[S, C, E]) happened() *Scenario[S, C, E] {
	s.t.Helper()
	drafts := make([]catalog.Draft, len(s.decided))
	for i, e := range s.decided {
		drafts[i] = catalog.Draft{Event: e, Meta: events.Metadata{EventID: id.New[id.Event]()}}
	}
	if _, err := catalog.New(catalog.NewMemoryKeys()).Encode(s.t.Context(), drafts); err != nil {
		s.t.Fatalf("decided event cannot be written: %v", err)
	}
	return s.Given(s.decided...)
}

// ThenNothing wants neither an event nor a failure, as for a command whose effect is there already.
func (s *Scenario[S, C, E]) ThenNothing() *Scenario[S, C, E] {
	s.t.Helper()
	s.checkAsked()
	if s.err != nil || len(s.decided) > 0 {
		s.t.Fatalf("want nothing, have events %+v, failure %v", s.decided, s.err)
	}
	return s
}

// ThenFails wants a failure with this code; its message does not matter.
func (s *Scenario[S, C, E]) ThenFails(code string) *Scenario[S, C, E] {
	s.t.Helper()
	s.checkAsked()
	if got := failure.CodeOf(s.err); got != code || code == "" {
		s.t.Fatalf("want failure %q, have %q (%v), events %+v", code, got, s.err, s.decided)
	}
	return s
}

// ThenState compares the state after all events so far.
func (s *Scenario[S, C, E]) ThenState(want S, opts ...cmp.Option) *Scenario[S, C, E] {
	s.t.Helper()
	if diff := cmp.Diff(want, s.state, opts...); diff != "" {
		s.t.Fatalf("state differs (-want +have)\n%s", diff)
	}
	return s
}

// State is the state after all events so far, for tests that compare only parts.
func (s *Scenario[S, C, E]) State() S { return s.state }

// BelongsTo checks the organization that the state belongs to; zero when nobody owns it. What does not exist belongs to
// nobody, and is refused with the code missing.
func (s *Scenario[S, C, E]) BelongsTo(want id.Organization, missing string) *Scenario[S, C, E] {
	s.t.Helper()
	var none S
	if got := s.def.Owner(s.state); got != want {
		s.t.Fatalf("belongs to %v, want %v", got, want)
	}
	if got := s.def.Owner(none); !got.IsZero() {
		s.t.Fatalf("what does not exist belongs to %v", got)
	}
	if got := failure.CodeOf(s.def.Missing()); got != missing {
		s.t.Fatalf("what does not exist is answered %q, want %q", got, missing)
	}
	return s
}

// SurvivesClosing checks that the last event of a closed period carries the whole state into the next period.
func (s *Scenario[S, C, E]) SurvivesClosing(opts ...cmp.Option) *Scenario[S, C, E] {
	s.t.Helper()
	opened, err := s.def.Reopen(s.def.Close(s.state))
	if err != nil {
		s.t.Fatalf("the period cannot be opened again: %v", err)
	}
	if len(opts) == 0 {
		if !reflect.DeepEqual(s.state, opened) {
			s.t.Fatalf("state is lost when the period closes:\nbefore %+v\nafter  %+v", s.state, opened)
		}
		return s
	}
	if diff := cmp.Diff(s.state, opened, opts...); diff != "" {
		s.t.Fatalf("state is lost when the period closes (-before +after)\n%s", diff)
	}
	return s
}

// checkAsked fails for a Then without a When before it.
func (s *Scenario[S, C, E]) checkAsked() {
	s.t.Helper()
	if !s.asked {
		s.t.Fatalf("Then without When")
	}
}
