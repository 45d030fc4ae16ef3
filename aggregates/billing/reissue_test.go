package billing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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

// The note has its number, and the corrected invoice is not issued yet: the note is tried again. Otherwise the money
// would pay the debt that is due earlier, and the period would be granted for an invoice that nobody paid.
func TestReissue_TheNoteWaitsForTheCorrectedInvoice(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 1000), draft(3, 400, 5), issue(3), reissue(1, 2, 1000))
	l.fails(issueNote(2), failure.Conflict, "invoice_not_issued")
	l.stands(400, 0)
	l.do(issue(2))
	if e := l.cancelled(issueNote(2), 1); !e.Covered {
		t.Errorf("cancelled: %+v", e)
	}
	l.stands(400, 0)
	if !l.State().Settled[invoiceID(2)].Paid {
		t.Error("the corrected one is not paid")
	}
	voided := given(t, draft(1, 1000, 20), issue(1), reissue(1, 2, 1000), void(2))
	voided.do(issueNote(2)) // there is none to wait for
	voided.stands(0, 0)
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

// cancelled is the cancellation of an invoice that a command must make.
func (l *ledger) cancelled(c commands.AccountCommand, n int) events.InvoiceCancelled {
	l.t.Helper()
	for _, e := range l.do(c) {
		if cancelled, ok := e.(events.InvoiceCancelled); ok && cancelled.InvoiceID == invoiceID(n) {
			return cancelled
		}
	}
	l.t.Fatalf("%s cancels no invoice %d", c.CommandName(), n)
	return events.InvoiceCancelled{}
}

// The corrected invoice is written off or given back before the note has its number: nobody pays for the period, so
// nothing takes the place of the wrong one, and its period goes.
func TestReissue_OfOneThatWasGivenUpMeanwhileDropsThePeriod(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string][]commands.AccountCommand{
		"written off":    {writeOff(9, 700)},
		"credited whole": {note(3, 2, 700), issueNote(3)},
		"both":           {note(3, 2, 300), issueNote(3), writeOff(9, 400)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := given(t, draft(1, 1000, 20), issue(1), reissue(1, 2, 700), issue(2))
			for _, c := range ends {
				l.do(c)
			}
			if e := l.cancelled(issueNote(2), 1); e.Covered || !e.ReplacedBy.IsZero() {
				t.Errorf("cancelled: %+v", e)
			}
			l.stands(0, 0)
			l.closed()
		})
	}
}

// A part of the corrected invoice was written off: the money of the wrong one covers the rest, which is all that is
// asked for.
func TestReissue_OfOneThatWasPartlyGivenUpIsCoveredByTheRest(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 600), reissue(1, 2, 700), issue(2), writeOff(9, 100))
	if e := l.cancelled(issueNote(2), 1); !e.Covered || e.ReplacedBy != invoiceID(2) {
		t.Errorf("cancelled: %+v", e)
	}
	if !l.State().Settled[invoiceID(2)].Paid {
		t.Error("the corrected one is not paid")
	}
	l.stands(0, 0)
}

// TestWriteOff_LeavesWhatMoneyOnItsWayPays: the wrong invoice is paid, and its credit note waits for a number. The
// corrected one is due until the note moves the money, and what that does not cover can be given up, and no more.
func TestWriteOff_LeavesWhatMoneyOnItsWayPays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		made []commands.AccountCommand
		most int64
	}{
		"a cheaper one": {
			[]commands.AccountCommand{draft(1, 1000, 20), issue(1), credit(1, 1000), reissue(1, 2, 700), issue(2)}, 0,
		},
		"a dearer one": {
			[]commands.AccountCommand{draft(1, 1000, 20), issue(1), credit(1, 1000), reissue(1, 2, 1300), issue(2)},
			300,
		},
		"another debt, which the rest pays": {
			[]commands.AccountCommand{
				draft(1, 1000, 20), issue(1), credit(1, 1000), draft(3, 400, 5), issue(3), reissue(1, 2, 700),
				issue(2),
			}, 100,
		},
		"the corrected one is a draft": {
			[]commands.AccountCommand{
				draft(1, 1000, 20), issue(1), credit(1, 1000), draft(3, 400, 5), issue(3), reissue(1, 2, 700),
			}, 100,
		},
		"a credit note over a paid one": {
			[]commands.AccountCommand{
				draft(1, 1000, 20), issue(1), credit(1, 1000), draft(3, 400, 5), issue(3), note(2, 1, 350),
			}, 50,
		},
		"an unpaid one": {
			[]commands.AccountCommand{draft(1, 1000, 20), issue(1), reissue(1, 2, 700), issue(2)}, 700,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := given(t, c.made...)
			l.fails(writeOff(9, c.most+1), failure.Invalid, "write_off_too_large")
			if all := writeOff(9, 0); c.most > 0 {
				all.Amount = money.Amount{}
				l.do(all)
			}
			if l.State().Invoices[invoiceID(2)].Seq == 0 {
				l.do(issue(2))
			}
			l.do(issueNote(2))
			left := l.State().Credit()
			if owed := l.State().Owed(); owed.Positive() && c.most > 0 || left.Positive() != (c.most == 0) {
				t.Errorf("%s is owed, %s is credit", owed, left)
			}
			l.closed()
		})
	}
}

