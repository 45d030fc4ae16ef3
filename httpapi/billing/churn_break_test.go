package billingapi_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestChurn_WhoChangesThePlanAtTheEndOfAMonthHasNotLeft: the old subscription ends on the last evening of March, and
// the new one begins on the first morning of April. The report of March says the same alone and in that of both months.
func TestChurn_WhoChangesThePlanAtTheEndOfAMonthHasNotLeft(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	org := k.Orgs["acme"].ID
	begin := func(name string) id.Subscription {
		of := id.New[id.Subscription]()
		k.do(t, commands.CreateSubscription{
			SubscriptionID: of, OrgID: org, SubscriberID: k.amina, PlanID: id.New[id.Plan](), PlanVersion: 1,
			Terms: events.PlanTerms{
				Name: name, Kind: "pppoe", Price: money.Of(100000, money.KES), Mode: events.Postpaid,
				Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 10_000},
			},
			Timezone: "Africa/Nairobi", StartsAt: k.clock.Now(), Username: personal.Of(name),
			PasswordRef: id.New[id.Secret](),
		}, org)
		return of
	}
	first := begin("amina")
	k.clock.Advance(time.Date(2026, 3, 31, 17, 0, 0, 0, time.UTC).Sub(k.clock.Now())) // 20:00 in Nairobi
	k.do(t, commands.EndSubscription{SubscriptionID: first, Reason: "another plan"}, org)
	k.clock.Advance(13 * time.Hour) // 09:00 on 1 April
	begin("amina-2")
	k.clock.Advance(20 * 24 * time.Hour)
	k.core.WaitForAll(t, k.views, billingviews.RevenueName, subscribersviews.SubscriptionsName)
	type moves struct{ AtStart, New, Returned, Ended, AtEnd int }
	var alone, both struct {
		Months []struct{ Customers moves }
	}
	k.Do(t, apitest.Request{Path: "/reports/churn?from=2026-03-01&to=2026-03-31", As: apitest.Support}).Into(t, &alone)
	k.Do(t, apitest.Request{Path: "/reports/churn?from=2026-03-01&to=2026-04-15", As: apitest.Support}).Into(t, &both)
	if alone.Months[0] != both.Months[0] || both.Months[0].Customers.Ended != 0 {
		t.Errorf("March alone %+v, with April %+v", alone.Months[0], both.Months)
	}
}
