package billing_test

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// refundID is the same in every run for the same n.
func refundID(n int) id.Refund { return id.Derive[id.Refund]("test", fmt.Sprint("refund", n)) }

// setAside takes credit of the n-th receipt for the k-th refund; zero means all of it.
func setAside(n, k int, minor int64) commands.SetCreditAside {
	return commands.SetCreditAside{
		SubscriberID: subscriber, RefundID: refundID(k), ReceiptID: receiptID(n), Amount: kes(minor), Reason: "moved",
	}
}

// returned is the failure of the k-th refund.
func returned(k int) commands.ReturnSetAside {
	return commands.ReturnSetAside{SubscriberID: subscriber, RefundID: refundID(k), Reason: "declined"}
}

// paidOut is the success of the k-th refund.
func paidOut(k int) commands.PayOutSetAside {
	return commands.PayOutSetAside{SubscriberID: subscriber, RefundID: refundID(k)}
}

// writeOff gives up a debt under the n-th id; zero means all of it.
func writeOff(n int, minor int64) commands.WriteOffDebt {
	return commands.WriteOffDebt{
		SubscriberID: subscriber, WriteOffID: id.Derive[id.Receipt]("test", fmt.Sprint("write-off", n)),
		Amount: kes(minor), Reason: "gone away",
	}
}

func TestRefund_MoneySetAsidePaysNoInvoice(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 1000))
	l.then(setAside(1, 1, 600), events.CreditSetAside{
		SubscriberID: subscriber, OrgID: org, RefundID: refundID(1), ReceiptID: receiptID(1), Number: "R1",
		Amount: kes(600), Reason: personal.Of("moved"), At: now,
	})
	l.then(setAside(1, 1, 600))
	l.stands(0, 400)
	l.fails(setAside(1, 2, 401), failure.Conflict, "refund_too_large")
	l.kinds(setAside(1, 2, 0), events.CreditSetAside{})
	l.stands(0, 0)
	l.fails(setAside(1, 3, 0), failure.Conflict, "refund_too_large") // nothing is left
	l.do(draft(1, 500, 10))
	l.kinds(issue(1), events.InvoiceIssued{})
	l.closed()
	l.then(paidOut(2), events.SetAsidePaidOut{
		SubscriberID: subscriber, OrgID: org, RefundID: refundID(2), ReceiptID: receiptID(1), Amount: kes(400), At: now,
	})
	l.then(paidOut(2))
	l.then(returned(2)) // it has left for good
	l.kinds(returned(1), events.SetAsideReturned{}, events.InvoiceAllocated{}, events.InvoicePaid{},
		events.CreditLeft{})
	l.stands(0, 100)
}

func TestRefund_FailedOneGivesTheCreditBackOnce(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 1000), setAside(1, 1, 600))
	l.then(returned(1),
		events.SetAsideReturned{
			SubscriberID: subscriber, OrgID: org, RefundID: refundID(1), ReceiptID: receiptID(1), Number: "R1",
			Amount: kes(600), Reason: personal.Of("declined"), At: now,
		},
		events.CreditLeft{SubscriberID: subscriber, OrgID: org, Credit: kes(1000), At: now})
	l.then(returned(1))
	l.then(paidOut(1))
	l.closed()
	l.then(setAside(1, 1, 600)) // the same refund is not asked for again
	l.stands(0, 1000)
	l.fails(returned(9), failure.NotFound, "refund_not_found")
	l.fails(paidOut(9), failure.NotFound, "refund_not_found")
}

func TestRefund_OnlyUnusedMoneyOfAReceiptCanBeRefunded(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 1200), note(1, 1, 500), issueNote(1))
	l.fails(setAside(9, 1, 1), failure.NotFound, "receipt_not_found")
	l.fails(setAside(1, 1, 701), failure.Conflict, "refund_too_large")
	ofNote := setAside(1, 1, 100)
	ofNote.ReceiptID = noteID(1)
	l.fails(ofNote, failure.NotFound, "receipt_not_found")
	foreign := setAside(1, 1, 0)
	foreign.Amount = money.Of(5, "UGX")
	l.fails(foreign, failure.Conflict, "currency_mismatch")
	l.kinds(setAside(1, 1, 700), events.CreditSetAside{})
	l.stands(0, 0)
}

