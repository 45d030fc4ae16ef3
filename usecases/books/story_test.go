package bookscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// story is a year of an organization with every kind of payment and correction.
func story(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.months()
	w.laterMonths()
	w.losses()
	w.refunds()
	expired := w.prompt(50)
	w.pass(2)
	w.prompts.do(commands.ExpirePayment{PaymentID: expired})
	for _, org := range []id.Organization{w.org, {}} {
		suspense := w.receive(80, org)
		w.receipts.do(commands.HoldReceipt{ReceiptID: suspense, Reason: commands.HeldNoMatch})
	}
	w.settledByHand(w.prompt(60), 40)
	w.month()
	w.subs.do(commands.EndSubscription{SubscriptionID: w.sub, Reason: "moved away"})
	w.accounts.closePeriod(id.As[id.Any](w.brian))
	return w
}

// pass lets days go by.
func (w *world) pass(days int) { w.now = w.now.AddDate(0, 0, days) }

// month makes Amina's next period due.
func (w *world) month() { w.subs.do(commands.MakePeriodDue{SubscriptionID: w.sub}) }

// months are Amina's first four: by prompt; by a payment that is given back and made again in cash, by way of another
// account, with a pause; by a prompt whose receipt comes late, and then given back whole; from that credit.
func (w *world) months() {
	w.settled(w.prompt(1000), 1000, false)
	w.pass(30)
	w.month()
	second := w.pay(w.amina, 1000)
	w.pass(5)
	w.receipts.do(commands.ReverseReceipt{ReceiptID: second, OrgID: w.org, Reason: "fraud"})
	w.pass(3)
	cash := id.New[id.Receipt]()
	w.receipts.do(commands.RecordCash{
		ReceiptID: cash, OrgID: w.org, SubscriberID: w.brian, Amount: kes(1000), Reference: "slip 1",
	})
	w.receipts.do(commands.ReattributeReceipt{ReceiptID: cash, OrgID: w.org, SubscriberID: w.amina, Reason: "wrong"})
	w.pass(2)
	w.subs.do(commands.PauseSubscription{SubscriptionID: w.sub, Reason: "holiday"})
	w.pass(10)
	w.subs.do(commands.ResumeSubscription{SubscriptionID: w.sub, Reason: "back"})
	w.pass(20)
	w.month()
	provisional := w.prompt(1000)
	w.settled(provisional, 1000, true)
	w.settled(provisional, 1000, false)
	w.accounts.do(commands.DraftCreditNote{
		SubscriberID: w.amina, CreditNoteID: id.New[id.Receipt](), InvoiceID: commands.PeriodInvoice(w.sub, 3),
		Reason: "outage", Prefix: "ACME-CN",
	})
	w.month()
}

// laterMonths are two that are voided: one before it is paid, one afterwards, whose money pays the next. In between the
// streams are closed.
func (w *world) laterMonths() {
	w.pass(1)
	w.month()
	w.accounts.do(commands.VoidInvoice{
		SubscriberID: w.amina, InvoiceID: commands.PeriodInvoice(w.sub, 5), Reason: "mistake",
	})
	w.accounts.closePeriod(id.As[id.Any](w.amina))
	w.subs.closePeriod(id.As[id.Any](w.sub))
	w.pass(40)
	w.month()
	w.pay(w.amina, 1000)
	w.accounts.do(commands.VoidInvoice{
		SubscriberID: w.amina, InvoiceID: commands.PeriodInvoice(w.sub, 6), Reason: "twice", ReleaseMoney: true,
	})
	w.month()
}

// losses is an invoice of which a part is given back and a part is paid. The rest is lost, and recovered by money that
// waited in suspense. Of that money a part is taken back, more than what is still credit.
func (w *world) losses() {
	lost := w.bill(w.brian, 700)
	w.accounts.do(commands.DraftCreditNote{
		SubscriberID: w.brian, CreditNoteID: id.New[id.Receipt](), InvoiceID: lost, Amount: kes(100), Reason: "late",
		Prefix: "ACME-CN",
	})
	w.pay(w.brian, 200)
	w.accounts.do(commands.WriteOffDebt{SubscriberID: w.brian, WriteOffID: id.New[id.Receipt](), Reason: "moved"})
	late := w.receive(500, w.org)
	w.receipts.do(commands.HoldReceipt{ReceiptID: late, Reason: commands.HeldNoMatch})
	w.pass(1)
	w.receipts.do(commands.AttributeReceipt{ReceiptID: late, OrgID: w.org, SubscriberID: w.brian, InvoiceID: lost})
	w.accounts.do(commands.WithdrawReceipt{
		SubscriberID: w.brian, ReceiptID: late, WithdrawalID: id.New[id.Withdrawal](), Amount: kes(150), Reason: "part",
	})
}

