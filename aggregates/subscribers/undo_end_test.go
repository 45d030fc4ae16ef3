package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// unbilled ends a subscription and finds the period that the end makes due. It checks that the preview tells the same
// amount.
func unbilled(t *testing.T, s *scenario, at time.Time) events.PeriodDue {
	t.Helper()
	never, unused, _, late := s.State().Ending(at)
	var due events.PeriodDue
	for _, e := range s.At(at).When(end).ThenEvents() {
		switch e := e.(type) {
		case events.PeriodDue:
			due = e
		case events.PeriodCancelled:
			t.Errorf("%s is cancelled", e.InvoiceID)
		}
	}
	switch {
	case len(never) > 0 || len(unused) > 0:
		t.Errorf("told %v and %v", never, unused)
	case due.InvoiceID.IsZero() != (len(late) == 0):
		t.Errorf("told %+v, made %+v", late, due)
	case len(late) > 0 && (late[0].Amount != due.Net() || late[0].PlanName != due.PlanName):
		t.Errorf("told %+v, made %+v", late, due)
	}
	return due
}

// TestEnd_WhatWasUsedOfAnUndoneMonthIsBilled: the second month, from 28 February to 31 March, was paid, and its run was
// taken back. Without a new invoice before the end, the days are billed on which it was used.
func TestEnd_WhatWasUsedOfAnUndoneMonthIsBilled(t *testing.T) {
	t.Parallel()
	pause := commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}
	for name, c := range map[string]struct {
		before        func(s *scenario)
		undone, ended time.Time
		days          int
		price, until  string
	}{
		"at once":                  {nil, noon(3, 22), noon(3, 22), 22, "1064.52", "2026-03-22T09:00:00Z"},
		"cut off since the undo":   {nil, noon(3, 22), noon(3, 25), 22, "1064.52", "2026-03-22T09:00:00Z"},
		"all of it":                {nil, noon(4, 5), noon(4, 6), 0, "1500.00", "2026-03-31T09:00:00Z"},
		"before it began":          {nil, noon(2, 26), noon(3, 10), -1, "", ""},
		"on the day when it began": {nil, noon(2, 28).Add(time.Hour), noon(3, 10), -1, "", ""},
		"until a pause": {
			func(s *scenario) { s.At(noon(3, 10)).When(pause).ThenEvents() }, noon(3, 22), noon(3, 25), 10, "483.87",
			"2026-03-10T09:00:00Z",
		},
		"its payment was taken back before": {
			func(s *scenario) { takeBack(s, noon(3, 20), second) }, noon(3, 22), noon(3, 25), 20, "967.74",
			"2026-03-20T09:00:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usedMonth(t)
			if c.before != nil {
				c.before(s)
			}
			s.At(c.undone).When(undoes(subscription, second)).ThenEvents()
			s.SurvivesClosing()
			due := unbilled(t, s, c.ended)
			if c.days < 0 {
				if !due.InvoiceID.IsZero() {
					t.Errorf("made %+v", due)
				}
				return
			}
			want := events.PartPeriod{Days: c.days, Of: 31}
			if c.days == 0 {
				want = events.PartPeriod{}
			}
			if due.InvoiceID != third || due.Part != want || due.Own().Decimal() != c.price {
				t.Errorf("made %+v", due)
			}
			s.SurvivesClosing()
			s.When(paid(third, c.ended.Add(day))).ThenEvents()
			if got := s.State().PaidUntil().Format(time.RFC3339); got != c.until {
				t.Errorf("paid until %s", got)
			}
			s.When(commands.MakePeriodDue{SubscriptionID: subscription, Received: true}).ThenNothing()
		})
	}
}

// TestEnd_DaysThatWereGivenAreNoneOfThoseThatAnUndoneMonthIsBilledBy: March was longer by 31 days that were given. What
// was used of its own days costs their share of its price, and the given ones, which come after them, nothing.
func TestEnd_DaysThatWereGivenAreNoneOfThoseThatAnUndoneMonthIsBilledBy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		undone time.Time
		days   int
		price  string
	}{
		{noon(3, 22), 22, "1064.52"},
		{noon(3, 30), 30, "1451.61"},
		{noon(3, 31), 0, "1500.00"},
		{noon(4, 20), 0, "1500.00"},
	} {
		s := usedMonth(t)
		given := compensates("given", 32*day, 33*day, events.CompensationGive{Days: 31})
		s.At(noon(3, 10)).When(given).ThenEvents()
		if until := s.State().PaidUntil(); !until.Equal(noon(5, 1)) {
			t.Fatalf("paid until %s", until)
		}
		s.At(c.undone).When(undoes(subscription, second)).ThenEvents()
		due := unbilled(t, s, c.undone.Add(time.Hour))
		if due.Part.Days != c.days || due.Own().Decimal() != c.price {
			t.Errorf("undone on %s: made %+v", c.undone, due)
		}
	}
}

