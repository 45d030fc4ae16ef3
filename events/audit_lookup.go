package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// LookupEvent is an event of "lookup-<id>": a question of which the audit log tells, because its answer has more than
// the pages show every day.
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

// HistoryRead records that somebody looked at the past of one aggregate. It is recorded before the answer.
type HistoryRead struct {
	LookupID id.Lookup       `json:"lookupId"`
	OrgID    id.Organization `json:"orgId"`    // whose aggregate it is; null: the platform's
	Category string          `json:"category"` // of the aggregate, such as "account"
	TargetID id.Any          `json:"targetId"`
	Look     HistoryLook     `json:"look"`
	From     time.Time       `json:"from,omitzero"`  // of a difference, UTC
	Until    time.Time       `json:"until,omitzero"` // the instant that was asked for; zero = the present
	At       time.Time       `json:"at"`
}

// HistoryLook says which side of the past somebody saw.
type HistoryLook string

// The looks at the past of an aggregate.
const (
	LookEvents      HistoryLook = "events"
	LookState       HistoryLook = "state"
	LookDifference  HistoryLook = "difference"
	LookExplanation HistoryLook = "explanation" // why it is as it is, at the command line
	// LookPersonalData is the download of all that is kept of a customer.
	LookPersonalData HistoryLook = "personal_data"
	// LookCallback is the content of a provider's message that led to nothing, and LookCallbackRetry its next try.
	LookCallback      HistoryLook = "callback"
	LookCallbackRetry HistoryLook = "callback_retry"
)

func (HistoryRead) EventType() string { return "audit.HistoryRead.v1" }
func (HistoryRead) lookupEvent()      {}
