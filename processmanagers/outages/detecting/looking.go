package detecting

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// group has a root and all that are down behind it.
type group struct {
	root    id.Device
	devices []id.Device
}

// root is the highest of some routers above one of them, or itself. One that went away long before or after it has
// nothing to do with it, as one that was given up, around which the network has another way.
func (s State) root(d id.Device, of func(id.Device) bool) id.Device {
	high := d
	for range len(s.Upstreams) + 1 {
		above, ok := s.Upstreams[d]
		if !ok || !of(above) {
			return high
		}
		if d = above; s.Down[high].Sub(s.Down[above]).Abs() < leaves {
			high = above
		}
	}
	return high
}

// groups lists those that are down of some routers, in an order that is the same at each replay.
func (s State) groups(of func(id.Device) bool) (list []group) {
	down := slices.SortedFunc(maps.Keys(s.Down), func(a, b id.Device) int {
		return strings.Compare(a.String(), b.String())
	})
	at := map[id.Device]int{}
	for _, d := range slices.DeleteFunc(down, func(d id.Device) bool { return !of(d) }) {
		root := s.root(d, of)
		i, known := at[root]
		if !known {
			i = len(list)
			at[root], list = i, append(list, group{root: root})
		}
		list[i].devices = append(list[i].devices, d)
	}
	return list
}

// covering lists the outages that have a router of a group, or its root.
func (s State) covering(g group) (list []Open) {
	for _, o := range s.Open {
		has := func(d id.Device) bool { return s.has(o, d) }
		if o.Root == g.root || slices.ContainsFunc(g.devices, has) {
			list = append(list, o)
		}
	}
	return list
}

// has reports whether a router that is down is one of an outage: it was not back for long before.
func (s State) has(o Open, d id.Device) bool {
	left := func(down events.RouterDown) bool { return !down.To.IsZero() && s.Down[d].Sub(down.To) >= leaves }
	times := o.Downs.Of(d)
	stays := len(times) == 0 || slices.ContainsFunc(times, func(t events.RouterDown) bool { return !left(t) })
	return stays && slices.Contains(o.Devices, d)
}

// isDown reports whether a router counts as down in the outage.
func (o Open) isDown(d id.Device) bool { return slices.Contains(o.Devices, d) && o.Downs.IsDown(d) }

// isCovered reports whether a router that is down counts as such in an outage that lasts: nobody was heard there.
func (s State) isCovered(d id.Device) bool {
	return s.isDown(d) && slices.ContainsFunc(s.Open, func(o Open) bool { return o.isDown(d) })
}

// haveAll reports whether each router of a group is down in an outage that lasts.
func (s State) haveAll(g group) bool {
	return !slices.ContainsFunc(g.devices, func(d id.Device) bool { return !s.isCovered(d) })
}

// down is the time of a router that no outage has: since it went away, or since the end of the last one that had it.
func (s State) down(d id.Device) events.RouterDown {
	return events.RouterDown{DeviceID: d, From: s.Down[d], First: s.First[d]}.Since(s.Freed[d].From)
}

// quiet is how long nothing has changed about the routers of a group.
func (s State) quiet(g group, now time.Time) time.Duration {
	var last time.Time
	for _, d := range g.devices {
		for _, at := range []time.Time{s.Down[d], s.Freed[d].At} {
			if at.After(last) {
				last = at
			}
		}
	}
	return now.Sub(last)
}

// waited reports whether a router is down for long enough after the end of an outage that had it.
func (s State) waited(d id.Device, now time.Time) bool { return now.Sub(s.Freed[d].At) >= Propose }

// proposes reports whether a group is down for so long that it is proposed as an outage.
func (s State) proposes(g group, now time.Time) bool {
	waits := func(d id.Device) bool { return !s.waited(d, now) }
	return now.Sub(s.Down[g.root]) >= Propose && !slices.ContainsFunc(g.devices, waits)
}

// decide sets the timer of the next look, and acts at a look.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	if in.Refusal != nil { // the next event or look tells what is true then
		return processmanagers.Output{}, nil
	}
	if in.Timeout == nil {
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: look, At: evolve(s, in).LookAt}}}, nil
	}
	out := processmanagers.Output{}
	for _, g := range s.groups(s.isDown) {
		s.lookAt(g, now, &out)
	}
	whole := s.whole()
	s.joins(whole, now, &out)
	for i, o := range s.Open {
		if whole[i] != i {
			continue
		}
		if back := s.back(o, now, true); len(back) > 0 {
			out.Commands = append(out.Commands, commands.NarrowOutage{OutageID: o.ID, Back: back})
		}
		if o.Detected && !o.UpSince.IsZero() && now.Sub(o.UpSince) >= Settle {
			out.Commands = append(out.Commands, commands.EndOutage{OutageID: o.ID, EndedAt: o.end(o.UpSince)})
		} else if last, back := s.parted(o, now); len(back) > 0 {
			out.Commands = append(out.Commands, commands.EndOutage{OutageID: o.ID, EndedAt: o.end(last), Back: back})
		}
	}
	slices.SortStableFunc(out.Commands, func(a, b commands.Command) int { return cmp.Compare(rank(a), rank(b)) })
	out.Timers = []processmanagers.Timer{{Name: look, At: s.after(now)}}
	return out, nil
}

