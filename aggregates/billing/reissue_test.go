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

// reissue corrects an invoice: the n-th takes its place, and the n-th credit note is over all of it.
func reissue(wrong, n int, minor int64) commands.ReissueInvoice {
	return commands.ReissueInvoice{
		InvoiceID: invoiceID(wrong), Corrected: draft(n, minor, 25), CreditNoteID: noteID(n), NotePrefix: "ACME-CN",
		Reason: "wrong plan",
	}
}

func TestReissue_DraftsBothDocuments(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1))
	made := l.do(reissue(1, 2, 700))
	if len(made) != 2 {
		t.Fatalf("made %+v", made)
	}
	corrected, _ := made[0].(events.InvoiceDrafted)
	if corrected.Replaces != invoiceID(1) || corrected.InvoiceID != invoiceID(2) || corrected.Total != kes(700) ||
		corrected.SubscriptionID != subscription() {
		t.Errorf("corrected: %+v", corrected)
	}
	want := events.CreditNoteDrafted{
		SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(2), InvoiceID: invoiceID(1), Amount: kes(1000),
		Reason: personal.Of("wrong plan"), Prefix: "ACME-CN", ReplacedBy: invoiceID(2), DraftedAt: now,
	}
	if diff := cmp.Diff(events.AccountEvent(want), made[1]); diff != "" {
		t.Errorf("note (-want +got)\n%s", diff)
	}
	l.then(reissue(1, 2, 700)) // a repeat
	l.closed()
	l.fails(reissue(1, 3, 700), failure.Conflict, "invoice_given_back")
}

// The money moves in the append that cancels the wrong invoice, and the cancellation tells that it is enough.
func TestReissue_OfAPaidInvoiceMovesItsMoney(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 1000), reissue(1, 2, 700), issue(2))
	l.stands(700, 0)
	l.then(issueNote(2),
		events.CreditNoteIssued{
			SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(2), InvoiceID: invoiceID(1),
			Number: "ACME-CN-0001", Amount: kes(1000), Reason: personal.Of("wrong plan"), IssuedAt: now,
		},
		events.AllocationWithdrawn{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: receiptID(1), Amount: kes(1000),
			ToCredit: true, Due: kes(1000), At: now,
		},
		events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: noteID(2), Amount: kes(1000), Due: kes(0),
			At: now,
		},
		events.InvoiceCancelled{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(1), SubscriptionID: subscription(),
			ReplacedBy: invoiceID(2), Covered: true, At: now,
		},
		events.InvoiceAllocated{
			SubscriberID: subscriber, InvoiceID: invoiceID(2), ReceiptID: receiptID(1), Amount: kes(700),
			FromCredit: true, Due: kes(0), At: now,
		},
		events.InvoicePaid{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(2), SubscriptionID: subscription(), At: now,
		},
		events.CreditLeft{SubscriberID: subscriber, OrgID: org, Credit: kes(300), At: now})
	l.stands(0, 300)
	l.closed()
	// its payment is taken back: the corrected one is due again
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceReopened{})
	l.stands(700, 0)
}

// Another debt that is due earlier does not get the money of the wrong invoice first.
func TestReissue_OfADearerOneLeavesTheRestDue(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 1000), draft(3, 400, 5), issue(3), reissue(1, 2, 1300),
		issue(2))
	made := l.do(issueNote(2))
	for _, e := range made {
		if cancelled, ok := e.(events.InvoiceCancelled); ok && (cancelled.Covered || cancelled.ReplacedBy.IsZero()) {
			t.Errorf("cancelled: %+v", cancelled)
		}
	}
	if due := l.State().Invoices[invoiceID(2)].Due; due != kes(300) {
		t.Errorf("%s is due on the corrected one", due)
	}
	l.stands(700, 0)
}

// Nothing was paid on the wrong one, and credit pays the corrected one when that is issued.
func TestReissue_OfAnUnpaidInvoiceThatCreditCovers(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), reissue(1, 2, 300), issue(2))
	l.kinds(issueNote(2), events.CreditNoteIssued{}, events.InvoiceAllocated{}, events.InvoiceCancelled{})
	l.stands(300, 0)
	l.kinds(credit(1, 300), events.ReceiptCredited{}, events.InvoiceAllocated{}, events.InvoicePaid{})
}

// A person voids the corrected invoice before the note is numbered: the wrong one is given back, and that is all.
func TestReissue_WithoutTheCorrectedOneIsACreditNote(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), reissue(1, 2, 700), issue(2), void(2))
	for _, e := range l.do(issueNote(2)) {
		if cancelled, ok := e.(events.InvoiceCancelled); ok && !cancelled.ReplacedBy.IsZero() {
			t.Errorf("cancelled: %+v", cancelled)
		}
	}
	l.stands(0, 0)
}

func TestReissue_Refuses(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20))
	l.fails(reissue(1, 9, 700), failure.Conflict, "invoice_not_issued")
	l.fails(reissue(8, 9, 700), failure.NotFound, "invoice_not_found")
	l.do(issue(1))
	dollars := reissue(1, 9, 700)
	dollars.Corrected.Currency = "USD"
	l.fails(dollars, failure.Conflict, "currency_mismatch")
	l.do(note(1, 1, 100))
	l.fails(reissue(1, 9, 700), failure.Conflict, "invoice_has_credit_note")
	l.do(draft(2, 500, 20))
	l.do(issue(2))
	l.do(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(2), Reason: "typo"})
	l.fails(reissue(2, 9, 700), failure.Conflict, "invoice_voided")
	beside := draft(3, 500, 20)
	beside.SubscriptionID, beside.SoldTo = id.Subscription{}, subscription()
	l.do(beside)
	l.do(issue(3))
	l.fails(reissue(3, 9, 700), failure.Conflict, "invoice_not_reissuable")
	empty := reissue(1, 9, 700)
	empty.Corrected.Lines, empty.Reason = nil, ""
	if failure.CodeOf(empty.Validate()) != "invalid_input" {
		t.Errorf("validated: %v", empty.Validate())
	}
}
