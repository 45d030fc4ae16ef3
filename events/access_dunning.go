package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// DunningEvent is an event of "dunning-<subscription id>": how far one subscription is on the way from a reminder to a
// write-off, and when that clock stood still.
//
//sumtype:decl
type DunningEvent interface {
	Event
	dunningEvent()
	subject() DunningSubject
}

// DunningState is how far dunning has come; its words are those of the API. The zero value counts as DunningNone.
type DunningState string

// The states, in their order.
const (
	DunningNone         DunningState = "none"
	DunningReminding    DunningState = "reminding"
	DunningWalledGarden DunningState = "walled_garden"
	DunningSuspended    DunningState = "suspended"
	DunningWrittenOff   DunningState = "written_off" // proposed; a person decides
)

// Texts lists the states in their order.
func (DunningState) Texts() []string {
	return []string{
		string(DunningNone), string(DunningReminding), string(DunningWalledGarden), string(DunningSuspended),
		string(DunningWrittenOff),
	}
}

// Rank is the place of a state in their order, 0 for none.
func (s DunningState) Rank() int {
	switch s {
	case DunningReminding:
		return 1
	case DunningWalledGarden:
		return 2
	case DunningSuspended:
		return 3
	case DunningWrittenOff:
		return 4
	case DunningNone:
	}
	return 0
}

// Cut reports whether the customer has less access than before in this state.
func (s DunningState) Cut() bool { return s.Rank() >= DunningWalledGarden.Rank() }

// Off reports whether the customer has no access at all in this state.
func (s DunningState) Off() bool { return s.Rank() >= DunningSuspended.Rank() }

// DunningSubject names the subscription that an event of dunning is about.
type DunningSubject struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
}

// subject makes every event that embeds DunningSubject name its subscription.
func (s DunningSubject) subject() DunningSubject { return s }

// SubjectOf is the subscription that an event of dunning is about.
func SubjectOf(e DunningEvent) DunningSubject { return e.subject() }

// DunningStep has the fields of every step from one state to another.
type DunningStep struct {
	Before DunningState `json:"before"` // the state that ended
	DueAt  time.Time    `json:"dueAt"`  // the due instant from which the days count
	Due    money.Amount `json:"due"`    // overdue when the step was decided
	Reason string       `json:"reason"` // a code, such as "grace_over"
	// Planned is the instant without the times in which nobody is cut; At is the real one.
	Planned time.Time `json:"planned"`
	At      time.Time `json:"at"`
	// PlanID is the subscription's plan. InvoiceIDs are the invoices that are overdue then, and of a step before DueAt
	// those that are by DueAt; the oldest due date first.
	PlanID     id.Plan      `json:"planId,omitzero"`
	InvoiceIDs []id.Invoice `json:"invoiceIds,omitempty"`
}

// DunningBegan records that a customer is reminded from now on, or has access back while another grace runs.
type DunningBegan struct {
	DunningSubject
	DunningStep
}

// DunningReminded records that a reminder is to be sent.
type DunningReminded struct {
	DunningSubject
	Day   int          `json:"day"` // relative to the due date; -3 is three days before
	DueAt time.Time    `json:"dueAt"`
	Due   money.Amount `json:"due"`
	Until time.Time    `json:"until,omitzero"` // end of its message hours; zero in old events
	At    time.Time    `json:"at"`
}

// WalledGardenEntered records that a customer reaches only the payment page from now on.
type WalledGardenEntered struct {
	DunningSubject
	DunningStep
}

// ServiceSuspended records that a customer has no access from now on.
type ServiceSuspended struct {
	DunningSubject
	DunningStep
}

// WriteOffProposed records that the debt is so old that a person should decide about writing it off. It suspends the
// service, too, where that was not suspended before.
type WriteOffProposed struct {
	DunningSubject
	DunningStep
}

// DunningEnded records that nothing is due any more: access is whole.
type DunningEnded struct {
	DunningSubject
	Before DunningState `json:"before"`
	Reason string       `json:"reason"` // a code, such as "owed_changed"
	At     time.Time    `json:"at"`
}

// HoldPlaced records that a person stopped the clock until an instant. It replaces a hold that has not ended.
type HoldPlaced struct {
	DunningSubject
	From   time.Time     `json:"from"` // of the replaced hold when there was one
	Until  time.Time     `json:"until"`
	Reason personal.Text `json:"reason"`
	At     time.Time     `json:"at"`
}

// HoldLifted records that a person ended a hold before its time.
type HoldLifted struct {
	DunningSubject
	From time.Time `json:"from"`
	At   time.Time `json:"at"`
}

// DunningClockStopped records that the customer could not pay or had no line, or that the subscription was paused, from
// an instant on.
type DunningClockStopped struct {
	DunningSubject
	Cause string    `json:"cause"` // a code; each cause stops the clock by itself
	From  time.Time `json:"from"`  // can lie before At: it was learned of later
	At    time.Time `json:"at"`
}

// DunningClockStarted records that one cause is over.
type DunningClockStarted struct {
	DunningSubject
	Cause string    `json:"cause"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	At    time.Time `json:"at"`
}

// DunningPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type DunningPeriodClosed struct {
	DunningSubject
	Opening []byte `json:"opening"` // JSON of the aggregate's state, which has no personal text
}

func (DunningBegan) EventType() string        { return "access.DunningBegan.v1" }
func (DunningReminded) EventType() string     { return "access.DunningReminded.v1" }
func (WalledGardenEntered) EventType() string { return "access.WalledGardenEntered.v1" }
func (ServiceSuspended) EventType() string    { return "access.ServiceSuspended.v1" }
func (WriteOffProposed) EventType() string    { return "access.WriteOffProposed.v1" }
func (DunningEnded) EventType() string        { return "access.DunningEnded.v1" }
func (HoldPlaced) EventType() string          { return "access.HoldPlaced.v1" }
func (HoldLifted) EventType() string          { return "access.HoldLifted.v1" }
func (DunningClockStopped) EventType() string { return "access.DunningClockStopped.v1" }
func (DunningClockStarted) EventType() string { return "access.DunningClockStarted.v1" }
func (DunningPeriodClosed) EventType() string { return "access.DunningPeriodClosed.v1" }

func (DunningBegan) dunningEvent()        {}
func (DunningReminded) dunningEvent()     {}
func (WalledGardenEntered) dunningEvent() {}
func (ServiceSuspended) dunningEvent()    {}
func (WriteOffProposed) dunningEvent()    {}
func (DunningEnded) dunningEvent()        {}
func (HoldPlaced) dunningEvent()          {}
func (HoldLifted) dunningEvent()          {}
func (DunningClockStopped) dunningEvent() {}
func (DunningClockStarted) dunningEvent() {}
func (DunningPeriodClosed) dunningEvent() {}

func (e HoldPlaced) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

func (HoldPlaced) remark() {}
