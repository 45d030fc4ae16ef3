package accesscases

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Auditor tells what routers show about customers beside what they report. All fields are required.
type Auditor struct {
	// Open gives the open differences of an organization. The method List of an accessviews.DifferencesQuery is one.
	Open func(
		ctx context.Context, org id.Organization, f accessviews.DifferenceFilter, after accessviews.DifferenceKey,
		max int,
	) ([]accessviews.DifferenceRow, error)
	// Looks gives the latest looks at the routers of an organization.
	Looks func(ctx context.Context, org id.Organization) (map[id.Device]telemetry.Look, error)
	// Reported reports whether a router's reports tell more about a customer than a look at it.
	Reported func(ctx context.Context, seen telemetry.Shown) (bool, error)
	Every    time.Duration // between two looks at a router
}

// mostShown is how many differences of one subscriber are read.
const mostShown = 100

// ofDevice are the kinds of differences that a session can have whose reports come.
var ofDevice = []events.AccessDifferenceKind{events.UnpaidButOnline, events.WrongRate, events.PaidButWalledIn}

// differences has the open differences of a customer at an instant, and the latest looks at the routers.
type differences struct {
	org   id.Organization
	who   id.Subscriber
	at    time.Time
	every time.Duration
	rows  map[id.Difference]accessviews.DifferenceRow
	looks map[id.Device]telemetry.Look
}

// shown corrects what reports do not tell. A session that is open here is as its router showed it, when it was looked
// at since the session began. A customer without an open session whom the auditor sees at a router is online. Whom it
// has seen, at a router that it cannot look at any more, nobody knows to be on or off.
func (x Explanations) shown(
	ctx context.Context, out *Explanation, who subscribersviews.SubscriberRow, open []telemetry.Session,
) {
	if x.Auditor == nil || out.Observed == Unknown {
		return
	}
	filter := accessviews.DifferenceFilter{Subscriber: who.ID}
	rows, err := x.Auditor.Open(ctx, who.OrgID, filter, accessviews.DifferenceKey{}, mostShown)
	d := differences{org: who.OrgID, who: who.ID, at: out.At, every: x.Auditor.Every}
	if err == nil && len(rows) > 0 {
		d.looks, err = x.Auditor.Looks(ctx, who.OrgID)
	}
	if err != nil {
		x.Logger.WarnContext(ctx, "access differences cannot be read", "error", err)
		return
	}
	d.rows = make(map[id.Difference]accessviews.DifferenceRow, len(rows))
	for _, row := range rows {
		d.rows[row.ID] = row
	}
	out.Observed = d.observed(open)
	for i := range out.Services {
		s := &out.Services[i]
		if s.Observed = d.observed(s.Sessions); s.Observed != Offline {
			continue
		}
		for _, row := range rows {
			if row.SubscriptionID == s.SubscriptionID {
				s.Observed = clearer(s.Observed, x.seen(ctx, row, d))
			}
		}
		out.Observed = clearer(out.Observed, s.Observed)
	}
}

// observed follows from open sessions and from what their routers show of them.
func (d differences) observed(open []telemetry.Session) Observed {
	out := Offline
	for _, s := range open {
		out = clearer(out, d.of(s))
	}
	return out
}

// of is where the router of an open session shows the customer, as far as that is known; else as it was reported. A
// report after the look tells that a session is there, and nothing about the walled garden.
func (d differences) of(s telemetry.Session) Observed {
	look := d.looks[s.DeviceID]
	named := func(kind events.AccessDifferenceKind, subject string) (accessviews.DifferenceRow, bool) {
		row, is := d.rows[access.DifferenceID(d.org, s.DeviceID, kind, subject)]
		return row, is
	}
	if !look.Tells(d.at, d.every) || s.StartedAt.After(*look.LookedAt) {
		return observedFrom([]telemetry.Session{s})
	}
	if _, is := named(events.StaleSession, s.ID.String()); is && !s.UpdatedAt.After(*look.LookedAt) {
		return Offline
	}
	for _, kind := range ofDevice {
		if row, is := named(kind, access.DeviceSubject(s.SubscriptionID, s.MAC)); is {
			return shownAs(row)
		}
	}
	return observedFrom([]telemetry.Session{s})
}

// shownAs tells how a router shows a customer who has a difference about a session.
func shownAs(row accessviews.DifferenceRow) Observed {
	if row.Walled || row.Kind == events.PaidButWalledIn {
		return WalledGarden
	}
	return Online
}

// seen is where a difference shows a customer who has no open session: offline where it shows nobody, where reports
// tell more than the router's latest look, and where they cannot be read.
func (x Explanations) seen(ctx context.Context, row accessviews.DifferenceRow, d differences) Observed {
	look := d.looks[row.DeviceID]
	online := row.Kind == events.LocalBypass || slices.Contains(events.SessionKinds(), row.Kind)
	if !online || look.LookedAt == nil {
		return Offline
	}
	told, err := x.Auditor.Reported(ctx, telemetry.Shown{
		OrgID: d.org, SubscriberID: d.who, SubscriptionID: row.SubscriptionID, DeviceID: row.DeviceID,
		At: *look.LookedAt,
	})
	switch {
	case err != nil:
		x.Logger.WarnContext(ctx, "a look at a router cannot be compared with reports", "error", err)
		return Offline
	case told:
		return Offline
	case !look.Tells(d.at, d.every):
		return Unknown
	}
	return shownAs(row)
}

// clearer is the one of two observations that says more.
func clearer(a, b Observed) Observed {
	order := []Observed{Offline, Unknown, WalledGarden, Online}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}
