// Package decidertest states the rules of an aggregate as examples: given these events, when this command, then those
// events, none, or a failure. It needs no store.
package decidertest

import (
	"reflect"
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

// Scenario is one example in the making.
type Scenario[S any, C commands.Command, E events.Event] struct {
	t     testing.TB
	def   aggregates.Definition[S, C, E]
	now   time.Time
	state S

	asked   bool
	decided []E
	err     error
}

// For begins an example in which nothing has happened yet.
func For[S any, C commands.Command, E events.Event](
	t testing.TB, def aggregates.Definition[S, C, E], now time.Time,
) *Scenario[S, C, E] {
	return &Scenario[S, C, E]{t: t, def: def, now: now}
}

// Given lets events have happened. It may be called again after Then, to go on from there with another When.
func (s *Scenario[S, C, E]) Given(list ...E) *Scenario[S, C, E] {
	s.t.Helper()
	for _, e := range list {
		s.state = s.def.Evolve(s.state, e)
	}
	s.asked, s.decided, s.err = false, nil, nil
	return s
}

// At moves the time.
func (s *Scenario[S, C, E]) At(now time.Time) *Scenario[S, C, E] {
	s.now = now
	return s
}

// When asks. The command must be valid and meant for the aggregate; deciding must change nothing and give the same
// answer twice.
func (s *Scenario[S, C, E]) When(cmd C) *Scenario[S, C, E] {
	s.t.Helper()
	if err := cmd.Validate(); err != nil {
		s.t.Fatalf("%s is not valid: %v", cmd.CommandName(), err)
	}
	if got := cmd.Target().Category; got != s.def.Category {
		s.t.Fatalf("%s is for %q, not for %q", cmd.CommandName(), got, s.def.Category)
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

// Then compares what was decided, and lets it have happened.
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

// ThenEvents lets what was decided have happened and gives it, for tests that look at parts.
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

// happened applies what was decided and checks that the log could take it.
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

// ThenNothing wants no event and no failure: it is so already.
func (s *Scenario[S, C, E]) ThenNothing() *Scenario[S, C, E] {
	s.t.Helper()
	s.checkAsked()
	if s.err != nil || len(s.decided) > 0 {
		s.t.Fatalf("want nothing, have events %+v, failure %v", s.decided, s.err)
	}
	return s
}

// ThenFails wants a failure with this code.
func (s *Scenario[S, C, E]) ThenFails(code string) *Scenario[S, C, E] {
	s.t.Helper()
	s.checkAsked()
	if got := failure.CodeOf(s.err); got != code || code == "" {
		s.t.Fatalf("want failure %q, have %q (%v), events %+v", code, got, s.err, s.decided)
	}
	return s
}

// ThenState compares the state that everything so far leads to.
func (s *Scenario[S, C, E]) ThenState(want S, opts ...cmp.Option) *Scenario[S, C, E] {
	s.t.Helper()
	if diff := cmp.Diff(want, s.state, opts...); diff != "" {
		s.t.Fatalf("state differs (-want +have)\n%s", diff)
	}
	return s
}

// State is what everything so far leads to.
func (s *Scenario[S, C, E]) State() S { return s.state }

// SurvivesClosing checks that a closed period's last event carries the whole state into the next one.
func (s *Scenario[S, C, E]) SurvivesClosing(opts ...cmp.Option) *Scenario[S, C, E] {
	s.t.Helper()
	var none S
	opened := s.def.Evolve(none, s.def.Close(s.state))
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

// checkAsked finds a Then without a When.
func (s *Scenario[S, C, E]) checkAsked() {
	s.t.Helper()
	if !s.asked {
		s.t.Fatalf("Then without When")
	}
}