// end is when the outage was over: its last router was back. It has begun before, also by a clock that was ahead then.
func (o Open) end(last time.Time) time.Time {
	if last.Before(o.StartedAt) {
		return o.StartedAt
	}
	return last
}

// parted lists the routers of an outage that are back, and when the last of them came, when all have been for so long
// that they are of it no more, and those that stay down have been for as long: those have one of their own from then
// on. None = it goes on.
func (s State) parted(o Open, now time.Time) (last time.Time, back []id.Device) {
	off := false
	for _, d := range o.Devices {
		switch {
		case s.isOff(o, d, now) && now.Sub(s.Down[d]) >= leaves:
			off = true
			continue
		case s.isOff(o, d, now), o.isDown(d): // not for long, or its return is still to come
			return time.Time{}, nil
		}
		back = append(back, d)
		for _, down := range o.times(d) {
			if down.To.After(last) {
				last = down.To
			}
		}
	}
	if !o.Detected || !off || now.Sub(last) < leaves {
		return time.Time{}, nil
	}
	return last, back
}

// rank orders the commands of a look: what ends has its times by then, and frees the place of its root.
func rank(c commands.Command) int {
	return slices.Index([]string{
		commands.NarrowOutage{}.CommandName(), commands.EndOutage{}.CommandName(),
		commands.ExtendOutage{}.CommandName(),
	}, c.CommandName())
}

// lookAt asks for what follows from a group that is down long enough: a new outage, or what of it belongs to those that
// have some of it.
func (s State) lookAt(g group, now time.Time, out *processmanagers.Output) {
	covering := s.covering(g)
	if len(covering) == 0 {
		if s.proposes(g, now) {
			begin := commands.BeginDetectedOutage{OrgID: s.OrgID, Root: g.root, Devices: g.devices, At: now}
			for _, d := range g.devices {
				begin.Downs = append(begin.Downs, s.down(d))
				if from := begin.Downs[len(begin.Downs)-1].From; begin.Since.IsZero() || from.Before(begin.Since) {
					begin.Since = from
				}
			}
			out.Jobs = append(out.Jobs, begin)
		}
		return
	}
	for i, o := range covering {
		watch := commands.WatchOutage{OrgID: s.OrgID, OutageID: o.ID, Downs: s.watched(o, g), At: now}
		for _, d := range g.devices {
			if i == 0 && !s.isCovered(d) && s.waited(d, now) {
				watch.Downs = append(watch.Downs, s.down(d))
			}
		}
		// The root of an outage that began by itself moves up, and never down: it says where it began.
		if o.Detected && len(covering) == 1 && o.Root != g.root && slices.Contains(g.devices, o.Root) {
			watch.Root = g.root
		}
		if len(watch.Downs) > 0 {
			out.Jobs = append(out.Jobs, watch)
		}
	}
}

// watched are the routers of a group that are down in an outage and would not be when they are heard, each with the
// time that goes on. Those that a person has named count as down until that person ends it.
func (s State) watched(o Open, g group) (list events.RouterDowns) {
	for _, d := range g.devices {
		for _, down := range o.times(d) {
			if down.To.IsZero() && o.mayNarrow(d) && o.isDown(d) {
				list = append(list, down)
			}
		}
	}
	return list
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
// customers of those that are back by now were told, and are to hear of the end.
func (s State) joins(whole []int, now time.Time, out *processmanagers.Output) {
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
		}
	}
}

// next is when to look next after an event; zero when nothing is to be seen.
func (s State) next(now time.Time) time.Time {
	if s.after(now).IsZero() {
		return time.Time{}
	}
	return now.Add(Settle)
}

// after is when to look next after a look: soon while something has just changed, and now and then as long as a router
// is down that may be heard, or without an outage; zero when nothing is to be seen.
func (s State) after(now time.Time) time.Time {
	wait := time.Duration(0)
	within := func(d time.Duration) {
		if d = max(d, Settle); wait == 0 || d < wait {
			wait = d
		}
	}
	for _, o := range s.Open {
		off := func(d id.Device) bool { return s.isOff(o, d, now.Add(Propose)) }
		if o.Detected && !slices.ContainsFunc(o.Devices, off) {
			within(Settle)
		}
		for _, b := range s.back(o, now, false) {
			within(o.settles(b.DeviceID) - now.Sub(b.At))
		}
	}
	for i, whole := range s.whole() {
		if whole != i {
			within(Settle)
		}
	}
	for _, g := range s.groups(s.isDown) {
		covering := s.covering(g)
		watches := func(o Open) bool { return len(s.watched(o, g)) > 0 }
		switch {
		case len(covering) == 0 && !s.proposes(g, now):
			within(Settle)
		case !s.haveAll(g), slices.ContainsFunc(covering, watches):
			within(min(s.quiet(g, now)/4, lookAgain))
		}
	}
	if wait == 0 {
		return time.Time{}
	}
	return now.Add(wait)
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
