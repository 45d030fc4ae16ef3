package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
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
			Number: "ACME-CN-0001", Amount: kes(300), Reason: personal.Of("outage"), IssuedAt: now,
		},
		events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: noteID(1), Amount: kes(300), Due: kes(700),
			At: now,
		})
	l.then(issueNote(1))
	l.then(note(1, 1, 300))
	l.stands(1200, 0)
}

// A list shows the voided invoice, so a clerk is not told that there is none.
func TestCreditNote_OfAVoidedInvoiceIsRefusedAsVoided(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), draft(2, 1000, 20))
	for n := 1; n <= 2; n++ { // an issued one and a draft
		l.do(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(n), Reason: "typo"})
		l.fails(note(n, n, 100), failure.Conflict, "invoice_voided")
	}
	l.fails(note(3, 3, 100), failure.NotFound, "invoice_not_found")
}

func TestCreditNote_OfAPaidInvoiceIsCredit(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 1000), note(1, 1, 0))
	l.then(issueNote(1),
		events.CreditNoteIssued{
			SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(1), InvoiceID: invoiceID(1),
			Number: "ACME-CN-0001", Amount: kes(1000), Reason: personal.Of("outage"), IssuedAt: now,
		},
		events.AllocationWithdrawn{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: receiptID(1), Amount: kes(1000),
			ToCredit: true, Due: kes(1000), At: now,
		},
		events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: noteID(1), Amount: kes(1000), Due: kes(0),
			At: now,
		},
		events.InvoiceCancelled{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(1), SubscriptionID: subscription(), At: now,
		},
		events.CreditLeft{SubscriberID: subscriber, OrgID: org, Credit: kes(1000), At: now})
	l.stands(0, 1000)
	l.closed()
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}) // no period is given away and none is reopened
	l.stands(0, 0)
}

// A part given back on a paid invoice takes the newest money from it; what is left stays paid.
func TestCreditNote_PartOfAPaidInvoiceFreesTheNewestMoney(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 600), credit(2, 400), note(1, 1, 500))
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.AllocationWithdrawn{}, events.AllocationWithdrawn{},
		events.InvoiceAllocated{}, events.CreditLeft{})
	r1, r2 := l.State().Receipts[receiptID(1)], l.State().Receipts[receiptID(2)]
	if r1.Unused != kes(100) || r2.Unused != kes(400) {
		t.Errorf("unused of the older receipt is %s, of the newer one %s", r1.Unused, r2.Unused)
	}
	l.stands(0, 500)
	if diff := cmp.Diff([]id.Receipt{receiptID(1), receiptID(2)}, l.State().Lots); diff != "" {
		t.Errorf("credit is not spent in the order of receipt (-want +got):\n%s", diff)
	}
}

// Freed money pays what is due elsewhere before it is credit.
func TestCreditNote_FreedMoneyPaysTheNextInvoice(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 1000), draft(2, 700, 21), issue(2), note(1, 1, 0))
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{},
		events.InvoiceCancelled{}, events.InvoiceAllocated{}, events.InvoicePaid{}, events.CreditLeft{})
	l.stands(0, 300)
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceReopened{})
	l.stands(700, 0)
}

// While the note waits for its number, the invoice can still be paid; the note then takes the period back.
func TestCreditNote_PaymentBeforeItsNumberEndsLikeOneAfterIt(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), note(1, 1, 0))
	l.kinds(credit(1, 1000), events.ReceiptCredited{}, events.InvoiceAllocated{}, events.InvoicePaid{})
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{},
		events.InvoiceCancelled{}, events.CreditLeft{})
	l.stands(0, 1000)
}

// Older programs let the note's money become credit, or pay another invoice. When the payment is reversed, the note
// pays its own invoice first: no month is given away.
func TestWithdrawReceipt_OldCreditNoteReturnsToItsOwnInvoice(t *testing.T) {
	t.Parallel()
	old := func(list ...events.AccountEvent) *ledger {
		l := given(t, draft(1, 1000, 20), issue(1), credit(1, 1000), draft(2, 400, 21), note(1, 1, 0))
		l.Given(events.CreditNoteIssued{
			SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(1), InvoiceID: invoiceID(1), Amount: kes(1000),
			Number: "ACME-CN-0001",
		})
		l.Given(list...)
		return l
	}
	unused := old()
	unused.closed()
	unused.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{},
		events.InvoiceCancelled{})
	unused.stands(0, 0)

	spent := old(
		events.InvoiceIssued{InvoiceID: invoiceID(2), Number: number(2), Total: kes(400), DueOn: dueOn(21)},
		events.InvoiceAllocated{InvoiceID: invoiceID(2), ReceiptID: noteID(1), Amount: kes(400), Due: kes(0)},
		events.InvoicePaid{InvoiceID: invoiceID(2)})
	spent.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.AllocationWithdrawn{},
		events.InvoiceAllocated{}, events.InvoiceCancelled{}, events.InvoiceReopened{})
	spent.stands(400, 0)
	if inv := spent.State().Invoices[invoiceID(2)]; inv.Paid || inv.Due != kes(400) {
		t.Errorf("the other invoice is %+v", inv)
	}
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
	l.fails(note(3, 1, 0), failure.Conflict, "invoice_given_back")
	l.fails(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "typo"},
		failure.Conflict, "invoice_has_credit_note")
}

func TestCreditNote_OfTheWholeInvoiceGivesNobodyThePeriod(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 400), note(1, 1, 0))
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{},
		events.InvoiceCancelled{}, events.CreditLeft{})
	l.stands(0, 400)
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}) // InvoiceCancelled is recorded once only
	l.stands(0, 0)
}

func TestWithdrawReceipt_CreditNoteIsNoReceipt(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), note(1, 1, 0), issueNote(1))
	l.fails(commands.WithdrawReceipt{SubscriberID: subscriber, ReceiptID: noteID(1), Reason: "x"}, failure.NotFound,
		"receipt_not_found")
}

// A granted number is final: without a draft, or as the second number of one note, it is a voided document.
func TestIssueCreditNote_NumberWithoutADraftBecomesAVoidedDocument(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), note(1, 1, 0), issueNote(1))
	second := issueNote(1)
	second.Number = "ACME-CN-0002"
	for of, reason := range map[commands.IssueCreditNote]string{
		second: "the document has another number", issueNote(9): "there is no such draft",
	} {
		l.then(of, events.CreditNoteVoided{
			SubscriberID: subscriber, StrayOf: of.CreditNoteID, Number: of.Number, Reason: reason, At: now,
			CreditNoteID: id.Derive[id.Receipt]("stray", of.CreditNoteID.String(), of.Number),
		})
		l.then(of)
		l.closed()
		l.then(of)
	}
	given(t).fails(issueNote(1), failure.NotFound, "account_not_found")
}
