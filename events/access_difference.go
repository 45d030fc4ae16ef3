package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// DifferenceEvent is an event of "accessdifference-<id>": something that one router shows and that nobody is entitled
// to, or the other way round. The same difference that comes again later is the same stream.
//
//sumtype:decl
type DifferenceEvent interface {
	Event
	differenceEvent()
	difference() AccessDifference
}

// AccessDifferenceKind names a kind of difference (docs/rules/access-auditor.md#kinds).
type AccessDifferenceKind string

// The kinds.
const (
	PaidButOffline  AccessDifferenceKind = "paid_but_offline"
	PaidButWalledIn AccessDifferenceKind = "paid_but_walled_in"
	UnpaidButOnline AccessDifferenceKind = "unpaid_but_online"
	WrongRate       AccessDifferenceKind = "wrong_rate"
	UnknownSession  AccessDifferenceKind = "unknown_session"
	StaleSession    AccessDifferenceKind = "stale_session"
	LocalBypass     AccessDifferenceKind = "local_bypass"
	PortBelowPlan   AccessDifferenceKind = "port_below_plan"
)

// Texts lists every kind, as the API describes them.
func (AccessDifferenceKind) Texts() []string {
	return []string{
		string(PaidButOffline), string(PaidButWalledIn), string(UnpaidButOnline), string(WrongRate),
		string(UnknownSession), string(StaleSession), string(LocalBypass), string(PortBelowPlan),
	}
}

// SessionKinds lists the kinds that a session can have which RADIUS let in and a router shows, reported or not. Which
// of them it has changes with what its customer is entitled to. LocalBypass is none of them: the router itself lets
// that customer in, whatever he is entitled to.
func SessionKinds() []AccessDifferenceKind {
	return []AccessDifferenceKind{UnknownSession, UnpaidButOnline, PaidButWalledIn, WrongRate}
}

// AccessDifference names a difference and whom it is about.
type AccessDifference struct {
	DifferenceID   id.Difference        `json:"differenceId"`
	OrgID          id.Organization      `json:"orgId"`
	DeviceID       id.Device            `json:"deviceId"`       // the router
	SubscriberID   id.Subscriber        `json:"subscriberId"`   // null = not known, or a voucher
	SubscriptionID id.Subscription      `json:"subscriptionId"` // null likewise
	Kind           AccessDifferenceKind `json:"kind"`
}

// difference makes every event that embeds AccessDifference name its difference.
func (d AccessDifference) difference() AccessDifference { return d }

// DifferenceOf is the difference that an event is about.
func DifferenceOf(e DifferenceEvent) AccessDifference { return e.difference() }

// AccessDifferenceOpened records that a difference was seen twice in a row. While it is open, another one of these
// tells that it looks different by now.
type AccessDifferenceOpened struct {
	AccessDifference
	Expected string        `json:"expected"`
	Actual   personal.Text `json:"actual"`           // can name username, MAC and address
	Walled   bool          `json:"walled,omitempty"` // the router has the session's address in the walled garden
	Since    time.Time     `json:"since"`            // when it was opened first
	At       time.Time     `json:"at"`
}

// AccessDifferenceClosed records that the router shows a difference no more.
type AccessDifferenceClosed struct {
	AccessDifference
	At time.Time `json:"at"`
}

// AccessRepairAsked records that a person wants a difference repaired, before any router is asked.
type AccessRepairAsked struct {
	AccessDifference
	// Steps are the writes to the router that follow at once; nil = enforcement does it, or nothing is written.
	Steps []RouterStep `json:"steps,omitempty"`
	By    Actor        `json:"by"`
	// CorrelationID is that of the request, by which the audit log finds its address; "" in the first events.
	CorrelationID string    `json:"correlationId,omitempty"`
	At            time.Time `json:"at"`
}

// AccessRepairWritten records that a router has one of the writes of a repair.
type AccessRepairWritten struct {
	AccessDifference
	Step  RouterStep `json:"step"`
	Found bool       `json:"found"` // it was announced, and is found done: its answer was lost, or somebody else did it
	By    Actor      `json:"by"`    // who asked for it
	// CorrelationID is that of the request in which it was asked for, whoever records the write; "" in the first
	// events.
	CorrelationID string    `json:"correlationId,omitempty"`
	At            time.Time `json:"at"`
}

// AccessDifferencePeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type AccessDifferencePeriodClosed struct {
	AccessDifference
	Opening []byte `json:"opening"` // JSON of the aggregate's state, without its personal text
}

func (AccessDifferenceOpened) EventType() string { return "access.AccessDifferenceOpened.v1" }
func (AccessDifferenceClosed) EventType() string { return "access.AccessDifferenceClosed.v1" }
func (AccessRepairAsked) EventType() string      { return "access.AccessRepairAsked.v1" }
func (AccessRepairWritten) EventType() string    { return "access.AccessRepairWritten.v1" }
func (AccessDifferencePeriodClosed) EventType() string {
	return "access.AccessDifferencePeriodClosed.v1"
}

func (AccessDifferenceOpened) differenceEvent()       {}
func (AccessDifferenceClosed) differenceEvent()       {}
func (AccessRepairAsked) differenceEvent()            {}
func (AccessRepairWritten) differenceEvent()          {}
func (AccessDifferencePeriodClosed) differenceEvent() {}

// PersonalSubject is the customer, or the difference itself when nobody is known.
func (e AccessDifferenceOpened) PersonalSubject() uuid.UUID {
	if e.SubscriberID.IsZero() {
		return e.DifferenceID.UUID()
	}
	return e.SubscriberID.UUID()
}
