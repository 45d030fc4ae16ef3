// Package outages has the rules about outages of the network and about what customers get for them.
package outages

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Outages defines the outages of the network: a stream for each. The place is claimed while the outage lasts, so that
// one place has one at a time.
func Outages() aggregates.Definition[Outage, commands.LineOutageCommand, events.LineOutageEvent] {
	return aggregates.Definition[Outage, commands.LineOutageCommand, events.LineOutageEvent]{
		Category: commands.LineOutageCategory, Missing: commands.ErrNoOutage, Evolve: evolveOutage,
		Decide: decideOutage, Owner: func(s Outage) id.Organization { return s.Org }, Claims: claimsOutage,
		Commands: []commands.LineOutageCommand{
			commands.BeginOutage{}, commands.ExtendOutage{}, commands.NarrowOutage{}, commands.AnnounceOutage{},
			commands.DescribeOutage{},
			commands.EndOutage{},
		},
	}
}

// Outage is one outage. The zero value does not exist.
type Outage struct {
	ID        id.Outage
	Org       id.Organization
	Place     events.NetworkPlace
	Devices   []id.Device
	Downs     events.RouterDowns
	Detected  bool
	Title     string
	Message   string
	StartedAt time.Time
	EndedAt   time.Time   // zero = it lasts
	OverSince time.Time   // when somebody said that it has ended
	Merged    id.Outage   // it goes on as a part of this one; zero = it does not
	Absorbed  []id.Outage // go on as parts of it
	TellAfter time.Time   // when its customers are told; zero = they are not
	// ExpectedEnd is when somebody thinks that it ends; zero = nobody has said.
	ExpectedEnd time.Time
}

// Lasts reports whether customers have no service at present.
func (s Outage) Lasts() bool { return !s.ID.IsZero() && s.EndedAt.IsZero() }

// IsDown reports whether a router counts as down in the outage.
func (s Outage) IsDown(device id.Device) bool {
	return slices.Contains(s.Devices, device) && s.Downs.IsDown(device)
}

// evolveOutage applies one recorded event.
func evolveOutage(s Outage, e events.LineOutageEvent) Outage {
	switch e := e.(type) {
	case events.OutageBegan:
		return Outage{
			ID: e.OutageID, Org: e.OrgID, Place: e.Place, Devices: e.Devices, Downs: e.Downs, Detected: e.Detected,
			Title: e.Title, Message: e.Message, StartedAt: e.StartedAt, ExpectedEnd: e.ExpectedEnd,
			TellAfter: e.TellAfter, Absorbed: e.Absorbed,
		}
	case events.OutageAnnounced:
		s.TellAfter = e.At
	case events.OutageExtended:
		s.Devices, s.Downs = e.Devices, e.Downs
		s.Absorbed = slices.Concat(s.Absorbed, e.Absorbed)
		if !e.Root.IsZero() {
			s.Place.DeviceID = e.Root
		}
	case events.OutageNarrowed:
		s.Downs = e.Downs
	case events.OutageDescribed:
		s.Title, s.Message, s.ExpectedEnd = e.Title, e.Message, e.ExpectedEnd
	case events.OutageEnded:
		s.EndedAt, s.OverSince, s.Merged = e.EndedAt, e.At, e.MergedInto
	}
	return s
}

// claimsOutage claims the place within the organization as long as the outage lasts.
func claimsOutage(s Outage) []commands.Claim {
	if !s.Lasts() {
		return nil
	}
	place := s.Place.Tag
	switch {
	case !s.Place.DeviceID.IsZero():
		place = s.Place.DeviceID.String()
	case !s.Place.ServiceID.IsZero():
		place = s.Place.ServiceID.String()
	}
	return []commands.Claim{{
		Kind: "outage_place", Value: s.Org.String() + "/" + place, Code: "outage_exists",
		Message: "An outage of this place lasts already. End it first.",
	}}
}

// decideOutage dispatches.
func decideOutage(s Outage, c commands.LineOutageCommand, now time.Time) ([]events.LineOutageEvent, error) {
	if begin, ok := c.(commands.BeginOutage); ok {
		return decideBegin(s, begin, now)
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoOutage()
	}
	switch c := c.(type) {
	case commands.BeginOutage: // above
	case commands.ExtendOutage:
		return decideExtend(s, c, now), nil
	case commands.AnnounceOutage:
		return decideAnnounce(s, now)
	case commands.NarrowOutage:
		return decideNarrow(s, c, now), nil
	case commands.DescribeOutage:
		return decideDescribe(s, c, now)
	case commands.EndOutage:
		return decideEnd(s, c, now)
	}
	return nil, nil
}

