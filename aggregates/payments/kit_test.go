package payments_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// now is the instant of every decision in these tests.
var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// Ids of these tests; other is a second organization.
var (
	org     = id.Must[id.Organization]("0195a000-0000-7000-8000-000000000001")
	other   = id.Must[id.Organization]("0195a000-0000-7000-8000-000000000002")
	sub     = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000011")
	sub2    = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000012")
	invoice = id.Must[id.Invoice]("0195a000-0000-7000-8000-000000000021")
	attempt = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000031")
)

// kes is an amount in whole shillings.
func kes(units int64) money.Amount { return money.Major(units, money.KES) }

// story folds events into a state, decides a command and compares the result.
type story[S any, C any, E events.Event] struct {
	t      *testing.T
	evolve func(S, E) S
	decide func(S, C, time.Time) ([]E, error)
	state  S
	now    time.Time
	made   []E
	err    error
}

// given folds events into the state.
func (s *story[S, C, E]) given(es ...E) *story[S, C, E] {
	for _, e := range es {
		s.state = s.evolve(s.state, e)
	}
	return s
}

// at sets the clock of the following decisions.
func (s *story[S, C, E]) at(now time.Time) *story[S, C, E] { s.now = now; return s }

// when decides, and folds the events, so that a story can continue.
func (s *story[S, C, E]) when(c C) *story[S, C, E] {
	s.made, s.err = s.decide(s.state, c, s.now)
	return s.given(s.made...)
}

// then compares the events of the last decision.
func (s *story[S, C, E]) then(want ...E) *story[S, C, E] {
	s.t.Helper()
	if s.err != nil {
		s.t.Fatalf("refused: %v", s.err)
	}
	if diff := cmp.Diff(want, s.made); diff != "" {
		s.t.Fatalf("events (-want +got):\n%s", diff)
	}
	return s
}

// thenNothing expects no events: the state was already as asked.
func (s *story[S, C, E]) thenNothing() *story[S, C, E] { s.t.Helper(); return s.then() }

// thenFails expects a refusal with this code.
func (s *story[S, C, E]) thenFails(code string) *story[S, C, E] {
	s.t.Helper()
	if s.err == nil || failure.CodeOf(s.err) != code {
		s.t.Fatalf("want refusal %s, have %v and %v", code, s.err, s.made)
	}
	return s
}
