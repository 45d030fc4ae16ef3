package subscribersviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
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
		"a plan without a billing day": {row{Terms: whole, PaidUntil: at(2, 28)}, 1500_00},
	} {
		if got := c.row.NextLines(*at(2, 8), time.UTC); len(got) != 1 || got[0].Minor != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}
