package renewal_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
)

// TestTax_AnInvoiceOfNothingTellsTheRule: prices include it, so that another plan costs its price after a free one.
func TestTax_AnInvoiceOfNothingTellsTheRule(t *testing.T) {
	t.Parallel()
	included := events.TaxRule{Inclusive: true, Components: vat.Components}
	s := after(t, created(line, events.Prepaid, 0, calendar.Month), due(line, inv1),
		charged(included, line, inv1, kes(0)), extended(line, inv1, until),
		events.SubscriptionPlanChanged{
			SubscriptionID: line, SubscriberID: who,
			Terms: events.PlanTerms{Mode: events.Prepaid, Price: kes(1500), Period: calendar.Month},
		})
	s.When(credit(1499)).ThenNothing()
	s.When(credit(1500)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
}

// TestTax_AnInvoiceRecordedWithoutItsRuleTellsIt: 15 percent, and 16 on top of both, are 33.4 percent.
func TestTax_AnInvoiceRecordedWithoutItsRuleTellsIt(t *testing.T) {
	t.Parallel()
	drafted := charged(events.TaxRule{Components: []events.TaxComponent{
		{Name: "Excise", BasisPoints: 1500}, {Name: "VAT", BasisPoints: 1600, Compound: true},
	}}, line, inv1, kes(1500), kes(-100))
	drafted.Tax = events.TaxRule{}
	s := after(t, prepaid(line), due(line, inv1), drafted, extended(line, inv1, until))
	s.When(credit(2000)).ThenNothing()
	s.When(credit(2001)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
}

// TestTax_AStateKeptBeforeTheRuleHasTheTotal: 1,740 for 1,500, also when the plan changes before the next invoice.
func TestTax_AStateKeptBeforeTheRuleHasTheTotal(t *testing.T) {
	t.Parallel()
	decide := func(s renewal.State, e events.Event) (processmanagers.Output, error) {
		return renewal.Decide(s, processmanagers.Input{Event: &events.Envelope{Event: e}}, start)
	}
	renews := func(s renewal.State, shillings int64) bool {
		t.Helper()
		out, err := decide(s, credit(shillings))
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Commands) > 0
	}
	s := renewal.State{Subscriptions: map[id.Subscription]renewal.Subscription{line: {
		Mode: events.Prepaid, Price: kes(1500), Gross: kes(1740), Period: calendar.Month, PaidUntil: until,
	}}}
	if renews(s, 1739) || !renews(s, 1740) {
		t.Error("the next period does not cost 1,740")
	}
	s = renewal.Evolve(s, processmanagers.Input{Event: &events.Envelope{Event: events.SubscriptionPlanChanged{
		SubscriptionID: line, SubscriberID: who,
		Terms: events.PlanTerms{Mode: events.Prepaid, Price: kes(3000), Period: calendar.Month},
	}}})
	if renews(s, 3479) || !renews(s, 3480) {
		t.Error("the next period of the other plan does not cost 3,480")
	}
}

// TestBillingDay_APlannedPlanWithOneBeginsWithAPart: the paid month ends on 28 February, the billing day is the 5th.
func TestBillingDay_APlannedPlanWithOneBeginsWithAPart(t *testing.T) {
	t.Parallel()
	ends := calendar.Date{Year: 2027, Month: 2, Day: 28}.Start(start.Location())
	s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, ends), events.PlanChangePlanned{
		SubscriptionID: line, SubscriberID: who,
		Terms: events.PlanTerms{Mode: events.Prepaid, Price: kes(2500), Period: calendar.Month, AnchorDay: 5},
	})
	cents := func(minor int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: money.Of(minor, money.KES)}
	}
	s.When(cents(446_42)).ThenNothing()
	s.When(cents(446_43)).Then(does(commands.MakePeriodDue{SubscriptionID: line})) // 5 of 28 days
}

// TestBillingDay_AServiceThatBeginsLaterCostsThePartFromThere: it begins on 3 April, two days of 31 before the 5th.
func TestBillingDay_AServiceThatBeginsLaterCostsThePartFromThere(t *testing.T) {
	t.Parallel()
	later := events.SubscriptionCreated{
		SubscriptionID: line, SubscriberID: who, Timezone: "Africa/Nairobi",
		StartsAt: calendar.Date{Year: 2026, Month: 4, Day: 3}.Start(calendar.ZoneOrUTC("Africa/Nairobi")),
		Terms:    events.PlanTerms{Mode: events.Prepaid, Price: kes(1500), Period: calendar.Month, AnchorDay: 5},
	}
	part := events.PeriodDue{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1,
		Part: events.PartPeriod{Days: 2, Of: 31}, Charge: money.Of(96_77, money.KES),
	}
	s := after(t, later, part, charged(events.TaxRule{}, line, inv1, part.Charge), events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1,
	})
	cents := func(minor int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: money.Of(minor, money.KES), Received: true}
	}
	s.When(cents(96_76)).ThenNothing()
	s.When(cents(96_77)).Then(does(commands.MakePeriodDue{SubscriptionID: line, Received: true}))
}

// TestOrders_AMonthIsKeptWithItsTaxBeforeTheFirstInvoice: a customer who was taken over has no invoice here yet.
func TestOrders_AMonthIsKeptWithItsTaxBeforeTheFirstInvoice(t *testing.T) {
	t.Parallel()
	made := prepaid(line)
	created, _ := made.(events.SubscriptionCreated)
	created.Tax = vat
	s := after(t, created, events.PaidTimeCarriedOver{
		SubscriptionID: line, SubscriberID: who, PaidUntil: start.AddDate(0, 0, 20),
	})
	out := s.When(events.CreditLeft{
		SubscriberID: who, Credit: kes(1740), Ordered: kes(240), Received: true,
	}).Output()
	if pays, is := out.Commands[0].(commands.PayOrders); !is || pays.Keep != kes(1740) {
		t.Errorf("the month costs 1,740: %+v", out.Commands)
	}
}

// TestTax_CreditTellsThePresentRule: the taxes were lowered, or taken away, since the last invoice.
func TestTax_CreditTellsThePresentRule(t *testing.T) {
	t.Parallel()
	s := after(t, prepaid(line), due(line, inv1), taxed(line, inv1, kes(1500)), extended(line, inv1, until))
	told := func(shillings int64, rule events.TaxRule) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: kes(shillings), Tax: &rule}
	}
	half := events.TaxRule{Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 800}}}
	renews := does(commands.MakePeriodDue{SubscriptionID: line})
	s.When(told(1619, half)).ThenNothing()
	s.When(told(1620, half)).Then(renews)
	s.When(told(1500, events.TaxRule{})).Then(renews)
	s.Given(told(1, half)).When(credit(1620)).Then(renews) // it is kept
}
