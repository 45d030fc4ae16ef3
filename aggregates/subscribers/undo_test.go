package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// wrong is the run that is undone in these tests.
var wrong = id.Derive[id.BillingRun]("test", "wrong")

// undoes takes the period of an invoice back.
func undoes(of id.Subscription, invoice id.Invoice) commands.UndoPeriod {
	return commands.UndoPeriod{SubscriptionID: of, InvoiceID: invoice, RunID: wrong}
}

func TestUndoPeriod_APaidOneTakesItsTimeBackAndWaitsForAPersonOrMoney(t *testing.T) {
	t.Parallel()
	c := create(events.Prepaid)
	s, _ := running(t, c)
	before := s.State().PaidUntil()
	s.At(before.Add(-2 * day))
	next := dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID}).ThenEvents())
	s.When(commands.ExtendSubscription{SubscriptionID: c.SubscriptionID, InvoiceID: next.InvoiceID, PaidAt: now}).
		ThenEvents()
	s.When(undoes(c.SubscriptionID, next.InvoiceID)).ThenEvents()
	if is := s.State().PaidUntil(); !is.Equal(before) {
		t.Errorf("paid until %s, before the run %s", is, before)
	}
	s.When(undoes(c.SubscriptionID, next.InvoiceID)).ThenNothing() // a repeat
	today := calendar.On(before, time.UTC)
	s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID, On: today}).ThenNothing()
	s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID}).ThenNothing()
	other := id.Derive[id.BillingRun]("test", "another")
	s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID, On: today, RunID: other, Again: true}).ThenNothing()
	again := dueOf(t, s.When(commands.MakePeriodDue{
		SubscriptionID: c.SubscriptionID, On: today, RunID: wrong, Again: true,
	}).ThenEvents())
	if again.InvoiceID == next.InvoiceID {
		t.Error("the period is billed under the invoice that was taken back")
	}
	s.When(undoes(c.SubscriptionID, again.InvoiceID)).ThenEvents()
	dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID, Received: true}).ThenEvents())
}

// TestUndoPeriod_WhoAsksForItsRunEndsTheWaitOnceAlsoBeforeItIsDue: after that the period comes by itself, or an end or
// the next period does.
func TestUndoPeriod_WhoAsksForItsRunEndsTheWaitOnceAlsoBeforeItIsDue(t *testing.T) {
	t.Parallel()
	s := usedMonth(t)
	s.At(noon(2, 26)).When(undoes(subscription, second)).ThenEvents()
	s.When(compensates("later", 2*day, 3*day, events.CompensationGive{Days: 5})).ThenEvents()
	clock := commands.MakePeriodDue{SubscriptionID: subscription, On: calendar.Date{Year: 2026, Month: 3, Day: 2}}
	s.At(noon(2, 27)).When(again).Then(events.UndoneWaitEnded{
		SubscriptionID: subscription, SubscriberID: s.State().SubscriberID, RunID: wrong, At: noon(2, 27),
	})
	s.SurvivesClosing()
	s.When(again).ThenNothing() // a repeat
	s.At(noon(3, 2)).When(again).ThenNothing()
	dueOf(t, s.When(clock).ThenEvents())

	paused := usedMonth(t)
	paused.At(noon(2, 26)).When(undoes(subscription, second)).ThenEvents()
	paused.When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "travels"}).ThenEvents()
	other := again
	other.RunID = id.Derive[id.BillingRun]("test", "another")
	paused.When(other).ThenNothing()
	if got := paused.When(again).ThenEvents(); len(got) != 1 {
		t.Errorf("in a pause the run makes %+v", got)
	}
	paused.When(again).ThenNothing()
	paused.When(end).ThenEvents()
	paused.When(again).ThenNothing()
}

