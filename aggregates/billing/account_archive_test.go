package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// pay drafts, issues and pays an invoice without the checks of do, because thousands of them must be fast.
func (l *ledger) pay(n int) {
	l.t.Helper()
	paid := credit(n, 1000)
	paid.InvoiceID = invoiceID(n)
	for _, c := range []commands.AccountCommand{draft(n, 1000, 10), issue(n), paid} {
		made, err := billing.Accounts().Decide(l.State(), c, now)
		if err != nil {
			l.t.Fatalf("%s: %v", c.CommandName(), err)
		}
		l.Given(made...)
	}
}

// live pays n invoices and closes the stream's period now and then. It returns the size of the largest opening in
// bytes.
func (l *ledger) live(n int) (largest int) {
	l.t.Helper()
	for i := 1; i <= n; i++ {
		l.pay(i)
		if i%200 == 0 {
			closing := billing.Accounts().Close(l.State())
			if e, ok := closing.(events.AccountPeriodClosed); ok {
				largest = max(largest, len(e.Opening))
			}
			l.Given(closing)
		}
	}
	return largest
}

// An hourly customer pays thousands of times. The opening must fit into one append of 1 MiB, base64 included.
func TestAccount_OpeningStaysSmallOverThousandsOfPayments(t *testing.T) {
	t.Parallel()
	l := given(t)
	if largest := l.live(1500); largest > 400_000 {
		t.Errorf("an opening has %d bytes", largest)
	}
	l.stands(0, 0)
}

func TestAccount_ArchivedMoneyIsStillCreditedOnce(t *testing.T) {
	t.Parallel()
	l := given(t, draft(9001, 500, 1), issue(9001), note(1, 9001, 100), issueNote(1), credit(9001, 700),
		draft(9002, 100, 1), issue(9002))
	l.stands(0, 200)
	l.do(draft(9003, 900, 1))
	l.do(issue(9003)) // stays due; receipt 9001 pays a part of it
	l.stands(700, 0)
	first := credit(1, 1000)
	first.InvoiceID = invoiceID(1)
	l.do(draft(1, 1000, 10))
	l.do(issue(1))
	l.do(first)
	for i := 2; i <= 1200; i++ { // named invoices, so that the first one stays due
		l.pay(i)
	}
	l.Given(billing.Accounts().Close(l.State()))
	l.stands(700, 0)
	s := l.State()
	if len(s.Receipts) > 510 || len(s.Settled) > 1010 || len(s.Archived) == 0 {
		t.Errorf("%d receipts, %d settled invoices, %d archived", len(s.Receipts), len(s.Settled), len(s.Archived))
	}
	l.SurvivesClosing()
	l.then(first) // not credited again
	l.then(draft(1, 1000, 10))
	l.then(issue(1))
	moved := first
	moved.Move = 1
	l.fails(moved, failure.Conflict, "receipt_archived")
	l.fails(withdraw(1), failure.Conflict, "receipt_archived")
	l.fails(note(2, 1, 0), failure.Conflict, "invoice_archived")
	l.fails(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "x"}, failure.Conflict,
		"invoice_archived")
	l.fails(commands.ReservePrompt{
		SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), InvoiceID: invoiceID(1),
		Amount: money.Major(1, money.KES),
	},
		failure.Conflict, "invoice_not_payable")
	l.then(note(1, 9001, 100))
	l.then(issueNote(1))
	l.kinds(withdraw(9001), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.AllocationWithdrawn{},
		events.AllocationWithdrawn{},
		events.InvoiceReopened{}, events.InvoiceReopened{}) // old, but its invoice is still due
	l.kinds(withdraw(1100), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceReopened{})
}
