// Package events has every fact that the system records, flat, one file per aggregate. Events hold results, never
// inputs to a calculation: who reads one needs neither our rules nor our clock. Their names are constants for ever.
package events

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Event is one recorded fact.
type Event interface {
	// EventType is the stable name with its version: "billing.InvoiceIssued.v1".
	EventType() string
}

// AboutPerson is an event with personal.Text fields: they are sealed with the key of this subject.
type AboutPerson interface {
	Event
	PersonalSubject() uuid.UUID
}

// Envelope is an event as it stands in the log.
type Envelope struct {
	ID       id.Event
	Stream   string // "<category>-<uuid>"
	Revision uint64 // from 0 within the stream
	Position uint64 // commit position in $all; the only order there is
	Type     string // name as read from the log, after upcasting
	Event    Event
	Meta     Metadata
}

// Category is the kind of aggregate that the event is of: "account". Which aggregate it is stands in the metadata: the
// rest of the stream's name is its id in the first period only.
func (e Envelope) Category() string {
	category, _, _ := strings.Cut(e.Stream, "-")
	return category
}

// Metadata is the who, when, from where and why of an event. Times are UTC.
type Metadata struct {
	EventID   id.Event   `json:"eventId"`
	CommandID id.Command `json:"commandId"`
	// AggregateID is the id of the aggregate that the event is of, the same in all periods of its stream. For a claim
	// it is the claim's own key; who has the value stands in the payload. Events that were recorded before this field
	// existed are given it when they are read. It is null only where nothing that was recorded tells it.
	AggregateID   id.Any          `json:"aggregateId"`
	Action        string          `json:"action"` // name of the command
	OrgID         id.Organization `json:"orgId"`  // null: the platform's own
	Actor         Actor           `json:"actor"`
	IP            personal.Text   `json:"ip,omitzero"` // sealed with the key of the actor, see IPSubject
	RequestID     string          `json:"requestId,omitempty"`
	CorrelationID string          `json:"$correlationId,omitempty"`
	CausationID   string          `json:"$causationId,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	At            time.Time       `json:"at"`
	// RecentCommands is on the closing event of a period only: the command ids of its last events, so that a command
	// repeated across the boundary still acts once (docs/rules/engine.md#command-acts-once,
	// docs/rules/engine.md#closing-a-period).
	RecentCommands []id.Command `json:"recentCommands,omitempty"`
}

// ActorKind says what acted.
type ActorKind string

// The kinds of actor.
const (
	ActorUser     ActorKind = "user"     // somebody signed in; ID is the user's
	ActorAPIKey   ActorKind = "api_key"  // ID is the key's
	ActorProcess  ActorKind = "process"  // a process manager or job; ID is its name
	ActorProvider ActorKind = "provider" // the payment provider, verified; ID is its name
	ActorOperator ActorKind = "operator" // the command line
	ActorPublic   ActorKind = "public"   // nobody signed in
)

// Actor is who or what acted. It carries no name: that is personal and looked up when shown.
type Actor struct {
	Kind ActorKind `json:"kind"`
	ID   string    `json:"id,omitempty"`
	Role string    `json:"role,omitempty"` // role in the organization at that moment
}

// IPSubject is whose key seals the address: the user's when there is one, else one for all addresses of that kind of
// actor.
func (m Metadata) IPSubject() uuid.UUID {
	if m.Actor.Kind == ActorUser {
		if u, err := id.Parse[id.User](m.Actor.ID); err == nil {
			return u.UUID()
		}
	}
	return id.Derive[id.Any]("ip-subject", string(m.Actor.Kind)).UUID()
}
