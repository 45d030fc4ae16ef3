package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// SubscriptionPlanChanged records that the service is that of another plan, or of another version of its plan, from At
// on. Periods that were invoiced before keep their invoices; Lines has what the change costs for their days.
type SubscriptionPlanChanged struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
	PlanVersion    int             `json:"planVersion"`
	Terms          PlanTerms       `json:"terms"`
	// Before is the plan that the subscription had.
	Before PlanRef `json:"before"`
	// InvoiceID is that of the invoice over Lines; absent when the change costs nothing.
	InvoiceID id.Invoice       `json:"invoiceId,omitzero"`
	Lines     []PlanChangeLine `json:"lines,omitempty"`
	DueAt     time.Time        `json:"dueAt,omitzero"` // of the invoice
	// MoveID is the move of many customers that it is a part of, and UndoneMove the one that it takes back.
	MoveID     id.PlanMove `json:"moveId,omitzero"`
	UndoneMove id.PlanMove `json:"undoneMove,omitzero"`
	At         time.Time   `json:"at"`
}

// PlanRef names a version of a plan.
type PlanRef struct {
	PlanID  id.Plan `json:"planId"`
	Version int     `json:"version"`
	Name    string  `json:"name"`
}

// PlanChangeLine is the price of some days of an invoiced period under one of the two plans: negative under the one
// that is left. Each line is rounded half up by itself. The last one may be a discount on the others, by percent.
type PlanChangeLine struct {
	Ordinal  int           `json:"ordinal,omitempty"` // of the period; 0 = it was paid in another system, or long ago
	PlanName string        `json:"planName"`
	From     calendar.Date `json:"from"` // both days are included
	To       calendar.Date `json:"to"`
	Days     int           `json:"days"`
	Of       int           `json:"of"` // days of a whole period; fewer than Days where years were paid
	Amount   money.Amount  `json:"amount"`
	Percent  int64         `json:"percent,omitempty"` // in basis points; the line has no plan and no days then
}

// PlanChangePlanned records that the periods from an ordinal on are of another plan. Service stays as it is until the
// time before them is over. It replaces a change that was planned before.
type PlanChangePlanned struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
	PlanVersion    int             `json:"planVersion"`
	Terms          PlanTerms       `json:"terms"`
	FromOrdinal    int             `json:"fromOrdinal"`
	MoveID         id.PlanMove     `json:"moveId,omitzero"` // the move of many customers that it is a part of
	// EffectiveAt is when service changes, as far as it is known: a PlanChangeMoved tells another instant.
	EffectiveAt time.Time `json:"effectiveAt"`
	At          time.Time `json:"at"`
}

// PlanChangeMoved records that the time before a planned change ends at another instant than was told before.
type PlanChangeMoved struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	EffectiveAt    time.Time       `json:"effectiveAt"`
	At             time.Time       `json:"at"`
}

// PlanChangeDropped records that a planned change will not come: periods are of the present plan again.
type PlanChangeDropped struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"` // the present plan
	PlanVersion    int             `json:"planVersion"`
	Terms          PlanTerms       `json:"terms"`
	MoveID         id.PlanMove     `json:"moveId,omitzero"` // of the change that was dropped
	At             time.Time       `json:"at"`
}

func (SubscriptionPlanChanged) EventType() string  { return "subscribers.SubscriptionPlanChanged.v1" }
func (PlanChangePlanned) EventType() string        { return "subscribers.PlanChangePlanned.v1" }
func (PlanChangeMoved) EventType() string          { return "subscribers.PlanChangeMoved.v1" }
func (PlanChangeDropped) EventType() string        { return "subscribers.PlanChangeDropped.v1" }
func (SubscriptionPlanChanged) subscriptionEvent() {}
func (PlanChangePlanned) subscriptionEvent()       {}
func (PlanChangeMoved) subscriptionEvent()         {}
func (PlanChangeDropped) subscriptionEvent()       {}
