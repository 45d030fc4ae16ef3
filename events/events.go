// Package events has every event that the system records, one file for each aggregate. Events hold results, never
// inputs to a calculation, so that a reader needs neither the rules nor the clock of the platform. Their names never
// change.
package events

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Event is one recorded fact.
type Event interface {
	// EventType is the stable name with its version, such as "billing.InvoiceIssued.v1".
	EventType() string
}

// AboutPerson is an event with personal.Text fields. The codec seals them with the key of this subject.
type AboutPerson interface {
	Event
	PersonalSubject() uuid.UUID
}

// Remark is an event whose personal fields are remarks beside a fact that stands without them, such as the reason of a
// payment's reversal. It is recorded also after the person was forgotten, then with these fields empty.
type Remark interface {
	AboutPerson
	remark()
}

// Envelope is an event with its place in the log and its metadata.
type Envelope struct {
	ID       id.Event
	Stream   string // "<category>-<uuid>"
	Revision uint64 // from 0 within the stream
	Position uint64 // commit position in $all, the only global order
	Type     string // present name, after upcasting
	Event    Event
	Meta     Metadata
}

// Category is the kind of aggregate of the event, such as "account". The id of the aggregate is in the metadata; the
// name of the stream shows it in the first period only.
func (e Envelope) Category() string {
	category, _, _ := strings.Cut(e.Stream, "-")
	return category
}

// Metadata says who caused an event, when, from where and why. Times are UTC.
type Metadata struct {
	EventID   id.Event   `json:"eventId"`
	CommandID id.Command `json:"commandId"`
	// AggregateID is the id of the aggregate of the event, the same in all periods of its stream. For a claim it is the
	// claim's key; the owner of the value is in the payload. Events that were recorded before this field existed get it
	// when they are read. It is null only when neither stream nor payload has the id.
	AggregateID   id.Any          `json:"aggregateId"`
	Action        string          `json:"action"` // name of the command
	OrgID         id.Organization `json:"orgId"`  // null: no organization, an event of the platform itself
	Actor         Actor           `json:"actor"`
	IP            personal.Text   `json:"ip,omitzero"` // sealed with the key of IPSubject
	RequestID     string          `json:"requestId,omitempty"`
	CorrelationID string          `json:"$correlationId,omitempty"`
	CausationID   string          `json:"$causationId,omitempty"`
	// Reason is a code or a text of ours, when a program acted; what a person wrote is in Said.
	Reason string `json:"reason,omitempty"`
	// Said has the words that the person who acted gave as the reason. It is sealed with the key of SaidOf.
	Said personal.Text `json:"said,omitzero"`
	// SaidOf is the person whom Said is about: the subject of the event's personal fields, else the actor.
	SaidOf id.Any    `json:"saidOf,omitzero"`
	At     time.Time `json:"at"`
	// RecentCommands is on the closing event of a period only. It has the command ids of the latest events, so that a
	// command that is repeated after the closing still acts once (docs/rules/engine.md#command-acts-once,
	// docs/rules/engine.md#closing-a-period).
	RecentCommands []id.Command `json:"recentCommands,omitempty"`
}

// ActorKind is the kind of person or program that acted.
type ActorKind string

// The kinds of actor, and the meaning of Actor.ID for each.
const (
	ActorUser     ActorKind = "user"     // a signed-in person; ID is the user's
	ActorAPIKey   ActorKind = "api_key"  // ID is the API key's
	ActorProcess  ActorKind = "process"  // a process manager or job; ID is its name
	ActorProvider ActorKind = "provider" // the payment provider, verified; ID is its name
	ActorOperator ActorKind = "operator" // a person at the command line of the server
	ActorPublic   ActorKind = "public"   // a caller who is not signed in
)

// Actor is the person or program that acted. It has no name, because names are personal; they are looked up when shown.
type Actor struct {
	Kind ActorKind `json:"kind"`
	ID   string    `json:"id,omitempty"`
	Role string    `json:"role,omitempty"` // role in the organization at that time
}

// Answers reports whether the actor is somebody who answers for an act, and not a program or the payment provider.
func (a Actor) Answers() bool {
	return a.Kind == ActorUser || a.Kind == ActorAPIKey || a.Kind == ActorOperator
}

// Why is the reason, whoever gave it; "" without one, and for one that was erased with the person whom it was about.
func (m Metadata) Why() string { return cmp.Or(m.Said.Reveal(), m.Reason) }

// IPSubject is the subject whose key seals the IP address: the user, or one common subject for each other kind of
// actor.
func (m Metadata) IPSubject() uuid.UUID {
	if m.Actor.Kind == ActorUser {
		if u, err := id.Parse[id.User](m.Actor.ID); err == nil {
			return u.UUID()
		}
	}
	return id.Derive[id.Any]("ip-subject", string(m.Actor.Kind)).UUID()
}
