package billingcases

import (
	"maps"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// More days than a month has are not said to be a part of it.
func TestChangeLines_ManyMonthsReadWell(t *testing.T) {
	t.Parallel()
	from := calendar.Date{Year: 2026, Month: time.January, Day: 31}
	lines := changeLines([]events.PlanChangeLine{
		{PlanName: "Home", From: from, To: from.AddDays(9), Days: 10, Of: 28},
		{PlanName: "Home", From: from, To: from.AddDays(364), Days: 365, Of: 28},
	})
	for i, want := range []string{
		"Home, 2026-01-31 to 2026-02-09 (10 of 28 days)",
		"Home, 2026-01-31 to 2027-01-30 (365 days, at 28 days a month)",
	} {
		if lines[i].Description != want {
			t.Errorf("%q, want %q", lines[i].Description, want)
		}
	}
}

// TestUpgrade_OfTwoPeriodsThatArePaidAtOnceGivesTheDaysOfBothBack: with a billing day, June and July are paid, and a
// dearer plan comes in the last days of June. The money of both is taken back, and one payment in July brings it again.
// The days of June and of July that were not served are given back, those of the dearer plan in both.
func TestUpgrade_OfTwoPeriodsThatArePaidAtOnceGivesTheDaysOfBothBack(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 1))
	month := w.line.Terms.Price
	w.pays(w.lastInvoice().Total)
	for _, day := range []time.Time{local(time.March, 30), local(time.April, 29)} {
		w.until(day)
		w.pays(month)
	}
	var receipts []id.Receipt
	for _, day := range []time.Time{local(time.May, 29), local(time.June, 28)} {
		w.until(day)
		w.pays(month)
		receipts = append(receipts, id.Derive[id.Receipt]("worked", w.at.String(), month.String()))
	}
	w.until(local(time.June, 29))
	to := commands.NewPlan{PlanID: id.Derive[id.Plan]("dearer"), Version: 1, Terms: w.line.Terms}
	to.Terms.Price = money.Major(4500, money.KES)
	change, err := w.line.PlanChange(to, w.at)
	if err != nil {
		t.Fatal(err)
	}
	w.does(commands.ChangePlan{SubscriptionID: w.line.ID, NewPlan: to, Preview: change.Preview})
	w.pays(w.account.Due())
	w.until(w.at.Add(time.Minute))
	for _, r := range receipts {
		w.does(commands.WithdrawReceipt{ReceiptID: r, SubscriberID: w.line.SubscriberID})
	}
	before := len(w.notes)
	w.until(local(time.July, 11))
	w.pays(w.account.Due())
	given := map[events.PartPeriod]string{}
	for _, n := range w.notes[before:] {
		given[events.PartPeriod{Days: n.credits.Days, Of: n.credits.Of}] += figures(n.Amount) + " "
	}
	if want := map[events.PartPeriod]string{
		{Days: 2, Of: 30}: "100.00 ", {Days: 2, Of: 2}: "200.00 ",
		{Days: 10, Of: 31}: "483.87 967.74 ",
	}; !maps.Equal(given, want) {
		t.Errorf("given back %v", given)
	}
}
