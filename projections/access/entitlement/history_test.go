package entitlement_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// told folds events, each with an id of its own, and gives what they lead to with these ids.
func told(list ...events.Event) (entitlement.State, []id.Event) {
	var h entitlement.History
	ids := make([]id.Event, len(list))
	for i, e := range list {
		ids[i] = id.New[id.Event]()
		h.Apply(events.Envelope{ID: ids[i], Event: e})
	}
	return h.State(time.UTC), ids
}

// because is the first reason of a state.
func because(s entitlement.State) entitlement.Reason { return entitlement.Of(s, until).Reasons[0] }

func TestHistory_WhereAllHaveEndedTheLastOneSaysWhy(t *testing.T) {
	t.Parallel()
	first, second := id.New[id.Subscription](), id.New[id.Subscription]()
	life := []events.Event{
		events.SubscriptionCreated{SubscriptionID: first}, events.SubscriptionCreated{SubscriptionID: second},
		events.SubscriptionEnded{SubscriptionID: second, At: starts},
		events.SubscriptionEnded{SubscriptionID: first, At: until},
	}
	one, _ := told(life[:3]...)
	if len(one.Subscriptions) != 1 || one.Subscriptions[0].ID != first {
		t.Errorf("one lives: %+v", one.Subscriptions)
	}
	none, ids := told(life...)
	want := entitlement.Reason{
		Code: entitlement.CodeEnded, Since: until, Of: first,
		Cause: entitlement.Cause{Type: "event", ID: id.Any(ids[3])},
	}
	if diff := cmp.Diff(want, because(none)); diff != "" || len(none.Subscriptions) != 1 {
		t.Errorf("all have ended: %+v (-want +got)\n%s", none.Subscriptions, diff)
	}
}

func TestHistory_APauseNamesItsEventUntilItEnds(t *testing.T) {
	t.Parallel()
	life := []events.Event{
		events.SubscriptionCreated{SubscriptionID: it}, events.SubscriptionPaused{SubscriptionID: it, At: starts},
		events.SubscriptionResumed{SubscriptionID: it, At: starts},
	}
	paused, ids := told(life[:2]...)
	if got := because(paused); got.Code != entitlement.CodePaused || got.Cause.ID != id.Any(ids[1]) {
		t.Errorf("paused: %+v", got)
	}
	resumed, _ := told(life...)
	if !resumed.Subscriptions[0].StandingBy.IsZero() {
		t.Errorf("resumed: %+v", resumed.Subscriptions[0])
	}
}

// TestHistory_AWriteOffThatIsProposedInTheWalledGardenSuspends: the customer has been off since then, also when it is
// not proposed any more.
func TestHistory_AWriteOffThatIsProposedInTheWalledGardenSuspends(t *testing.T) {
	t.Parallel()
	about := events.DunningSubject{SubscriptionID: it}
	at := func(before events.DunningState, at time.Time) events.DunningStep {
		return events.DunningStep{Before: before, At: at}
	}
	life := []events.Event{
		events.SubscriptionCreated{SubscriptionID: it},
		events.SubscriptionActivated{SubscriptionID: it, At: created},
		events.SubscriptionExtended{SubscriptionID: it, PaidUntil: created},
		events.WalledGardenEntered{DunningSubject: about, DunningStep: at(events.DunningReminding, starts)},
		events.WriteOffProposed{DunningSubject: about, DunningStep: at(events.DunningWalledGarden, until)},
		events.DunningReviewed{DunningSubject: about},
		events.ServiceSuspended{
			DunningSubject: about, DunningStep: at(events.DunningWrittenOff, until.Add(time.Hour)),
		},
		events.DunningReviewed{DunningSubject: about},
	}
	for n := 5; n <= len(life); n++ {
		s, ids := told(life[:n]...)
		want := entitlement.Reason{
			Code: entitlement.CodeSuspended, Since: until, Of: it,
			Cause: entitlement.Cause{Type: "event", ID: id.Any(ids[4])},
		}
		if diff := cmp.Diff(want, because(s)); diff != "" {
			t.Errorf("after %T (-want +got)\n%s", life[n-1], diff)
		}
	}
}

// TestHistory_AProposedWriteOffIsNotSinceWhenSomebodyIsSuspended: he has been off since the suspension, also after the
// review that follows each step, and when the write-off is not proposed any more.
func TestHistory_AProposedWriteOffIsNotSinceWhenSomebodyIsSuspended(t *testing.T) {
	t.Parallel()
	about := events.DunningSubject{SubscriptionID: it}
	at := func(at time.Time) events.DunningStep { return events.DunningStep{At: at} }
	life := []events.Event{
		events.SubscriptionCreated{SubscriptionID: it},
		events.SubscriptionActivated{SubscriptionID: it, At: created},
		events.SubscriptionExtended{SubscriptionID: it, PaidUntil: created},
		events.ServiceSuspended{DunningSubject: about, DunningStep: at(starts)},
		events.WriteOffProposed{DunningSubject: about, DunningStep: at(until)},
		events.DunningReviewed{DunningSubject: about},
	}
	s, ids := told(life...)
	want := entitlement.Reason{
		Code: entitlement.CodeSuspended, Since: starts, Of: it,
		Cause: entitlement.Cause{Type: "event", ID: id.Any(ids[3])},
	}
	if diff := cmp.Diff(want, because(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if step := s.Subscriptions[0].Dunning; step.State != events.DunningWrittenOff || !step.Since.Equal(until) {
		t.Errorf("the step of dunning is %+v", step)
	}
	s, ids = told(append(life, events.ServiceSuspended{
		DunningSubject: about,
		DunningStep:    events.DunningStep{Before: events.DunningWrittenOff, At: until.Add(time.Hour)},
	})...)
	want.Cause.ID = id.Any(ids[3])
	if diff := cmp.Diff(want, because(s)); diff != "" {
		t.Errorf("no write-off is proposed any more (-want +got)\n%s", diff)
	}
	if step := s.Subscriptions[0].Dunning; step.State != events.DunningSuspended || !step.Since.Equal(starts) {
		t.Errorf("the step of dunning is %+v", step)
	}
}
