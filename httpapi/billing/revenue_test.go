package billingapi_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// The report of revenue and its parts, as a client reads them.
type (
	ShownEarned struct {
		Net, Tax, Total json.Number
	}
	shownRevenuePeriod struct {
		From, To string
		ShownEarned
		Losses, Vouchers json.Number
	}
	shownRevenuePlan struct {
		PlanID *id.Plan
		ShownEarned
	}
	shownRevenue struct {
		From, To, Currency, By string
		Earned, Deferred       ShownEarned
		Losses, Vouchers       json.Number
		Periods                []shownRevenuePeriod
		Plans                  []shownRevenuePlan
	}
)

// revenue reads the report once its read model shows the whole log.
func (k *billingKit) revenue(t *testing.T, query string) (out shownRevenue) {
	t.Helper()
	k.core.WaitForAll(t, k.views, billingviews.RevenueName)
	a := k.Do(t, apitest.Request{Path: "/reports/revenue" + query, As: apitest.Support})
	if a.Into(t, &out); a.Status != 200 {
		t.Fatalf("revenue %s: %d %s", query, a.Status, a.Body)
	}
	return out
}

// month has Amina pay a month of a plan for 1,000 and 160 of tax from credit, and gives the plan.
func (k *billingKit) month(t *testing.T) id.Plan {
	t.Helper()
	k.pay(t, 116000)
	subscription, plan, org := id.New[id.Subscription](), id.New[id.Plan](), k.Orgs["acme"].ID
	invoice := commands.PeriodInvoice(subscription, 1)
	k.do(t, commands.CreateSubscription{
		SubscriptionID: subscription, OrgID: org, SubscriberID: k.amina, PlanID: plan, PlanVersion: 1,
		Terms: events.PlanTerms{
			Name: "Home 10 Mbps", Kind: "pppoe", Price: money.Of(116000, money.KES), Mode: events.Prepaid,
			Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 10_000},
		},
		Timezone: "Africa/Nairobi", StartsAt: k.clock.Now(), Username: personal.Of("amina"),
		PasswordRef: id.New[id.Secret](),
	}, org)
	paid, err := k.views.WaitUntil(t.Context(), billingviews.InvoicesName, func(ctx context.Context) (bool, error) {
		state, err := billingviews.InvoicesQuery{Views: k.views}.State(ctx, org, invoice)
		return state == "paid", err
	})
	if err != nil || !paid {
		t.Fatalf("the month is not paid, %v", err)
	}
	k.do(t, commands.ExtendSubscription{SubscriptionID: subscription, InvoiceID: invoice, PaidAt: k.clock.Now()}, org)
	return plan
}

// A month that is paid on 3 March in Nairobi has 29 of its 31 days in March. What is made by hand is earned at once.
func TestRevenue_IsEarnedByDayAndPlan(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	plan := k.month(t)
	k.invoice(t, 1160) // 1,500 and 240 of tax, since it has one and a half
	k.clock.Advance(40 * 24 * time.Hour)
	zero, sold := ShownEarned{"0.00", "0.00", "0.00"}, ShownEarned{"1500.00", "240.00", "1740.00"}
	march, april := ShownEarned{"935.48", "149.68", "1085.16"}, ShownEarned{"64.52", "10.32", "74.84"}
	want := shownRevenue{
		From: "2026-03-01", To: "2026-04-12", Currency: "KES", By: "month", Losses: "0.00", Vouchers: "0.00",
		Earned: ShownEarned{"2500.00", "400.00", "2900.00"}, Deferred: zero,
		Periods: []shownRevenuePeriod{
			{"2026-03-01", "2026-03-31", ShownEarned{"2435.48", "389.68", "2825.16"}, "0.00", "0.00"},
			{"2026-04-01", "2026-04-12", april, "0.00", "0.00"},
		},
		Plans: []shownRevenuePlan{{nil, sold}, {&plan, ShownEarned{"1000.00", "160.00", "1160.00"}}},
	}
	if diff := cmp.Diff(want, k.revenue(t, "?from=2026-03-01&to=2026-04-12")); diff != "" {
		t.Errorf("months (-want +got):\n%s", diff)
	}
	days := k.revenue(t, "?from=2026-03-01&to=2026-03-31")
	if days.By != "day" || len(days.Periods) != 31 || days.Deferred != april || days.Earned.Net != "2435.48" ||
		days.Periods[1].ShownEarned != zero || days.Periods[3].Net != "32.26" ||
		!cmp.Equal(days.Plans, []shownRevenuePlan{{nil, sold}, {&plan, march}}) {
		t.Errorf("days: %+v", days)
	}
	if usual := k.revenue(t, ""); usual.From != "2026-04-01" || usual.To != "2026-04-12" || usual.Earned != april {
		t.Errorf("without days: %+v", usual)
	}
	table := k.Do(t, apitest.Request{
		Path: "/reports/revenue?from=2026-03-01&to=2026-04-12&format=csv", As: apitest.Support,
	})
	if diff := cmp.Diff("from,to,planId,plan,net,tax,total,currency,losses,vouchers\r\n"+
		"2026-03-01,2026-03-31,"+plan.String()+",,935.48,149.68,1085.16,KES,0.00,0.00\r\n"+
		"2026-03-01,2026-03-31,,,1500.00,240.00,1740.00,KES,0.00,0.00\r\n"+
		"2026-04-01,2026-04-12,"+plan.String()+",,64.52,10.32,74.84,KES,0.00,0.00\r\n",
		string(table.Body)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestRevenue_RolesTenantsAndDays(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	k.invoice(t, 1160)
	path := "/reports/revenue"
	for name, c := range map[string]struct {
		request apitest.Request
		want    apitest.Want
	}{
		"a customer": {apitest.Request{Path: path, As: apitest.Subscriber}, apitest.Is(403, "role_required")},
		"nobody":     {apitest.Request{Path: path}, apitest.Is(401, "unauthenticated")},
		"the root host": {
			apitest.Request{Path: path, Host: apitest.Domain, As: apitest.Super}, apitest.Is(404, "not_found"),
		},
		"the future": {
			apitest.Request{Path: path + "?to=2026-03-04", As: apitest.Support}, apitest.Is(422, "invalid_input"),
		},
		"backwards": {
			apitest.Request{Path: path + "?from=2026-03-02&to=2026-03-01", As: apitest.Support},
			apitest.Is(422, "invalid_input"),
		},
		"over a year": {
			apitest.Request{Path: path + "?from=2025-03-02", As: apitest.Support}, apitest.Is(422, "invalid_input"),
		},
	} {
		apitest.Sends(t, k.Kit, name, c.request, c.want)
	}
	var theirs shownRevenue
	k.core.WaitForAll(t, k.views, billingviews.RevenueName)
	k.Do(t, apitest.Request{Path: path, Host: apitest.Other, As: apitest.OtherAdmin}).Into(t, &theirs)
	if theirs.Earned.Total != "0.00" || theirs.Deferred.Total != "0.00" || len(theirs.Plans) != 0 {
		t.Errorf("another tenant sees %+v", theirs)
	}
}
