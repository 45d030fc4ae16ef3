package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// takesBack takes the n-th invoice back, by a credit note where money is on it.
func takesBack(n int, dropped bool) commands.TakeBackInvoice {
	return commands.TakeBackInvoice{
		SubscriberID: subscriber, InvoiceID: invoiceID(n), CreditNoteID: noteID(10 + n), Reason: "the run was undone",
		Prefix: "ACME-CN", Dropped: dropped,
	}
}

func TestTakeBackInvoice_AnUnpaidOneIsVoidedAndAPaidOneCredited(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), draft(2, 500, 25), issue(2), draft(3, 700, 26), credit(1, 1100))
	l.kinds(takesBack(3, true), events.InvoiceVoided{}) // a draft, whose number comes as a voided document
	l.kinds(takesBack(1, true), events.CreditNoteDrafted{})
	l.kinds(takesBack(2, true), events.CreditNoteDrafted{}) // paid in part
	for n := 1; n <= 3; n++ {
		l.then(takesBack(n, true)) // a repeat
	}
}

func TestTakeBackInvoice_WhatWasCorrectedStaysUnlessItsPeriodIsDropped(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), note(1, 1, 300))
	l.fails(takesBack(1, false), failure.Conflict, "corrected_since")
	l.fails(takesBack(2, false), failure.NotFound, "invoice_not_found")
	l.kinds(takesBack(1, true), events.CreditNoteDrafted{}) // over the rest
	l.then(takesBack(1, true))
}