// TestUndoPeriod_AfterTheEndBillsWhatTheEndWouldHaveBilled: the end comes first, and then the run of the second month,
// from 28 February to 31 March, is taken back. What was used of it is due in the same decision, since nobody could ask
// for it later.
func TestUndoPeriod_AfterTheEndBillsWhatTheEndWouldHaveBilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(s *scenario)
		ended  time.Time
		days   int
		price  string
	}{
		"in the middle":   {nil, noon(3, 22), 22, "1064.52"},
		"when it is over": {nil, noon(4, 6), 0, "1500.00"},
		"before it began": {nil, noon(2, 26), -1, ""},
		"in a pause": {func(s *scenario) {
			s.At(noon(3, 10)).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"}).ThenEvents()
		}, noon(3, 22), 10, "483.87"},
		"after its payment was taken back": {func(s *scenario) { takeBack(s, noon(3, 20), second) }, noon(3, 22), 20,
			"967.74"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usedMonth(t)
			if c.before != nil {
				c.before(s)
			}
			s.At(c.ended).When(end).ThenEvents()
			s.SurvivesClosing()
			made := s.At(noon(4, 20)).When(undoes(subscription, second)).ThenEvents()
			if c.days < 0 {
				if len(made) != 1 {
					t.Errorf("made %+v", made)
				}
				return
			}
			due := dueIn(made)
			if len(made) != 2 || due.InvoiceID != third || due.Part.Days != c.days || due.Own().Decimal() != c.price {
				t.Fatalf("made %+v", made)
			}
			s.SurvivesClosing()
			s.When(undoes(subscription, second)).ThenNothing()
			if e := extendedOf(t, s.When(paid(third, noon(4, 20))).ThenEvents()); len(e.Credits) > 0 {
				t.Errorf("paid %+v", e)
			}
			s.When(again).ThenNothing()
		})
	}
}

// TestUndoPeriod_AfterTheEndBillsAChargeWithWhatWasUsed, or drops it with a month of which nothing was.
func TestUndoPeriod_AfterTheEndBillsAChargeWithWhatWasUsed(t *testing.T) {
	t.Parallel()
	for ended, used := range map[time.Time]bool{noon(3, 22): true, noon(2, 26): false} {
		s := paidMonth(t)
		adds(t, s, extra(events.ChargeExtra, "router", 500))
		s.At(noon(2, 25)).When(due).ThenEvents()
		s.When(paid(second, noon(2, 25))).ThenEvents()
		s.At(ended).When(end).ThenEvents()
		made := s.At(noon(4, 20)).When(undoes(subscription, second)).ThenEvents()
		dropped, _ := made[0].(events.PeriodCancelled)
		again := dueIn(made)
		charged := len(again.Extras) == 1 && again.Extras[0].Amount == money.Major(500, money.KES)
		if charged != used || dropped.DropsCharges == used {
			t.Errorf("ended on %s: made %+v", ended, made)
		}
	}
}

// TestUndoPeriod_AfterTheEndBillsAPostpaidPeriodUpToTheEnd: of a month the days after it are given back, and a day that
// has begun is paid.
func TestUndoPeriod_AfterTheEndBillsAPostpaidPeriodUpToTheEnd(t *testing.T) {
	t.Parallel()
	for _, unit := range []calendar.Period{calendar.Month, calendar.Day} {
		c := create(events.Postpaid)
		c.Terms.Period = unit
		s, before := running(t, c)
		ended := before.From.Add(10*24*time.Hour + time.Hour)
		if unit == calendar.Day {
			ended = before.From.Add(time.Hour)
		}
		s.At(ended).When(end).ThenEvents()
		made := s.At(ended.Add(40 * 24 * time.Hour)).When(undoes(c.SubscriptionID, before.InvoiceID)).ThenEvents()
		due := dueIn(made)
		if !due.From.Equal(before.From) || !due.To.Equal(before.To) || due.Charge != before.Charge {
			t.Fatalf("by the %s: made %+v, before %+v", unit, due, before)
		}
		if unit == calendar.Day {
			sameCredits(t, due.Credits, nil)
			continue
		}
		of := calendar.DaysBetween(calendar.On(before.From, time.UTC), calendar.On(before.To, time.UTC))
		sameCredits(t, due.Credits, credits(due.InvoiceID, of-10, of))
	}
}

