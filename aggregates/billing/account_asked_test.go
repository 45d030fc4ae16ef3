package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

func TestPaidBefore_IsWhatMoneyPaysFirst(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000_00, 25), issue(1), draft(2, 300_00, 20), issue(2), draft(3, 70_00, 25), issue(3),
		ordered(4, 250_00), issue(4), draft(5, 9_00, 10), credit(1, 100_00))
	for name, c := range map[string]struct {
		of   []id.Invoice
		want int64
	}{
		"nothing":              {nil, 0},
		"the oldest":           {[]id.Invoice{invoiceID(2)}, 0},
		"issued first":         {[]id.Invoice{invoiceID(1)}, 200_00},
		"issued last":          {[]id.Invoice{invoiceID(3)}, 1200_00},
		"the first and last":   {[]id.Invoice{invoiceID(3), invoiceID(2)}, 1000_00},
		"an order and a draft": {[]id.Invoice{invoiceID(4), invoiceID(5)}, 0},
	} {
		if got := l.State().PaidBefore(c.of); got != kes(c.want) {
			t.Errorf("%s: %s, want %s", name, got, kes(c.want))
		}
	}
	// who pays it has them paid
	l.do(credit(2, 1000_00+200_00))
	if got := l.State().PaidBefore([]id.Invoice{invoiceID(3)}); !got.IsZero() {
		t.Errorf("%s is left", got)
	}
}

func TestToRenew_IsAPeriodBesideDebtsAndCredit(t *testing.T) {
	t.Parallel()
	vat := events.TaxRule{Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}}
	asks := func(s billing.Account, price, want int64, rule events.TaxRule) {
		t.Helper()
		if got := s.ToRenew(subscription(), []money.Amount{kes(price)}, rule); got != kes(want) {
			t.Errorf("%s, want %s", got, kes(want))
		}
	}
	asks(billing.Account{}, 1000_00, 1160_00, vat)
	l := given(t, credit(1, 400_00), ordered(1, 500_00), issue(1))
	asks(l.State(), 1000_00, 600_00, events.TaxRule{})
	asks(l.State(), 300_00, 0, events.TaxRule{})
	other := draft(2, 650_00, 25)
	other.SubscriptionID = id.Subscription{}
	l.do(other)
	l.do(issue(2))
	asks(l.State(), 1000_00, 1250_00, events.TaxRule{})
	// its invoice is made: the price of the plan counts no more
	l.do(draft(3, 900_00, 31))
	asks(l.State(), 1000_00, 1250_00, events.TaxRule{})
	l.do(issue(3))
	asks(l.State(), 1000_00, 1150_00, events.TaxRule{})
	other.InvoiceID, other.DueOn = invoiceID(4), dueOn(31).AddDays(1)
	l.do(other)
	l.do(issue(4))
	asks(l.State(), 1000_00, 1150_00, events.TaxRule{})
}

// TestCreditReceipt_MoneyThatNamesAnInvoiceRenewsNoOtherService: the invoice of the other one is smaller, and due
// before, or there is none. The same money without a name pays what is due first.
func TestCreditReceipt_MoneyThatNamesAnInvoiceRenewsNoOtherService(t *testing.T) {
	t.Parallel()
	for _, invoiced := range []bool{true, false} {
		for _, named := range []bool{true, false} {
			l := given(t, draft(1, 1500_00, 25), issue(1))
			other := draft(2, 1000_00, 20)
			other.SubscriptionID = id.Derive[id.Subscription]("test", "other")
			if invoiced {
				l.do(other)
				l.do(issue(2))
			}
			money, want := credit(1, 1500_00), invoiceID(1)
			if named {
				money.InvoiceID = invoiceID(1)
			} else if invoiced {
				want = invoiceID(2)
			}
			var paid []id.Invoice
			for _, e := range l.do(money) {
				switch e := e.(type) {
				case events.InvoicePaid:
					paid = append(paid, e.InvoiceID)
				case events.CreditLeft:
					t.Errorf("%s is left for others", e.Credit)
				default: // the others move money
				}
			}
			if len(paid) != 1 || paid[0] != want {
				t.Errorf("invoiced %t, named %t: paid %v", invoiced, named, paid)
			}
		}
	}
}