// The corrected invoice is corrected, too, and the note over it has its number first: the last one has the period and
// the money of the first.
func TestReissue_OfOneThatWasReissuedMeanwhileGoesToTheLast(t *testing.T) {
	t.Parallel()
	for paid, covered := range map[int64]bool{1000: false, 1300: true} {
		l := given(t, draft(1, paid, 20), issue(1), credit(1, paid), draft(4, 400, 5), issue(4),
			reissue(1, 2, 1200), issue(2), reissue(2, 3, 1300), issue(3))
		if e := l.cancelled(issueNote(3), 2); e.Covered || e.ReplacedBy != invoiceID(3) {
			t.Errorf("cancelled: %+v", e)
		}
		if e := l.cancelled(issueNote(2), 1); e.Covered != covered || e.ReplacedBy != invoiceID(3) {
			t.Errorf("%d were paid, cancelled: %+v", paid, e)
		}
		l.stands(1700-paid, 0)
		if got := l.State().Settled[invoiceID(3)].Paid; got != covered {
			t.Errorf("%d were paid, the last one is paid: %t", paid, got)
		}
	}
}

// The service ends before the note has its number. Only the wrong invoice is known where the period is dropped; the
// corrected one, to which nothing will belong, is void, also as a draft, and before or after the note.
func TestReissue_NothingIsOwedForAPeriodThatNeverBegan(t *testing.T) {
	t.Parallel()
	corrects := []commands.AccountCommand{draft(1, 1000, 20), issue(1), credit(1, 300), reissue(1, 2, 1400)}
	for name, then := range map[string][]commands.AccountCommand{
		"its number comes later":   {void(1), issue(2), issueNote(2)},
		"it has its number":        {issue(2), void(1), issueNote(2)},
		"its note came first":      {issue(2), issueNote(2), void(1)},
		"it was paid":              {issue(2), named(credit(2, 1400), 2), void(1), withdraw(2), issueNote(2)},
		"it is reissued, too":      {issue(2), reissue(2, 3, 1200), void(1), issue(3), issueNote(3), issueNote(2)},
		"the last one came first":  {issue(2), reissue(2, 3, 1200), issue(3), issueNote(3), void(1), issueNote(2)},
		"the undo of a run did it": {issue(2), takesBack(1, true), issueNote(2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := given(t, append(slices.Clone(corrects), then...)...)
			l.stands(0, 300)
			l.then(void(1)) // a repeat
			l.closed()
		})
	}
}

// A part of the corrected invoice was given back or given up: a credit note over the rest takes the place of the void.
func TestReissue_TheRestOfACorrectedInvoiceIsGivenBack(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), reissue(1, 2, 1400), issue(2), note(5, 2, 400), writeOff(9, 100))
	rest := id.Derive[id.Receipt]("rest", invoiceID(2).String())
	ended := void(1)
	ended.NotePrefix = "ACME-CN"
	l.kinds(ended, events.RecoveryWaived{}, events.CreditNoteDrafted{})
	l.then(ended)
	for n, given := range []id.Receipt{noteID(5), rest, noteID(2)} {
		l.do(commands.IssueCreditNote{
			SubscriberID: subscriber, CreditNoteID: given, Number: fmt.Sprint("ACME-CN-000", n),
		})
	}
	l.stands(0, 0)
}

// named is money for an invoice.
func named(c commands.CreditReceipt, n int) commands.CreditReceipt {
	c.InvoiceID = invoiceID(n)
	return c
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
