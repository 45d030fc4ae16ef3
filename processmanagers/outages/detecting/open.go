package detecting

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// has reports whether a router that is down is one of an outage: it has been down in it ever since, or went away again
// within a day of its beginning.
func (s State) has(o Open, d id.Device) bool {
	return slices.Contains(o.Devices, d) && (o.isDown(d) || s.Down[d].Sub(o.began()) < apart)
}

// began is when the first router of the outage went away.
func (o Open) began() time.Time {
	first := o.StartedAt
	for _, d := range o.Downs {
		if first.IsZero() || o.StartedAt.IsZero() && d.From.Before(first) {
			first = d.From
		}
	}
	return first
}

// isDown reports whether a router counts as down in the outage.
func (o Open) isDown(d id.Device) bool { return slices.Contains(o.Devices, d) && o.Downs.IsDown(d) }

// isCovered reports whether a router that is down counts as such in an outage that lasts: nobody was heard there.
func (s State) isCovered(d id.Device) bool {
	return s.isDown(d) && slices.ContainsFunc(s.Open, func(o Open) bool { return o.isDown(d) })
}

// mayNarrow reports whether a time of a router can end before the outage.
func (o Open) mayNarrow(d id.Device) bool { return o.Detected || len(o.Downs.Of(d)) > 0 }

// settles is how long a router of the outage is up before it counts as back.
func (o Open) settles(d id.Device) time.Duration {
	if len(o.Downs.Of(d)) >= events.FewRouterTimes {
		return settleFlapping
	}
	return Settle
}

// since is as of when the outage has a router that is down.
func (o Open) since(d id.Device) (from time.Time) {
	for _, down := range o.times(d) {
		if down.To.IsZero() {
			from = down.From
		}
	}
	return from
}

// times has the times of a router of an outage.
func (o Open) times(d id.Device) events.RouterDowns {
	times := o.Downs.Of(d)
	if len(times) == 0 && !o.StartedAt.IsZero() {
		times = events.RouterDowns{{DeviceID: d, From: o.StartedAt}}
	}
	return times
}
