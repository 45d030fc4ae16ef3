package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// LookupEvent is an event of "lookup-<id>": a question who had an address.
//
//sumtype:decl
type LookupEvent interface {
	Event
	lookupEvent()
}

// AddressLookedUp records that somebody asked which customer had an address at a time. It is recorded before the
// answer, once for each customer who is in it.
type AddressLookedUp struct {
	LookupID     id.Lookup       `json:"lookupId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"` // who had it; null: nobody that the organization knows
	Address      personal.Text   `json:"address"`      // IPv4 or IPv6
	HadAt        time.Time       `json:"hadAt"`        // the instant of the question, UTC
	At           time.Time       `json:"at"`
}

func (AddressLookedUp) EventType() string { return "audit.AddressLookedUp.v1" }
func (AddressLookedUp) lookupEvent()      {}

// PersonalSubject is the customer who had the address, or the question itself when nobody is known.
func (e AddressLookedUp) PersonalSubject() uuid.UUID {
	if e.SubscriberID.IsZero() {
		return e.LookupID.UUID()
	}
	return e.SubscriberID.UUID()
}
