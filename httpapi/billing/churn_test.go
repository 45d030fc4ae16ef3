package billingapi_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Amina is there for 695.5 of the 744 hours of March, and her month brings 935.48 of its 1,000 then.
func TestChurn_IsOfTheOrganizationAlone(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	k.month(t)
	k.clock.Advance(40 * 24 * time.Hour)
	k.core.WaitForAll(t, k.views, billingviews.RevenueName, subscribersviews.SubscriptionsName)
	type moves struct {
		AtStart, New, Returned, Ended, AtEnd int
		Rate                                 *json.Number
	}
	var got struct {
		Currency             string
		Customers            moves
		AverageSubscriptions json.Number
		Revenue              json.Number
		Months               []struct {
			Customers, Subscriptions moves
			Reasons                  []any
			Revenue                  json.Number
			RevenuePerSubscription   *json.Number
		}
	}
	path := "/reports/churn?from=2026-03-01&to=2026-04-12"
	k.Do(t, apitest.Request{Path: path, As: apitest.Support}).Into(t, &got)
	if len(got.Months) != 2 {
		t.Fatalf("months: %+v", got)
	}
	march, april, none := got.Months[0], got.Months[1], json.Number("0")
	if diff := cmp.Diff([]moves{{New: 1, AtEnd: 1}, {AtStart: 1, AtEnd: 1, Rate: &none}},
		[]moves{march.Customers, april.Subscriptions}); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	if march.Revenue != "935.48" || april.Revenue != "64.52" || got.Revenue != "1000.00" || march.Reasons == nil ||
		*april.RevenuePerSubscription != "64.52" {
		t.Errorf("revenue: %+v", got)
	}
	table := k.Do(t, apitest.Request{Path: path + "&format=csv", As: apitest.Support})
	if diff := cmp.Diff("from,to,customersAtStart,customersNew,customersReturned,customersEnded,customersAtEnd,"+
		"customersRate,customersTakenOver,subscriptionsAtStart,subscriptionsNew,subscriptionsReturned,"+
		"subscriptionsEnded,subscriptionsAtEnd,subscriptionsRate,subscriptionsTakenOver,averageSubscriptions,"+
		"revenue,revenuePerSubscription,currency\r\n"+
		"2026-03-01,2026-03-31,0,1,0,0,1,,0,0,1,0,0,1,,0,0.9,935.48,1000.71,KES\r\n"+
		"2026-04-01,2026-04-12,1,0,0,0,1,0,0,1,0,0,0,1,0,0,1.0,64.52,64.52,KES\r\n", string(table.Body)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	apitest.Sends(t, k.Kit, "a customer", apitest.Request{Path: path, As: apitest.Subscriber},
		apitest.Is(403, "role_required"))
	apitest.Sends(t, k.Kit, "the future", apitest.Request{Path: "/reports/churn?to=2999-01-01", As: apitest.Support},
		apitest.Is(422, "invalid_input"))
	got.Months = nil
	k.Do(t, apitest.Request{Path: path, Host: apitest.Other, As: apitest.OtherAdmin}).Into(t, &got)
	if got.Customers != (moves{}) || got.Revenue != "0.00" || got.AverageSubscriptions != "0.0" {
		t.Errorf("another tenant sees %+v", got)
	}
}
