// Package detecting begins and ends outages of routers by what their breakers tell:
//
//	DeviceUnreachable ──► timer "look" ──► still down: BeginDetectedOutage, or ExtendOutage of the one that lasts
//	DeviceRecovered   ──► timer "look" ──► all of an outage are still back: EndOutage; some of it are: NarrowOutage
//	a router above the root of an outage goes away ──► its root moves up; of two that become one, the younger ends
//
// A breaker opens after several failed polls, and each look comes some time after the change: a router that flaps makes
// no outage and ends none. One instance has all routers of an organization, because what is down together is one thing.
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

// Settle is how long a router is down before an outage that lasts gets it, and up before its outage ends. One that
// begins is proposed to people, who confirm it before customers hear of it: after Propose.
const (
	Settle  = 2 * time.Minute
	Propose = 10 * time.Minute
)

// mostTimes is how often a router of an outage comes back at most. One that does so more often is down until the outage
// ends: so the stream of an outage stays short.
const mostTimes = 20

// lookAgain bounds the time between two looks at a router that is down without an outage, because nobody was off.
const lookAgain = time.Hour

// look is the name of the timer.
const look = "look"

// State has what is down in one organization.
type State struct {
	OrgID     id.Organization         `json:"orgId"`
	Upstreams map[id.Device]id.Device `json:"upstreams,omitempty"`
	Down      map[id.Device]time.Time `json:"down,omitempty"` // since when
	Back      map[id.Device]time.Time `json:"back,omitempty"` // since when routers of outages answer
	Open      []Open                  `json:"open,omitempty"` // outages that last, the oldest first
	// LookAt is when the look is due that an event has asked for; zero = none has since the last look. What happens
	// until then puts it off no further.
	LookAt time.Time `json:"lookAt,omitzero"`
	// EndedAt is when an outage ended last. One that ended while its routers were down begins again, so they are looked
	// at as those that have just gone away.
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// Open is an outage that lasts.
type Open struct {
	ID       id.Outage   `json:"id"`
	Root     id.Device   `json:"root"` // null = a person said that it is of no router
	Devices  []id.Device `json:"devices,omitempty"`
	Detected bool        `json:"detected,omitempty"`
	// Downs are the times of its routers since the first of them went away.
	Downs     events.RouterDowns `json:"downs,omitempty"`
	StartedAt time.Time          `json:"startedAt,omitzero"`
	// UpSince is when the last of its routers came back; zero = one is down.
	UpSince time.Time `json:"upSince,omitzero"`
}

// Process has an instance for each organization; it never ends.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "outage_detection",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.UpstreamChosen) string { return e.OrgID.String() }),
			ofOrganization(events.DeviceUnreachable{}), ofOrganization(events.DeviceRecovered{}),
			ofOrganization(events.DeviceRebootConfirmed{}), ofOrganization(events.DeviceDecommissioned{}),
			processmanagers.On(func(e events.OutageBegan) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.OutageExtended) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.OutageNarrowed) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.OutageEnded) string { return e.OrgID.String() }),
		},
		Decide: decide, Evolve: evolve,
	}
}

// ofOrganization handles an event of a router for the instance of its organization, which only the metadata names.
func ofOrganization(e events.DeviceEvent) processmanagers.Handled {
	return processmanagers.Handled{Type: e.EventType(), Key: func(e events.Envelope) string {
		if e.Meta.OrgID.IsZero() {
			return ""
		}
		return e.Meta.OrgID.String()
	}}
}

// evolve follows what is down and which outages last. It never changes the maps and lists of s.
func evolve(s State, in processmanagers.Input) State {
	if in.Timeout != nil {
		s.LookAt = time.Time{}
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.UpstreamChosen:
		s.OrgID, s.Upstreams = e.OrgID, with(s.Upstreams, e.DeviceID, e.UpstreamID)
	case events.DeviceUnreachable:
		s.OrgID = in.Event.Meta.OrgID
		if _, is := s.Down[e.DeviceID]; !is {
			s.Down = with(s.Down, e.DeviceID, e.At)
		}
	case events.DeviceRecovered:
		s.Down = with(s.Down, e.DeviceID, time.Time{})
	case events.DeviceRebootConfirmed:
		s.Down = with(s.Down, e.DeviceID, time.Time{})
	case events.DeviceDecommissioned:
		s.Down = with(s.Down, e.DeviceID, time.Time{})
	case events.OutageBegan:
		s.OrgID = e.OrgID
		s.Open = append(slices.Clone(s.Open), Open{
			ID: e.OutageID, Root: e.Place.DeviceID, Devices: e.Devices, Detected: e.Detected, Downs: e.Downs,
			StartedAt: e.StartedAt,
		})
	case events.OutageExtended:
		s = s.changed(e.OutageID, func(o *Open) { o.Root, o.Devices, o.Downs = e.Root, e.Devices, e.Downs })
	case events.OutageNarrowed:
		s = s.changed(e.OutageID, func(o *Open) { o.Downs = e.Downs })
	case events.OutageEnded:
		s.EndedAt = in.Event.Meta.At
		s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(o Open) bool { return o.ID == e.OutageID })
	}
	s = s.noted(in.Event.Meta.At)
	switch due := s.next(in.Event.Meta.At, Settle); {
	case due.IsZero(), s.LookAt.IsZero(), due.Before(s.LookAt):
		s.LookAt = due
	}
	return s
}

