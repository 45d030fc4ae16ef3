package subscribers_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

// suspendedBillings are the choices of a plan.
var suspendedBillings = []events.SuspendedBilling{"", events.BillAll, events.BillNothing, events.BillUsedDays}

// cut and served tell a subscription of dunning.
func cut(at time.Time) commands.SuspendBilling {
	return commands.SuspendBilling{SubscriptionID: subscription, At: at}
}

// servedAgain is the end of a cut.
func servedAgain(at time.Time) commands.ResumeBilling {
	return commands.ResumeBilling{SubscriptionID: subscription, At: at}
}

// suspends begins a scenario with a postpaid subscription under a term, billed on a day of the month or, by 0, on the
// anniversary: from 31 January on, to 28 February or to the day.
func suspends(t *testing.T, by events.SuspendedBilling, day int) *scenario {
	t.Helper()
	c := onDay(day, events.Postpaid)
	c.Terms.BillWhileSuspended = by
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	return s
}

// missed is the event of a customer who is served again; the time from an instant on is not billed.
func missed(from, at, next time.Time) events.BillingResumed {
	return events.BillingResumed{
		SubscriptionID: subscription, SubscriberID: subscriber, From: from, NextFrom: next, At: at,
	}
}

// docs/rules/subscribers.md#suspended-billing
func TestSuspendedBilling_SkipsWhatIsNotServed(t *testing.T) {
	t.Parallel()
	t.Run("yes", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, events.BillAll, 0)
		s.When(cut(noon(2, 20))).ThenNothing()
		s.At(noon(2, 28)).When(due).ThenEvents()
		s.When(servedAgain(noon(3, 5))).ThenNothing()
	})
	t.Run("no", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, events.BillNothing, 0)
		s.When(cut(noon(2, 20))).ThenEvents()
		s.When(cut(noon(2, 25))).ThenNothing() // suspended after the walled garden
		s.At(noon(3, 1)).When(due).ThenNothing()
		s.SurvivesClosing()
		s.At(noon(4, 10)).When(servedAgain(noon(4, 10))).Then(missed(noon(2, 28), noon(4, 10), noon(4, 10)))
		next := dueOf(t, s.When(due).ThenEvents())
		if next.Ordinal != 2 || !next.From.Equal(noon(4, 10)) || !next.To.Equal(noon(5, 10)) {
			t.Errorf("the next period is %+v", next)
		}
	})
	t.Run("no, and the run is late", func(t *testing.T) {
		t.Parallel()
		made := suspends(t, events.BillNothing, 0).When(cut(noon(4, 2))).ThenEvents()
		if len(made) != 3 || !dueOf(t, made[1:]).From.Equal(noon(3, 31)) {
			t.Errorf("%+v", made)
		}
	})
	t.Run("no, and paid before the next period", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, events.BillNothing, 0)
		s.When(cut(noon(2, 10))).ThenEvents()
		s.When(servedAgain(noon(2, 20))).Then(missed(noon(2, 20), noon(2, 20), noon(2, 28)))
	})
	t.Run("no, on a billing day", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, events.BillNothing, 5)
		s.When(cut(local(2, 3, 12))).ThenEvents()
		s.At(local(3, 26, 12)).When(servedAgain(local(3, 26, 12))).ThenEvents()
		next := dueOf(t, s.When(due).ThenEvents())
		if next.Part != (events.PartPeriod{Days: 10, Of: 31}) || !next.To.Equal(local(4, 5, 0)) {
			t.Errorf("the next period is %+v", next)
		}
	})
}

// By days it is as a pause; prepaid has no choice.
func TestSuspendedBilling_ByDaysTheTimeIsGivenBack(t *testing.T) {
	t.Parallel()
	t.Run("days", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, events.BillUsedDays, 0)
		s.When(cut(noon(2, 20))).ThenEvents()
		s.At(noon(3, 1)).When(due).ThenNothing()
		made := s.At(noon(3, 2)).When(servedAgain(noon(3, 2))).ThenEvents()
		resumed, _ := made[0].(events.BillingResumed)
		if !resumed.NextFrom.Equal(noon(3, 10)) || len(resumed.Moved) != 1 || !resumed.Moved[0].To.Equal(noon(3, 10)) {
			t.Errorf("%+v", resumed)
		}
	})
	t.Run("days, on a billing day", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, events.BillUsedDays, 20)
		s.When(cut(local(2, 10, 12))).ThenEvents()
		made := s.At(local(2, 14, 12)).When(servedAgain(local(2, 14, 12))).ThenEvents()
		resumed, _ := made[0].(events.BillingResumed)
		if len(resumed.Credits) != 1 || resumed.Credits[0].Days != 4 || resumed.Credits[0].Of != 20 {
			t.Errorf("%+v", resumed)
		}
	})
	t.Run("prepaid", func(t *testing.T) {
		t.Parallel()
		c := create(events.Prepaid)
		c.Terms.BillWhileSuspended = events.BillUsedDays
		s := decidertest.For(t, aggregate(), now).When(c)
		s.ThenEvents()
		s.When(paid(first, now)).ThenEvents()
		s.When(cut(noon(2, 28))).ThenNothing()
	})
}

