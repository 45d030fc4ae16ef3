package entitlement

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
)

// gardenLimit is the speed in kbit/s that a customer in the walled garden has at most, in each direction. Source:
// docs/rules/access-radius.md#answers.
const gardenLimit = 2_000

// Rate is the speed that a service has, as the router is told. A speed of zero in both directions means no limit.
type Rate struct {
	Speed events.Speed
	Burst events.Burst // zero = none
}

// rateOf is the rate of a service that has this access. The hours of the plan replace its speed; a cap and the walled
// garden only make it lower, and without burst.
func rateOf(s Subscription, access Access, at time.Time) Rate {
	if access == None {
		return Rate{}
	}
	rate := Rate{events.Speed{Down: s.Rates.Down, Up: s.Rates.Up}, s.Terms.Burst}
	if w, ok := windowAt(s.Terms.Schedule, at, s.zone()); ok {
		rate = Rate{w.Speed, w.Burst}
	}
	switch access {
	case Throttled:
		rate = rate.atMost(s.Terms.Cap.Throttle)
	case WalledGarden:
		rate = rate.atMost(events.Speed{Down: gardenLimit, Up: gardenLimit})
	case None, Full:
	}
	return rate
}

// atMost is the rate that is limited to a speed, without burst.
func (r Rate) atMost(limit events.Speed) Rate {
	return Rate{Speed: events.Speed{Down: lower(r.Speed.Down, limit.Down), Up: lower(r.Speed.Up, limit.Up)}}
}

// lower is the lower of two speeds, of which zero is no limit.
func lower(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// window is one occurrence of a plan's hours, [begins, ends).
type window struct {
	events.ScheduleWindow
	begins, ends time.Time
}

// windowAt finds the hours that an instant lies in. They never overlap; where two meet because clocks are changed, the
// one that is first in the list counts.
func windowAt(schedule []events.ScheduleWindow, at time.Time, zone *time.Location) (window, bool) {
	for _, w := range schedule {
		for day := -1; day <= 0; day++ {
			if found, ok := occurrence(w, at, day, zone); ok && !at.Before(found.begins) && at.Before(found.ends) {
				return found, true
			}
		}
	}
	return window{}, false
}

// occurrence is where the hours lie that begin a number of days after the local day of an instant. It is false when
// they do not begin on that day of the week.
func occurrence(w events.ScheduleWindow, at time.Time, day int, zone *time.Location) (window, bool) {
	year, month, today := at.In(zone).Date()
	minutes := func(day, minute int) time.Time { return time.Date(year, month, day, 0, minute, 0, 0, zone) }
	noon := minutes(today+day, 12*60) // noon exists on each day, midnight need not
	if !slices.Contains(w.Days, noon.Weekday()) {
		return window{}, false
	}
	last := today + day
	if w.To <= w.From {
		last++
	}
	return window{w, minutes(today+day, w.From).UTC(), minutes(last, w.To).UTC()}, true
}

// week is the number of days after which a plan's hours repeat.
const week = 7

// NextChange is the first instant after at when access or rate can change by time alone, without another event. It is
// zero when there is none. A recorded step of dunning changes by its events only.
func NextChange(s State, at time.Time) time.Time {
	var next time.Time
	for _, sub := range s.Subscriptions {
		next = earlier(next, accessChange(sub, at), at)
		for _, w := range sub.Terms.Schedule {
			for day := -1; day <= week; day++ {
				if found, ok := occurrence(w, at, day, sub.zone()); ok {
					next = earlier(earlier(next, found.begins, at), found.ends, at)
				}
			}
		}
	}
	return next
}

// SessionEnd is the instant until which a session that begins now may last without asking again: the next change of
// access that is known. It is zero when there is none. A change of speed alone ends no session.
func SessionEnd(s Subscription, at time.Time) time.Time {
	if s.Mode != events.Prepaid {
		return time.Time{}
	}
	end := earlier(time.Time{}, s.PaidUntil, at)
	if end.IsZero() && s.Dunning != nil && s.Dunning.NextState.Cut() {
		end = earlier(end, s.Dunning.Next, at)
	}
	return end
}

// accessChange is the first instant after at when the subscription's access changes by time alone; zero = none.
func accessChange(s Subscription, at time.Time) time.Time {
	next := earlier(time.Time{}, s.notBefore(), at)
	if s.Mode == events.Prepaid {
		next = earlier(next, s.PaidUntil, at)
	}
	if s.Used != nil {
		next = earlier(next, s.Used.Until, at)
	}
	return next
}

// earlier is the earlier of two instants, of which the second counts only after at. Zero means none.
func earlier(known, other, at time.Time) time.Time {
	if !other.After(at) || !known.IsZero() && known.Before(other) {
		return known
	}
	return other
}
