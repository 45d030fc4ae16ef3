package accesscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// A customer has one line that is nearly used up and another one that is not. The first one is shown, with its top-ups
// until they are over, and acts from when everything was used until a top-up.
func TestCaps_TheLineOfWhichMostIsUsedIsShown(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	views := l.Show(t, accessviews.Usage{}, subscribersviews.Subscriptions{})
	l.subscribe(events.Cap{Bytes: 1 << 40, Period: "month", Then: events.CapThrottle, Throttle: events.Speed{
		Down: 1000, Up: 1000,
	}})
	caps := accesscases.Caps{
		Subscriptions: subscribersviews.SubscriptionsQuery{Views: views}, Usage: accessviews.UsageQuery{Views: views},
		Store: l.store, Clock: l.clock,
	}
	want := func(what string, org id.Organization, want *accesscases.CapStand, acts entitlement.CapUse) {
		t.Helper()
		l.WaitForAll(t, views, accessviews.UsageName, subscribersviews.SubscriptionsName)
		got, err := caps.Of(t.Context(), org, l.subscriber, l.zone)
		if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
		reached, err := caps.Usage.Reached(t.Context(), org, []id.Subscription{l.subscription})
		use := reached[l.subscription]
		if err != nil || (use == nil) != acts.Until.IsZero() || use != nil && (!use.Since.Equal(acts.Since) ||
			!use.Until.Equal(acts.Until)) {
			t.Errorf("%s: acts %+v, %v", what, reached, err)
		}
	}
	midnight := time.Date(2026, 3, 20, 21, 0, 0, 0, time.UTC)
	stand := func(allowed, used int64, resets time.Time) *accesscases.CapStand {
		return &accesscases.CapStand{Subscription: l.subscription, Allowed: allowed, Used: used, ResetsAt: resets}
	}
	none := entitlement.CapUse{}
	want("unused", l.org, stand(1000, 0, midnight), none)
	m := l.meter()
	m.Take(l.uses("1", time.Minute, 1200))
	l.counts(m)
	want("used up", l.org, stand(1000, 1200, midnight), entitlement.CapUse{Since: l.clock.Now(), Until: midnight})
	want("for another organization", id.New[id.Organization](), nil, none)
	_, _, err := l.topUps().Add(t.Context(), coretest.Ask(l.org), l.subscription, half)
	coretest.Refused(t, "add", err, "")
	want("topped up", l.org, stand(1500, 1200, midnight), none)
	l.clock.Advance(24 * time.Hour)
	want("the next day", l.org, stand(1000, 0, midnight.AddDate(0, 0, 1)), none)
}
