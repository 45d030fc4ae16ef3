package detecting

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

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
	for _, d := range s.overFor(in.Timeout.At) {
		for _, of := range s.Returned[d].Of {
			out.Jobs = append(out.Jobs, commands.TellOutage{
				OrgID: s.OrgID, OutageID: of, Over: true, Devices: []id.Device{d}, Position: s.Returned[d].Position,
			})
		}
	}
	whole := s.whole()
	joined := s.joins(whole, now, &out)
	for i, o := range s.Open {
		if whole[i] != i {
			continue
		}
		if back := s.back(o, now, true); len(back) > 0 {
			out.Commands = append(out.Commands, commands.NarrowOutage{OutageID: o.ID, Back: back})
		}
		if slices.Contains(joined, i) { // what joins it has to come before it can end
			continue
		}
		if end, over := s.ending(o, now); over {
			out.Commands = append(out.Commands, end)
		}
	}
	slices.SortStableFunc(out.Commands, func(a, b commands.Command) int { return cmp.Compare(rank(a), rank(b)) })
	out.Timers = []processmanagers.Timer{{Name: look, At: s.after(now)}}
	return out, nil
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

// down is the time of a router that no outage has: since it went away, or since the end of the last one that had it.
func (s State) down(d id.Device) events.RouterDown {
	return events.RouterDown{DeviceID: d, From: s.Down[d], First: s.First[d]}.Since(s.Freed[d].From)
}

// absorbs adds the outages that are over without a router, and of which those behind it may have been told.
func (s State) absorbs(list []id.Outage, d id.Device) []id.Outage {
	for _, of := range s.Freed[d].Of {
		if !slices.Contains(list, of) {
			list = append(list, of)
		}
	}
	return list
}

// haveAll reports whether each router of a group is down in an outage that lasts.
func (s State) haveAll(g group) bool {
	return !slices.ContainsFunc(g.devices, func(d id.Device) bool { return !s.isCovered(d) })
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

// waited reports whether a router is down for long enough after the end of an outage that had it. One without which an
// outage is over is known to be down.
func (s State) waited(d id.Device, now time.Time) bool {
	freed := s.Freed[d]
	return len(freed.Of) > 0 || now.Sub(freed.At) >= Propose
}

// proposes reports whether a group is down for so long that it is proposed as an outage.
func (s State) proposes(g group, now time.Time) bool {
	waits := func(d id.Device) bool { return !s.waited(d, now) }
	return now.Sub(s.Down[g.root]) >= Propose && !slices.ContainsFunc(g.devices, waits)
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
		if len(r.Of) > 0 {
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
		untold := func(d id.Device) bool { return len(s.Freed[d].Of) > 0 }
		switch {
		case len(covering) == 0 && !s.proposes(g, now):
			within(Settle)
		case !s.haveAll(g), slices.ContainsFunc(covering, watches), slices.ContainsFunc(g.devices, untold):
			within(min(s.quiet(g, now)/4, lookAgain))
		}
	}
	if wait == 0 {
		return time.Time{}
	}
	return now.Add(wait)
}
