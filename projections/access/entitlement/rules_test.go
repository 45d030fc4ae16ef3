package entitlement_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// access compares services by their access alone.
var access = cmpopts.IgnoreFields(entitlement.Service{}, "Decided", "Rate")

// step is the event that recorded a step of dunning or a used cap.
var step = id.New[id.Event]()

// night is a plan's faster hours on all days, over midnight.
var night = events.ScheduleWindow{
	Days: []time.Weekday{0, 1, 2, 3, 4, 5, 6}, From: 22 * 60, To: 6 * 60, Speed: events.Speed{Down: 40_000, Up: 20_000},
}

// more draws what dunning, a cap and the hours of the plan add.
func more(t *rapid.T, s *entitlement.Subscription) {
	s.Rates = events.Rates{Down: 10_000, Up: 5_000}
	if rapid.Bool().Draw(t, "dunned") {
		s.Dunning = &entitlement.Dunning{
			State: rapid.SampledFrom([]events.DunningState{
				events.DunningReminding, events.DunningWalledGarden, events.DunningSuspended, events.DunningWrittenOff,
			}).Draw(t, "dunning"),
			Since: instants(t, "dunning since"), EventID: step,
		}
	}
	if rapid.Bool().Draw(t, "capped") {
		s.Terms.Cap = events.Cap{
			Bytes: 1, Period: "day", Throttle: events.Speed{Down: 1_000, Up: 1_000},
			Then: rapid.SampledFrom([]events.CapAct{events.CapThrottle, events.CapStop}).Draw(t, "then"),
		}
		s.Used = &entitlement.CapUse{Since: instants(t, "used"), EventID: step, Until: instants(t, "resets")}
	}
	if rapid.Bool().Draw(t, "scheduled") {
		w := night
		w.From, w.To = rapid.IntRange(0, 1439).Draw(t, "from"), rapid.IntRange(0, 1440).Draw(t, "to")
		s.Terms.Schedule = []events.ScheduleWindow{w}
		s.Zone = time.FixedZone("EAT", 3*3600)
	}
}

// dunned is a subscription in a step of dunning.
func dunned(mode events.BillingMode, state events.DunningState) entitlement.Subscription {
	return subscription(func(s *entitlement.Subscription) {
		s.Mode, s.Rates = mode, events.Rates{Down: 10_000, Up: 1_500}
		s.Dunning = &entitlement.Dunning{State: state, Since: starts, EventID: step}
	})
}

func TestOf_AfterThePaidTimeDunningDecides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode  events.BillingMode
		state events.DunningState
		at    time.Time
		may   entitlement.Access
		code  entitlement.Code
	}{
		"reminded, paid": {
			events.Prepaid, events.DunningReminding, starts, entitlement.Full, entitlement.CodePaid,
		},
		"paid, cut before": {
			events.Prepaid, events.DunningSuspended, starts, entitlement.Full, entitlement.CodePaid,
		},
		"nothing recorded": {events.Prepaid, events.DunningNone, until, entitlement.None, entitlement.CodeExpired},
		"grace": {
			events.Prepaid, events.DunningReminding, until, entitlement.Full, entitlement.CodeGrace,
		},
		"garden": {
			events.Prepaid, events.DunningWalledGarden, until, entitlement.WalledGarden, entitlement.CodeOverdue,
		},
		"suspended": {
			events.Prepaid, events.DunningSuspended, until, entitlement.None, entitlement.CodeSuspended,
		},
		"postpaid, reminded": {
			events.Postpaid, events.DunningReminding, until, entitlement.Full, entitlement.CodePostpaid,
		},
		"postpaid, garden": {
			events.Postpaid, events.DunningWalledGarden, starts, entitlement.WalledGarden, entitlement.CodeOverdue,
		},
		"postpaid, suspended": {
			events.Postpaid, events.DunningSuspended, starts, entitlement.None, entitlement.CodeSuspended,
		},
		"postpaid, long since": {
			events.Postpaid, events.DunningWrittenOff, starts, entitlement.None, entitlement.CodeSuspended,
		},
	} {
		s := dunned(c.mode, c.state)
		got := entitlement.Of(entitlement.State{Subscriptions: []entitlement.Subscription{s}}, c.at).Services[0]
		if got.Access != c.may || got.Decided.Code != c.code {
			t.Errorf("%s: %s because of %s", name, got.Access, got.Decided.Code)
		}
	}
}