// TestEnd_WhatWasUsedOfAnUndoneMonthWithABillingDayIsBilled, once: its payment gives no day back.
func TestEnd_WhatWasUsedOfAnUndoneMonthWithABillingDayIsBilled(t *testing.T) {
	t.Parallel()
	s, part := billed(t, 1, events.Prepaid)
	s.When(paid(part.InvoiceID, now)).ThenEvents()
	month := dueOf(t, s.When(due).ThenEvents())
	s.When(paid(month.InvoiceID, now)).ThenEvents()
	s.At(local(2, 20, 12)).When(undoes(subscription, month.InvoiceID)).ThenEvents()
	got := unbilled(t, s, local(2, 22, 12))
	if got.Part != (events.PartPeriod{Days: 19, Of: 28}) || got.Charge.Decimal() != "1017.86" ||
		!got.From.Equal(month.From) || !got.To.Equal(local(2, 20, 0)) {
		t.Errorf("made %+v", got)
	}
	e := extendedOf(t, s.When(paid(got.InvoiceID, local(2, 24, 12))).ThenEvents())
	if len(e.Credits) > 0 || !e.PaidUntil.Equal(got.To) {
		t.Errorf("paid %+v", e)
	}
}

// TestEnd_AnUndoneDayThatWasUsedIsBilledWhole: a day that has begun is paid. A charge that waits is on its invoice.
func TestEnd_AnUndoneDayThatWasUsedIsBilledWhole(t *testing.T) {
	t.Parallel()
	c := create(events.Prepaid)
	c.Terms.Period = calendar.Day
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	s.When(paid(first, now)).ThenEvents()
	s.When(due).ThenEvents()
	s.When(paid(second, now)).ThenEvents()
	s.At(now.Add(30 * time.Hour)).When(undoes(subscription, second)).ThenEvents()
	adds(t, s, extra(events.ChargeExtra, "router", 500))
	made := unbilled(t, s, now.Add(31*time.Hour))
	if !made.Part.IsZero() || made.Net() != money.Major(2000, money.KES) {
		t.Errorf("made %+v", made)
	}
}

// TestEnd_WhatWasUsedOfAnUndonePostpaidMonthIsBilled when service stopped before the end: March was used until a cut
// on the 20th, or a pause on the 18th. Who is cut off and pays no further month pays the present one up to the end.
func TestEnd_WhatWasUsedOfAnUndonePostpaidMonthIsBilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by   events.SuspendedBilling
		stop commands.SubscriptionCommand
		on   int
		left int
	}{
		"no":    {events.BillNothing, commands.SuspendBilling{SubscriptionID: subscription, At: noon(3, 20)}, 20, 7},
		"days":  {events.BillUsedDays, commands.SuspendBilling{SubscriptionID: subscription, At: noon(3, 20)}, 20, 12},
		"pause": {"", commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}, 18, 14},
	} {
		for _, first := range []bool{true, false} {
			if name == "pause" && first {
				continue // period_undone
			}
			s := suspends(t, c.by, 1)
			s.At(noon(2, 1)).When(due).ThenEvents()
			undone := undoes(subscription, dueOf(t, s.At(noon(3, 1)).When(due).ThenEvents()).InvoiceID)
			if first {
				s.At(noon(3, 10)).When(undone).ThenEvents()
			}
			s.At(noon(3, c.on)).When(c.stop).ThenEvents()
			if !first {
				s.At(noon(3, 21)).When(undone).ThenEvents()
			}
			s.SurvivesClosing()
			made := s.At(noon(3, 25)).When(end).ThenEvents()
			march(t, made, 1500)
			ended, _ := made[len(made)-1].(events.SubscriptionEnded)
			sameCredits(t, ended.Credits, credits(dueIn(made).InvoiceID, c.left, 31))
		}
	}
}

// TestEnd_AnAnnulledOneBillsNothingAndGivesNothingBack: neither an undone month, nor a late one, nor charges.
func TestEnd_AnAnnulledOneBillsNothingAndGivesNothingBack(t *testing.T) {
	t.Parallel()
	annul := commands.EndSubscription{SubscriptionID: subscription, Reason: "wrong file", Annulled: true}
	only := func(s *scenario) {
		t.Helper()
		made := s.When(annul).ThenEvents()
		if ended, is := made[0].(events.SubscriptionEnded); len(made) != 1 || !is || len(ended.Credits) > 0 {
			t.Errorf("made %+v", made)
		}
		s.When(annul).ThenNothing()
	}
	undone := usedMonth(t)
	undone.At(noon(3, 22)).When(undoes(subscription, second)).ThenEvents()
	only(undone)
	late := suspends(t, events.BillUsedDays, 1)
	late.At(noon(2, 1)).When(due).ThenEvents()
	only(late.At(noon(3, 10)))
}
