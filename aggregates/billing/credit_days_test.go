package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// creditDays asks for the n-th credit note, over some of the 31 days of an invoice.
func creditDays(n, invoice, days int) commands.CreditDays {
	return commands.CreditDays{
		SubscriberID: subscriber, CreditNoteID: noteID(n), Reason: "paused", Prefix: "ACME-CN",
		DaysCredit: events.DaysCredit{InvoiceID: invoiceID(invoice), Days: days, Of: 31},
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

// The days of several periods have several prices; discounts and taxes are shared alike.
func TestCreditDays_OfAChangeOfPlanCostTheirPrice(t *testing.T) {
	t.Parallel()
	change := creditDays(1, 1, 10)
	change.Net, change.NetOf = money.Of(346_77, money.KES), money.Of(1500_00, money.KES)
	l := given(t, draft(1, 1000, 20), issue(1))
	l.then(change, daysNote(1, 1, 231)) // 231.18
	change.CreditNoteID, change.Net = noteID(2), change.NetOf
	l.then(change, daysNote(2, 1, 769)) // the rest
}

func TestCreditDays_OfAnInvoiceThatIsGoneAreNothing(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1))
	l.do(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "typo"})
	l.then(creditDays(1, 1, 5))
	l.fails(creditDays(1, 2, 5), failure.NotFound, "invoice_not_found")
}

// Days of a wrong invoice are those of the corrected one, before and after the note over the wrong one: its period goes
// along, and what was not used of it is not paid.
func TestCreditDays_OfAReissuedInvoiceAreThoseOfTheCorrectedOne(t *testing.T) {
	t.Parallel()
	for name, then := range map[string][]commands.AccountCommand{
		"before its note": {issue(2), creditDays(7, 1, 10), issueNote(2)},
		"after its note":  {issue(2), issueNote(2), creditDays(7, 1, 10)},
		"reissued again":  {issue(2), reissue(2, 3, 6200), issue(3), creditDays(7, 1, 10), issueNote(2), issueNote(3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := given(t, draft(1, 3000, 20), issue(1), reissue(1, 2, 6200))
			for _, c := range then {
				l.do(c)
			}
			told := l.State().Share(events.DaysCredit{InvoiceID: invoiceID(1), Days: 10, Of: 31})
			if share := l.State().DaysShare(invoiceID(1), 10, 31); share != kes(2000) || told != share {
				t.Errorf("the share is told as %s and %s", share, told)
			}
			l.then(creditDays(7, 1, 10)) // a repeat
			l.do(issueNote(7))
			l.stands(4200, 0)
		})
	}
}

// All days of a month that ended on its first day are given back, and its period goes.
func TestCreditDays_AllThoseOfAReissuedInvoiceLeaveNothingToPay(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 3000, 20), issue(1), reissue(1, 2, 6200))
	l.fails(creditDays(7, 1, 31), failure.Conflict, "invoice_not_issued") // the draft waits for its number
	l.do(issue(2))
	l.then(creditDays(7, 1, 31), daysNote(7, 2, 6200))
	l.do(issueNote(7))
	if e := l.cancelled(issueNote(2), 1); !e.ReplacedBy.IsZero() {
		t.Errorf("cancelled: %+v", e)
	}
	l.stands(0, 0)
	gone := given(t, draft(1, 3000, 20), issue(1), reissue(1, 2, 6200), issue(2), void(2))
	gone.then(creditDays(7, 1, 31)) // the note over the wrong one gives it back whole
}

// A draft has no number that a note could name: whoever asks waits for it.
func TestCreditDays_OfADraftWaitForItsNumber(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20))
	l.fails(creditDays(1, 1, 5), failure.Conflict, "invoice_not_issued")
}
