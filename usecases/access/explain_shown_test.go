package accesscases_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
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
	walled   bool
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

// TestShown_WhoIsSeenAtARouterIsNotOffline: each service by its own differences; what reports tell counts first.
func TestShown_WhoIsSeenAtARouterIsNotOffline(t *testing.T) {
	t.Parallel()
	who := subscribersviews.SubscriberRow{ID: id.New[id.Subscriber](), OrgID: id.New[id.Organization]()}
	line, other := id.New[id.Subscription](), id.New[id.Subscription]()
	const fresh = time.Minute
	for name, c := range map[string]shownCase{
		"no reports":          {kind: events.UnknownSession, of: line, was: "offline", want: "online"},
		"cut, and no reports": {kind: events.UnpaidButOnline, of: line, was: "offline", want: "online"},
		"walled in":           {kind: events.PaidButWalledIn, of: line, was: "offline", want: "walled_garden"},
		"walled in, as is right": {
			kind: events.UnknownSession, walled: true, of: line, was: "offline", want: "walled_garden",
		},
		"walled in, and to be off": {
			kind: events.UnpaidButOnline, walled: true, of: line, was: "offline", want: "walled_garden",
		},
		"refused":              {kind: events.PaidButOffline, of: line, was: "offline", want: "offline"},
		"another subscription": {kind: events.UnknownSession, of: other, was: "offline", want: "offline"},
		"not known":            {kind: events.UnknownSession, of: line, was: "unknown", want: "unknown"},
		"cannot be read":       {of: line, was: "offline", fails: errors.New("away"), want: "offline"},
	} {
		c.looked = fresh
		c.is(t, name, who, line)
	}
}

// TestShown_ADifferenceTellsAsMuchAsTheLatestLookAtItsRouter: an open difference shows the router as it was seen
// last, which can be long ago, and sessions that were reported.
func TestShown_ADifferenceTellsAsMuchAsTheLatestLookAtItsRouter(t *testing.T) {
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
		return []accessviews.DifferenceRow{{
			Kind: c.kind, Walled: c.walled, SubscriptionID: c.of, DeviceID: device,
		}}, c.fails
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
	x.ShownForTest(t.Context(), &out, who, nil)
	if out.Observed != c.want || out.Services[0].Observed != c.want {
		t.Errorf("%s: %s, service %s, want %s", name, out.Observed, out.Services[0].Observed, c.want)
	}
}

// openCase is an open session of a customer, and a difference about a session.
type openCase struct {
	access  entitlement.Access
	kind    events.AccessDifferenceKind
	walled  bool
	another bool          // the difference is about another device of the customer
	began   time.Duration // of the session before the look
	heard   time.Duration // of its newest report after the look
	unseen  bool          // since the look
	want    accesscases.Observed
}

// TestShown_AnOpenSessionIsAsItsRouterShowsIt: what was granted tells less than what the router was seen to do with the
// same session.
func TestShown_AnOpenSessionIsAsItsRouterShowsIt(t *testing.T) {
	t.Parallel()
	const full, garden, hour = entitlement.Full, entitlement.WalledGarden, time.Hour
	walled, stale := events.PaidButWalledIn, events.StaleSession
	for name, c := range map[string]openCase{
		"paid, and in the garden": {access: full, kind: walled, began: hour, want: "walled_garden"},
		"and reported since":      {access: full, kind: walled, began: hour, heard: 1, want: "walled_garden"},
		"and dialed again":        {access: full, kind: walled, began: -1, want: "online"},
		"another device":          {access: full, kind: walled, another: true, began: hour, want: "online"},
		"a look too long ago":     {access: full, kind: walled, began: hour, unseen: true, want: "online"},
		"unpaid, with everything": {access: garden, kind: events.UnpaidButOnline, began: hour, want: "online"},
		"unpaid, in the garden": {
			access: garden, kind: events.WrongRate, walled: true, began: hour, want: "walled_garden",
		},
		"another speed":               {access: full, kind: events.WrongRate, began: hour, want: "online"},
		"not on the router":           {access: full, kind: stale, began: hour, want: "offline"},
		"and reported after the look": {access: full, kind: stale, began: hour, heard: 1, want: "online"},
		"another one is not there":    {access: full, kind: stale, another: true, began: hour, want: "online"},
	} {
		c.is(t, name)
	}
}

// is compares what a customer with one open session is observed to be.
func (c openCase) is(t *testing.T, name string) {
	t.Helper()
	looked := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	who := subscribersviews.SubscriberRow{ID: id.New[id.Subscriber](), OrgID: id.New[id.Organization]()}
	s := telemetry.Session{
		ID: id.New[telemetry.SessionID](), DeviceID: id.New[id.Device](), SubscriptionID: id.New[id.Subscription](),
		MAC: "02:00:00:00:00:01", Access: c.access.String(), StartedAt: looked.Add(-c.began),
		UpdatedAt: looked.Add(c.heard),
	}
	subject := access.DeviceSubject(s.SubscriptionID, s.MAC)
	if c.kind == events.StaleSession {
		subject = s.ID.String()
	}
	if c.another {
		subject += " of another device"
	}
	look := telemetry.Look{DeviceID: s.DeviceID, LookedAt: &looked}
	if c.unseen {
		look.UnseenSince = &looked
	}
	x := accesscases.Explanations{Logger: storetest.Quiet(), Auditor: &accesscases.Auditor{
		Every: 5 * time.Minute,
		Open: func(
			context.Context, id.Organization, accessviews.DifferenceFilter, accessviews.DifferenceKey, int,
		) ([]accessviews.DifferenceRow, error) {
			return []accessviews.DifferenceRow{{
				ID: access.DifferenceID(who.OrgID, s.DeviceID, c.kind, subject), DeviceID: s.DeviceID,
				SubscriptionID: s.SubscriptionID, Kind: c.kind, Walled: c.walled,
			}}, nil
		},
		Looks: func(context.Context, id.Organization) (map[id.Device]telemetry.Look, error) {
			return map[id.Device]telemetry.Look{s.DeviceID: look}, nil
		},
	}}
	as := accesscases.Online
	if c.access == entitlement.WalledGarden {
		as = accesscases.WalledGarden
	}
	out := accesscases.Explanation{At: looked.Add(time.Minute), Observed: as, Services: []accesscases.Service{{
		Service:  entitlement.Service{SubscriptionID: s.SubscriptionID},
		Observed: as, Sessions: []telemetry.Session{s},
	}}}
	x.ShownForTest(t.Context(), &out, who, out.Services[0].Sessions)
	if out.Observed != c.want || out.Services[0].Observed != c.want {
		t.Errorf("%s: %s, service %s, want %s", name, out.Observed, out.Services[0].Observed, c.want)
	}
}
