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

func TestDraftInvoice_OpensTheAccountOnce(t *testing.T) {
	t.Parallel()
	l := given(t)
	l.kinds(draft(1, 1000, 10), events.AccountOpened{}, events.InvoiceDrafted{})
	l.kinds(draft(2, 1000, 10), events.InvoiceDrafted{})
	l.then(draft(2, 1000, 10))
	l.stands(0, 0) // drafts are not owed
}

func TestAccount_BelongsToTheOrganizationInEveryStreamPeriod(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10))
	l.BelongsTo(org, "account_not_found")
	l.closed()
	l.BelongsTo(org, "account_not_found")
	given(t, credit(1, 500)).BelongsTo(org, "account_not_found") // money can come before the first invoice
}

func TestDraftInvoice_AnotherCurrencyIsRefused(t *testing.T) {
	t.Parallel()
	c := draft(2, 1000, 10)
	c.Currency, c.Lines[0].UnitPrice = "UGX", money.Of(1000, "UGX")
	given(t, draft(1, 1000, 10)).fails(c, failure.Conflict, "currency_mismatch")
}

func TestIssueInvoice_MakesTheTotalPayable(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10))
	l.then(issue(1), events.InvoiceIssued{
		SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(1), SubscriptionID: subscription(),
		Number: "ACME-0001", Total: kes(1000), DueOn: dueOn(10), IssuedAt: now,
	})
	l.then(issue(1))
	l.stands(1000, 0)
}

// A document that was granted two numbers keeps the first; the series has no gap, so the second is documented.
func TestIssueInvoice_SecondNumberOfAnInvoiceBecomesAVoidedDocument(t *testing.T) {
	t.Parallel()
	stray := func(n int) commands.IssueInvoice {
		c := issue(n)
		c.Number = fmt.Sprintf("ACME-9%03d", n)
		return c
	}
	l := given(t, draft(1, 1000, 10), issue(1), draft(2, 1000, 10),
		commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(2), Reason: "typo"}, issue(2))
	for _, n := range []int{1, 2} {
		id := id.Derive[id.Invoice]("stray", invoiceID(n).String(), stray(n).Number)
		l.then(stray(n), events.InvoiceVoided{
			SubscriberID: subscriber, InvoiceID: id, StrayOf: invoiceID(n), Number: stray(n).Number, Total: kes(0),
			Reason: personal.Of("the document has another number"), At: now,
		})
		l.then(stray(n))
		l.then(commands.VoidInvoice{
			SubscriberID: subscriber, InvoiceID: invoiceID(n), Reason: "refused", Number: stray(n).Number,
		})
	}
	l.stands(1000, 0)
	l.closed()
	l.then(stray(1))
}

func TestIssueInvoice_UnknownAccountIsRefused(t *testing.T) {
	t.Parallel()
	given(t).fails(issue(1), failure.NotFound, "account_not_found")
}

func TestIssueInvoice_ExistingCreditPaysInTheSameDecision(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 400), credit(2, 800), draft(1, 1000, 10))
	l.then(issue(1),
		events.InvoiceIssued{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(1), SubscriptionID: subscription(),
			Number: "ACME-0001", Total: kes(1000), DueOn: dueOn(10), IssuedAt: now,
		},
		events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: receiptID(1), Amount: kes(400),
			FromCredit: true, Due: kes(600), At: now,
		},
		events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: receiptID(2), Amount: kes(600),
			FromCredit: true, Due: kes(0), At: now,
		},
		events.InvoicePaid{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(1), SubscriptionID: subscription(), At: now,
		})
	l.stands(0, 200)
}

func TestIssueInvoice_NothingToPayIsPaidAtOnce(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 0, 10))
	l.kinds(issue(1), events.InvoiceIssued{}, events.InvoicePaid{})
}

