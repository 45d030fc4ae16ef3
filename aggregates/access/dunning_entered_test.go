package access_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// reviews is one subscription in Nairobi that is reviewed.
type reviews struct {
	t *testing.T
	s access.Dunning
}

// look reviews the subscription at an instant, and gives the events but for the last one, which tells what comes next.
func (r *reviews) look(at time.Time, owed ...events.DunningOwed) []events.DunningEvent {
	r.t.Helper()
	return decided(r.t, &r.s, review("Africa/Nairobi", owed...), at)
}

// is fails unless the subscription is in a state.
func (r *reviews) is(want events.DunningState) {
	r.t.Helper()
	if r.s.State != want {
		r.t.Errorf("the state is %s, want %s: %+v", r.s.State, want, r.s)
	}
}

// owing has debts of 1,000 shillings from an instant on, for each day of 2026 by the end of which one was due.
func owing(since time.Time, days ...string) events.DunningOwed {
	o := events.DunningOwed{At: since}
	for _, day := range days {
		on, err := calendar.ParseDate("2026-" + day)
		if err != nil {
			panic(err)
		}
		o.Debts = append(o.Debts, events.DunningDebt{
			InvoiceID: id.Derive[id.Invoice](day), DueOn: on, Amount: money.Major(1000, money.KES),
		})
	}
	return o
}

// midnight is the local midnight with which a day of 2026 begins.
func midnight(t *testing.T, day string) time.Time {
	t.Helper()
	on, err := calendar.ParseDate("2026-" + day)
	if err != nil {
		t.Fatal(err)
	}
	return on.Start(review("Africa/Nairobi").Rules.Zone).UTC()
}

// A payment of what is overdue longest is in the log; the review that cuts is decided a moment later, from what the
// process knew before it took the payment. What is left is in its days of grace, or is not due yet.
func TestReview_APaymentComesBeforeACutThatDidNotKnowOfIt(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
	prepaid := []events.DunningOwed{paid(begin, midnight(t, "03-02")), paid(begin, midnight(t, "04-01"))}
	grace := []events.DunningOwed{owing(begin, "03-01", "03-03"), owing(begin, "03-03")}
	coming := []events.DunningOwed{owing(begin, "03-01", "04-01"), owing(begin, "04-01")}
	for name, c := range map[string]struct {
		owed []events.DunningOwed // before the payment, and after it
		late time.Duration        // from the payment to the decision of the cut
	}{
		"the rest in grace":                       {grace, 2 * time.Second},
		"the rest in grace, in the same instant":  {grace, 0},
		"the rest not due":                        {coming, 2 * time.Second},
		"the rest not due, in the same instant":   {coming, 0},
		"the next prepaid month":                  {prepaid, 2 * time.Second},
		"the next prepaid month, in that instant": {prepaid, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reviews{t: t}
			before, after := c.owed[0], c.owed[1]
			r.look(begin, before)
			r.look(midnight(t, "03-02"), before)
			after.At = r.s.Reviewed.NextAt
			decided := after.At.Add(c.late)
			r.look(decided, before)
			r.is(events.DunningWalledGarden)
			for _, at := range []time.Time{decided.Add(20 * time.Millisecond), decided.Add(24 * time.Hour)} {
				if r.look(at, before, after); r.s.State.Cut() {
					t.Errorf("%s %s after the payment", r.s.State, at.Sub(after.At))
				}
			}
		})
	}
}

// Two of three months, for the first of which a write-off is proposed, are paid by one payment, of which the account
// tells in one instant. The first review knows of the first month only.
func TestReview_OnePaymentOfTwoMonthsIsWorthAsMuchAsTwo(t *testing.T) {
	t.Parallel()
	begin, now := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), midnight(t, "05-01").Add(9*time.Hour)
	before := owing(begin, "02-28", "03-31", "04-30")
	r := &reviews{t: t}
	for _, at := range []string{"03-01", "03-05", "03-12", "05-01"} {
		r.look(midnight(t, at), before)
	}
	r.is(events.DunningWrittenOff)
	first, second := owing(now, "03-31", "04-30"), owing(now, "04-30")
	r.look(now.Add(time.Second), before, first)
	r.is(events.DunningSuspended)
	list := r.look(now.Add(2*time.Second), before, first, second)
	want := []events.DunningEvent{events.DunningBegan{DunningSubject: amina, DunningStep: events.DunningStep{
		Before: events.DunningSuspended, DueAt: midnight(t, "05-01"), Due: money.Major(1000, money.KES),
		Reason: "owed_changed", Planned: now, At: now.Add(2 * time.Second),
		InvoiceIDs: []id.Invoice{second.Debts[0].InvoiceID},
	}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	garden := midnight(t, "05-04")
	if next := r.s.Reviewed; next.NextState != events.DunningWalledGarden || !next.NextAt.Equal(garden) {
		t.Errorf("then %s at %v", next.NextState, next.NextAt)
	}
}

// The oldest debt is paid a moment before the cut that did not know of it, and the grace of the next one is over, too:
// the suspension is not put off by the reviews that follow, and the step for the older debt is none for this one.
func TestReview_WhoStaysInTheWalledGardenIsSuspendedInTime(t *testing.T) {
	t.Parallel()
	begin, now := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), midnight(t, "03-11")
	before, after := owing(begin, "03-01", "03-03"), owing(now, "03-03")
	r := &reviews{t: t}
	garden := now.Add(time.Second)
	r.look(garden, before) // the program was off
	suspension := garden.AddDate(0, 0, 7)
	for n := range 5 {
		r.look(garden.Add(time.Millisecond).AddDate(0, 0, n), before, after)
		r.is(events.DunningWalledGarden)
		if next := r.s.Reviewed; next.NextState != events.DunningSuspended || !next.NextAt.Equal(suspension) {
			t.Errorf("after %d days %s comes at %v, want %v", n, next.NextState, next.NextAt, suspension)
		}
	}
	r.look(suspension, before, after)
	r.is(events.DunningSuspended)
}

