package cpe

import (
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Provisions defines the provisions of organizations: a stream for each name.
func Provisions() aggregates.Definition[Provision, commands.CpeProvisionCommand, events.CpeProvisionEvent] {
	return aggregates.Definition[Provision, commands.CpeProvisionCommand, events.CpeProvisionEvent]{
		Category: commands.CpeProvisionCategory, Missing: commands.ErrNoCpeProvision, Evolve: evolveProvision,
		Decide: decideProvision, Owner: func(s Provision) id.Organization { return s.Org }, Claims: claimsProvision,
		Close: closeProvision,
		Commands: []commands.CpeProvisionCommand{
			commands.WriteCpeProvision{}, commands.RemoveCpeProvision{}, commands.SettleCpeProvision{},
			commands.RefuseCpeProvision{},
		},
	}
}

// Provision is one script of an organization. The zero value does not exist.
type Provision struct {
	ID      id.CPEProvision
	Org     id.Organization
	Name    string
	Stored  string
	Place   int
	Tag     string
	Version int
	Script  string
	Present bool // nobody has taken it back
	Settled bool // the CPE server is as the version wants it
	Refused bool // the CPE server does not take the version
	Looped  bool // it was refused because it never comes to rest: it is not brought again
}

// Holds reports whether the CPE server has the script, or may have it.
func (s Provision) Holds() bool { return !s.ID.IsZero() && (s.Present || !s.Settled) }

// evolveProvision applies one recorded event.
func evolveProvision(s Provision, e events.CpeProvisionEvent) Provision {
	switch e := e.(type) {
	case events.CpeProvisionWritten:
		return Provision{
			ID: e.ProvisionID, Org: e.OrgID, Name: e.Name, Stored: e.StoredName, Place: e.Place, Tag: e.Tag,
			Version: e.Version, Script: e.Script, Present: true,
		}
	case events.CpeProvisionInstalled, events.CpeProvisionUninstalled:
		s.Settled, s.Refused, s.Looped = true, false, false
	case events.CpeProvisionRefused:
		s.Settled, s.Refused, s.Looped = false, true, e.Code == commands.CpeProvisionLoops
	case events.CpeProvisionRemoved:
		s.Version, s.Script, s.Present = e.Version, "", false
		s.Settled, s.Refused, s.Looped = false, false, false
	case events.CpeProvisionPeriodClosed:
		return aggregates.Opened[Provision](e.Opening)
	}
	return s
}

// closeProvision passes the whole state on.
func closeProvision(s Provision) events.CpeProvisionEvent {
	return events.CpeProvisionPeriodClosed{CpeProvisionSubject: s.subject(), Opening: aggregates.Opening(s)}
}

// subject says which provision an event is about.
func (s Provision) subject() events.CpeProvisionSubject {
	return events.CpeProvisionSubject{ProvisionID: s.ID, OrgID: s.Org}
}

// claimsProvision has the name at the CPE server, which those of another organization could spell as well, and the
// place among those of the organization. Both stay until the server does not have the script any more.
func claimsProvision(s Provision) []commands.Claim {
	if !s.Holds() {
		return nil
	}
	taken := commands.ErrCpeProvisionTaken()
	return []commands.Claim{{
		Kind: "cpe_provision", Value: s.Stored, Code: taken.Code, Message: taken.Message,
	}, {
		Kind: "cpe_provision_place", Value: s.Org.String() + " " + strconv.Itoa(s.Place), Code: "provision_place_taken",
		Message: "Another provision has this place.",
	}}
}

// decideProvision only dispatches. What is said of another version than the present one comes too late.
func decideProvision(
	s Provision, c commands.CpeProvisionCommand, now time.Time,
) ([]events.CpeProvisionEvent, error) {
	if write, writes := c.(commands.WriteCpeProvision); writes {
		return decideWriteProvision(s, write, now)
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoCpeProvision()
	}
	switch c := c.(type) {
	case commands.WriteCpeProvision: // above
	case commands.RemoveCpeProvision:
		if !s.Present {
			return nil, commands.ErrNoCpeProvision()
		}
		return recorded(events.CpeProvisionRemoved{CpeProvisionSubject: s.subject(), Version: s.Version + 1, At: now})
	case commands.SettleCpeProvision:
		switch {
		case s.Settled || c.Version != s.Version:
		case s.Looped: // whoever says so has brought it before it was refused
		case s.Present:
			return recorded(events.CpeProvisionInstalled{
				CpeProvisionSubject: s.subject(), Version: s.Version, At: now,
			})
		default: // it is taken back
			return recorded(events.CpeProvisionUninstalled{
				CpeProvisionSubject: s.subject(), Version: s.Version, At: now,
			})
		}
	case commands.RefuseCpeProvision:
		// One that the server had may be refused later: by a narrower check, or because another took its name there.
		// The server is to have nothing of one that was taken back, so it cannot refuse it.
		if s.Present && !s.Refused && c.Version == s.Version {
			return recorded(events.CpeProvisionRefused{
				CpeProvisionSubject: s.subject(), Version: s.Version, Code: c.Code, Message: c.Message, At: now,
			})
		}
	}
	return nil, nil
}

// recorded returns one event as a decision.
func recorded(e events.CpeProvisionEvent) ([]events.CpeProvisionEvent, error) {
	return []events.CpeProvisionEvent{e}, nil
}

// decideWriteProvision changes nothing when the script is the present one; one that the server has refused is tried
// again. Names of the platform's own provisions are taken.
func decideWriteProvision(
	s Provision, c commands.WriteCpeProvision, now time.Time,
) ([]events.CpeProvisionEvent, error) {
	switch {
	case strings.HasPrefix(c.StoredName, commands.OwnCpeProvisions):
		return nil, commands.ErrCpeProvisionTaken()
	case s.Present && s.Script == c.Script && !s.Refused:
		return nil, nil
	}
	place := c.Place
	if s.Holds() {
		place = s.Place
	}
	return recorded(events.CpeProvisionWritten{
		CpeProvisionSubject: events.CpeProvisionSubject{ProvisionID: c.ProvisionID, OrgID: c.OrgID},
		Name:                c.Name, StoredName: c.StoredName, Place: place, Tag: c.Tag, Version: s.Version + 1,
		Script: c.Script, At: now,
	})
}
