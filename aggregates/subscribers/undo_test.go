package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
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