// decideBegin begins an outage once.
func decideBegin(s Outage, c commands.BeginOutage, now time.Time) ([]events.LineOutageEvent, error) {
	if !s.ID.IsZero() {
		return nil, nil
	}
	if c.StartedAt.After(now) {
		return nil, errInstant("startedAt must not be in the future.")
	}
	began := events.OutageBegan{
		OutageID: c.OutageID, OrgID: c.OrgID, Place: c.Place, Devices: c.Devices, Downs: c.Downs, Title: c.Title,
		Message: c.Message, Detected: c.Detected, StartedAt: c.StartedAt.UTC(), ExpectedEnd: c.ExpectedEnd.UTC(),
		Absorbed: c.Absorbs, At: now,
	}
	if c.ExpectedEnd.IsZero() {
		began.ExpectedEnd = time.Time{}
	}
	if c.TellAfter >= 0 {
		began.TellAfter = began.StartedAt.Add(c.TellAfter)
		if began.TellAfter.Before(now) {
			began.TellAfter = now
		}
	}
	return []events.LineOutageEvent{began}, nil
}

// decideExtend adds routers, and moves the root. What is there already is no news.
func decideExtend(s Outage, c commands.ExtendOutage, now time.Time) []events.LineOutageEvent {
	if !s.Lasts() {
		return nil
	}
	root := s.Place.DeviceID
	all, downs, came := s.joined(c, now)
	if !root.IsZero() && !c.Root.IsZero() {
		root = c.Root
	}
	var absorbed []id.Outage
	for _, o := range c.Absorbs {
		if o != s.ID && !slices.Contains(s.Absorbed, o) {
			absorbed = append(absorbed, o)
		}
	}
	if !came && len(absorbed) == 0 && root == s.Place.DeviceID {
		return nil
	}
	return []events.LineOutageEvent{events.OutageExtended{
		OutageID: s.ID, OrgID: s.Org, Root: root, Devices: all, Downs: downs, Absorbed: absorbed, At: now,
	}}
}

// decideAnnounce has customers told who were not, and are not by now.
func decideAnnounce(s Outage, now time.Time) ([]events.LineOutageEvent, error) {
	switch {
	case !s.TellAfter.IsZero() && !s.TellAfter.After(now):
		return nil, nil
	case !s.Lasts():
		return nil, commands.ErrOutageOver()
	}
	return []events.LineOutageEvent{events.OutageAnnounced{OutageID: s.ID, OrgID: s.Org, At: now}}, nil
}

// joined are the routers with those that come to them, their times, and whether any came. One that is down in all of
// the outage stays so.
func (s Outage) joined(c commands.ExtendOutage, now time.Time) (all []id.Device, downs events.RouterDowns, came bool) {
	all, downs = slices.Clone(s.Devices), slices.Clone(s.Downs)
	come := slices.Clone(c.Downs)
	for _, d := range c.Devices {
		if !slices.Contains(all, d) && len(c.Downs.Of(d)) == 0 {
			come = append(come, events.RouterDown{DeviceID: d, From: now})
		}
	}
	for _, d := range come {
		has := func(known events.RouterDown) bool {
			return known.DeviceID == d.DeviceID && !known.From.After(d.From) &&
				(known.From.Equal(d.From) || known.To.IsZero() || !d.To.IsZero() && !d.To.After(known.To))
		}
		whole := slices.Contains(s.Devices, d.DeviceID) && len(s.Downs.Of(d.DeviceID)) == 0
		if !whole && !slices.ContainsFunc(downs, has) {
			downs, came = downs.Come(d), true
		}
		if !slices.Contains(all, d.DeviceID) {
			all, came = append(all, d.DeviceID), true
		}
	}
	return all, downs, came
}

