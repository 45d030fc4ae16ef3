// Package detecting begins and ends outages of routers by what their breakers tell:
//
//	DeviceUnreachable ──► timer "look" ──► still down: BeginDetectedOutage, or WatchOutage of the one that lasts
//	DeviceRecovered   ──► timer "look" ──► all of an outage are still back: EndOutage; some of it are: NarrowOutage
//	a router above the root of an outage goes away ──► its root moves up; of those that become one, the younger end
//	the root was back for a day, or all that answer were ──► EndOutage for those; what stays down has one of its own
//	a router has another one already, or somebody begins one ──► ExtendOutage: the one that ended is a part of it
//	a router comes back before it has one ──► TellOutage: the one that ended without it is over for it, too
//	OutageNarrowed by a router that does not answer ──► it is heard, so it is in the way of no end
//
// A breaker opens after several failed polls, and each look comes some time after the change: a router that flaps makes
// no outage and ends none. One instance has all routers of an organization, because what is down together is one thing.
// Only the jobs can ask whether customers of a router are heard that does not answer, so they decide which routers an
// outage gets.
package detecting

import (
	"cmp"
	"maps"
	"slices"
	"time"

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

// settleFlapping is Settle for the return of a router that went and came very often in an outage: so the stream of that
// stays short.
const settleFlapping = time.Hour

// apart bounds an outage: routers that went away so long one after another are never of the same, and one that goes
// away again so long after the beginning has one of its own. So many routers of which some are always down, or one that
// is down every night, make no outage that never ends. For whoever was back for so long it is over.
const apart = 24 * time.Hour

// lookAgain bounds the time between two looks at routers that are down without an outage, because nobody was off, or in
// one, because they may be heard again.
const lookAgain = time.Hour

// shortReturn is how long a router is back at most when whoever was cut off before, and was not on since, had no
// service in the meantime either; earliestCut bounds how long ago that was.
const (
	shortReturn = 30 * time.Minute
	earliestCut = 24 * time.Hour
)

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
	// Freed are routers that are down, and that an outage has had until then.
	Freed map[id.Device]Freed `json:"freed,omitempty"`
	// First is when routers that are down went away before a short return.
	First    map[id.Device]time.Time `json:"first,omitempty"`
	Returned map[id.Device]Return    `json:"returned,omitempty"` // routers that have just come back
}

// Return tells of a router that was down and is back.
type Return struct {
	First time.Time `json:"first"` // when it went away
	At    time.Time `json:"at"`
	// Of are those of Freed. Whoever was told of one hears that it is over, unless the router goes away again at once.
	// Position is that of the return.
	Of       []id.Outage `json:"outages,omitempty"`
	Position uint64      `json:"position,omitempty"`
}

// IsZero reports whether there is nothing to remember.
func (r Return) IsZero() bool { return r.At.IsZero() }

// Freed tells how an outage had a router that is down: it ended, or the router is heard.
type Freed struct {
	From time.Time `json:"from"` // as of which it has the router no longer
	At   time.Time `json:"at"`   // when that was said; a router that stays down has another outage some time later
	// Of are outages that had it and were over for others alone. Whoever was told of one hears of the end of the next
	// one, of which it becomes a part, or of its own once the router is back: it stays here until one of these happens.
	Of []id.Outage `json:"outages,omitempty"`
	// Heard is true when its customers have service, although it does not answer.
	Heard bool `json:"heard,omitempty"`
}

// IsZero reports whether there is nothing to remember.
func (f Freed) IsZero() bool { return f.At.IsZero() && len(f.Of) == 0 }

// Open is an outage that lasts.
type Open struct {
	ID       id.Outage   `json:"id"`
	Root     id.Device   `json:"root"` // null = a person said that it is of no router
	Devices  []id.Device `json:"devices,omitempty"`
	Detected bool        `json:"detected,omitempty"`
	// Downs are the times of its routers since the first of them went away.
	Downs     events.RouterDowns `json:"downs,omitempty"`
	StartedAt time.Time          `json:"startedAt,omitzero"`
	Absorbed  []id.Outage        `json:"absorbed,omitempty"` // go on as parts of it
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
		for _, d := range s.overFor(in.Timeout.At) {
			r := s.Returned[d]
			s.Returned = with(s.Returned, d, Return{First: r.First, At: r.At})
		}
		return s.noted(in.Timeout.At)
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.UpstreamChosen:
		s.OrgID, s.Upstreams = e.OrgID, with(s.Upstreams, e.DeviceID, e.UpstreamID)
	case events.DeviceUnreachable:
		s.OrgID = in.Event.Meta.OrgID
		if !s.isDown(e.DeviceID) {
			s = s.goes(e.DeviceID, e.At)
		}
	case events.DeviceRecovered:
		s = s.up(e.DeviceID, in.Event)
	case events.DeviceRebootConfirmed:
		s = s.up(e.DeviceID, in.Event)
	case events.DeviceDecommissioned:
		s = s.up(e.DeviceID, in.Event)
	case events.OutageBegan:
		s.OrgID = e.OrgID
		s.Open = append(slices.Clone(s.Open), Open{
			ID: e.OutageID, Root: e.Place.DeviceID, Devices: e.Devices, Detected: e.Detected, Downs: e.Downs,
			StartedAt: e.StartedAt, Absorbed: e.Absorbed,
		})
		s = s.absorbed(e.OutageID)
	case events.OutageExtended:
		s = s.changed(e.OutageID, func(o *Open) {
			o.Root, o.Devices, o.Downs = e.Root, e.Devices, e.Downs
			o.Absorbed = slices.Concat(o.Absorbed, e.Absorbed)
		}).absorbed(e.OutageID)
	case events.OutageNarrowed:
		s = s.narrowed(e)
	case events.OutageEnded:
		s = s.ended(e)
		s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(o Open) bool { return o.ID == e.OutageID })
	}
	s = s.noted(in.Event.Meta.At)
	switch due := s.next(in.Event.Meta.At); {
	case due.IsZero(), s.LookAt.IsZero(), due.Before(s.LookAt):
		s.LookAt = due
	}
	return s
}