func TestIssueInvoice_VoidedDraftKeepsItsNumberAsADocument(t *testing.T) {
	t.Parallel()
	void := commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "typo"}
	l := given(t, draft(1, 1000, 10))
	l.then(void, events.InvoiceVoided{
		SubscriberID: subscriber, InvoiceID: invoiceID(1), SubscriptionID: subscription(), Total: kes(1000),
		Reason: personal.Of("typo"), At: now,
	})
	l.then(issue(1), events.InvoiceVoided{
		SubscriberID: subscriber, InvoiceID: invoiceID(1), Number: "ACME-0001", Total: kes(0),
		Reason: personal.Of("voided before it was issued"), At: now,
	})
	l.then(issue(1))
	l.then(void)
	l.then(draft(1, 1000, 10)) // the invoice id cannot be used again
	l.stands(0, 0)
}

func TestVoidInvoice_OnlyWhileNothingIsAllocated(t *testing.T) {
	t.Parallel()
	void := func(n int) commands.VoidInvoice {
		return commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(n), Reason: "typo"}
	}
	given(t).fails(void(1), failure.NotFound, "invoice_not_found")
	l := given(t, draft(1, 1000, 10), issue(1), draft(2, 500, 11), issue(2))
	l.fails(void(3), failure.NotFound, "invoice_not_found")
	l.do(credit(1, 300))
	l.fails(void(1), failure.Conflict, "invoice_has_payments")
	l.do(credit(2, 700))
	l.fails(void(1), failure.Conflict, "invoice_paid")
	l.then(void(2), events.InvoiceVoided{
		SubscriberID: subscriber, InvoiceID: invoiceID(2), SubscriptionID: subscription(), Number: "ACME-0002",
		Total: kes(500), WasIssued: true, Reason: personal.Of("typo"), At: now,
	})
	l.then(void(2))
	l.stands(0, 0)
}

func TestVoidInvoice_OfARefusedIssueRecordsTheNumber(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), draft(2, 1000, 10), issue(2))
	refused := commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "refused", Number: "ACME-0001",
	}
	l.then(refused, events.InvoiceVoided{
		SubscriberID: subscriber, InvoiceID: invoiceID(1), SubscriptionID: subscription(), Number: "ACME-0001",
		Total: kes(1000), Reason: personal.Of("refused"), At: now,
	})
	l.then(refused)
	refused.InvoiceID, refused.Number = invoiceID(2), "ACME-0002"
	l.then(refused) // it was issued in the meantime
	refused.InvoiceID, refused.Number = invoiceID(3), "ACME-0003"
	l.kinds(refused, events.InvoiceVoided{}) // its draft is lost, but the number is documented
}

func TestCreditReceipt_NamedInvoiceThenOldestDueThenCredit(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), draft(2, 500, 5), issue(2), draft(3, 700, 20), issue(3))
	c := credit(1, 2500)
	c.InvoiceID = invoiceID(3)
	alloc := func(n int, amount int64) events.InvoiceAllocated {
		return events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(n), ReceiptID: receiptID(1), Amount: kes(amount),
			Due: kes(0), At: now,
		}
	}
	paid := func(n int) events.InvoicePaid {
		return events.InvoicePaid{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(n), SubscriptionID: subscription(), At: now,
		}
	}
	l.then(c,
		events.ReceiptCredited{
			SubscriberID: subscriber, OrgID: org, ReceiptID: receiptID(1), Number: "R1", Channel: "c2b",
			Amount: kes(2500), PaidAt: now, At: now,
		},
		alloc(3, 700), paid(3), alloc(2, 500), paid(2), alloc(1, 1000), paid(1),
		events.CreditLeft{SubscriberID: subscriber, OrgID: org, Credit: kes(300), Received: true, At: now})
	l.stands(0, 300)
}

func TestCreditReceipt_PartStaysOnTheInvoiceWithoutPayingIt(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1))
	l.kinds(credit(1, 400), events.ReceiptCredited{}, events.InvoiceAllocated{})
	l.stands(600, 0)
	l.kinds(credit(2, 600), events.ReceiptCredited{}, events.InvoiceAllocated{}, events.InvoicePaid{})
}