// Money under way to the customer is not moved with its receipt; a refund that fails afterwards follows the receipt.
func TestRefund_OfAReceiptThatIsWithdrawnFollowsIt(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 1000), setAside(1, 1, 600))
	if err := l.State().MayWithdraw(receiptID(1)); failure.CodeOf(err) != "receipt_refunded" {
		t.Errorf("moving the receipt would move %v", err)
	}
	l.then(withdraw(1), events.ReceiptWithdrawn{
		SubscriberID: subscriber, OrgID: org, ReceiptID: receiptID(1), Number: "R1", Amount: kes(400),
		FromCredit: kes(400), Left: kes(0), Reason: personal.Of("wrong customer"), At: now,
	})
	l.kinds(returned(1), events.SetAsideReturned{}, events.ReceiptWithdrawn{})
	l.stands(0, 0)
	if r := l.State().Receipts[receiptID(1)]; r.Taken != kes(1000) || !r.Unused.IsZero() {
		t.Errorf("the receipt is %+v", r)
	}
	l.closed()
}

func TestWriteOff_BeginsWithTheOldestDebtAndIsNoPayment(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), draft(2, 500, 5), issue(2), credit(1, 100))
	amount := func(n int, minor int64) events.InvoiceAllocated {
		return events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(n), ReceiptID: writeOff(1, 0).WriteOffID,
			Amount: kes(minor), Due: kes(0), At: now,
		}
	}
	part := amount(1, 300)
	part.Due = kes(700)
	l.then(writeOff(1, 700),
		events.DebtWrittenOff{
			SubscriberID: subscriber, OrgID: org, WriteOffID: writeOff(1, 0).WriteOffID, Amount: kes(700),
			Reason: personal.Of("gone away"), At: now,
		},
		amount(2, 400), events.InvoicePaid{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(2), SubscriptionID: subscription(),
			WrittenOff: kes(400), At: now,
		}, part)
	l.then(writeOff(1, 700))
	l.stands(700, 0)
	l.fails(writeOff(2, 701), failure.Invalid, "write_off_too_large")
	l.kinds(writeOff(2, 0), events.DebtWrittenOff{}, events.InvoiceAllocated{}, events.InvoiceWrittenOff{})
	l.stands(0, 0)
	l.fails(writeOff(3, 0), failure.Invalid, "write_off_too_large")
	l.closed()
	l.then(writeOff(1, 700))
	given(t).fails(writeOff(1, 0), failure.NotFound, "account_not_found")
	foreign := writeOff(4, 0)
	foreign.Amount = money.Of(5, "UGX")
	l.fails(foreign, failure.Conflict, "currency_mismatch")
	gone := withdraw(1)
	gone.ReceiptID = writeOff(1, 0).WriteOffID
	l.fails(gone, failure.NotFound, "receipt_not_found") // a loss is no money
}

func TestPaidOn_IsMoneyAndNeitherANoteNorALoss(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 100), note(1, 1, 200), issueNote(1), writeOff(1, 300))
	if got := l.State().PaidOn(invoiceID(1)); got != kes(100) {
		t.Errorf("%s was paid", got)
	}
	l.stands(400, 0)
}

// What a credit note will cover is not written off as well, and what was written off is not given back.
func TestWriteOff_AndCreditNotesNeverExceedTheInvoice(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), note(1, 1, 600))
	l.fails(writeOff(1, 401), failure.Invalid, "write_off_too_large")
	l.do(writeOff(1, 400))
	l.fails(note(2, 1, 1), failure.Conflict, "invoice_given_back")
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.InvoiceAllocated{}, events.InvoiceWrittenOff{})
	l.stands(0, 0)
}

