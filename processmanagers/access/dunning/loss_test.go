package dunning_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
)

// writeOff is the receipt of the debts that are given up.
var writeOff = id.Derive[id.Receipt]("test", "write-off")

// givenUp are the events that give up an amount of the invoice, of which some is still due afterwards.
func givenUp(amount, due int64) []events.Event {
	list := []events.Event{
		events.DebtWrittenOff{SubscriberID: who, WriteOffID: writeOff},
		events.InvoiceAllocated{
			SubscriberID: who, InvoiceID: invoice, ReceiptID: writeOff, Amount: kes(amount), Due: kes(due),
		},
	}
	if due > 0 {
		return list
	}
	return append(list, events.InvoiceWrittenOff{SubscriberID: who, InvoiceID: invoice, SubscriptionID: line})
}

// lost is the debt of the line's invoice, of which a part was given up.
func lost(since time.Time, major, part int64) events.DunningOwed {
	o := owes(since, major)
	o.Debts[0].GivenUp = kes(part)
	return o
}

// owing is the postpaid line with its invoice, in a state of dunning.
func owing(t *testing.T, state events.DunningState) processtest.Scenario[dunning.State] {
	t.Helper()
	return processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month), issued(line), reviewed(state, until))
}

// Money has paid a part before, and the rest is given up: the invoice is paid, and not whole. One that is paid whole
// gives access back.
func TestWriteOff_OfTheRestGivesNoAccessBack(t *testing.T) {
	t.Parallel()
	s := owing(t, events.DunningSuspended).Given(
		events.InvoiceAllocated{SubscriberID: who, InvoiceID: invoice, Amount: kes(1000), Due: kes(500)},
	).Given(givenUp(500, 0)[:2]...)
	paid := events.InvoicePaid{SubscriberID: who, InvoiceID: invoice, SubscriptionID: line, WrittenOff: kes(500)}
	s.When(paid).ThenNothing()
	paid.WrittenOff = money.Amount{}
	if out := s.When(paid).Output(); len(out.Commands) != 1 {
		t.Errorf("paid whole: %+v", out)
	}
}

func TestWriteOff_GivesNoAccessBack(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	s := owing(t, events.DunningWrittenOff).With(at(later))
	gone := givenUp(1500, 0)
	s = s.When(gone[0]).ThenNothing()
	s = s.When(gone[1]).Then(looks(false, start.Add(time.Hour), owes(start, 1500), lost(later, 1500, 1500)))
	s = s.When(gone[2]).ThenNothing()
	recovered := events.WriteOffRecovered{SubscriberID: who, InvoiceID: invoice, Amount: kes(1500)}
	s.When(recovered).Then(looks(false, start.Add(time.Hour), owes(start, 1500), lost(later, 1500, 1500),
		events.DunningOwed{At: later}))
	back := events.RecoveryWithdrawn{SubscriberID: who, InvoiceID: invoice, Amount: kes(1500)}
	s.Given(recovered, reviewed(events.DunningNone, time.Time{})).When(back).
		Then(looks(false, start.Add(time.Hour), lost(later, 1500, 1500)))
	other := id.Derive[id.Subscription]("test", "other")
	s.When(events.InvoicePaid{SubscriberID: who, InvoiceID: id.New[id.Invoice](), SoldTo: other}).ThenNothing()
	s.When(events.InvoicePaid{SubscriberID: who, InvoiceID: id.New[id.Invoice](), SubscriptionID: line}).
		Then(looks(false, start.Add(time.Hour), owes(start, 1500), lost(later, 1500, 1500),
			events.DunningOwed{At: later}))
}

func TestWriteOff_OfAPartLeavesTheRestToBePaid(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	s := owing(t, events.DunningSuspended).With(at(later))
	gone := givenUp(1499, 1)
	s = s.When(gone[0]).ThenNothing()
	s = s.When(gone[1]).Then(looks(false, start.Add(time.Hour), owes(start, 1500), lost(later, 1500, 1499)))
	s.When(events.InvoiceAllocated{
		SubscriberID: who, InvoiceID: invoice, ReceiptID: id.New[id.Receipt](), Amount: kes(1), Due: kes(0),
	}).Then(looks(false, start.Add(time.Hour), owes(start, 1500), lost(later, 1500, 1499),
		events.DunningOwed{At: later}))
}

