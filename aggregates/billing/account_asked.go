package billing

import (
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// PaidBefore sums up the other invoices that money pays before the last of some invoices, when it names none.
func (s Account) PaidBefore(invoices []id.Invoice) money.Amount {
	before, passed := money.Of(0, s.Currency), money.Of(0, s.Currency)
	for _, invoice := range s.byDueDate() {
		if slices.Contains(invoices, invoice) {
			before = passed
		} else {
			passed = passed.Add(s.Invoices[invoice].Due)
		}
	}
	return before
}

// Asks reports whether an issued invoice of a subscription waits for money.
func (s Account) Asks(of id.Subscription) bool {
	return slices.ContainsFunc(s.byDueDate(), func(i id.Invoice) bool { return s.Invoices[i].SubscriptionID == of })
}

// ToRenew is the money after which a prepaid subscription has its next period: that which pays its issued invoices or,
// when it has none, everything that is owed and then the price, whose lines are given, with the taxes of a rule, as far
// as credit is not enough for it. At least zero.
func (s Account) ToRenew(of id.Subscription, lines []money.Amount, rule events.TaxRule) money.Amount {
	var own []id.Invoice
	due := money.Of(0, s.Currency)
	for _, invoice := range s.byDueDate() {
		if inv := s.Invoices[invoice]; inv.SubscriptionID == of {
			own, due = append(own, invoice), due.Add(inv.Due)
		}
	}
	if len(own) > 0 {
		return due.Add(s.PaidBefore(own))
	}
	price := rule.Gross(lines)
	if s.Currency == price.Currency { // otherwise nothing of the account is for it
		price = price.Add(s.Owed()).Sub(s.Credit())
	}
	price.Minor = max(price.Minor, 0)
	return price
}
