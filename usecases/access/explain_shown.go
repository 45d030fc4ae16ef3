package accesscases

import (
	"context"
	"slices"
	"time"

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

// lookSlack is how long a look may take and wait for others.
const lookSlack = 5 * time.Minute

// shownAs tells how a router shows a customer who has a difference of a kind, where no session is open here.
var shownAs = map[events.AccessDifferenceKind]Observed{
	events.UnknownSession: Online, events.UnpaidButOnline: Online, events.WrongRate: Online, events.LocalBypass: Online,
	events.PaidButWalledIn: WalledGarden,
}

// unreported corrects what reports do not tell: a customer without an open session whom the auditor sees at a router is
// online. Whom it has seen, at a router that it cannot look at any more, nobody knows to be on or off.
func (x Explanations) unreported(ctx context.Context, out *Explanation, who subscribersviews.SubscriberRow) {
	if x.Auditor == nil || !slices.ContainsFunc(out.Services, func(s Service) bool { return s.Observed == Offline }) {
		return
	}
	filter := accessviews.DifferenceFilter{Subscriber: who.ID}
	rows, err := x.Auditor.Open(ctx, who.OrgID, filter, accessviews.DifferenceKey{}, mostShown)
	var looks map[id.Device]telemetry.Look
	if err == nil && len(rows) > 0 {
		looks, err = x.Auditor.Looks(ctx, who.OrgID)
	}
	if err != nil {
		x.Logger.WarnContext(ctx, "access differences cannot be read", "error", err)
		return
	}
	for i := range out.Services {
		s := &out.Services[i]
		if s.Observed != Offline {
			continue
		}
		for _, row := range rows {
			if row.SubscriptionID == s.SubscriptionID {
				s.Observed = clearer(s.Observed, x.seen(ctx, row, who, looks[row.DeviceID], out.At))
			}
		}
		out.Observed = clearer(out.Observed, s.Observed)
	}
}

// seen is where a difference shows a customer at an instant: offline where it shows nobody, where reports tell more
// than the router's latest look, and where they cannot be read.
func (x Explanations) seen(
	ctx context.Context, row accessviews.DifferenceRow, who subscribersviews.SubscriberRow, look telemetry.Look,
	at time.Time,
) Observed {
	as, is := shownAs[row.Kind]
	if !is || look.LookedAt == nil {
		return Offline
	}
	told, err := x.Auditor.Reported(ctx, telemetry.Shown{
		OrgID: who.OrgID, SubscriberID: who.ID, SubscriptionID: row.SubscriptionID, DeviceID: row.DeviceID,
		At: *look.LookedAt,
	})
	switch {
	case err != nil:
		x.Logger.WarnContext(ctx, "a look at a router cannot be compared with reports", "error", err)
		return Offline
	case told:
		return Offline
	case look.UnseenSince != nil, at.Sub(*look.LookedAt) > 2*x.Auditor.Every+lookSlack:
		return Unknown
	}
	return as
}

// clearer is the one of two observations that says more.
func clearer(a, b Observed) Observed {
	order := []Observed{Offline, Unknown, WalledGarden, Online}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}