// with is a copy of a map with one more value, or with one less when the value is zero.
func with[V interface{ IsZero() bool }](m map[id.Device]V, device id.Device, value V) map[id.Device]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[id.Device]V{}
	}
	if m[device] = value; value.IsZero() {
		delete(m, device)
	}
	return m
}

// goes is the state when a router has gone away.
func (s State) goes(d id.Device, at time.Time) State {
	s.Down = with(s.Down, d, at)
	if r := s.Returned[d]; !r.At.IsZero() && at.Sub(r.At) < shortReturn {
		first := r.First
		if earliest := at.Add(-earliestCut); first.Before(earliest) {
			first = earliest
		}
		if first.Before(at) {
			s.First = with(s.First, d, first)
		}
	}
	s.Freed = with(s.Freed, d, Freed{Of: s.Returned[d].Of})
	s.Returned = with(s.Returned, d, Return{})
	return s
}

// up is the state when a router answers, or is none any more.
func (s State) up(d id.Device, by *events.Envelope) State {
	at := by.Meta.At
	s.Returned = maps.Clone(s.Returned)
	maps.DeleteFunc(s.Returned, func(_ id.Device, r Return) bool {
		return len(r.Of) == 0 && at.Sub(r.At) >= shortReturn
	})
	if s.isDown(d) {
		s.Returned = with(s.Returned, d, Return{
			First: cmp.Or(s.First[d], s.Down[d]), At: at, Of: s.Freed[d].Of, Position: by.Position,
		})
	}
	s.Down, s.Freed, s.First = with(s.Down, d, time.Time{}), with(s.Freed, d, Freed{}), with(s.First, d, time.Time{})
	return s
}

// narrowed is the state when routers of an outage are back. Those that do not answer were heard.
func (s State) narrowed(e events.OutageNarrowed) State {
	for _, o := range s.Open {
		for _, d := range e.Downs {
			if o.ID == e.OutageID && o.isDown(d.DeviceID) && !e.Downs.IsDown(d.DeviceID) &&
				s.isDown(d.DeviceID) && d.To.After(s.Down[d.DeviceID]) {
				s.Freed = with(s.Freed, d.DeviceID, Freed{
					From: d.To, At: e.At, Of: s.Freed[d.DeviceID].Of, Heard: true,
				})
			}
		}
	}
	return s.changed(e.OutageID, func(o *Open) { o.Downs = e.Downs })
}

// ended is the state when an outage has its routers no longer. Customers of those that are back hear that it is over.
func (s State) ended(e events.OutageEnded) State {
	for _, o := range s.Open {
		for _, d := range o.Devices {
			back := slices.Contains(e.Back, d)
			if o.ID != e.OutageID || !s.isDown(d) || back || !o.isDown(d) && !e.Parted {
				continue
			}
			freed := Freed{From: s.Freed[d].From, At: e.At, Of: s.Freed[d].Of}
			if o.isDown(d) { // one that came later was in it for no time
				freed.From = later(e.EndedAt, o.since(d))
			}
			if e.Parted {
				freed.Of = append(slices.Clone(freed.Of), o.ID)
			}
			s.Freed = with(s.Freed, d, freed)
		}
	}
	return s
}

// absorbed is the state when outages go on as parts of one: the customers of its routers hear of the end of that one.
func (s State) absorbed(outage id.Outage) State {
	for _, o := range s.Open {
		part := func(of id.Outage) bool { return o.ID == outage && slices.Contains(o.Absorbed, of) }
		for _, d := range o.Devices {
			freed, r := s.Freed[d], s.Returned[d]
			if slices.ContainsFunc(freed.Of, part) {
				freed.Of = slices.DeleteFunc(slices.Clone(freed.Of), part)
				s.Freed = with(s.Freed, d, freed)
			}
			if slices.ContainsFunc(r.Of, part) {
				r.Of = slices.DeleteFunc(slices.Clone(r.Of), part)
				s.Returned = with(s.Returned, d, r)
			}
		}
	}
	return s
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
		switch down := slices.ContainsFunc(o.Devices, func(d id.Device) bool { return s.isOff(*o, d, at) }); {
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

// isHeard reports whether customers of a router have service although it does not answer: it was heard in an outage,
// and no look has brought it into one since.
func (s State) isHeard(d id.Device) bool { return s.Freed[d].Heard && !s.isCovered(d) }

// isOff reports whether a router of an outage is in the way of its end: one that does not answer, unless it is heard.
// One that was back and goes away again is heard when the looks until then have not brought it into the outage.
func (s State) isOff(o Open, d id.Device, at time.Time) bool {
	_, freed := s.Freed[d]
	return s.isDown(d) && s.has(o, d) && (o.isDown(d) || !freed && at.Sub(s.Down[d]) < Propose)
}