// refunds are one that is paid out and one that fails.
func (w *world) refunds() {
	receipt := w.pay(w.brian, 300)
	for _, paid := range []bool{true, false} {
		refund := id.New[id.Refund]()
		w.accounts.do(commands.SetCreditAside{
			SubscriberID: w.brian, RefundID: refund, ReceiptID: receipt, Amount: kes(100), Reason: "left",
		})
		if paid {
			w.accounts.do(commands.PayOutSetAside{SubscriberID: w.brian, RefundID: refund})
		} else {
			w.accounts.do(commands.ReturnSetAside{SubscriberID: w.brian, RefundID: refund, Reason: "refused"})
		}
	}
}

// TestBooks_OfAStoryWithEveryCorrectionHaveNoFault: the rules' own events are in order, at the end with nothing left to
// wait for, and at every moment on the way with the patience for what follows.
func TestBooks_OfAStoryWithEveryCorrectionHaveNoFault(t *testing.T) {
	t.Parallel()
	w := story(t)
	for _, f := range w.books(w.org, w.log).Faults(w.now, 0) {
		t.Errorf("at the end: %s", f)
	}
	for _, f := range w.partFaults(w.log) {
		t.Errorf("in parts: %s", f)
	}
	b := w.books(w.org, nil)
	for i, e := range w.log {
		b.Take(e)
		if i+1 < len(w.log) && w.log[i+1].Meta.CommandID == e.Meta.CommandID {
			continue // in the middle of an append
		}
		for _, f := range b.Faults(e.Meta.At, bookscases.Patience) {
			t.Fatalf("after %d events, %s: %s", i+1, e.Type, f)
		}
	}
}

// TestBooks_OfAnotherOrganizationAreNotTouched: an organization without events has no faults, whatever others have.
func TestBooks_OfAnotherOrganizationAreNotTouched(t *testing.T) {
	t.Parallel()
	w := story(t)
	broken := w.log[:len(w.log)/2]
	for _, f := range w.books(id.New[id.Organization](), broken).Faults(w.now.Add(time.Hour*999), 0) {
		t.Errorf("of another organization: %s", f)
	}
}

// TestBooks_MoneyInNobodysHandsIsListedForThePlatform: it is no fault of the platform, and no organization sees it.
func TestBooks_MoneyInNobodysHandsIsListedForThePlatform(t *testing.T) {
	t.Parallel()
	w := story(t)
	platform := w.books(id.Organization{}, w.log)
	if list := platform.report(w.now, 0).Unowned; len(list) != 1 || list[0].Amount != kes(80) || list[0].Waits {
		t.Errorf("nobody's money: %+v", list)
	}
	for _, f := range platform.Faults(w.now, 0) {
		t.Errorf("of the platform: %s", f)
	}
}

// TestBooks_MoneyThatIsAssignedAgainIsWithItsLastOrganizationAlone: the platform gives it to the organization, by
// mistake to another one, and back, before it comes to an account.
func TestBooks_MoneyThatIsAssignedAgainIsWithItsLastOrganizationAlone(t *testing.T) {
	t.Parallel()
	w, other := story(t), id.New[id.Organization]()
	money := w.receive(70, id.Organization{})
	w.receipts.do(commands.HoldReceipt{ReceiptID: money, Reason: "no_match"})
	w.receipts.do(commands.AssignReceipt{ReceiptID: money, OrgID: w.org})
	w.receipts.do(commands.AssignReceipt{ReceiptID: money, OrgID: other, From: w.org})
	w.receipts.do(commands.AssignReceipt{ReceiptID: money, OrgID: w.org, From: other})
	w.receipts.do(commands.AttributeReceipt{ReceiptID: money, OrgID: w.org, SubscriberID: w.amina})
	for _, org := range []id.Organization{w.org, other, {}} {
		for _, f := range w.books(org, w.log).Faults(w.now.Add(time.Hour), time.Minute) {
			t.Errorf("of %s: %s", org, f)
		}
	}
}

