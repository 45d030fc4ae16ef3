package telemetry

import (
	"cmp"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// trim ends the oldest sessions of a subscription beyond its limit, and of each MAC all but the newest one. It is for
// sessions that no sign-in could count: those whose reports came late, that another program has let in, or that are of
// two devices with one MAC. Sign-ins whose sessions are awaited do not count here, since Admit has counted them. The
// caller holds the lock.
func (l *Live) trim(subscription id.Subscription) {
	reported := slices.DeleteFunc(slices.Clone(l.of[subscription]), func(o *occupant) bool {
		return o.ending || o.ID.IsZero()
	})
	if len(reported) < 2 {
		return
	}
	slices.SortFunc(reported, func(a, b *occupant) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID.String(), a.ID.String()))
	})
	limit := 0
	if l.cfg.Limit != nil {
		limit = l.cfg.Limit(subscription)
	}
	var kept []*occupant // the newest ones
	for _, o := range reported {
		switch {
		case slices.ContainsFunc(kept, o.sameToRouter): // an end of it would end the other one
		case limit > 0 && len(kept) >= limit, slices.ContainsFunc(kept, o.sameMAC):
			l.end(o)
		default:
			kept = append(kept, o)
		}
	}
}

// Has reports whether a device, named by its MAC, is online with a subscription as far as is known. "" is no device.
func (l *Live) Has(subscription id.Subscription, mac string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return mac != "" && slices.ContainsFunc(l.of[subscription], func(o *occupant) bool {
		return !o.ID.IsZero() && o.MAC == mac
	})
}

// sameToRouter reports whether a router cannot tell two sessions apart.
func (o *occupant) sameToRouter(other *occupant) bool {
	return o.DeviceID == other.DeviceID && o.SessionKey == other.SessionKey && o.Username == other.Username
}

// sameMAC reports whether two sessions are of the same MAC.
func (o *occupant) sameMAC(other *occupant) bool { return o.MAC != "" && o.MAC == other.MAC }