func TestCreditReceipt_NeverTwiceForOneReceipt(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 400))
	again := credit(1, 400)
	again.InvoiceID, again.Channel = invoiceID(7), "stk" // another sighting of the same money
	l.then(again)
	l.closed()
	l.then(again)
	l.stands(0, 400)
}

func TestCreditReceipt_ComesBackOnlyByALaterMove(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 400), withdraw(1))
	l.fails(credit(1, 400), failure.Conflict, "receipt_withdrawn")
	back := credit(1, 400)
	back.Move = 2
	l.kinds(back, events.ReceiptCredited{}, events.CreditLeft{})
	l.then(back)
	l.then(credit(1, 400))
	l.stands(0, 400)
}

func TestCreditReceipt_AnotherCurrencyIsRefused(t *testing.T) {
	t.Parallel()
	c := credit(2, 400)
	c.Amount.Currency = "USD"
	given(t, credit(1, 400)).fails(c, failure.Conflict, "currency_mismatch")
}

func TestWithdrawReceipt_ReopensWhatItPaid(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 1200))
	l.then(withdraw(1),
		events.ReceiptWithdrawn{
			SubscriberID: subscriber, OrgID: org, ReceiptID: receiptID(1), Number: "R1", Amount: kes(1200),
			FromCredit: kes(200), Left: kes(0), Reason: personal.Of("wrong customer"), At: now,
		},
		events.AllocationWithdrawn{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: receiptID(1), Amount: kes(1000),
			Due: kes(1000), At: now,
		},
		events.InvoiceReopened{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(1), SubscriptionID: subscription(),
			Due: kes(1000), Reason: personal.Of("wrong customer"), At: now,
		})
	l.then(withdraw(1))
	l.stands(1000, 0)
	l.kinds(credit(2, 1000), events.ReceiptCredited{}, events.InvoiceAllocated{}, events.InvoicePaid{}) // paid again
}

func TestWithdrawReceipt_OtherCreditTakesItsPlace(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 1000), credit(2, 1500))
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{})
	l.stands(0, 500) // the period stays paid
	l.kinds(withdraw(2), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceReopened{})
	l.stands(1000, 0)
}

func TestWithdrawReceipt_PartOfAPaymentLeavesTheRest(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 300), credit(2, 300))
	// the invoice was never paid completely
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{})
	l.stands(700, 0)
	l.fails(withdraw(9), failure.NotFound, "receipt_not_found")
}

func TestReservePrompt_OneOpenPerAmount(t *testing.T) {
	t.Parallel()
	reserve := func(n int, minor int64) commands.ReservePrompt {
		return commands.ReservePrompt{SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(n), Amount: kes(minor)}
	}
	l := given(t)
	l.kinds(reserve(1, 1000), events.AccountOpened{}, events.PromptReserved{})
	l.then(reserve(1, 1000))
	l.fails(reserve(2, 1000), failure.Conflict, "payment_in_progress")
	l.kinds(reserve(3, 2000), events.PromptReserved{})
	l.closed()
	l.fails(reserve(2, 1000), failure.Conflict, "payment_in_progress")
	release := commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: paymentID(1)}
	l.kinds(release, events.PromptReleased{})
	l.then(release)
	l.kinds(reserve(2, 1000), events.PromptReserved{})
}

func TestReservePrompt_NamedInvoiceMustBePayable(t *testing.T) {
	t.Parallel()
	reserve := func(invoice id.Invoice) commands.ReservePrompt {
		return commands.ReservePrompt{
			SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), InvoiceID: invoice, Amount: kes(1000),
		}
	}
	l := given(t, draft(1, 1000, 10), issue(1), draft(2, 500, 10), draft(3, 100, 9), issue(3), credit(1, 100))
	l.fails(reserve(invoiceID(8)), failure.NotFound, "invoice_not_found")
	l.fails(reserve(invoiceID(2)), failure.Conflict, "invoice_not_issued")
	l.fails(reserve(invoiceID(3)), failure.Conflict, "invoice_not_payable") // paid
	l.kinds(reserve(invoiceID(1)), events.PromptReserved{})
}