// with is a copy of a map with one more value, or with one less when the value is zero.
func with[V comparable](m map[id.Device]V, device id.Device, value V) map[id.Device]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[id.Device]V{}
	}
	var zero V
	if m[device] = value; value == zero {
		delete(m, device)
	}
	return m
}

// changed is the state with one outage that has become different.
func (s State) changed(outage id.Outage, change func(*Open)) State {
	s.Open = slices.Clone(s.Open)
	for i := range s.Open {
		if s.Open[i].ID == outage {
			change(&s.Open[i])
		}
	}
	return s
}

// noted remembers since when routers of outages are up, and since when all of an outage are.
func (s State) noted(at time.Time) State {
	s.Open = slices.Clone(s.Open)
	back := map[id.Device]time.Time{}
	for i := range s.Open {
		o := &s.Open[i]
		for _, d := range o.Devices {
			if since, known := s.Back[d]; !s.isDown(d) && known {
				back[d] = since
			} else if !s.isDown(d) {
				back[d] = at
			}
		}
		switch down := slices.ContainsFunc(o.Devices, s.isDown); {
		case down:
			o.UpSince = time.Time{}
		case o.UpSince.IsZero():
			o.UpSince = at
		}
	}
	s.Back = back
	return s
}

// isDown reports whether a router does not answer.
func (s State) isDown(d id.Device) bool {
	_, is := s.Down[d]
	return is
}

// root is the highest router that is down above one that is, or itself.
func (s State) root(d id.Device) id.Device {
	for range len(s.Upstreams) + 1 {
		above, ok := s.Upstreams[d]
		if !ok || !s.isDown(above) {
			return d
		}
		d = above
	}
	return d
}

// group has a root and all that are down behind it.
type group struct {
	root    id.Device
	devices []id.Device
	since   time.Time // the first of them went away
}

// groups lists what is down, in an order that is the same at each replay.
func (s State) groups() (list []group) {
	down := slices.SortedFunc(maps.Keys(s.Down), func(a, b id.Device) int {
		return strings.Compare(a.String(), b.String())
	})
	at := map[id.Device]int{}
	for _, d := range down {
		root := s.root(d)
		i, known := at[root]
		if !known {
			i = len(list)
			at[root], list = i, append(list, group{root: root, since: s.Down[d]})
		}
		list[i].devices = append(list[i].devices, d)
		if s.Down[d].Before(list[i].since) {
			list[i].since = s.Down[d]
		}
	}
	return list
}

// covering lists the outages that have a router of a group, or its root.
func (s State) covering(g group) (list []Open) {
	for _, o := range s.Open {
		has := func(d id.Device) bool { return slices.Contains(o.Devices, d) }
		if o.Root == g.root || slices.ContainsFunc(g.devices, has) {
			list = append(list, o)
		}
	}
	return list
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
	again := Settle
	for _, g := range s.groups() {
		s.lookAt(g, now, &out)
		if len(s.covering(g)) == 0 && s.proposes(g, now) {
			again = max(again, min(now.Sub(g.since)/4, now.Sub(s.EndedAt)/4, lookAgain))
		}
	}
	if slices.ContainsFunc(s.groups(), func(g group) bool { return len(s.covering(g)) == 0 && !s.proposes(g, now) }) {
		again = Settle
	}
	for _, o := range s.Open {
		if back := s.back(o, now.Add(-Settle)); len(back) > 0 {
			out.Commands = append(out.Commands, commands.NarrowOutage{OutageID: o.ID, Back: back})
		}
		if o.Detected && !o.UpSince.IsZero() && now.Sub(o.UpSince) >= Settle {
			out.Commands = append(out.Commands, commands.EndOutage{OutageID: o.ID, EndedAt: o.UpSince})
		}
	}
	out.Timers = []processmanagers.Timer{{Name: look, At: s.next(now, again)}}
	return out, nil
}

