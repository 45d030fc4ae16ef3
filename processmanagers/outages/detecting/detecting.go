// Package detecting begins and ends outages of routers by what their breakers tell:
//
//	DeviceUnreachable ──► timer "look" ──► still down: BeginDetectedOutage, or ExtendOutage of the one that lasts
//	DeviceRecovered   ──► timer "look" ──► all of an outage are still back: EndOutage
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

// lookAgain bounds the time between two looks at a router that is down without an outage, because nobody was off.
const lookAgain = time.Hour

// look is the name of the timer.
const look = "look"

// State has what is down in one organization.
type State struct {
	OrgID     id.Organization         `json:"orgId"`
	Upstreams map[id.Device]id.Device `json:"upstreams,omitempty"`
	Down      map[id.Device]time.Time `json:"down,omitempty"` // since when
	Open      []Open                  `json:"open,omitempty"` // outages that last, the oldest first
}

// Open is an outage that lasts.
type Open struct {
	ID       id.Outage   `json:"id"`
	Root     id.Device   `json:"root"` // null = a person said that it is of no router
	Devices  []id.Device `json:"devices,omitempty"`
	Detected bool        `json:"detected,omitempty"`
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
			ID: e.OutageID, Root: e.Place.DeviceID, Devices: e.Devices, Detected: e.Detected,
		})
	case events.OutageExtended:
		s.Open = slices.Clone(s.Open)
		for i := range s.Open {
			if s.Open[i].ID == e.OutageID {
				s.Open[i].Root, s.Open[i].Devices = e.Root, e.Devices
			}
		}
	case events.OutageEnded:
		s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(o Open) bool { return o.ID == e.OutageID })
	}
	return s.noted(in.Event.Meta.At)
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

// noted remembers of each outage since when all of its routers are up.
func (s State) noted(at time.Time) State {
	s.Open = slices.Clone(s.Open)
	for i := range s.Open {
		o := &s.Open[i]
		switch down := slices.ContainsFunc(o.Devices, s.isDown); {
		case down:
			o.UpSince = time.Time{}
		case o.UpSince.IsZero():
			o.UpSince = at
		}
	}
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
		after := evolve(s, in)
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: look, At: after.next(now, Settle)}}}, nil
	}
	out := processmanagers.Output{}
	again := Settle
	for _, g := range s.groups() {
		s.lookAt(g, now, &out)
		if len(s.covering(g)) == 0 && s.proposes(g, now) {
			again = max(again, min(now.Sub(g.since)/4, lookAgain))
		}
	}
	if slices.ContainsFunc(s.groups(), func(g group) bool { return len(s.covering(g)) == 0 && !s.proposes(g, now) }) {
		again = Settle
	}
	for _, o := range s.Open {
		if o.Detected && !o.UpSince.IsZero() && now.Sub(o.UpSince) >= Settle {
			out.Commands = append(out.Commands, commands.EndOutage{OutageID: o.ID, EndedAt: o.UpSince})
		}
	}
	out.Timers = []processmanagers.Timer{{Name: look, At: s.next(now, again)}}
	return out, nil
}

// next is when to look next; zero when nothing is to be seen.
func (s State) next(now time.Time, after time.Duration) time.Time {
	waits := slices.ContainsFunc(s.Open, func(o Open) bool { return o.Detected && !o.UpSince.IsZero() })
	for _, g := range s.groups() {
		waits = waits || !s.settled(g)
	}
	if !waits {
		return time.Time{}
	}
	return now.Add(after)
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

// absorbing adds to an extension of an outage another one that goes on as a part of it, with all of its routers: also
// the customers of those that are back by now were told, and are to hear of the end.
func absorbing(c commands.ExtendOutage, first, o Open) commands.ExtendOutage {
	c.Absorbs = append(c.Absorbs, o.ID)
	for _, d := range o.Devices {
		if !slices.Contains(first.Devices, d) && !slices.Contains(c.Devices, d) {
			c.Devices = append(c.Devices, d)
		}
	}
	return c
}

// extension is the command by which an outage gets what a group has; extends is false when it has it. The root of an
// outage that began by itself moves up, and never down: it says where it began.
func (s State) extension(o Open, g group) (c commands.ExtendOutage, extends bool) {
	c.OutageID = o.ID
	for _, d := range g.devices {
		if !slices.Contains(o.Devices, d) {
			c.Devices = append(c.Devices, d)
		}
	}
	if o.Detected && s.isDown(o.Root) && s.root(o.Root) == g.root && o.Root != g.root {
		c.Root = g.root
	}
	return c, len(c.Devices) > 0 || !c.Root.IsZero()
}

// proposes reports whether a group is down for so long that it is proposed as an outage.
func (s State) proposes(g group, now time.Time) bool { return now.Sub(s.Down[g.root]) >= Propose }

// lookAt adds what follows from a group that is down long enough.
func (s State) lookAt(g group, now time.Time, out *processmanagers.Output) {
	covering := s.covering(g)
	if len(covering) == 0 {
		if s.proposes(g, now) {
			out.Jobs = append(out.Jobs, commands.BeginDetectedOutage{
				OrgID: s.OrgID, Root: g.root, Devices: g.devices, Since: g.since, At: now,
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