func TestUndoPeriod_APostpaidOneIsBilledForTheSameTimeAgain(t *testing.T) {
	t.Parallel()
	c := create(events.Postpaid)
	s, first := running(t, c)
	s.At(first.To)
	second := dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID}).ThenEvents())
	s.When(undoes(c.SubscriptionID, first.InvoiceID)).ThenFails("later_period_billed")
	s.When(undoes(c.SubscriptionID, second.InvoiceID)).ThenEvents()
	s.At(second.To.Add(day))
	again := dueOf(t, s.When(commands.MakePeriodDue{
		SubscriptionID: c.SubscriptionID, On: calendar.On(first.To, time.UTC).AddDays(1), RunID: wrong, Again: true,
	}).ThenEvents())
	if !again.From.Equal(second.From) || !again.To.Equal(second.To) {
		t.Errorf("billed from %s to %s, before from %s to %s", again.From, again.To, second.From, second.To)
	}
}

func TestUndoPeriod_OneThatWasDroppedByHandStays(t *testing.T) {
	t.Parallel()
	c := create(events.Prepaid)
	s, due := running(t, c)
	s.When(commands.CancelPeriod{SubscriptionID: c.SubscriptionID, InvoiceID: due.InvoiceID}).ThenEvents()
	s.When(undoes(c.SubscriptionID, due.InvoiceID)).ThenFails("taken_back_already")
}

func TestTakeBackCompensation_UnusedDaysGoAndTheTimeCanBeCompensatedAgain(t *testing.T) {
	t.Parallel()
	s, _ := running(t, create(events.Prepaid))
	before := s.State().PaidUntil()
	s.At(now.Add(10 * day))
	one := compensates("one", 2*day, 4*day, lostDays)
	s.When(one).ThenEvents()
	back := commands.TakeBackCompensation{SubscriptionID: one.SubscriptionID, CompensationID: one.CompensationID}
	s.When(back).ThenEvents()
	if is := s.State().PaidUntil(); !is.Equal(before) {
		t.Errorf("paid until %s, before the compensation %s", is, before)
	}
	s.When(back).ThenNothing() // a repeat
	two := compensates("two", 2*day, 4*day, lostDays)
	s.When(two).ThenEvents()
	s.At(before.Add(day))
	back.CompensationID = two.CompensationID
	s.When(back).ThenFails("compensation_used")
}

// TestTakeBackCompensation_UsedDaysStayAlsoOfWhoHasPaidAhead: five days were given, to 5 March, and the next month is
// paid before they are over. They can be taken back for as long as the month that they prolong goes on without them.
func TestTakeBackCompensation_UsedDaysStayAlsoOfWhoHasPaidAhead(t *testing.T) {
	t.Parallel()
	for _, ahead := range []bool{false, true} {
		s, _ := running(t, create(events.Prepaid))
		given := compensates("five", 2*day, 3*day, events.CompensationGive{Days: 5})
		s.At(noon(2, 10)).When(given).ThenEvents()
		back := commands.TakeBackCompensation{SubscriptionID: subscription, CompensationID: given.CompensationID}
		without := noon(2, 28)
		if s.At(noon(2, 26)); ahead {
			s.When(due).ThenEvents()
			s.When(paid(second, noon(2, 26))).ThenEvents()
			without = noon(3, 31)
		}
		for at, code := range map[time.Time]string{noon(2, 27): "", noon(3, 2): "compensation_used"} {
			if got := failure.CodeOf(s.State().TakingBack(given.CompensationID, at)); got != code {
				t.Errorf("paid ahead %t, on %s: %q, want %q", ahead, at, got, code)
			}
		}
		s.At(noon(3, 2)).When(back).ThenFails("compensation_used")
		s.At(noon(2, 27)).When(back).ThenEvents()
		if got := s.State().PaidUntil(); !got.Equal(without) {
			t.Errorf("paid ahead %t: paid until %s, want %s", ahead, got, without)
		}
	}
}

