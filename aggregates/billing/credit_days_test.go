package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// creditDays asks for the n-th credit note, over some of the 31 days of an invoice.
func creditDays(n, invoice, days int) commands.CreditDays {
	return commands.CreditDays{
		SubscriberID: subscriber, CreditNoteID: noteID(n), InvoiceID: invoiceID(invoice), Days: days, Of: 31,
		Reason: "paused", Prefix: "ACME-CN",
	}
}

// daysNote is the draft of such a note over an amount.
func daysNote(n, invoice int, minor int64) events.CreditNoteDrafted {
	return events.CreditNoteDrafted{
		SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(n), InvoiceID: invoiceID(invoice),
		Amount: kes(minor), Reason: personal.Of("paused"), Prefix: "ACME-CN", DraftedAt: now,
	}
}

func TestCreditDays_TheirShareIsRoundedHalfUpAndTakesNoMoreThanTheRest(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1))
	l.then(creditDays(1, 1, 5), daysNote(1, 1, 161)) // 161.29
	l.then(creditDays(1, 1, 5))                      // a repeat
	l.then(creditDays(2, 1, 31), daysNote(2, 1, 839))
	l.then(creditDays(3, 1, 31)) // nothing is left
}

func TestCreditDays_OfAnInvoiceThatIsGoneAreNothing(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1))
	l.do(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "typo"})
	l.then(creditDays(1, 1, 5))
	l.fails(creditDays(1, 2, 5), failure.NotFound, "invoice_not_found")
}

// A draft has no number that a note could name: whoever asks waits for it.
func TestCreditDays_OfADraftWaitForItsNumber(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20))
	l.fails(creditDays(1, 1, 5), failure.Conflict, "invoice_not_issued")
}
