package accessjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// RefusedForTest lists who was refused at a router, and is online at no other one.
func (a *Auditor) RefusedForTest(
	ctx context.Context, org id.Organization, device id.Device, at time.Time,
) ([]telemetry.Refusal, error) {
	return a.refused(ctx, org, device, at)
}

// FewForTest compares a router, and leaves out what is too much beside what is recorded.
func FewForTest(o routerplan.Observed, k Known, recorded []accessviews.DifferenceRow) []Found {
	return few(Compare(o, k), k, recorded)
}

// ByHand tells a person about a difference that the button cannot end; "" = it can.
func (f Found) ByHand() string { return f.byHand }

// InVain tells a person about a difference for which a session was ended in vain.
func InVain(f Found) string { return inVain(f) }

// Let reports whether a difference is of a session whose reports do not come, and which may be ended unasked.
func (f Found) Let() bool { return f.shown != nil && f.shown.let }

// compared is a comparison of a router at this moment, which knows the entitlements alone.
func (a *Auditor) compared(s telemetry.Session) *comparison {
	at := a.Clock.Now()
	return &comparison{k: Known{Device: s.DeviceID, At: at, Present: func(s id.Subscription) directory.Present {
		return a.Entitled.Directory.Present(s, at)
	}}}
}

// BringOpenForTest has the auditor bring back a session whose reports come, and which its router shows with more than
// is paid, as a look does. It reports whether something was done.
func (a *Auditor) BringOpenForTest(ctx context.Context, s telemetry.Session, cause jobs.Cause) (bool, error) {
	f := Found{
		AccessDifference: events.AccessDifference{OrgID: s.OrgID, DeviceID: s.DeviceID, Kind: events.UnpaidButOnline},
		session:          s.ID, owner: s.SubscriberID,
		shown: a.compared(s).reported(routerplan.ObservedSession{MAC: s.MAC}, s),
	}
	f.DifferenceID = access.DifferenceID(s.OrgID, s.DeviceID, f.Kind, f.shown.place.String())
	_, did, err := a.bringOpen(ctx, f, nil, cause)
	return did, err
}

// PlaceForTest is the place of a session for what its customer is entitled to now.
func (a *Auditor) PlaceForTest(s telemetry.Session) id.Online {
	return id.As[id.Online](a.compared(s).placeOf(routerplan.ObservedSession{MAC: s.MAC}, s.SubscriptionID))
}

// EasedForTest reports whether a session may stay by now for what it was not right in.
func (a *Auditor) EasedForTest(f Found) bool {
	return a.eased(f.shown, a.Entitled.Directory.Present(f.shown.session.SubscriptionID, a.Clock.Now()))
}
