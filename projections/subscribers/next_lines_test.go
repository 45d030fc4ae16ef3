package subscribersviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestNextLines_BetweenTwoBillingDaysAreThoseOfAPart: of 2,500 shillings a month from the 5th on.
func TestNextLines_BetweenTwoBillingDaysAreThoseOfAPart(t *testing.T) {
	t.Parallel()
	at := func(month time.Month, day int) *time.Time {
		return new(time.Date(2027, month, day, 0, 0, 0, 0, time.UTC))
	}
	fifth := events.PlanTerms{Price: money.Major(2500, money.KES), Period: calendar.Month, AnchorDay: 5}
	whole := events.PlanTerms{Price: money.Major(1500, money.KES), Period: calendar.Month}
	type row = subscribersviews.SubscriptionRow
	planned, without := &subscribersviews.PlannedPlan{Terms: fifth}, &subscribersviews.PlannedPlan{Terms: whole}
	for name, c := range map[string]struct {
		row  row
		want int64
	}{
		"nothing is paid":              {row{Terms: fifth}, 2232_14}, // 25 of 28 days
		"paid to the billing day":      {row{Terms: fifth, PaidUntil: at(3, 5)}, 2500_00},
		"it starts later":              {row{Terms: fifth, StartsAt: *at(2, 28)}, 446_43},
		"another plan is planned":      {row{Terms: whole, PaidUntil: at(2, 28), Planned: planned}, 446_43},
		"one without a day is planned": {row{Terms: fifth, PaidUntil: at(3, 5), Planned: without}, 1500_00},
		"the place of an undone period": {
			row{Terms: fifth, PaidUntil: at(2, 1), RetakesFrom: at(2, 1), Planned: without}, 322_58, // 4 of 31 days
		},
		"what an undo told":            {row{Terms: whole, Planned: planned, Next: &whole}, 1500_00},
		"a plan without a billing day": {row{Terms: whole, PaidUntil: at(2, 28)}, 1500_00},
	} {
		if got := c.row.NextLines(*at(2, 8), time.UTC); len(got) != 1 || got[0].Minor != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}

// TestSubscriptions_TheNextPeriodHasTheTermsThatWereToldLast: by an undo, by the period that is made again, and by the
// plan itself.
func TestSubscriptions_TheNextPeriodHasTheTermsThatWereToldLast(t *testing.T) {
	t.Parallel()
	priced := func(price int64) events.PlanTerms {
		terms := terms(events.Prepaid)
		terms.Price = kes(price)
		return terms
	}
	list := []events.Event{lines()[0], dueAgain(1, inv1)}
	again := events.PeriodDue{
		SubscriptionID: line, OrgID: acme, SubscriberID: amina, InvoiceID: inv2, Ordinal: 2, DueAt: began,
		Terms: priced(1500), NextTerms: priced(100), At: began,
	}
	for _, step := range []struct {
		e    events.Event
		want int64
	}{
		{events.PlanChangePlanned{
			SubscriptionID: line, SubscriberID: amina, PlanID: home, Terms: priced(100), FromOrdinal: 2, At: began,
		}, 100},
		{events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv1, Ordinal: 1, At: began,
			UndoneRun: id.Derive[id.BillingRun]("test", "undone"), NextTerms: priced(1500),
		}, 1500},
		{again, 100},
		{events.SubscriptionPlanChanged{
			SubscriptionID: line, SubscriberID: amina, PlanID: home, Terms: priced(90), At: began,
		}, 90},
	} {
		list = append(list, step.e)
		row := periodsAfter(t, list...)
		if got := row.NextLines(began, time.UTC); got[0] != kes(step.want) {
			t.Errorf("after %T %v, want %d", step.e, got, step.want)
		}
	}
}
