package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ordered makes the invoice of an order, of which nothing is given before it is paid.
func ordered(n int, minor int64) commands.DraftInvoice {
	c := draft(n, minor, 31)
	c.SoldTo, c.SubscriptionID, c.Order = c.SubscriptionID, id.Subscription{}, true
	return c
}

// naming is the n-th receipt, whose payer names an invoice.
func naming(invoice, n int, minor int64) commands.CreditReceipt {
	c := credit(n, minor)
	c.InvoiceID = invoiceID(invoice)
	return c
}

// pays pays orders with credit that was told of, above a part.
func pays(credit, keep int64) commands.PayOrders {
	return commands.PayOrders{SubscriberID: subscriber, Credit: kes(credit), Keep: kes(keep)}
}

// gone voids the orders of the subscription, which has ended.
var gone = commands.VoidOrders{SubscriberID: subscriber, SubscriptionID: subscription(), Reason: "ended"}

func TestOrder_IsNoDebt(t *testing.T) {
	t.Parallel()
	l := given(t, ordered(1, 250_00), issue(1))
	l.closed()
	if owed := l.State().Owed(); !owed.IsZero() || l.State().Books().OldestDueOn.Year != 0 {
		t.Errorf("%s is owed, since %v", owed, l.State().Books().OldestDueOn)
	}
	l.fails(commands.WriteOffDebt{SubscriberID: subscriber, WriteOffID: receiptID(9), Reason: "gone"},
		failure.Invalid, "write_off_too_large")
	l.do(draft(2, 1000_00, 20))
	l.do(issue(2))
	l.kinds(credit(1, 1300_00), events.ReceiptCredited{}, events.InvoiceAllocated{}, events.InvoicePaid{},
		events.CreditLeft{})
	l.stands(250_00, 300_00)
	l.do(draft(3, 400_00, 25))
	l.kinds(issue(3), events.InvoiceIssued{}, events.InvoiceAllocated{})
	l.stands(350_00, 0)
	if owed := l.State().Owed(); owed != kes(100_00) {
		t.Errorf("%s is owed", owed)
	}
}

func TestOrder_MoneyThatNamesItPaysItFirst(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000_00, 20), issue(1), ordered(2, 250_00), issue(2))
	l.do(naming(2, 1, 200_00))
	l.stands(1050_00, 0)
	l.do(naming(2, 2, 60_00))
	l.stands(990_00, 0)
	// what it is for was given: without the money it is owed
	l.kinds(withdraw(2), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.AllocationWithdrawn{},
		events.InvoiceReopened{})
	if owed := l.State().Owed(); owed != kes(1050_00) {
		t.Errorf("%s is owed", owed)
	}
}

func TestOrder_CreditPaysItWholeAndKeepsAPart(t *testing.T) {
	t.Parallel()
	l := given(t, ordered(1, 250_00), issue(1), ordered(2, 100_00), issue(2))
	l.then(credit(1, 400_00), events.ReceiptCredited{
		SubscriberID: subscriber, OrgID: org, ReceiptID: receiptID(1), Number: "R1", Channel: "c2b",
		Amount: kes(400_00), PaidAt: now, At: now,
	}, events.CreditLeft{
		SubscriberID: subscriber, OrgID: org, Received: true, Credit: kes(400_00), Ordered: kes(350_00), At: now,
	})
	l.then(pays(400_00, 301_00))
	l.then(pays(90_00, 0)) // the rest came after it was told
	l.then(pays(500_00, 301_00))
	l.kinds(pays(400_00, 200_00), events.InvoiceAllocated{}, events.InvoicePaid{})
	l.stands(250_00, 300_00)
	l.kinds(pays(300_00, 0), events.InvoiceAllocated{}, events.InvoicePaid{})
	l.stands(0, 50_00)
	l.then(pays(50_00, 0))
	l.do(ordered(3, 50_00))
	l.then(pays(50_00, 0)) // it has no number yet
	l.kinds(issue(3), events.InvoiceIssued{}, events.CreditLeft{})
	l.fails(commands.PayOrders{SubscriberID: subscriber}, failure.Conflict, "currency_mismatch")
}

func TestOrder_EndsWithWhatItWasSoldTo(t *testing.T) {
	t.Parallel()
	other := ordered(4, 70_00)
	other.SoldTo[0]++
	l := given(t, ordered(1, 250_00), issue(1), ordered(2, 100_00), ordered(3, 30_00), issue(3), other, issue(4),
		naming(1, 1, 100_00), naming(3, 2, 30_00), draft(5, 60_00, 20), issue(5))
	l.stands(280_00, 0)
	l.do(gone) // what was paid in part pays the debt, and the rest is credit
	l.stands(70_00, 40_00)
	l.then(gone)
	l.do(issue(2)) // a number without its draft
	l.stands(70_00, 40_00)
	given(t).then(gone)
}
