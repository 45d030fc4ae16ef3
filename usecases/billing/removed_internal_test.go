package billingcases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// closes is the first step of the removal of a customer.
func (w worked) closes() {
	w.t.Helper()
	w.does(commands.CloseAccount{
		SubscriberID: w.line.SubscriberID, OrgID: w.line.Owner, Currency: money.KES, Reason: "wrong file",
	})
}

// annuls are the steps after it.
func (w worked) annuls() {
	w.t.Helper()
	w.does(commands.EndSubscription{SubscriptionID: w.line.ID, Reason: "wrong file", Annulled: true})
	for _, invoice := range w.invoices {
		w.does(commands.VoidInvoice{
			SubscriberID: w.line.SubscriberID, InvoiceID: invoice.InvoiceID, Reason: "wrong file", ReleaseMoney: true,
		})
	}
	ahead := events.CarriedCredit(w.line.SubscriberID)
	if _, carried := w.account.Receipts[ahead]; carried {
		w.does(commands.WithdrawReceipt{
			SubscriberID: w.line.SubscriberID, ReceiptID: ahead, Reason: "wrong file",
		})
	}
}

// rests demands that nothing is owed or credited, and that in the months after it no process asks for anything.
func (w worked) rests() {
	w.t.Helper()
	w.until(local(time.June, 30))
	if w.account.Due().Positive() || w.account.Credit().Positive() || len(w.account.Notes) > 0 {
		w.t.Errorf("due %s, credit %s, notes %v", w.account.Due(), w.account.Credit(), w.account.Notes)
	}
	for _, p := range w.processes {
		for key, i := range p.each {
			if len(i.timers) > 0 {
				w.t.Errorf("%s %s waits for %v: %s", p.Name, key, i.timers, i.state)
			}
		}
	}
}

// TestRemoved_OfAnUndoneMonthNothingIsBilled: a customer is removed whose postpaid month an undo has taken back, and
// would be billed by an end.
func TestRemoved_OfAnUndoneMonthNothingIsBilled(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Postpaid, 0))
	first := w.lastInvoice().InvoiceID
	w.until(local(time.March, 25))
	run := id.Derive[id.BillingRun]("worked", "run")
	w.does(commands.UndoPeriod{SubscriptionID: w.line.ID, InvoiceID: first, RunID: run})
	w.does(commands.VoidInvoice{
		SubscriberID: w.line.SubscriberID, InvoiceID: first, Reason: "run", ReleaseMoney: true,
	})
	w.closes()
	w.annuls()
	w.rests()
}

// TestRemoved_CreditRenewsNothing: what was paid ahead has paid the month of a customer who is removed, and comes back
// to the account on the way.
func TestRemoved_CreditRenewsNothing(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 0))
	w.does(commands.CarryBalanceOver{
		SubscriberID: w.line.SubscriberID, OrgID: w.line.Owner, Amount: money.Major(-1500, money.KES),
	})
	if w.line.PaidUntil().IsZero() {
		t.Fatal("the credit has paid no month")
	}
	w.closes()
	w.annuls()
	w.rests()
}

// TestRemoved_APeriodThatBecomesDueOnTheWayHasNoInvoice: the closed account refuses its draft, once and for good.
func TestRemoved_APeriodThatBecomesDueOnTheWayHasNoInvoice(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]commands.EndSubscription{
		"annulled": {Reason: "wrong file", Annulled: true},
		"ended":    {Reason: "wrong file"}, // an undo of an older program
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sold(t, terms(events.Postpaid, 0))
			w.until(local(time.April, 20))
			w.closes()
			w.until(local(time.April, 22)) // its second month is due
			end.SubscriptionID = w.line.ID
			w.does(end)
			w.annuls()
			w.rests()
		})
	}
}
