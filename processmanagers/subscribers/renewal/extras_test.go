package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// beside is an extra of the subscription that costs 1,500 shillings.
func beside(name string, x events.Extra) events.ExtraAdded {
	x.ID = id.Derive[id.Extra]("test", name)
	return events.ExtraAdded{SubscriptionID: line, SubscriberID: who, Extra: x}
}

// Credit renews when it covers the price with what is beside it: a charge once, half of the plan for one month.
func TestExtras_CreditRenewsForThePriceWithThem(t *testing.T) {
	t.Parallel()
	renews := does(commands.MakePeriodDue{SubscriptionID: line})
	charge := beside("cable", events.Extra{Kind: events.ChargeExtra, Amount: kes(700), Periods: 1})
	half := beside("half", events.Extra{
		Kind: events.DiscountExtra, BasisPoints: 5000, Until: calendar.Date{Year: 2026, Month: time.March, Day: 31},
	})
	s := after(t, prepaid(line), charge)
	asked := func(shillings int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: kes(shillings), Asked: true}
	}
	s.When(asked(2199)).ThenNothing()
	s.When(asked(2200)).Then(renews)
	s = s.When(half).Then(does(commands.TellCredit{SubscriberID: who})) // it may be enough now
	s.When(asked(1449)).ThenNothing()
	s.When(asked(1450)).Then(renews)
	// the period has both; an invoice with tax on top tells its share
	made := events.PeriodDue{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, Terms: events.PlanTerms{Price: kes(1500)},
		Extras: []events.PeriodExtra{
			{ID: charge.Extra.ID, Amount: kes(700)}, {ID: half.Extra.ID, Amount: kes(-750)},
		},
	}
	drafted := taxed(line, inv1, kes(1500), kes(700), kes(-750))
	s = s.Given(made, drafted, events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1,
	})
	s.When(asked(869)).ThenNothing()
	s.When(asked(870)).Then(renews) // half of 1,500 and 16 percent
	removed := events.ExtraRemoved{SubscriptionID: line, SubscriberID: who, Extra: half.Extra}
	s.Given(removed).When(asked(1739)).ThenNothing()
	s.Given(removed).When(asked(1740)).Then(renews)
}

// vat is a tax of 16 percent on top of prices.
var vat = events.TaxRule{Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}}

// taxed is an invoice of a subscription with 16 percent on top of its prices.
func taxed(of id.Subscription, invoice id.Invoice, prices ...money.Amount) events.InvoiceDrafted {
	return charged(vat, of, invoice, prices...)
}

// charged is an invoice of a subscription under a rule.
func charged(
	rule events.TaxRule, of id.Subscription, invoice id.Invoice, prices ...money.Amount,
) events.InvoiceDrafted {
	var lines []events.PricedLine
	for _, price := range prices {
		lines = append(lines, events.PricedLine{Quantity: "1", UnitPrice: price})
	}
	made, _ := rule.Charge(lines, money.KES)
	return events.InvoiceDrafted{
		SubscriberID: who, SubscriptionID: of, InvoiceID: invoice, Lines: made.Lines, Taxes: made.Taxes, Tax: rule,
		Total: made.Total,
	}
}

// After a month that cost nothing, the next one has its taxes all the same.
func TestExtras_AFreeMonthForgetsNoTax(t *testing.T) {
	t.Parallel()
	free := beside("free", events.Extra{Kind: events.DiscountExtra, BasisPoints: 10_000, Periods: 1})
	made := events.PeriodDue{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, Terms: events.PlanTerms{Price: kes(1500)},
		Extras: []events.PeriodExtra{{ID: free.Extra.ID, Kind: events.DiscountExtra, Amount: kes(-1500)}},
	}
	s := after(t, prepaid(line), free, made, taxed(line, inv1, kes(1500), kes(-1500)), extended(line, inv1, until))
	s.When(credit(1739)).ThenNothing()
	if got := s.When(credit(1740)).Output(); len(got.Commands) != 1 {
		t.Errorf("credit that covers it: %+v", got)
	}
}