// TestOf_AStepThatIsAboutToBeRecordedHasBegun: a grace, and the walled garden of a policy without grace, so that the
// customer can pay there. What dunning would suspend at once, as plans by hour and day, ends with its time.
func TestOf_AStepThatIsAboutToBeRecordedHasBegun(t *testing.T) {
	t.Parallel()
	for next, want := range map[events.DunningState]entitlement.Reason{
		events.DunningReminding:    {Code: entitlement.CodeGrace, Allows: entitlement.Full},
		events.DunningWalledGarden: {Code: entitlement.CodeOverdue, Allows: entitlement.WalledGarden},
		events.DunningSuspended:    {Code: entitlement.CodeExpired, Allows: entitlement.None},
		"":                         {Code: entitlement.CodeExpired, Allows: entitlement.None},
	} {
		s := dunned(events.Prepaid, events.DunningNone)
		s.OpenInvoice = invoice
		for _, at := range []time.Time{until, until.Add(-time.Hour), until.Add(time.Hour)} { // of what was paid before
			s.Dunning = &entitlement.Dunning{NextState: next, Next: at}
			got := entitlement.Of(entitlement.State{Subscriptions: []entitlement.Subscription{s}}, until)
			want.Since, want.Of, want.Cause = until, s.ID, entitlement.Cause{Type: "invoice", ID: id.Any(invoice)}
			if diff := cmp.Diff([]entitlement.Reason{want}, got.Reasons); diff != "" || got.Access != want.Allows {
				t.Errorf("%q is expected at %v (-want +got):\n%s", next, at, diff)
			}
		}
	}
}

func TestRate_HoursReplaceItCapAndGardenLowerIt(t *testing.T) {
	t.Parallel()
	burst := events.Burst{Down: 20_000, Up: 3_000, ThresholdDown: 8_000, ThresholdUp: 1_000, Seconds: 10}
	day := time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC)
	late := time.Date(2026, 2, 10, 19, 30, 0, 0, time.UTC) // 22:30 in Nairobi
	plan := subscription(func(s *entitlement.Subscription) {
		s.Rates, s.Terms.Burst, s.Zone = events.Rates{Down: 10_000, Up: 1_500}, burst, time.FixedZone("EAT", 3*3600)
		s.Terms.Schedule = []events.ScheduleWindow{night}
		s.Terms.Cap = events.Cap{Then: events.CapThrottle, Throttle: events.Speed{Down: 1_000, Up: 2_000}}
	})
	used := plan
	used.Used = &entitlement.CapUse{Since: starts, EventID: step, Until: day.Add(time.Hour)}
	poor := plan
	poor.PaidUntil = starts
	poor.Dunning = &entitlement.Dunning{State: events.DunningWalledGarden, Since: starts, EventID: step}
	for name, c := range map[string]struct {
		is   entitlement.Subscription
		at   time.Time
		want entitlement.Rate
	}{
		"by day":   {plan, day, entitlement.Rate{Speed: events.Speed{Down: 10_000, Up: 1_500}, Burst: burst}},
		"by night": {plan, late, entitlement.Rate{Speed: events.Speed{Down: 40_000, Up: 20_000}}},
		"used up":  {used, day, entitlement.Rate{Speed: events.Speed{Down: 1_000, Up: 1_500}}},
		"reset": {
			used, day.Add(time.Hour), entitlement.Rate{Speed: events.Speed{Down: 10_000, Up: 1_500}, Burst: burst},
		},
		"in garden": {poor, day, entitlement.Rate{Speed: events.Speed{Down: 2_000, Up: 1_500}}},
	} {
		got := entitlement.Of(entitlement.State{Subscriptions: []entitlement.Subscription{c.is}}, c.at).Services[0]
		if got.Rate != c.want {
			t.Errorf("%s: %+v, want %+v", name, got.Rate, c.want)
		}
	}
}

func TestNextChange_NothingChangesBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, at := states(t), instants(t, "at")
		next, before := entitlement.NextChange(s, at), entitlement.Of(s, at)
		end := next
		if next.IsZero() {
			end = at.AddDate(0, 1, 0)
		}
		if !end.After(at) {
			t.Fatalf("the next change after %v is at %v", at, next)
		}
		later := at.Add(time.Duration(rapid.Int64Range(0, int64(end.Sub(at))-1).Draw(t, "later")))
		after := entitlement.Of(s, later)
		for i, service := range before.Services {
			if after.Services[i].Access != service.Access || after.Services[i].Rate != service.Rate {
				t.Fatalf("%+v at %v, %+v at %v, before %v", service, at, after.Services[i], later, end)
			}
		}
	})
}

func TestSessionEnd_IsTheNextChangeOfAccess(t *testing.T) {
	t.Parallel()
	s := dunned(events.Prepaid, events.DunningReminding)
	if got := entitlement.SessionEnd(s, starts); !got.Equal(until) {
		t.Errorf("paid: %v", got)
	}
	if got := entitlement.SessionEnd(s, until); !got.IsZero() {
		t.Errorf("in grace of unknown length: %v", got)
	}
	s.Dunning.NextState, s.Dunning.Next = events.DunningWalledGarden, until.Add(time.Hour)
	if got := entitlement.SessionEnd(s, until); !got.Equal(s.Dunning.Next) {
		t.Errorf("in grace: %v", got)
	}
	if got := entitlement.SessionEnd(dunned(events.Postpaid, events.DunningReminding), starts); !got.IsZero() {
		t.Errorf("postpaid: %v", got)
	}
}
