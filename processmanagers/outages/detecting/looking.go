package detecting

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// group has routers that are down because of one thing: a root and others behind it, all of which went away within a
// day.
type group struct {
	root        id.Device
	devices     []id.Device
	first, last time.Time // when routers of it went away
}

// groups parts those that are down of some routers, in an order that is the same at each replay: each comes to the
// nearest one above it within a day of which it went away, along routers that are down. So one that was given up,
// around which the network has another way, has nothing to do with what goes away later.
func (s State) groups(of func(id.Device) bool) (list []group) {
	at := map[id.Device]int{}
	for _, d := range s.topDown(of) {
		first, last := s.went(d)
		i := len(list)
		for above := range s.above(d) {
			in, is := at[above]
			if !is { // the way up ends here
				break
			}
			if list[in].takes(first, last) {
				i = in
				break
			}
		}
		if i == len(list) {
			list = append(list, group{root: d, first: first, last: last})
		}
		g := &list[i]
		g.devices, at[d] = append(g.devices, d), i
		g.first, g.last = earlier(g.first, first), later(g.last, last)
	}
	return list
}

// takes reports whether what went away in a time is of the group: all of it within a day.
func (g group) takes(first, last time.Time) bool {
	return later(g.last, last).Sub(earlier(g.first, first)) < apart
}

// went is when a router went away that is down: at first with the outage that has it, if that began by itself.
func (s State) went(d id.Device) (first, last time.Time) {
	first, last = s.Down[d], s.Down[d]
	for _, o := range s.Open {
		if o.Detected && s.has(o, d) {
			first = earlier(first, o.began())
		}
	}
	return first, last
}

// above lists the routers above one, the nearest first.
func (s State) above(d id.Device) iter.Seq[id.Device] {
	return func(yield func(id.Device) bool) {
		for range s.Upstreams {
			above, is := s.Upstreams[d]
			if !is || !yield(above) {
				return
			}
			d = above
		}
	}
}

// topDown lists those that are down of some routers, each after those that stand above it.
func (s State) topDown(of func(id.Device) bool) []id.Device {
	depth := func(d id.Device) (n int) {
		for range s.above(d) {
			n++
		}
		return n
	}
	down := slices.DeleteFunc(slices.Collect(maps.Keys(s.Down)), func(d id.Device) bool { return !of(d) })
	slices.SortFunc(down, func(a, b id.Device) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), strings.Compare(a.String(), b.String()))
	})
	return down
}

// earlier is the first of two instants, and later the last.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// later is the last of two instants.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// covering lists the outages that have a router of a group.
func (s State) covering(g group) (list []Open) {
	for _, o := range s.Open {
		if slices.ContainsFunc(g.devices, func(d id.Device) bool { return s.has(o, d) }) {
			list = append(list, o)
		}
	}
	return list
}

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

// haveAll reports whether each router of a group is down in an outage that lasts.
func (s State) haveAll(g group) bool {
	return !slices.ContainsFunc(g.devices, func(d id.Device) bool { return !s.isCovered(d) })
}

// down is the time of a router that no outage has: since it went away, or since the end of the last one that had it.
func (s State) down(d id.Device) events.RouterDown {
	return events.RouterDown{DeviceID: d, From: s.Down[d], First: s.First[d]}.Since(s.Freed[d].From)
}

// absorbs adds the outage that is over without a router, and of which those behind it may have been told.
func (s State) absorbs(list []id.Outage, d id.Device) []id.Outage {
	if of := s.Freed[d].Of; !of.IsZero() && !slices.Contains(list, of) {
		list = append(list, of)
	}
	return list
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
	for _, d := range s.overFor(in.Timeout.Due) {
		out.Jobs = append(out.Jobs, commands.TellOutage{
			OrgID: s.OrgID, OutageID: s.Returned[d].Of, Over: true, Devices: []id.Device{d},
			Position: s.Returned[d].Position,
		})
	}
	whole := s.whole()
	joined := s.joins(whole, now, &out) // what joins one has to come before that can end
	for i, o := range s.Open {
		if whole[i] != i {
			continue
		}
		if back := s.back(o, now, true); len(back) > 0 {
			out.Commands = append(out.Commands, commands.NarrowOutage{OutageID: o.ID, Back: back})
		}
		if o.Detected && !o.UpSince.IsZero() && now.Sub(o.UpSince) >= Settle {
			out.Commands = append(out.Commands, commands.EndOutage{OutageID: o.ID, EndedAt: o.end(o.UpSince)})
		} else if last, back, over := s.parted(o, now); over && !slices.Contains(joined, i) {
			out.Commands = append(out.Commands, commands.EndOutage{
				OutageID: o.ID, EndedAt: o.end(last), Parted: true, Back: back,
			})
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
				begin.Absorbs = s.absorbs(begin.Absorbs, d)
			}
			out.Jobs = append(out.Jobs, begin)
		}
		return
	}
	for i, o := range covering {
		watch := commands.WatchOutage{OrgID: s.OrgID, OutageID: o.ID, Downs: s.watched(o, g), At: now}
		for _, d := range g.devices {
			if i == 0 && !s.isCovered(d) && s.waited(d, now) {
				watch.Downs, watch.Absorbs = append(watch.Downs, s.down(d)), s.absorbs(watch.Absorbs, d)
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
	for _, r := range s.Returned {
		if !r.Of.IsZero() {
			within(Settle)
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