// next is when to look next; zero when nothing is to be seen.
func (s State) next(now time.Time, after time.Duration) time.Time {
	waits := slices.ContainsFunc(s.Open, func(o Open) bool {
		return o.Detected && !o.UpSince.IsZero() || len(s.back(o, now)) > 0
	})
	for _, g := range s.groups() {
		waits = waits || !s.settled(g)
	}
	if !waits {
		return time.Time{}
	}
	return now.Add(after)
}

// back lists the routers of an outage that have answered since an instant or longer, while the outage goes on. Those
// that a person has named count as down until that person ends it.
func (s State) back(o Open, since time.Time) (list []commands.RouterBack) {
	for _, d := range o.Devices {
		at, is := s.Back[d]
		times := o.Downs.Of(d)
		switch {
		case !is || at.After(since) || !o.isDown(d) || len(times) >= mostTimes:
		case !o.Detected && len(times) == 0:
		case o.Detected && at.Equal(o.UpSince): // the end of the outage says so
		default:
			list = append(list, commands.RouterBack{DeviceID: d, At: at})
		}
	}
	return list
}

// isDown reports whether a router counts as down in the outage.
func (o Open) isDown(d id.Device) bool { return slices.Contains(o.Devices, d) && o.Downs.IsDown(d) }

// times has all times of the routers of an outage.
func (o Open) times() (list events.RouterDowns) {
	for _, d := range o.Devices {
		times := o.Downs.Of(d)
		if len(times) == 0 && !o.StartedAt.IsZero() {
			times = events.RouterDowns{{DeviceID: d, From: o.StartedAt}}
		}
		list = append(list, times...)
	}
	return list
}

// settled reports whether one outage has all of a group, and the right root.
func (s State) settled(g group) bool {
	covering := s.covering(g)
	if len(covering) != 1 {
		return false
	}
	_, extends := s.extension(covering[0], g)
	return !extends
}

// absorbing adds to an extension of an outage another one that goes on as a part of it, with all of its routers
// and their times: also the customers of those that are back by now were told, and are to hear of the end.
func absorbing(c commands.ExtendOutage, first, o Open) commands.ExtendOutage {
	c.Absorbs = append(c.Absorbs, o.ID)
	for _, d := range o.Devices {
		if !slices.Contains(first.Devices, d) && !slices.Contains(c.Devices, d) {
			c.Devices = append(c.Devices, d)
		}
	}
	c.Downs = append(c.Downs, o.times()...)
	return c
}

// extension is the command by which an outage gets what a group has; extends is false when it has it. The root of an
// outage that began by itself moves up, and never down: it says where it began.
func (s State) extension(o Open, g group) (c commands.ExtendOutage, extends bool) {
	c.OutageID = o.ID
	for _, d := range g.devices {
		if !o.isDown(d) {
			c.Devices = append(c.Devices, d)
			c.Downs = append(c.Downs, events.RouterDown{DeviceID: d, From: s.Down[d]})
		}
	}
	if o.Detected && s.isDown(o.Root) && s.root(o.Root) == g.root && o.Root != g.root {
		c.Root = g.root
	}
	return c, len(c.Devices) > 0 || !c.Root.IsZero()
}

// downs says when the routers of a group went away.
func (s State) downs(g group) (list events.RouterDowns) {
	for _, d := range g.devices {
		list = append(list, events.RouterDown{DeviceID: d, From: s.Down[d]})
	}
	return list
}

// proposes reports whether a group is down for so long that it is proposed as an outage.
func (s State) proposes(g group, now time.Time) bool { return now.Sub(s.Down[g.root]) >= Propose }

// lookAt adds what follows from a group that is down long enough.
func (s State) lookAt(g group, now time.Time, out *processmanagers.Output) {
	covering := s.covering(g)
	if len(covering) == 0 {
		if s.proposes(g, now) {
			out.Jobs = append(out.Jobs, commands.BeginDetectedOutage{
				OrgID: s.OrgID, Root: g.root, Devices: g.devices, Since: g.since, At: now, Downs: s.downs(g),
			})
		}
		return
	}
	first := covering[0]
	extend, extends := s.extension(first, g)
	for _, o := range covering[1:] {
		if o.Detected { // what a person has begun, a person ends
			out.Commands = append(out.Commands, commands.EndOutage{OutageID: o.ID, EndedAt: now, MergedInto: first.ID})
			extend, extends = absorbing(extend, first, o), true
		}
	}
	if extends {
		out.Commands = append(out.Commands, extend)
	}
	slices.SortStableFunc(out.Commands, func(a, b commands.Command) int { // an end frees the place of its root
		return cmp.Compare(a.CommandName(), b.CommandName())
	})
}