func TestWriteOff_WhoIsNotCutOwesItNoMore(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	s := owing(t, events.DunningReminding).With(at(later)).Given(givenUp(1500, 0)[0])
	s.When(givenUp(1500, 0)[1]).
		Then(looks(false, start.Add(time.Hour), owes(start, 1500), events.DunningOwed{At: later}))
}

// ofARest are the events that give up the last shilling of an invoice, as programs tell it and told it before.
func ofARest() [][]events.Event {
	old := givenUp(1, 0)
	return [][]events.Event{old, append(slices.Clone(old[:2]), events.InvoicePaid{
		SubscriberID: who, InvoiceID: invoice, SubscriptionID: line, WrittenOff: kes(1),
	})}
}

// 1,499 of 1,500 are paid, one is given up, and then the payment is taken back.
func TestWriteOff_OfARestWhosePaymentIsTakenBackIsOwed(t *testing.T) {
	t.Parallel()
	for _, gone := range ofARest() {
		restTakenBack(t, gone)
	}
}

// restTakenBack tells the story once: given up is told as it is in gone.
func restTakenBack(t *testing.T, gone []events.Event) {
	t.Helper()
	later := start.Add(time.Hour)
	paid := events.InvoiceAllocated{
		SubscriberID: who, InvoiceID: invoice, ReceiptID: id.New[id.Receipt](), Amount: kes(1499), Due: kes(1),
	}
	back := events.AllocationWithdrawn{SubscriberID: who, InvoiceID: invoice, Amount: kes(1499), Due: kes(1499)}
	s := owing(t, events.DunningNone).With(at(later)).Given(paid).Given(gone...)
	s.When(back).Then(looks(false, start.Add(time.Hour), owes(later, 1499)))
	s.Given(back).When(events.InvoiceReopened{
		SubscriberID: who, InvoiceID: invoice, SubscriptionID: line, Due: kes(1499),
	}).ThenNothing()
	s.Given(back).When(events.InvoiceVoided{SubscriberID: who, InvoiceID: invoice}).
		Then(looks(false, start.Add(time.Hour), events.DunningOwed{At: later}))
	cut := owing(t, events.DunningSuspended).With(at(later)).Given(paid).Given(gone...)
	cut.When(back).Then(looks(false, start.Add(time.Hour), owes(start, 1500), owes(later, 1), lost(later, 1, 1),
		lost(later, 1500, 1)))
}

// The same after many younger invoices, which were paid.
func TestWriteOff_OfARestIsRememberedBeyondManyInvoices(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	paid := events.InvoiceAllocated{
		SubscriberID: who, InvoiceID: invoice, ReceiptID: id.New[id.Receipt](), Amount: kes(1499), Due: kes(1),
	}
	list := append([]events.Event{paid}, ofARest()[1]...)
	next := issued(line).(events.InvoiceIssued)
	for n := range 37 {
		next.InvoiceID, next.DueOn = id.Derive[id.Invoice](fmt.Sprint(n)), next.DueOn.AddDays(1)
		list = append(list, next,
			events.InvoicePaid{SubscriberID: who, InvoiceID: next.InvoiceID, SubscriptionID: line})
	}
	s := owing(t, events.DunningNone).With(at(later)).Given(list...)
	back := events.AllocationWithdrawn{SubscriberID: who, InvoiceID: invoice, Amount: kes(1499), Due: kes(1499)}
	s.When(back).Then(looks(false, start.Add(time.Hour), owes(later, 1499)))
	s.Given(back, paid).When(events.InvoiceAllocated{
		SubscriberID: who, InvoiceID: invoice, ReceiptID: id.New[id.Receipt](), Amount: kes(1), Due: kes(0),
	}).Then(looks(false, start.Add(time.Hour), events.DunningOwed{At: later}))
}
