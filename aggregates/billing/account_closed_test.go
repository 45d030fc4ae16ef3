package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// closes ends the account.
var closes = commands.CloseAccount{SubscriberID: subscriber, OrgID: org, Currency: money.KES, Reason: "wrong file"}

// asks opens a prompt for what is due.
var asks = commands.ReservePrompt{
	SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), InvoiceID: invoiceID(1), Amount: kes(700_00),
}

// TestClosedAccount_TakesNoMoney: nothing new comes onto it, also in its next period; what is on it can be taken back.
func TestClosedAccount_TakesNoMoney(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 300_00), draft(1, 1000_00, 5), issue(1), closes)
	l.When(closes).ThenNothing()
	for range 2 {
		l.When(credit(1, 300_00)).ThenNothing() // it is there
		l.fails(credit(2, 500_00), failure.Conflict, "account_closed")
		l.fails(draft(2, 500_00, 5), failure.Conflict, "account_closed")
		l.fails(asks, failure.Conflict, "account_closed")
		l.closed()
	}
	l.do(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "wrong", ReleaseMoney: true})
	l.do(commands.WithdrawReceipt{SubscriberID: subscriber, ReceiptID: receiptID(1), Reason: "wrong"})
	if s := l.State(); s.Due().Positive() || s.Credit().Positive() {
		t.Errorf("due %s, credit %s", s.Due(), s.Credit())
	}
	given(t, closes).fails(carry(100_00), failure.Conflict, "account_closed")
}

// TestClosedAccount_AnInvoiceThatItRefusedNeedsNothing: who has asked for it may still ask to take it back.
func TestClosedAccount_AnInvoiceThatItRefusedNeedsNothing(t *testing.T) {
	t.Parallel()
	l := given(t, closes)
	l.When(commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "ended", ReleaseMoney: true,
	}).ThenNothing()
	l.When(commands.CreditDays{
		SubscriberID: subscriber, CreditNoteID: receiptID(1), Reason: "ended", Prefix: "ACME-CN",
		DaysCredit: events.DaysCredit{InvoiceID: invoiceID(1), Days: 3, Of: 31},
	}).ThenNothing()
}

// TestClosedAccount_NotWhileMoneyMayBeOnItsWay: an open prompt keeps it open.
func TestClosedAccount_NotWhileMoneyMayBeOnItsWay(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000_00, 5), issue(1), asks)
	l.fails(closes, failure.Conflict, "paid_since")
	l.do(commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: paymentID(1)})
	l.do(closes)
}

// TestClosedAccount_ForgettingIsRefusedWhileAnythingIsOpen: each thing alone is an obstacle, with its own code, and
// also in the next period. What has ended is none.
func TestClosedAccount_ForgettingIsRefusedWhileAnythingIsOpen(t *testing.T) {
	t.Parallel()
	forgets := closes
	forgets.Forget = true
	advance := asks // of a customer who owes nothing
	advance.InvoiceID = id.Invoice{}
	paid := []commands.AccountCommand{draft(1, 700_00, 5), issue(1), credit(1, 700_00)}
	for code, with := range map[string][]commands.AccountCommand{
		"forget_balance_owed": {draft(1, 700_00, 5), issue(1)},
		"forget_credit_left":  {credit(1, 300_00)},
		"forget_prompt_open":  {advance},
		"forget_refund_open":  {credit(1, 300_00), setAside(1, 1, 300_00)},
		"forget_draft_open":   append(paid, draft(2, 0, 5)),
	} {
		l := given(t, with...)
		l.fails(forgets, failure.Conflict, code)
		l.closed()
		l.fails(forgets, failure.Conflict, code)
	}
	l := given(t, append(paid, note(1, 1, 100_00))...)
	l.fails(forgets, failure.Conflict, "forget_draft_open") // a credit note without a number
	l = given(t, append(paid, credit(2, 300_00), setAside(2, 1, 300_00), paidOut(1))...)
	l.do(forgets)
	l.When(forgets).ThenNothing()
	l.closed()
	l.When(forgets).ThenNothing()
	given(t, closes).fails(forgets, failure.Conflict, "account_closed") // an undo of an import is removing the customer
}

// TestClosedAccount_NothingOpensOnItAgain: all is paid, and the customer is forgotten. Nothing that staff corrects
// makes a credit or a debt, also in the next period of the account, and money that was leaving already is a loss.
func TestClosedAccount_NothingOpensOnItAgain(t *testing.T) {
	t.Parallel()
	forgets := closes
	forgets.Forget = true
	l := given(t, credit(1, 1000_00), draft(1, 1000_00, 5), issue(1), forgets)
	for range 2 {
		l.fails(commands.DraftCreditNote{
			SubscriberID: subscriber, CreditNoteID: receiptID(8), InvoiceID: invoiceID(1), Amount: kes(300_00),
			Reason: "late", Prefix: "ACME-CN",
		}, failure.Conflict, "account_closed")
		l.fails(commands.TakeBackInvoice{
			SubscriberID: subscriber, CreditNoteID: receiptID(8), InvoiceID: invoiceID(1), Reason: "run",
			Prefix: "ACME-CN",
		}, failure.Conflict, "account_closed")
		if err := l.State().MayWithdraw(receiptID(1)); failure.CodeOf(err) != "account_closed" {
			t.Errorf("reverse by hand: %v", err)
		}
		l.When(commands.CreditDays{
			SubscriberID: subscriber, CreditNoteID: receiptID(8), Reason: "outage", Prefix: "ACME-CN",
			DaysCredit: events.DaysCredit{InvoiceID: invoiceID(1), Days: 3, Of: 31},
		}).ThenNothing()
		l.closed()
	}
	back := commands.WithdrawReceipt{SubscriberID: subscriber, ReceiptID: receiptID(1), Reason: "reversed"}
	lost := 0
	for _, e := range l.When(back).ThenEvents() {
		switch e := e.(type) {
		case events.DebtWrittenOff:
			lost++
			if e.Amount != kes(1000_00) {
				t.Errorf("%s are lost", e.Amount)
			}
		case events.InvoiceReopened:
			t.Errorf("the invoice is due again: %+v", e)
		default: // the way of the money
		}
	}
	l.When(back).ThenNothing()
	if s := l.State(); lost != 1 || s.Due().Positive() || s.Credit().Positive() {
		t.Errorf("%d losses, due %s, credit %s", lost, s.Due(), s.Credit())
	}
}
