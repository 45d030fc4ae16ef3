package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// note drafts a credit note for a part of an invoice; an amount of zero means all that is left.
func note(n, invoice int, minor int64) commands.DraftCreditNote {
	return commands.DraftCreditNote{
		SubscriberID: subscriber, CreditNoteID: noteID(n), InvoiceID: invoiceID(invoice), Amount: kes(minor),
		Reason: "outage", Prefix: "ACME-CN",
	}
}

// issueNote issues the n-th drafted credit note under a fixed number.
func issueNote(n int) commands.IssueCreditNote {
	return commands.IssueCreditNote{SubscriberID: subscriber, CreditNoteID: noteID(n), Number: "ACME-CN-0001"}
}

func TestCreditNote_ReducesItsInvoiceFirst(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), draft(2, 500, 5), issue(2), note(1, 1, 300))
	l.then(issueNote(1),
		events.CreditNoteIssued{
			SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(1), InvoiceID: invoiceID(1),
			Number: "ACME-CN-0001", Amount: kes(300), Reason: "outage", IssuedAt: now,
		},
		events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: noteID(1), Amount: kes(300), Due: kes(700),
			At: now,
		})
	l.then(issueNote(1))
	l.then(note(1, 1, 300))
	l.stands(1200, 0)
}

func TestCreditNote_OfAPaidInvoiceIsCredit(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 1000), note(1, 1, 0))
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.CreditLeft{})
	l.stands(0, 1000)
}

func TestCreditNote_NotesNeverExceedTheirInvoice(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20))
	l.fails(note(1, 1, 100), failure.Conflict, "invoice_not_issued")
	l.fails(note(1, 9, 100), failure.NotFound, "invoice_not_found")
	l.do(issue(1))
	l.fails(note(1, 1, 1001), failure.Conflict, "credit_note_too_large")
	l.do(note(1, 1, 600)) // counts at once, before it has its number
	l.fails(note(2, 1, 401), failure.Conflict, "credit_note_too_large")
	l.do(note(2, 1, 0))
	l.fails(note(3, 1, 0), failure.Conflict, "credit_note_too_large")
	l.fails(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "typo"},
		failure.Conflict, "invoice_has_credit_note")
	l.fails(issueNote(9), failure.NotFound, "credit_note_not_found")
}

func TestCreditNote_OfTheWholeInvoiceGivesNobodyThePeriod(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 400), note(1, 1, 0))
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.InvoiceAllocated{}, events.InvoiceCancelled{},
		events.CreditLeft{})
	l.stands(0, 400)
	// InvoiceCancelled is recorded once only
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{})
	l.stands(0, 0)
}

func TestWithdrawReceipt_CreditNoteIsNoReceipt(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), note(1, 1, 0), issueNote(1))
	l.fails(commands.WithdrawReceipt{SubscriberID: subscriber, ReceiptID: noteID(1), Reason: "x"}, failure.NotFound,
		"receipt_not_found")
}
