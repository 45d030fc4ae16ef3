package billingcases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
)

// TestUndone_TwoUsedMonthsAreBothPaidAgain: two runs are undone in whose months the customer was served. One payment of
// both prices brings both months back to where they were, with nothing given and nothing left.
func TestUndone_TwoUsedMonthsAreBothPaidAgain(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 0))
	price := money.Major(1500, money.KES)
	w.pays(price)
	w.until(local(time.April, 20))
	w.pays(price)
	w.until(local(time.May, 25)) // the third month begins with its payment
	w.pays(price)
	before := w.line.PaidUntil()
	if want := local(time.June, 25); !before.Equal(want) {
		t.Fatalf("paid until %s", before)
	}
	w.until(local(time.June, 5))
	undone, run := w.invoices, id.BillingRun{}
	for _, i := range []int{2, 1} {
		run = w.undoes(undone[i])
	}
	if until := w.line.PaidUntil(); !until.Equal(local(time.April, 21)) {
		t.Fatalf("after the undo paid until %s", until)
	}
	if credit := w.account.Credit(); credit != money.Major(3000, money.KES) {
		t.Fatalf("credit %s", credit)
	}
	w.does(commands.MakePeriodDue{
		SubscriptionID: w.line.ID, On: calendar.On(w.at, nairobi), RunID: run, Again: true,
	})
	w.until(local(time.June, 6))
	before = before.Add(invoicing.ForRun) // the time without service until the invoice of the run is there
	if until := w.line.PaidUntil(); !until.Equal(before) || len(w.invoices) != 5 {
		t.Errorf("made again, paid until %s with %d invoices", until, len(w.invoices))
	}
	if w.account.Credit().Positive() || w.account.Due().Positive() {
		t.Errorf("credit %s, due %s", w.account.Credit(), w.account.Due())
	}
}

// TestUndone_DaysWithoutServiceAreGivenBackOnce: with a billing day, one run or two are undone on 10 May and made again
// on 20 May. The ten days of May between them need not be paid.
func TestUndone_DaysWithoutServiceAreGivenBackOnce(t *testing.T) {
	t.Parallel()
	for runs := 1; runs <= 2; runs++ {
		w := sold(t, terms(events.Prepaid, 1))
		w.pays(w.lastInvoice().Total)
		for _, day := range []time.Time{local(time.March, 30), local(time.April, 29)} {
			w.until(day)
			w.pays(w.lastInvoice().Total)
		}
		w.until(local(time.May, 10))
		undone, run := w.invoices, id.BillingRun{}
		for i := range runs {
			run = w.undoes(undone[2-i])
		}
		w.until(local(time.May, 20))
		before := len(w.notes)
		w.does(commands.MakePeriodDue{
			SubscriptionID: w.line.ID, On: calendar.On(w.at, nairobi), RunID: run, Again: true,
		})
		w.until(local(time.May, 21))
		var days []events.PartPeriod
		for _, n := range w.notes[before:] {
			days = append(days, events.PartPeriod{Days: n.credits.Days, Of: n.credits.Of})
		}
		if len(days) != 1 || days[0] != (events.PartPeriod{Days: 10, Of: 31}) {
			t.Errorf("%d undone: credited %v", runs, days)
		}
	}
}

// undoes takes the newest run back, and the invoice that it made by a credit note.
func (w worked) undoes(made events.InvoiceDrafted) id.BillingRun {
	w.t.Helper()
	run := id.Derive[id.BillingRun]("worked", made.InvoiceID.String())
	w.does(commands.UndoPeriod{SubscriptionID: w.line.ID, InvoiceID: made.InvoiceID, RunID: run})
	w.does(commands.DraftCreditNote{
		SubscriberID: w.line.SubscriberID, InvoiceID: made.InvoiceID, Reason: "run", Prefix: "ACME-CN",
		CreditNoteID: id.Derive[id.Receipt]("worked", run.String()), Amount: made.Total,
	})
	return run
}
