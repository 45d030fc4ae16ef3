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

// MostRouterTimes is how many times a router has in an outage at most, and MostOutageTimes how many all of them have.
// So the events of an outage stay small, however often its routers go and come.
const (
	MostRouterTimes = 20
	MostOutageTimes = 2_000
)

// Come adds a time. Where that makes too many, the two times of the router with the shortest break become one.
func (l RouterDowns) Come(d RouterDown) RouterDowns {
	l = append(slices.Clone(l), d)
	times := len(l.Of(d.DeviceID))
	for times > MostRouterTimes || times > 1 && len(l) > MostOutageTimes {
		l = l.withoutShortestBreak(d.DeviceID)
		times--
	}
	return l
}

// withoutShortestBreak makes one of the two times of a router between which there is the least.
func (l RouterDowns) withoutShortestBreak(device id.Device) RouterDowns {
	times := l.Of(device)
	slices.SortStableFunc(times, func(a, b RouterDown) int { return a.From.Compare(b.From) })
	shortest := 1
	for i := 1; i < len(times); i++ {
		if times[i].From.Sub(times[i-1].To) < times[shortest].From.Sub(times[shortest-1].To) {
			shortest = i
		}
	}
	first, second := times[shortest-1], times[shortest]
	if !first.To.IsZero() && (second.To.IsZero() || second.To.After(first.To)) {
		first.To = second.To
	}
	times = slices.Insert(slices.Delete(times, shortest-1, shortest+1), shortest-1, first)
	rest := slices.DeleteFunc(slices.Clone(l), func(d RouterDown) bool { return d.DeviceID == device })
	return append(rest, times...)
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