// TestTakeBackCompensation_UsedDaysOfTimeThatWasPaidElsewhereStay: the same in 20 days from another system.
func TestTakeBackCompensation_UsedDaysOfTimeThatWasPaidElsewhereStay(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 20).Truncate(time.Hour)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, until))
	s.ThenEvents()
	given := compensates("five", 2*day, 3*day, events.CompensationGive{Days: 5})
	s.At(now.Add(4 * day)).When(given).ThenEvents()
	s.At(until.Add(2 * day)).When(due).ThenEvents()
	s.When(paid(first, until.Add(2*day))).ThenEvents()
	if err := s.State().TakingBack(given.CompensationID, until.Add(-day)); err != nil {
		t.Errorf("none was used: %v", err)
	}
	s.When(commands.TakeBackCompensation{SubscriptionID: subscription, CompensationID: given.CompensationID}).
		ThenFails("compensation_used")
}

// usedMonth is a prepaid customer whose second month, from 28 February to 31 March, is paid.
func usedMonth(t *testing.T) *scenario {
	t.Helper()
	s := paidMonth(t)
	s.At(noon(2, 25)).When(commands.MakePeriodDue{
		SubscriptionID: subscription, On: calendar.Date{Year: 2026, Month: time.February, Day: 25}, RunID: wrong,
	}).ThenEvents()
	s.When(paid(second, noon(2, 25))).ThenEvents()
	return s
}

// again makes what was undone due again.
var again = commands.MakePeriodDue{
	SubscriptionID: subscription, On: calendar.Date{Year: 2026, Month: time.February, Day: 25}, RunID: wrong,
	Again: true,
}

// billedAgain undoes the second month, and bills and pays it again after a while.
func billedAgain(t *testing.T, s *scenario, undone time.Time, after time.Duration) time.Time {
	t.Helper()
	s.At(undone).When(undoes(subscription, second)).ThenEvents()
	if got := s.State().PaidUntil(); !got.Equal(noon(2, 28)) {
		t.Errorf("undone: paid until %s", got)
	}
	s.SurvivesClosing()
	made := dueOf(t, s.At(undone.Add(after)).When(again).ThenEvents())
	if used := undone.After(noon(2, 28)); made.Retakes != used {
		t.Errorf("made %+v", made)
	}
	s.SurvivesClosing()
	s.When(paid(third, undone.Add(after))).ThenEvents()
	return s.State().PaidUntil()
}

// TestUndoPeriod_AUsedMonthIsBilledAgainInItsPlace: what was used of it is paid by the invoice that is made again. The
// customer gets the time that was not served in between.
func TestUndoPeriod_AUsedMonthIsBilledAgainInItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		undone time.Time
		after  time.Duration
		until  time.Time
	}{
		"at once":              {noon(3, 22), 0, noon(3, 31)},
		"after two days":       {noon(3, 22), 2 * day, noon(4, 2)},
		"when it was over":     {noon(4, 5), 2 * day, noon(3, 31)},
		"before it began":      {noon(2, 26), 0, noon(3, 31)},
		"never used, paid now": {noon(2, 26), 10 * day, noon(4, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := billedAgain(t, usedMonth(t), c.undone, c.after); !got.Equal(c.until) {
				t.Errorf("paid until %s, want %s", got, c.until)
			}
		})
	}
	t.Run("undone twice", func(t *testing.T) {
		t.Parallel()
		s := usedMonth(t)
		s.At(noon(3, 22)).When(undoes(subscription, second)).ThenEvents()
		s.When(again).ThenEvents()
		s.When(undoes(subscription, third)).ThenEvents()
		s.When(again).ThenEvents()
		s.When(paid(commands.PeriodInvoice(subscription, 4), noon(3, 22))).ThenEvents()
		if got := s.State().PaidUntil(); !got.Equal(noon(3, 31)) {
			t.Errorf("paid until %s", got)
		}
		next := paid(commands.PeriodInvoice(subscription, 5), noon(4, 10))
		s.At(noon(4, 10)).When(due).ThenEvents()
		s.When(next).ThenEvents()
		if got := s.State().PaidUntil(); !got.Equal(noon(5, 10)) {
			t.Errorf("the next month is paid until %s", got)
		}
	})
	t.Run("its payment was taken back before", func(t *testing.T) {
		t.Parallel()
		s := usedMonth(t)
		s.At(noon(3, 20)).When(withdraw(second)).ThenEvents()
		if got := billedAgain(t, s, noon(3, 22), 0); !got.Equal(noon(4, 2)) {
			t.Errorf("paid until %s", got)
		}
	})
	t.Run("it began with its payment", func(t *testing.T) {
		t.Parallel()
		s := paidMonth(t)
		s.At(noon(3, 3)).When(due).ThenEvents()
		s.When(paid(second, noon(3, 3))).ThenEvents()
		if got := billedAgain(t, s, noon(3, 22), 0); !got.Equal(noon(4, 3)) {
			t.Errorf("paid until %s", got)
		}
	})
}

