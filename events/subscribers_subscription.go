package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriptionEvent is an event of "subscription-<id>".
//
//sumtype:decl
type SubscriptionEvent interface {
	Event
	subscriptionEvent()
}

// SubscriptionCreated records that a customer took a plan. It is pending until its first period starts.
type SubscriptionCreated struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
	PlanVersion    int             `json:"planVersion"`
	Terms          PlanTerms       `json:"terms"`
	Timezone       string          `json:"timezone"` // of the organization when it was made: periods follow it
	StartsAt       time.Time       `json:"startsAt"` // not before this instant
	Username       personal.Text   `json:"username"` // PPPoE or hotspot login; subject: the subscriber
	PasswordRef    id.Secret       `json:"passwordRef"`
	CreatedAt      time.Time       `json:"createdAt"`
}

// PeriodDue records that a period is to be invoiced now. InvoiceID is chosen here, so that nothing is invoiced twice.
type PeriodDue struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	PlanName       string          `json:"planName"`
	Terms          PlanTerms       `json:"terms"`
	// From and To are the period when it is known beforehand (postpaid, renewals before expiry); zero for a prepaid
	// period that starts when it is paid.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// DueAt is when the invoice falls due.
	DueAt time.Time `json:"dueAt"`
}

// SubscriptionActivated records the first period's start.
type SubscriptionActivated struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	At             time.Time       `json:"at"`
}

// SubscriptionExtended records that a period is paid for. PaidUntil is exclusive.
type SubscriptionExtended struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	From           time.Time       `json:"from"`
	PaidUntil      time.Time       `json:"paidUntil"`
}

// PeriodWithdrawn records that the payment of a period was taken back (docs/rules/subscribers.md#withdrawn-periods).
type PeriodWithdrawn struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	PaidUntil      time.Time       `json:"paidUntil"` // zero when no paid period is left
	Reason         string          `json:"reason"`
}

// PeriodCancelled records that a period that was due is not wanted any more: its invoice was voided.
type PeriodCancelled struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	At             time.Time       `json:"at"`
}

// SubscriptionPaused records that service rests and no period falls due.
type SubscriptionPaused struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         string          `json:"reason"`
	At             time.Time       `json:"at"`
}

// SubscriptionResumed ends a pause; the time lost to it is given back in PaidUntil, and postpaid in NextFrom.
type SubscriptionResumed struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         string          `json:"reason"`
	PaidUntil      time.Time       `json:"paidUntil,omitzero"`
	NextFrom       time.Time       `json:"nextFrom,omitzero"` // postpaid: start of the period to be due next
	At             time.Time       `json:"at"`
}

// SubscriptionEnded is final.
type SubscriptionEnded struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         string          `json:"reason"`
	At             time.Time       `json:"at"`
}

// SubscriptionPeriodClosed carries the state into the stream's next period (docs/rules/engine.md#closing-a-period).
type SubscriptionPeriodClosed struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Opening        []byte          `json:"opening"` // JSON of the aggregate's state, personal fields excluded
	Username       personal.Text   `json:"username"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
}

func (SubscriptionCreated) EventType() string       { return "subscribers.SubscriptionCreated.v1" }
func (PeriodDue) EventType() string                 { return "subscribers.PeriodDue.v1" }
func (SubscriptionActivated) EventType() string     { return "subscribers.SubscriptionActivated.v1" }
func (SubscriptionExtended) EventType() string      { return "subscribers.SubscriptionExtended.v1" }
func (PeriodWithdrawn) EventType() string           { return "subscribers.PeriodWithdrawn.v1" }
func (PeriodCancelled) EventType() string           { return "subscribers.PeriodCancelled.v1" }
func (SubscriptionPaused) EventType() string        { return "subscribers.SubscriptionPaused.v1" }
func (SubscriptionResumed) EventType() string       { return "subscribers.SubscriptionResumed.v1" }
func (SubscriptionEnded) EventType() string         { return "subscribers.SubscriptionEnded.v1" }
func (SubscriptionPeriodClosed) EventType() string  { return "subscribers.SubscriptionPeriodClosed.v1" }
func (SubscriptionCreated) subscriptionEvent()      {}
func (PeriodDue) subscriptionEvent()                {}
func (SubscriptionActivated) subscriptionEvent()    {}
func (SubscriptionExtended) subscriptionEvent()     {}
func (PeriodWithdrawn) subscriptionEvent()          {}
func (PeriodCancelled) subscriptionEvent()          {}
func (SubscriptionPaused) subscriptionEvent()       {}
func (SubscriptionResumed) subscriptionEvent()      {}
func (SubscriptionEnded) subscriptionEvent()        {}
func (SubscriptionPeriodClosed) subscriptionEvent() {}

// PersonalSubject is the subscriber.
func (e SubscriptionCreated) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

// PersonalSubject is the subscriber.
func (e SubscriptionPeriodClosed) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
