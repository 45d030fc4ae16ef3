package billingcases

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestExtras_EachPeriodCanBeInvoiced draws prices, taxes, parts and extras: the draft is accepted whatever they are,
// the taxes of all lines are not below zero, and who pays what is asked for before has paid it.
func TestExtras_EachPeriodCanBeInvoiced(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		currency := rapid.SampledFrom([]money.Currency{money.KES, "UGX"}).Draw(r, "currency")
		amount := func(name string) money.Amount {
			return money.Of(rapid.Int64Range(1, 9_999_99).Draw(r, name), currency)
		}
		settings := events.BillingSettings{Timezone: "UTC", Currency: currency, InvoicePrefix: "ACME"}
		settings.Tax = events.TaxRule{Inclusive: rapid.Bool().Draw(r, "inclusive"), Components: []events.TaxComponent{
			{Name: "VAT", BasisPoints: rapid.Int64Range(0, 3000).Draw(r, "rate")},
			{Name: "Levy", BasisPoints: rapid.Int64Range(0, 500).Draw(r, "levy"), Compound: true},
		}}
		held := someExtras(r, amount)
		due := events.PeriodDue{
			SubscriberID: id.Derive[id.Subscriber]("test"), OrgID: id.Derive[id.Organization]("test"),
			SubscriptionID: id.Derive[id.Subscription]("test"), InvoiceID: id.Derive[id.Invoice]("test"),
			Terms: events.PlanTerms{Price: amount("price"), Period: calendar.Month}, DueAt: local(time.March, 21),
		}
		if of := rapid.IntRange(0, 30).Draw(r, "of"); of > 1 {
			due.Part = events.PartPeriod{Days: rapid.IntRange(1, of-1).Draw(r, "days"), Of: of}
			due.Charge = due.Part.Share(due.Terms.Price)
		}
		due.Extras = held.Next(due.Terms.Price, due.Part, due.DueAt, time.UTC)
		draft, err := DraftUnder(settings, commands.DraftOf(due), func(id.Extra) string { return "" })
		if err != nil {
			r.Fatal(err)
		}
		made, err := billing.Accounts().Decide(billing.Account{}, draft, due.DueAt)
		if err != nil {
			r.Fatal(err)
		}
		lines := []money.Amount{due.Own()}
		for _, x := range due.Extras {
			lines = append(lines, x.Amount)
		}
		drafted, _ := made[len(made)-1].(events.InvoiceDrafted)
		if asked := (billing.Account{}).ToRenew(due.SubscriptionID, lines, settings.Tax); asked != drafted.Total {
			r.Fatalf("asked for %s, invoiced %s", asked, drafted.Total)
		}
		for _, tax := range drafted.Taxes {
			if tax.Amount.Negative() {
				r.Fatalf("%s is %s", tax.Name, tax.Amount)
			}
		}
	})
}

// someExtras draws extras of a subscription.
func someExtras(r *rapid.T, amount func(string) money.Amount) (held events.Extras) {
	for n := range rapid.IntRange(0, 6).Draw(r, "extras") {
		x := events.Extra{ID: id.Derive[id.Extra]("test", strconv.Itoa(n)), Amount: amount("extra")}
		x.Kind = rapid.SampledFrom([]events.ExtraKind{
			events.ChargeExtra, events.AddOnExtra, events.DiscountExtra, events.DiscountExtra,
		}).Draw(r, "kind")
		if x.Kind == events.DiscountExtra && rapid.Bool().Draw(r, "percent") {
			x.Amount, x.BasisPoints = money.Amount{}, rapid.Int64Range(1, 10_000).Draw(r, "basis points")
		}
		held = append(held, events.HeldExtra{Extra: x})
	}
	return held
}
