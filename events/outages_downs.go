package events

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// RouterDown is a time in which a router was down in an outage.
type RouterDown struct {
	DeviceID id.Device `json:"deviceId"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to,omitzero"` // zero = it is down for as long as the outage lasts
	// First is when it went away, where that was before From: until From another outage had it, which somebody ended
	// while it was down, or it was back for a short while, in which not all of its customers were. Zero = it went away
	// at From.
	First time.Time `json:"first,omitzero"`
}

// WentAway is when the failure began of which the time is a part.
func (d RouterDown) WentAway() time.Time {
	if d.First.IsZero() {
		return d.From
	}
	return d.First
}

// Since is the time without what came before an instant.
func (d RouterDown) Since(at time.Time) RouterDown {
	if d.From.Before(at) {
		d.From, d.First = at, d.WentAway()
	}
	return d
}

// RouterDowns has the times of the routers of an outage that were not down in all of it. A router without any was, as
// all were in events of older programs.
type RouterDowns []RouterDown

// Of lists the times of a router.
func (l RouterDowns) Of(device id.Device) (list RouterDowns) {
	for _, d := range l {
		if d.DeviceID == device {
			list = append(list, d)
		}
	}
	return list
}

// IsDown reports whether a router of the outage is down while it lasts.
func (l RouterDowns) IsDown(device id.Device) bool {
	times := l.Of(device)
	return len(times) == 0 || slices.ContainsFunc(times, func(d RouterDown) bool { return d.To.IsZero() })
}

// Bounds of the times in an outage, so that its events stay small, however often its routers go and come.
const (
	// FewRouterTimes is how many times a router has before those with a short break between them become one.
	FewRouterTimes = 20
	// MostRouterTimes is how many it has at most, and MostOutageTimes how many all of them have: beyond, the first one
	// of a router that comes is given up.
	MostRouterTimes = 200
	MostOutageTimes = 2_000
	// ShortBreak is how long a break is at most that counts as down when a router has many.
	ShortBreak = time.Hour
)

// Come adds a time, within the bounds.
func (l RouterDowns) Come(d RouterDown) RouterDowns {
	times := append(l.Of(d.DeviceID), d)
	slices.SortStableFunc(times, func(a, b RouterDown) int { return a.From.Compare(b.From) })
	for len(times) > FewRouterTimes {
		i := shortestBreak(times)
		if times[i].From.Sub(times[i-1].To) >= ShortBreak {
			break
		}
		if to := times[i].To; to.IsZero() || to.After(times[i-1].To) {
			times[i-1].To = to
		}
		times = slices.Delete(times, i, i+1)
	}
	rest := slices.DeleteFunc(slices.Clone(l), func(of RouterDown) bool { return of.DeviceID == d.DeviceID })
	if len(times) > MostRouterTimes || len(times) > 1 && len(rest)+len(times) > MostOutageTimes {
		times = times[1:]
	}
	return append(rest, times...)
}

// shortestBreak is the place of the time before which the break is shortest, of at least two that are sorted.
func shortestBreak(times []RouterDown) int {
	shortest := 1
	for i := 1; i < len(times); i++ {
		if times[i].From.Sub(times[i-1].To) < times[shortest].From.Sub(times[shortest-1].To) {
			shortest = i
		}
	}
	return shortest
}

// Until gives the times of some routers in an outage of a time; those that go on end with it. A router that went away
// after the end, as of which somebody has ended the outage later, has none.
func (l RouterDowns) Until(devices []id.Device, outage TimeSpan) (list RouterDowns) {
	for _, device := range devices {
		times := l.Of(device)
		if len(times) == 0 {
			times = RouterDowns{{DeviceID: device, From: outage.From}}
		}
		for _, d := range times {
			if d.To.IsZero() || d.To.After(outage.To) {
				d.To = outage.To
			}
			if !d.From.After(d.To) {
				list = append(list, d)
			}
		}
	}
	return list
}

// Lasting leaves out the times that are over, and those that have not come.
func (l RouterDowns) Lasting(devices []id.Device, outage TimeSpan) (list RouterDowns) {
	for _, device := range devices {
		if !l.IsDown(device) {
			continue
		}
		open := RouterDowns(slices.DeleteFunc(l.Of(device), func(d RouterDown) bool { return !d.To.IsZero() }))
		list = append(list, open.Until([]id.Device{device}, outage)...)
	}
	return list
}

// Within cuts the times off at the ends of a span.
func (l RouterDowns) Within(span TimeSpan) (list RouterDowns) {
	for _, d := range l {
		if d.From.Before(span.From) {
			d.From = span.From
		}
		if d.To.After(span.To) {
			d.To = span.To
		}
		if d.From.Before(d.To) {
			list = append(list, d)
		}
	}
	return list
}

// Longest is the longest time without a break in which one of the routers was down.
func (l RouterDowns) Longest() (longest TimeSpan) {
	sorted := slices.SortedFunc(slices.Values(l), func(a, b RouterDown) int { return a.From.Compare(b.From) })
	var run TimeSpan
	for _, d := range sorted {
		if run.From.IsZero() || d.From.After(run.To) {
			run = TimeSpan{d.From, d.From}
		}
		if d.To.After(run.To) {
			run.To = d.To
		}
		if run.To.Sub(run.From) > longest.To.Sub(longest.From) {
			longest = run
		}
	}
	return longest
}
