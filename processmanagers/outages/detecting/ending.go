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

// ending ends an outage that is over at a look: for all of its routers, or for those that answer or are heard.
func (s State) ending(o Open, now time.Time) (end commands.EndOutage, over bool) {
	end.OutageID = o.ID
	if o.Detected && !o.UpSince.IsZero() && now.Sub(o.UpSince) >= Settle {
		end.EndedAt = o.end(o.UpSince)
		elsewhere := func(d id.Device) bool { return s.isElsewhere(o, d) }
		if end.Parted = slices.ContainsFunc(o.Devices, elsewhere); end.Parted {
			end.Back = slices.DeleteFunc(slices.Clone(o.Devices), elsewhere)
		}
		return end, true
	}
	last, back, over := s.parted(o, now)
	end.EndedAt, end.Parted, end.Back = o.end(last), true, back
	return end, over
}

// isElsewhere reports whether a router that does not answer has another outage than one that is over, or is to get one.
// One that no look has brought into that outage again is heard instead.
func (s State) isElsewhere(o Open, d id.Device) bool {
	_, freed := s.Freed[d]
	heard := s.isHeard(d) || !freed && s.has(o, d) && !s.isCovered(d)
	return s.isDown(d) && !heard
}

// parted lists the routers of an outage that answer or are heard, and when the last return in it was, once it is over
// for them: its root was back for a day or went away anew, or all that are back were for a day. Those that stay down
// have one of their own from then on, also those that were back in between, and the time until then in this one. Not
// over = it goes on.
func (s State) parted(o Open, now time.Time) (last time.Time, back []id.Device, over bool) {
	var answered time.Time // the last return of those that are back
	for _, d := range o.Devices {
		since, answers := s.Back[d]
		last = later(last, lastReturn(o.Downs.Of(d)))
		switch {
		case o.isDown(d) && !answers: // it stays down
			last = later(last, s.elsewhereSince(o, d))
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

// elsewhereSince is since when a router of an outage is down in another one as well; zero = it is not. Before that it
// has the first alone.
func (s State) elsewhereSince(o Open, d id.Device) (since time.Time) {
	for _, other := range s.Open {
		if at := other.since(d); other.ID != o.ID && other.isDown(d) && (since.IsZero() || at.Before(since)) {
			since = at
		}
	}
	return since
}

// lastReturn is the last end of times.
func lastReturn(times events.RouterDowns) (last time.Time) {
	for _, d := range times {
		last = later(last, d.To)
	}
	return last
}

// overFor lists the routers that have been back for long enough at a look, and that outages were over without.
func (s State) overFor(at time.Time) (list []id.Device) {
	for d, r := range s.Returned {
		if len(r.Of) > 0 && at.Sub(r.At) >= Settle {
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

// ofWhole lists for each outage, by their places, those that are over without routers that are down in it.
func (s State) ofWhole(whole []int) [][]id.Outage {
	list := make([][]id.Outage, len(s.Open))
	for _, d := range s.topDown(s.isCovered) {
		into := whole[slices.IndexFunc(s.Open, func(o Open) bool { return o.isDown(d) })]
		list[into] = s.absorbs(list[into], d)
	}
	return list
}

// joins ends the outages that go on as parts of older ones, which get all of their routers and times: also the
// customers of those that are back by now were told, and are to hear of the end. So do those of outages that were over
// without routers of one. It lists the places of those that get parts.
func (s State) joins(whole []int, now time.Time, out *processmanagers.Output) (joined []int) {
	absorbs := s.ofWhole(whole)
	for i, first := range s.Open {
		extend := commands.ExtendOutage{OutageID: first.ID, Absorbs: absorbs[i]}
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