// A clock that was a month ahead cut a customer who pays when it is right again, all but a debt in grace.
func TestReview_WhatIsDatedLaterThanThePresentProvesNothing(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
	before := owing(begin, "03-01", "03-03")
	for name, payment := range map[string]bool{"paid": true, "not paid": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reviews{t: t}
			r.look(midnight(t, "04-07"), before)
			r.is(events.DunningWalledGarden)
			now, owed := midnight(t, "03-04").Add(9*time.Hour), []events.DunningOwed{before}
			garden := midnight(t, "03-05")
			if payment {
				owed, garden = append(owed, owing(now, "03-03")), midnight(t, "03-09") // not at the weekend
			}
			r.look(now, owed...)
			r.is(events.DunningReminding)
			if !r.s.Reviewed.NextAt.Equal(garden) {
				t.Errorf("the next step is at %v, want %v", r.s.Reviewed.NextAt, garden)
			}
			r.look(garden, owed...)
			r.is(events.DunningWalledGarden)
			if want := garden.AddDate(0, 0, 7); !r.s.Reviewed.NextAt.Equal(want) {
				t.Errorf("the suspension is at %v, want %v", r.s.Reviewed.NextAt, want)
			}
		})
	}
}

// A period that an older version closed says of no step for which debt it was made, and may have steps that were taken
// back. What is in force stays so, and a payment gives access back.
func TestReview_GoesOnFromAnOlderOpening(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
	garden, suspension := midnight(t, "03-05").Add(time.Hour), midnight(t, "03-12").Add(2*time.Hour)
	entered := func(state events.DunningState, at time.Time) map[string]any {
		return map[string]any{"State": state, "At": at}
	}
	opening, err := json.Marshal(map[string]any{
		"Subject": amina, "State": events.DunningSuspended, "Since": suspension, "DueAt": midnight(t, "03-02"),
		"Entered": []any{
			entered(events.DunningWalledGarden, garden), entered(events.DunningSuspended, suspension),
			entered(events.DunningWrittenOff, suspension.Add(time.Hour)),
			entered(events.DunningSuspended, suspension.Add(2*time.Hour)),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &reviews{t: t}
	r.s = access.Dunnings().Evolve(r.s, events.DunningPeriodClosed{DunningSubject: amina, Opening: opening})
	before, now := owing(begin, "03-01", "03-31"), midnight(t, "04-01").Add(time.Hour)
	c := review("Africa/Nairobi", before)
	c.Rules.Policy.GraceDays, c.Rules.Policy.WalledGardenDays = 20, 30 // a policy that is changed undoes no cut
	if list := decided(t, &r.s, c, now); len(list) > 0 {
		t.Errorf("without an event: %+v", list)
	}
	if writeOff := midnight(t, "05-01"); !r.s.Reviewed.NextAt.Equal(writeOff) {
		t.Errorf("the write-off is proposed at %v, want %v", r.s.Reviewed.NextAt, writeOff)
	}
	r.look(now.Add(time.Minute), before, owing(now, "03-31"))
	r.is(events.DunningReminding)
}

// Who is suspended has had a promise noted, and then pays the older of two debts. What the stream knows of what is owed
// leads to the same as everything does, also when one more hold is placed and lifted.
func TestReview_WhatTheStreamKnowsIsEnough(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
	both, one := owing(begin, "03-01", "03-08"), owing(midnight(t, "03-26"), "03-08")
	for _, day := range []string{"03-06", "03-13"} { // in the walled garden, and suspended
		r := &reviews{t: t}
		for _, at := range []string{"03-01", "03-05", "03-12"} {
			if at < day {
				r.look(midnight(t, at), both)
			}
		}
		r.do(commands.PlaceHold{Subject: amina, Until: midnight(t, "03-20"), Reason: "in hospital"}, midnight(t, day))
		r.look(midnight(t, day), both)
		r.look(one.At, both, one)
		was := r.s.State
		for i, c := range []commands.DunningCommand{
			commands.PlaceHold{Subject: amina, Until: midnight(t, "04-20"), Reason: "in hospital"},
			commands.LiftHold{Subject: amina},
		} {
			at := one.At.AddDate(0, 0, i+1)
			r.do(c, at)
			part := &reviews{t: t, s: r.s}
			part.look(at.Add(time.Second), r.s.Owed()...)
			r.look(at.Add(time.Second), both, one)
			r.is(was)
			whole, known := r.s.Reviewed, part.s.Reviewed
			if known.NextState != whole.NextState || !known.NextAt.Equal(whole.NextAt) {
				t.Errorf("%s after %T: %s at %s, want %s at %s", was, c, known.NextState, known.NextAt, whole.NextState,
					whole.NextAt)
			}
		}
	}
}
