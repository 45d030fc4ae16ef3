package audit

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Lookups defines the records of questions who had an address. The audit log shows them; no rule depends on them.
func Lookups() aggregates.Definition[Lookup, commands.LookupCommand, events.LookupEvent] {
	return aggregates.Definition[Lookup, commands.LookupCommand, events.LookupEvent]{
		Category: commands.LookupCategory, Missing: commands.ErrNotFound, Evolve: evolveLookup, Decide: decideLookup,
		Owner:    ownerLookup,
		Commands: []commands.LookupCommand{commands.LookUpAddress{}},
	}
}

// Lookup is one question. The zero value is "does not exist".
type Lookup struct {
	ID    id.Lookup
	OrgID id.Organization
}

// evolveLookup copies only what a decision needs; address and instant stay in the event.
func evolveLookup(s Lookup, e events.LookupEvent) Lookup {
	switch e := e.(type) {
	case events.AddressLookedUp:
		return Lookup{ID: e.LookupID, OrgID: e.OrgID}
	}
	return s
}

// ownerLookup is the organization that was asked.
func ownerLookup(s Lookup) id.Organization { return s.OrgID }

// decideLookup records a question once; a repeated command gives no event.
func decideLookup(s Lookup, c commands.LookupCommand, now time.Time) ([]events.LookupEvent, error) {
	switch c := c.(type) {
	case commands.LookUpAddress:
		if !s.ID.IsZero() {
			return nil, nil
		}
		return []events.LookupEvent{
			events.AddressLookedUp{LookupID: c.LookupID, OrgID: c.OrgID, SubscriberID: c.SubscriberID,
				Address: c.Address, HadAt: c.HadAt.UTC(), At: now},
		}, nil
	}
	return nil, nil
}
