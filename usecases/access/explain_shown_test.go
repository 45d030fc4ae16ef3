package accesscases_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// shownCase is an open difference of a customer, and what is known about its router.
type shownCase struct {
	kind     events.AccessDifferenceKind
	of       id.Subscription
	was      accesscases.Observed
	looked   time.Duration // ago; 0 = never
	unseen   bool          // since then
	reported bool          // more than the look
	fails    error         // of the differences
	away     error         // of the looks
	broken   error         // of the reports
	want     accesscases.Observed
}

// TestUnreported_WhoIsSeenAtARouterIsNotOffline: each service by its own differences; what reports tell counts first.
func TestUnreported_WhoIsSeenAtARouterIsNotOffline(t *testing.T) {
	t.Parallel()
	who := subscribersviews.SubscriberRow{ID: id.New[id.Subscriber](), OrgID: id.New[id.Organization]()}
	line, other := id.New[id.Subscription](), id.New[id.Subscription]()
	const fresh = time.Minute
	for name, c := range map[string]shownCase{
		"no reports":           {kind: events.UnknownSession, of: line, was: "offline", want: "online"},
		"cut, and no reports":  {kind: events.UnpaidButOnline, of: line, was: "offline", want: "online"},
		"walled in":            {kind: events.PaidButWalledIn, of: line, was: "offline", want: "walled_garden"},
		"refused":              {kind: events.PaidButOffline, of: line, was: "offline", want: "offline"},
		"another subscription": {kind: events.UnknownSession, of: other, was: "offline", want: "offline"},
		"not known":            {kind: events.UnknownSession, of: line, was: "unknown", want: "unknown"},
		"cannot be read":       {of: line, was: "offline", fails: errors.New("away"), want: "offline"},
	} {
		c.looked = fresh
		c.is(t, name, who, line)
	}
}

// TestUnreported_ADifferenceTellsAsMuchAsTheLatestLookAtItsRouter: an open difference shows the router as it was seen
// last, which can be long ago, and sessions that were reported.
func TestUnreported_ADifferenceTellsAsMuchAsTheLatestLookAtItsRouter(t *testing.T) {
	t.Parallel()
	who := subscribersviews.SubscriberRow{ID: id.New[id.Subscriber](), OrgID: id.New[id.Organization]()}
	line := id.New[id.Subscription]()
	const fresh = time.Minute
	for name, c := range map[string]shownCase{
		"cannot be looked at":      {looked: fresh, unseen: true, want: "unknown"},
		"two looks are missing":    {looked: 14 * time.Minute, want: "online"},
		"nobody looks any more":    {looked: 16 * time.Minute, want: "unknown"},
		"was never looked at":      {want: "offline"},
		"its end was reported":     {looked: fresh, reported: true, want: "offline"},
		"was reported, and is off": {looked: time.Hour, unseen: true, reported: true, want: "offline"},
		"looks cannot be read":     {looked: fresh, away: errors.New("away"), want: "offline"},
		"reports cannot be read":   {looked: fresh, broken: errors.New("away"), want: "offline"},
	} {
		c.kind, c.of, c.was = events.WrongRate, line, "offline"
		c.is(t, name, who, line)
	}
}

// is compares what a customer with one service is observed to be.
func (c shownCase) is(t *testing.T, name string, who subscribersviews.SubscriberRow, line id.Subscription) {
	t.Helper()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	device, looked := id.New[id.Device](), now.Add(-c.looked)
	look := telemetry.Look{DeviceID: device}
	if c.looked > 0 {
		look.LookedAt = &looked
	}
	if c.unseen {
		look.UnseenSince = &looked
	}
	auditor := accesscases.Auditor{Every: 5 * time.Minute, Open: func(
		_ context.Context, org id.Organization, f accessviews.DifferenceFilter, _ accessviews.DifferenceKey, _ int,
	) ([]accessviews.DifferenceRow, error) {
		if org != who.OrgID || f.Subscriber != who.ID {
			t.Errorf("%s: asked about %s of %s", name, f.Subscriber, org)
		}
		return []accessviews.DifferenceRow{{Kind: c.kind, SubscriptionID: c.of, DeviceID: device}}, c.fails
	}, Looks: func(_ context.Context, org id.Organization) (map[id.Device]telemetry.Look, error) {
		if org != who.OrgID {
			t.Errorf("%s: asked about looks of %s", name, org)
		}
		return map[id.Device]telemetry.Look{device: look}, c.away
	}, Reported: func(_ context.Context, seen telemetry.Shown) (bool, error) {
		if want := (telemetry.Shown{
			OrgID: who.OrgID, SubscriberID: who.ID, SubscriptionID: line, DeviceID: device, At: looked,
		}); seen != want {
			t.Errorf("%s: asked about %+v, want %+v", name, seen, want)
		}
		return c.reported, c.broken
	}}
	x := accesscases.Explanations{Logger: storetest.Quiet(), Auditor: &auditor}
	out := accesscases.Explanation{At: now, Observed: c.was, Services: []accesscases.Service{{
		Service: entitlement.Service{SubscriptionID: line}, Observed: c.was,
	}}}
	x.UnreportedForTest(t.Context(), &out, who)
	if out.Observed != c.want || out.Services[0].Observed != c.want {
		t.Errorf("%s: %s, service %s, want %s", name, out.Observed, out.Services[0].Observed, c.want)
	}
}
