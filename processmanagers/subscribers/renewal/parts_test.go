package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// sellsDays is a prepaid subscription of 1,500 shillings a month, of which a part buys days.
func sellsDays(period calendar.Period, part events.PartialPayment) events.Event {
	return events.SubscriptionCreated{SubscriptionID: line, SubscriberID: who, StartsAt: start,
		Terms: events.PlanTerms{Mode: events.Prepaid, Price: kes(1500), Period: period, PartialPayment: part}}
}

// part is money on an invoice that leaves shillings due.
func part(invoice id.Invoice, left int64) events.Event {
	return events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Amount: kes(1), Due: kes(left)}
}

// buys asks for the days that the money on an invoice pays; how many the period has, the subscription knows.
func buys(invoice id.Invoice) commands.SellDays {
	return commands.SellDays{
		SubscriberID: who, SubscriptionID: line, InvoiceID: invoice, Reason: "days that are not paid",
		CreditNoteID: id.Derive[id.Receipt]("part", invoice.String()),
	}
}

// atPart is an output that arms the timer at which a part buys days.
func atPart(at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "part:" + line.String(), At: at}}}
}

// TestParts_BuyDaysWhenThePaidTimeEnds: at once where none is paid, and a quarter of an hour before its end else.
func TestParts_BuyDaysWhenThePaidTimeEnds(t *testing.T) {
	t.Parallel()
	s := after(t, sellsDays(calendar.Month, events.PartIsDays), due(line, inv1))
	s.When(part(inv1, 700)).Then(does(buys(inv1)))
	s.When(events.InvoicePaid{SubscriberID: who, SubscriptionID: line, InvoiceID: inv1, At: start,
		Part: events.PartPeriod{Days: 15, Of: 31}}).
		Then(does(commands.ExtendSubscription{
			SubscriptionID: line, InvoiceID: inv1, PaidAt: start, Part: events.PartPeriod{Days: 15, Of: 31},
		}))
	end := start.AddDate(0, 0, 15)
	next := s.Given(extended(line, inv1, end), due(line, inv2))
	waits := next.When(part(inv2, 700))
	waits.Then(atPart(end.Add(-15 * time.Minute)))
	waits = next.Given(part(inv2, 700))
	waits.At(end.Add(-15*time.Minute)).WhenDue("part:"+line.String(), end.Add(-15*time.Minute)).
		Then(does(buys(inv2)))
	paid := waits.Given(extended(line, inv2, end.AddDate(0, 1, 0)))
	paid.At(end).WhenDue("part:"+line.String(), end.Add(-15*time.Minute)).ThenNothing()
}

// TestParts_APauseAndAnEndOfThePaidTimeThatMovesPutItOff: the timer of before asks again.
func TestParts_APauseAndAnEndOfThePaidTimeThatMovesPutItOff(t *testing.T) {
	t.Parallel()
	end, later := start.AddDate(0, 0, 15), start.AddDate(0, 0, 20)
	timer := "part:" + line.String()
	s := after(t, sellsDays(calendar.Month, events.PartIsDays), due(line, inv1), extended(line, inv1, end),
		due(line, inv2), part(inv2, 700))
	paused := s.Given(events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who})
	paused.At(end).WhenDue(timer, end).ThenNothing()
	out := paused.At(end).When(events.SubscriptionResumed{
		SubscriptionID: line, SubscriberID: who, PaidUntil: later,
	}).Output()
	if n := len(out.Timers); n == 0 || out.Timers[n-1] != atPart(later.Add(-15 * time.Minute)).Timers[0] {
		t.Errorf("after the pause %+v", out)
	}
	given := s.Given(events.SubscriptionCompensated{SubscriptionID: line, SubscriberID: who, PaidUntil: later})
	given.At(end).WhenDue(timer, end).Then(atPart(later.Add(-15 * time.Minute)))
}

// TestParts_OfOtherPlansWait: of those that keep a part as credit, and of a day, which has no smaller part.
func TestParts_OfOtherPlansWait(t *testing.T) {
	t.Parallel()
	for _, plan := range []events.Event{
		sellsDays(calendar.Month, events.PartIsCredit), sellsDays(calendar.Month, ""),
		sellsDays(calendar.Day, events.PartIsDays),
	} {
		after(t, plan, due(line, inv1)).When(part(inv1, 700)).ThenNothing()
	}
	after(t, sellsDays(calendar.Month, events.PartIsDays)).When(part(inv1, 700)).ThenNothing() // of no period
}

// TestParts_OfAPeriodThatWasPaidBeforeBuyNoDays: it may be used, so the whole of it stays due, also on the invoice that
// takes the place of its own.
func TestParts_OfAPeriodThatWasPaidBeforeBuyNoDays(t *testing.T) {
	t.Parallel()
	used := start.AddDate(0, 0, 26)
	s := after(t, sellsDays(calendar.Month, events.PartIsDays), due(line, inv1), extended(line, inv1, until),
		events.PeriodWithdrawn{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, At: used}).At(used)
	s.When(part(inv1, 1440)).ThenNothing()
	s.Given(part(inv1, 1440)).WhenDue("part:"+line.String(), used).ThenNothing()
	corrected := s.Given(events.PeriodReissued{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, CorrectedID: inv2,
	})
	corrected.When(part(inv2, 1000)).ThenNothing()
	next := s.Given(extended(line, inv1, until), due(line, inv2))
	next.At(until).When(part(inv2, 700)).Then(does(buys(inv2))) // never paid before
}

// TestParts_OfAPeriodThatTakesThePlaceOfAnUndoneUsedOneBuyNoDays, also on its corrected invoice.
func TestParts_OfAPeriodThatTakesThePlaceOfAnUndoneUsedOneBuyNoDays(t *testing.T) {
	t.Parallel()
	again := events.PeriodDue{SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Retakes: true}
	s := after(t, sellsDays(calendar.Month, events.PartIsDays), due(line, inv1), extended(line, inv1, until),
		events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, UndoneRun: id.New[id.BillingRun](),
			NextFrom: start.AddDate(0, 0, -20), At: start,
		}, again)
	s.When(part(inv2, 1450)).ThenNothing()
	inv3 := id.Derive[id.Invoice]("test", "corrected")
	s.Given(events.PeriodReissued{SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, CorrectedID: inv3}).
		When(part(inv3, 1450)).ThenNothing()
}

// TestParts_GoOverToTheCorrectedInvoice: its money came to it before anybody knew for which period it is.
func TestParts_GoOverToTheCorrectedInvoice(t *testing.T) {
	t.Parallel()
	inv3 := id.Derive[id.Invoice]("test", "corrected")
	reissued := events.PeriodReissued{SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, CorrectedID: inv3}
	s := after(t, sellsDays(calendar.Month, events.PartIsDays), due(line, inv1), extended(line, inv1, until),
		due(line, inv2), part(inv2, 700), part(inv3, 600)).At(until.AddDate(0, 0, -2))
	at := until.Add(-15 * time.Minute)
	s.When(reissued).Then(atPart(at))
	s.Given(reissued).At(at).WhenDue("part:"+line.String(), at).Then(does(buys(inv3)))
	s.At(until).When(reissued).Then(does(buys(inv3)))

	paid := s.Given(events.InvoicePaid{SubscriberID: who, SubscriptionID: line, InvoiceID: inv3, At: start})
	paid.At(until).When(reissued).ThenNothing()
	later := s.Given(extended(line, inv2, until.AddDate(0, 1, 0)))
	later.When(reissued).ThenNothing() // a period that is paid
}
