package accesscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// daily gives a new customer a prepaid plan by the day, and pays so many days at once.
func (w *world) daily(t *testing.T, days int) *customer {
	t.Helper()
	c := &customer{
		id: id.New[id.Subscriber](), lines: []id.Subscription{id.New[id.Subscription]()},
		owed: map[id.Subscription][]events.DunningOwed{},
	}
	w.people++
	w.Run(t, coretest.Operator(w.org), coretest.NewSubscriber(c.id, w.org, w.people))
	w.Run(t, coretest.Operator(w.org), commands.CreateSubscription{
		SubscriptionID: c.lines[0], OrgID: w.org, SubscriberID: c.id, PlanID: id.New[id.Plan](), PlanVersion: 1,
		Terms: events.PlanTerms{
			Name: "Day", Kind: "pppoe", Mode: events.Prepaid, Period: calendar.Day, Price: money.Major(50, money.KES),
		},
		Timezone: "Africa/Nairobi", StartsAt: w.clock.Now(), Username: w.username(c.lines[0]),
	})
	for n := range days {
		w.happens(t, commands.MakePeriodDue{SubscriptionID: c.lines[0]}, commands.ExtendSubscription{
			SubscriptionID: c.lines[0], InvoiceID: commands.PeriodInvoice(c.lines[0], n+1), PaidAt: w.clock.Now(),
		})
	}
	return c
}

// TestExplanations_WhoseMoneyWasTakenBackIsOffSinceThen: until the correction there was access, so neither the end of
// the earlier paid time nor the beginning of the service is when it went. A correction of time that was over already
// changes nothing of that. For the present and for past instants.
func TestExplanations_WhoseMoneyWasTakenBackIsOffSinceThen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expired := func(c *customer, what string, since time.Time) {
		t.Helper()
		w.settle(t)
		w.check(t, c)
		got := w.explain(t, c, time.Time{}).Entitlement.Reasons[0]
		if got.Code != entitlement.CodeExpired || !got.Since.Equal(since.Truncate(time.Microsecond)) {
			t.Errorf("%s: %s since %s, want expired since %s", what, got.Code, got.Since, since)
		}
	}
	takeBack := func(c *customer, ordinal int) {
		t.Helper()
		w.Run(t, coretest.Operator(w.org), commands.WithdrawPeriod{
			SubscriptionID: c.lines[0], InvoiceID: commands.PeriodInvoice(c.lines[0], ordinal), Reason: "moved",
		})
	}
	start := w.clock.Now()
	two, one, over := w.daily(t, 2), w.daily(t, 1), w.daily(t, 1)
	w.clock.Set(start.Add(12 * time.Hour))
	takeBack(one, 1)
	expired(one, "of the only period", w.clock.Now())
	moved := start.Add(36 * time.Hour)
	w.clock.Set(moved)
	takeBack(two, 2)
	expired(two, "of the last period", moved)
	takeBack(over, 1)
	expired(over, "after the end", start.Add(24*time.Hour))
	w.clock.Advance(time.Hour)
	takeBack(two, 1)
	expired(two, "of the period before it", moved)
	w.happens(t, commands.CancelPeriod{
		SubscriptionID: two.lines[0], InvoiceID: commands.PeriodInvoice(two.lines[0], 2),
	})
	expired(two, "whose invoice is cancelled then", moved)
}