// A pause takes over, and is followed by the cut that lasts; each day is given back once.
func TestSuspendedBilling_APauseTakesOver(t *testing.T) {
	t.Parallel()
	s := suspends(t, events.BillUsedDays, 28)
	s.When(cut(local(2, 3, 12))).ThenEvents()
	days := 0
	for _, e := range []struct {
		at time.Time
		c  commands.SubscriptionCommand
	}{
		{local(2, 6, 12), commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"}},
		{local(2, 9, 12), commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"}},
		{local(2, 9, 12), cut(local(2, 9, 12))},
		{local(2, 13, 12), servedAgain(local(2, 13, 12))},
	} {
		for _, made := range s.At(e.at).When(e.c).ThenEvents() {
			switch made := made.(type) {
			case events.BillingResumed:
				days += made.Credits[0].Days
			case events.SubscriptionResumed:
				days += made.Credits[0].Days
			default: // the others give nothing back
			}
		}
	}
	if days != 10 {
		t.Errorf("%d days are given back for 3 to 13 February", days)
	}
}

// An end gives back what is left from the cut on, by days; nothing begins afterwards.
func TestSuspendedBilling_AnEndGivesBackFromTheCutOn(t *testing.T) {
	t.Parallel()
	for by, want := range map[events.SuspendedBilling]int{events.BillNothing: 3, events.BillUsedDays: 8} {
		s := suspends(t, by, 28)
		s.When(cut(local(2, 20, 12))).ThenEvents()
		made := s.At(local(2, 25, 12)).When(commands.EndSubscription{SubscriptionID: subscription, Reason: "x"}).
			ThenEvents()
		ended, _ := made[0].(events.SubscriptionEnded)
		if len(ended.Credits) != 1 || ended.Credits[0].Days != want {
			t.Errorf("%s: %+v", by, ended.Credits)
		}
		s.When(servedAgain(local(2, 26, 12))).ThenNothing()
	}
}

// TestSuspendedBilling_NothingIsBilledTwiceOrWithoutService: in random lives of cuts, periods share no time, none
// begins while its customer is cut off, and by days none has time in which the customer was.
func TestSuspendedBilling_NothingIsBilledTwiceOrWithoutService(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := create(events.Postpaid)
		c.Timezone, c.Terms.Period = "UTC", calendar.Day
		c.Terms.BillWhileSuspended = rapid.SampledFrom(suspendedBillings[2:]).Draw(r, "billed while suspended")
		p := play(r, c)
		var off []subscribers.Span
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			p.do(commands.MakePeriodDue{SubscriptionID: subscription})
			p.at = p.at.Add(time.Duration(rapid.IntRange(1, 40).Draw(r, "hours")) * time.Hour)
			if p.do(cut(p.at)); rapid.Bool().Draw(r, "cut") {
				since := p.at
				p.at = p.at.Add(time.Duration(rapid.IntRange(1, 90).Draw(r, "hours without service")) * time.Hour)
				p.do(commands.MakePeriodDue{SubscriptionID: subscription})
				off = append(off, subscribers.Span{From: since, To: p.at})
			}
			p.do(servedAgain(p.at))
		}
		places := p.s.Course().Places
		for i, place := range places {
			if i > 0 && place.From.Before(places[i-1].To) {
				r.Fatalf("the periods lie in %v", places)
			}
			for _, o := range off {
				if place.From.After(o.From) && place.From.Before(o.To) {
					r.Fatalf("a period begins at %v, within %v", place.From, o)
				}
				from, to := place.From, place.To
				if from.Before(o.From) {
					from = o.From
				}
				if to.After(o.To) {
					to = o.To
				}
				if c.Terms.BillWhileSuspended == events.BillUsedDays && from.Before(to) && served(p.s, from, to) > 0 {
					r.Fatalf("%v of %v is billed without service", o, place)
				}
			}
		}
	})
}
