package detecting

import (
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// end is when the outage was over: its last router was back. It has begun before, also by a clock that was ahead then.
func (o Open) end(last time.Time) time.Time {
	if last.Before(o.StartedAt) {
		return o.StartedAt
	}
	return last
}

// parted lists the routers of an outage that answer or are heard, and when the last return in it was, once it is over
// for them: its root was back for a day or went away anew, or all that are back were for a day. Those that stay down
// have one of their own from then on, also those that were back in between. Not over = it goes on.
func (s State) parted(o Open, now time.Time) (last time.Time, back []id.Device, over bool) {
	var answered time.Time // the last return of those that are back
	for _, d := range o.Devices {
		since, answers := s.Back[d]
		last = later(last, lastReturn(o.Downs.Of(d)))
		switch {
		case o.isDown(d) && !answers: // it stays down
			continue
		case !o.isDown(d):
			since = lastReturn(o.Downs.Of(d))
			over = over || d == o.Root && (now.Sub(since) >= apart || !answers && !s.has(o, d))
		case now.Sub(since) < Settle:
			return time.Time{}, nil, false
		}
		if answered = later(answered, since); answers || s.isHeard(d) {
			back = append(back, d)
		}
	}
	over = over || len(back) > 0 && now.Sub(answered) >= apart
	return later(last, answered), back, o.Detected && over
}

// lastReturn is the last end of times.
func lastReturn(times events.RouterDowns) (last time.Time) {
	for _, d := range times {
		last = later(last, d.To)
	}
	return last
}

// overFor lists the routers that have been back for long enough at a look, and whose last outage was over without them.
func (s State) overFor(at time.Time) (list []id.Device) {
	for d, r := range s.Returned {
		if !r.Of.IsZero() && at.Sub(r.At) >= Settle {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b id.Device) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// whole gives for each outage the one as a part of which it goes on, by their places: the oldest of those that have
// become one, which is itself for most. What a person has begun, a person ends. Only routers that are silent make one
// of two, and those are in an outage already.
func (s State) whole() []int {
	into := make([]int, len(s.Open))
	for i := range into {
		into[i] = i
	}
	of := func(i int) int {
		for into[i] != i {
			i = into[i]
		}
		return i
	}
	for _, g := range s.groups(s.isCovered) {
		first := -1
		for i, o := range s.Open {
			switch {
			case !slices.ContainsFunc(g.devices, o.isDown):
			case first < 0:
				first = i
			default:
				older, younger := min(of(first), of(i)), max(of(first), of(i))
				if s.Open[younger].Detected {
					into[younger] = older
				}
			}
		}
	}
	for i := range into {
		into[i] = of(i)
	}
	return into
}

// joins ends the outages that go on as parts of older ones, which get all of their routers and times: also the
// customers of those that are back by now were told, and are to hear of the end. It lists the places of the older ones.
func (s State) joins(whole []int, now time.Time, out *processmanagers.Output) (joined []int) {
	for i, first := range s.Open {
		extend := commands.ExtendOutage{OutageID: first.ID}
		for j, o := range s.Open {
			if j == i || whole[j] != i {
				continue
			}
			out.Commands = append(out.Commands, commands.EndOutage{OutageID: o.ID, EndedAt: now, MergedInto: first.ID})
			extend.Absorbs = append(extend.Absorbs, o.ID)
			for _, d := range o.Devices {
				if !slices.Contains(first.Devices, d) && !slices.Contains(extend.Devices, d) {
					extend.Devices = append(extend.Devices, d)
				}
				extend.Downs = append(extend.Downs, o.times(d)...)
			}
		}
		if len(extend.Absorbs) > 0 {
			out.Commands = append(out.Commands, extend)
			joined = append(joined, i)
		}
	}
	return joined
}

// back lists the routers of an outage that answer again at an instant, while the outage goes on; settled = for so long
// that they count as back. Those that a person has named count as down until that person ends it.
func (s State) back(o Open, now time.Time, settled bool) (list []commands.RouterBack) {
	for _, d := range o.Devices {
		at, is := s.Back[d]
		switch {
		case !is || at.After(now) || !o.isDown(d) || !o.mayNarrow(d):
		case settled && now.Sub(at) < o.settles(d):
		case o.Detected && at.Equal(o.UpSince): // the end of the outage says so
		default:
			list = append(list, commands.RouterBack{DeviceID: d, At: at})
		}
	}
	return list
}
