package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
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