// TestBooks_DebtForAServedPeriodThatWasTakenBackIsNoFault: a month that was paid and used, whose payment was taken
// back, stays due when the subscription ends (docs/rules/subscribers.md#pause-and-end), and nobody is told to void it.
func TestBooks_DebtForAServedPeriodThatWasTakenBackIsNoFault(t *testing.T) {
	t.Parallel()
	for name, endFirst := range map[string]bool{"taken back, then ended": false, "ended, then taken back": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			receipt := w.pay(w.amina, 1000)
			w.pass(20)
			reverse := commands.ReverseReceipt{ReceiptID: receipt, OrgID: w.org, Reason: "bounced"}
			end := commands.EndSubscription{SubscriptionID: w.sub, Reason: "moved"}
			if endFirst {
				w.subs.do(end)
				w.receipts.do(reverse)
			} else {
				w.receipts.do(reverse)
				w.subs.do(end)
			}
			w.now = w.now.Add(24 * time.Hour)
			for _, f := range w.faults(w.log) {
				t.Errorf("%s", f)
			}
		})
	}
}

// TestBooks_AnUndoneMonthThatWasUsedIsOwedAtTheEnd: the days that the end bills were served, so that the debt is no
// fault; nor is that of the month when its run was asked for again before.
func TestBooks_AnUndoneMonthThatWasUsedIsOwedAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		w := newWorld(t)
		run, paid := id.New[id.BillingRun](), w.pay(w.amina, 1000)
		w.pass(10)
		w.subs.do(commands.UndoPeriod{
			SubscriptionID: w.sub, InvoiceID: commands.PeriodInvoice(w.sub, 1), RunID: run,
		})
		w.accounts.do(commands.TakeBackInvoice{
			SubscriberID: w.amina, InvoiceID: commands.PeriodInvoice(w.sub, 1), Reason: "undo", Dropped: true,
			CreditNoteID: id.New[id.Receipt](), Prefix: "ACME-CN",
		})
		w.receipts.do(commands.ReverseReceipt{ReceiptID: paid, OrgID: w.org, Reason: "fraud"})
		if again {
			w.subs.do(commands.MakePeriodDue{SubscriptionID: w.sub, Received: true})
		}
		w.pass(1)
		w.subs.do(commands.EndSubscription{SubscriptionID: w.sub, Reason: "moved away"})
		if owed := w.accounts.states[id.As[id.Any](w.amina)].Owed(); !again && owed != money.Of(35714, money.KES) {
			t.Errorf("10 of 28 days cost %s", owed)
		}
		for _, f := range w.faults(w.log) {
			t.Errorf("asked for again %t: %s", again, f)
		}
	}
}

// TestBooks_OfTwoUndoneMonthsTheUnpaidOneIsOwedAtTheEnd: two used months are undone, and the first one is paid again.
// The second one is made again before the service ends, or by the end, or is taken back once more before that. Its days
// were served, whichever month was paid.
func TestBooks_OfTwoUndoneMonthsTheUnpaidOneIsOwedAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"made again", "made by the end", "undone once more"} {
		w := newWorld(t)
		w.pay(w.amina, 1000)
		w.pass(26)
		w.month()
		w.pay(w.amina, 1000)
		w.pass(10)
		undo := func(n int) {
			w.subs.do(commands.UndoPeriod{
				SubscriptionID: w.sub, InvoiceID: commands.PeriodInvoice(w.sub, n), RunID: id.New[id.BillingRun](),
			})
			w.accounts.do(commands.TakeBackInvoice{
				SubscriberID: w.amina, InvoiceID: commands.PeriodInvoice(w.sub, n), Reason: "undo", Dropped: true,
				CreditNoteID: id.New[id.Receipt](), Prefix: "ACME-CN",
			})
		}
		undo(2)
		undo(1)
		next := commands.MakePeriodDue{SubscriptionID: w.sub, Received: true}
		w.subs.do(next) // the credit pays it
		for receipt, money := range w.accounts.states[id.As[id.Any](w.amina)].Receipts {
			if money.Unused.Positive() && !money.CreditNote {
				w.receipts.do(commands.ReverseReceipt{ReceiptID: receipt, OrgID: w.org, Reason: "fraud"})
			}
		}
		w.pass(1)
		if how != "made by the end" {
			w.subs.do(next)
			w.pass(1)
		}
		if how == "undone once more" {
			undo(4)
		}
		w.subs.do(commands.EndSubscription{SubscriptionID: w.sub, Reason: "moved away"})
		if !w.accounts.states[id.As[id.Any](w.amina)].Owed().Positive() {
			t.Errorf("%s: nothing is owed", how)
		}
		for _, f := range w.faults(w.log) {
			t.Errorf("%s: %s", how, f)
		}
	}
}