// TestUndoPeriod_AUsedMonthWithABillingDayIsBilledWholeAgain, and the days between the undo and the payment are
// credited.
func TestUndoPeriod_AUsedMonthWithABillingDayIsBilledWholeAgain(t *testing.T) {
	t.Parallel()
	s, part := billed(t, 1, events.Prepaid)
	s.When(paid(part.InvoiceID, now)).ThenEvents()
	month := dueOf(t, s.When(due).ThenEvents())
	s.When(paid(month.InvoiceID, now)).ThenEvents()
	made := s.At(local(2, 20, 12)).When(undoes(subscription, month.InvoiceID)).ThenEvents()
	if undone, _ := made[0].(events.PeriodCancelled); !undone.NextFrom.Equal(month.From) {
		t.Errorf("undone %+v", undone)
	}
	on := again
	on.On = calendar.On(local(2, 20, 12), time.UTC)
	s.At(local(2, 22, 12))
	got := dueOf(t, s.When(on).ThenEvents())
	if !got.From.Equal(month.From) || !got.To.Equal(month.To) || got.Charge != month.Charge || got.Part != month.Part {
		t.Errorf("billed again %+v, before %+v", got, month)
	}
	e := extendedOf(t, s.When(paid(got.InvoiceID, local(2, 22, 12))).ThenEvents())
	if sameCredits(t, e.Credits, leave(events.Prepaid, credits(got.InvoiceID, 2, 28))); !e.PaidUntil.Equal(month.To) {
		t.Errorf("paid until %s", e.PaidUntil)
	}
}

// TestUndoPeriod_AUsedMonthThatIsBilledAgainStaysDueAtTheEnd; one that was not used is cancelled.
func TestUndoPeriod_AUsedMonthThatIsBilledAgainStaysDueAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, undone := range []time.Time{noon(3, 22), noon(2, 26)} {
		s := usedMonth(t)
		s.At(undone).When(undoes(subscription, second)).ThenEvents()
		s.When(again).ThenEvents()
		never, _, _, _ := s.State().Ending(undone.Add(time.Hour))
		if used := undone.After(noon(2, 28)); (len(never) == 0) != used {
			t.Errorf("undone at %s: cancelled %v", undone, never)
		}
	}
}

// TestUndoPeriod_DaysThatAreGivenBackStayWithTheirNote: a late payment has made days free, and the note over them is
// still to be written. Another period in its place would charge them.
func TestUndoPeriod_DaysThatAreGivenBackStayWithTheirNote(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(onDay(15, events.Prepaid))
	s.ThenEvents()
	if e := extendedOf(t, s.At(noon(2, 9)).When(paid(first, noon(2, 9))).ThenEvents()); len(e.Credits) == 0 {
		t.Fatalf("no day is free: %+v", e)
	}
	s.When(undoes(subscription, first)).ThenFails("corrected_since")
}