// decideNarrow ends the times of routers that are back. Those that a person has named are down until that person says
// otherwise.
func decideNarrow(s Outage, c commands.NarrowOutage, now time.Time) []events.LineOutageEvent {
	if !s.Lasts() {
		return nil
	}
	downs, changed := slices.Clone(s.Downs), false
	for _, back := range c.Back {
		if s.Detected && slices.Contains(s.Devices, back.DeviceID) && len(downs.Of(back.DeviceID)) == 0 {
			downs = append(downs, events.RouterDown{DeviceID: back.DeviceID, From: s.StartedAt})
		}
		for i, d := range downs {
			if d.DeviceID != back.DeviceID || !d.To.IsZero() {
				continue
			}
			downs[i].To, changed = back.At.UTC(), true
			if downs[i].To.After(now) { // by a clock that was ahead then
				downs[i].To = now
			}
			if downs[i].To.Before(d.From) {
				downs[i].To = d.From
			}
		}
	}
	if !changed {
		return nil
	}
	return []events.LineOutageEvent{events.OutageNarrowed{OutageID: s.ID, OrgID: s.Org, Downs: downs, At: now}}
}

// decideDescribe records words that differ.
func decideDescribe(s Outage, c commands.DescribeOutage, now time.Time) ([]events.LineOutageEvent, error) {
	end := c.ExpectedEnd
	if !end.IsZero() {
		end = end.UTC()
	}
	switch {
	case c.Title == s.Title && c.Message == s.Message && end.Equal(s.ExpectedEnd):
		return nil, nil
	case !end.IsZero() && !end.After(s.StartedAt):
		return nil, errInstant("expectedEnd must be after the outage began.")
	}
	return []events.LineOutageEvent{events.OutageDescribed{
		OutageID: s.ID, OrgID: s.Org, Title: c.Title, Message: c.Message, ExpectedEnd: end, At: now,
	}}, nil
}

// decideEnd ends an outage once.
func decideEnd(s Outage, c commands.EndOutage, now time.Time) ([]events.LineOutageEvent, error) {
	if !s.Lasts() {
		return nil, nil
	}
	ended := c.EndedAt.UTC()
	switch {
	case c.EndedAt.IsZero():
		ended = now
	case ended.After(now):
		return nil, errInstant("endedAt must not be in the future.")
	case ended.Before(s.StartedAt):
		return nil, errInstant("endedAt must not be before the outage began.")
	}
	return []events.LineOutageEvent{events.OutageEnded{
		OutageID: s.ID, OrgID: s.Org, EndedAt: ended, MergedInto: c.MergedInto, Parted: c.Parted, Back: c.Back, At: now,
	}}, nil
}

// errInstant is the failure for a beginning or an end that cannot be.
func errInstant(text string) error { return failure.NewInvalid("invalid_input", text) }

// Rules defines what an organization wants about outages: a stream for each that has ever chosen.
func Rules() aggregates.Definition[OutageRules, commands.OutageRulesCommand, events.OutageRulesEvent] {
	return aggregates.Definition[OutageRules, commands.OutageRulesCommand, events.OutageRulesEvent]{
		Category: commands.OutageRulesCategory, Missing: commands.ErrNotFound,
		Evolve: func(s OutageRules, e events.OutageRulesEvent) OutageRules {
			switch e := e.(type) {
			case events.OutageRulesAdopted:
				return OutageRules{Org: e.OrgID, Chosen: &e.Rules}
			}
			return s
		},
		Decide:   decideRules,
		Owner:    func(s OutageRules) id.Organization { return s.Org },
		Commands: []commands.OutageRulesCommand{commands.AdoptOutageRules{}},
	}
}

// OutageRules are the rules of an organization. The zero value has never chosen.
type OutageRules struct {
	Org    id.Organization
	Chosen *events.OutageRules
}

// usualTellAfter is how long an outage lasts before customers are told, in minutes, where nobody has chosen.
const usualTellAfter = 15

// Present are the rules that apply: outages are noticed and shown, and customers are told of those that the platform
// has noticed when a person says so, unless somebody has chosen that they are by themselves.
func (s OutageRules) Present() events.OutageRules {
	if s.Chosen == nil {
		return events.OutageRules{Detect: true, AfterMinutes: usualTellAfter, Public: true}
	}
	return *s.Chosen
}

// decideRules records a choice that differs.
func decideRules(s OutageRules, c commands.OutageRulesCommand, now time.Time) ([]events.OutageRulesEvent, error) {
	switch c := c.(type) {
	case commands.AdoptOutageRules:
		if s.Chosen != nil && *s.Chosen == c.Rules {
			return nil, nil
		}
		return []events.OutageRulesEvent{events.OutageRulesAdopted{OrgID: c.OrgID, Rules: c.Rules, At: now}}, nil
	}
	return nil, nil
}
