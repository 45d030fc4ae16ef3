package accesscases

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Away gives the routers of an organization that do not answer, and since when.
type Away func(context.Context, id.Organization) (map[id.Device]time.Time, error)

// Outage is a router that does not answer since an instant, at which the device of a subscription was heard of last.
type Outage struct {
	DeviceID id.Device
	Since    time.Time
}

// NotHeard is a time up to now in which nothing was heard of the device of a subscription.
type NotHeard struct {
	Since time.Time
	Never bool // since the subscription was made; false = what was heard before is not kept
}

// heard adds where each service was heard of last, and the outage of that router where nothing was heard since. Its
// fault counts fewer: who had switched off, or was refused, before the router went away is not off because of it, and
// cannot come back all the same. What cannot be read is left out.
func (x Explanations) heard(ctx context.Context, out *Explanation, who subscribersviews.SubscriberRow) {
	if x.Network == nil {
		return
	}
	of := make([]id.Subscription, len(out.Services))
	for i, s := range out.Services {
		of[i] = s.SubscriptionID
	}
	last, err := x.Network.LastSigns(ctx, who.OrgID, who.ID, of)
	if err != nil {
		x.Logger.WarnContext(ctx, "where a customer was heard of last cannot be read", "error", err)
		return
	}
	var gone map[id.Device]time.Time
	if x.Away != nil && len(last) > 0 {
		if gone, err = x.Away(ctx, who.OrgID); err != nil {
			x.Logger.WarnContext(ctx, "outages cannot be read", "error", err)
		}
	}
	for i := range out.Services {
		s := &out.Services[i]
		at := slices.IndexFunc(last, func(h telemetry.LastSign) bool { return h.SubscriptionID == s.SubscriptionID })
		if at < 0 {
			s.NotHeard = x.notHeard(s.CreatedAt, out.At)
			continue
		}
		s.Heard = &last[at]
		if since, is := gone[s.Heard.DeviceID]; is && !s.Heard.At.After(since) {
			s.Outage = &Outage{DeviceID: s.Heard.DeviceID, Since: since}
		}
	}
}

// notHeard is the time in which nothing was heard of a service of which nothing is kept.
func (x Explanations) notHeard(made, now time.Time) *NotHeard {
	if oldest := now.Add(-x.Kept); x.Kept > 0 && made.Before(oldest) {
		return &NotHeard{Since: oldest}
	}
	return &NotHeard{Since: made, Never: true}
}
