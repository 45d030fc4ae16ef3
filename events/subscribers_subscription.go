package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriptionEvent is an event of "subscription-<id>", a plan of one subscriber.
//
//sumtype:decl
type SubscriptionEvent interface {
	Event
	subscriptionEvent()
}

// SubscriptionCreated records that a customer took a plan. The subscription is pending until its first period starts.
type SubscriptionCreated struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
	PlanVersion    int             `json:"planVersion"`
	Terms          PlanTerms       `json:"terms"`
	Timezone       string          `json:"timezone"` // of the organization at that time; the periods follow it
	StartsAt       time.Time       `json:"startsAt"` // the first period does not start before this instant
	Username       personal.Text   `json:"username"` // PPPoE or hotspot login; subject: the subscriber
	PasswordRef    id.Secret       `json:"passwordRef"`
	CreatedAt      time.Time       `json:"createdAt"`
}

// PeriodDue records that a period must be invoiced now. It chooses InvoiceID, so that a period is never invoiced twice.
type PeriodDue struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	PlanName       string          `json:"planName"`
	Terms          PlanTerms       `json:"terms"`
	// From and To are the period when it is known in advance (postpaid); zero for a prepaid period, which starts when
	// it is paid.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// DueAt is the instant at which the invoice is due.
	DueAt time.Time `json:"dueAt"`
}

// SubscriptionActivated records the start of the first period. At can be in the future.
type SubscriptionActivated struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	At             time.Time       `json:"at"`
}

// SubscriptionExtended records that a period is paid. PaidUntil is exclusive.
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

// PeriodCancelled records that a due period is dropped, because its invoice was voided or cancelled.
type PeriodCancelled struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	At             time.Time       `json:"at"`
}

// SubscriptionPaused records that service and billing stop until the subscription is resumed.
type SubscriptionPaused struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         string          `json:"reason"`
	At             time.Time       `json:"at"`
}

// SubscriptionResumed ends a pause and adds its length to PaidUntil and, for postpaid, to NextFrom.
type SubscriptionResumed struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         string          `json:"reason"`
	PaidUntil      time.Time       `json:"paidUntil,omitzero"`
	NextFrom       time.Time       `json:"nextFrom,omitzero"` // postpaid: start of the next due period
	At             time.Time       `json:"at"`
}

// SubscriptionEnded records the end of a subscription, which never starts again.
type SubscriptionEnded struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         string          `json:"reason"`
	At             time.Time       `json:"at"`
}

// SubscriptionPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
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

func (e SubscriptionCreated) PersonalSubject() uuid.UUID      { return e.SubscriberID.UUID() }
func (e SubscriptionPeriodClosed) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