func TestWriteOff_LaterMoneyForTheInvoiceRecoversIt(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), writeOff(1, 0), draft(2, 200, 25), issue(2))
	l.kinds(credit(8, 50), events.ReceiptCredited{}, events.InvoiceAllocated{}) // names nothing: pays what is due
	paid := credit(1, 1300)
	paid.InvoiceID = invoiceID(1)
	recovered := events.WriteOffRecovered{
		SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(1), Number: "ACME-0001", ReceiptID: receiptID(1),
		Amount: kes(1000), At: now,
	}
	if got := bare(l.do(paid)[1]); got != events.AccountEvent(recovered) {
		t.Errorf("recovered %+v", got)
	}
	l.stands(0, 150)
	l.closed()
	again := credit(2, 100)
	again.InvoiceID = invoiceID(1)
	l.kinds(again, events.ReceiptCredited{}, events.CreditLeft{}) // nothing is left to recover
	l.kinds(withdrawPart(1, 1, 400), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{},
		events.RecoveryWithdrawn{}, events.InvoiceAllocated{}, events.InvoiceReopened{})
	if inv := l.State().Settled[invoiceID(1)]; inv.Recovered != kes(900) || !inv.WroteOff || inv.Paid {
		t.Errorf("the written-off invoice is %+v", inv)
	}
	l.stands(50, 0)
}

// A customer who wants to pay a debt that was given up may do so, and be asked for it on the phone.
func TestWriteOff_MoneyMayNameTheInvoiceUntilTheLossIsRecovered(t *testing.T) {
	t.Parallel()
	ask := func(minor int64) commands.ReservePrompt {
		return commands.ReservePrompt{
			SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), InvoiceID: invoiceID(1), Amount: kes(minor),
		}
	}
	named := func(n int, minor int64) commands.CreditReceipt {
		c := credit(n, minor)
		c.InvoiceID = invoiceID(1)
		return c
	}
	l := given(t, draft(1, 1050, 20), issue(1), writeOff(1, 0))
	if err := l.State().MayPay(invoiceID(1)); err != nil {
		t.Errorf("a written-off invoice: %v", err)
	}
	if got := l.State().NumberOf(invoiceID(1)); got != number(1) {
		t.Errorf("its number is %q", got)
	}
	l.fails(ask(1200), failure.Conflict, "amount_above_loss")
	l.kinds(ask(1100), events.PromptReserved{}) // in whole shillings
	l.do(commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: paymentID(1)})
	l.do(named(1, 850))
	l.fails(ask(300), failure.Conflict, "amount_above_loss")
	l.kinds(ask(200), events.PromptReserved{})
	l.do(commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: paymentID(1)})
	l.closed()
	if err := l.State().MayPay(invoiceID(1)); err != nil {
		t.Errorf("a part of it is recovered: %v", err)
	}
	l.do(named(2, 200))
	l.fails(ask(100), failure.Conflict, "invoice_not_payable")

	half := given(t, draft(1, 1000, 20), issue(1), writeOff(1, 400))
	half.kinds(ask(900), events.PromptReserved{}) // a part is due

	waived := given(t, draft(1, 1000, 20), issue(1), writeOff(1, 0), void(1))
	waived.fails(ask(100), failure.Conflict, "invoice_not_payable")
}

func TestWriteOff_ALossIsNotRefunded(t *testing.T) {
	t.Parallel()
	refund := setAside(1, 1, 100)
	refund.ReceiptID = writeOff(1, 0).WriteOffID
	given(t, draft(1, 1000, 20), issue(1), writeOff(1, 0)).fails(refund, failure.NotFound, "receipt_not_found")
}

func TestWriteOff_ARecoveryIsTakenBackUnderItsOwnAllocation(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), writeOff(1, 0))
	paid := credit(1, 1000)
	paid.InvoiceID = invoiceID(1)
	var made, undone id.Allocation
	for _, e := range append(l.do(paid), l.do(withdraw(1))...) {
		switch e := e.(type) {
		case events.WriteOffRecovered:
			made = e.AllocationID
		case events.RecoveryWithdrawn:
			undone = e.AllocationID
		}
	}
	if made.IsZero() || made != undone {
		t.Errorf("recovered by allocation %v, taken back from %v", made, undone)
	}
}

func TestRefund_ThatFailsAfterAPartWasWithdrawnIsCreditAgain(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 1000), setAside(1, 1, 600), withdrawPart(1, 1, 400))
	l.stands(0, 0)
	l.kinds(returned(1), events.SetAsideReturned{}, events.CreditLeft{})
	l.stands(0, 600)
	l.kinds(withdrawPart(1, 2, 600), events.ReceiptWithdrawn{})
	l.stands(0, 0)
	l.then(withdraw(1))
}
