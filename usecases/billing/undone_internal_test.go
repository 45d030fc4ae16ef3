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
		run = id.Derive[id.BillingRun]("worked", undone[i].InvoiceID.String())
		w.does(commands.UndoPeriod{SubscriptionID: w.line.ID, InvoiceID: undone[i].InvoiceID, RunID: run})
		w.does(commands.DraftCreditNote{
			SubscriberID: w.line.SubscriberID, InvoiceID: undone[i].InvoiceID, Reason: "run", Prefix: "ACME-CN",
			CreditNoteID: id.Derive[id.Receipt]("worked", run.String()), Amount: undone[i].Total,
		})
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
