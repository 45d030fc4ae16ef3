package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// SubscriptionCompensated records what a subscription was given for a time in which its customer had no service. It is
// either time, then Days is set and PaidUntil lies later, or money, then Credits says on which invoices. Source:
// docs/rules/outages.md#compensation.
type SubscriptionCompensated struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	CompensationID id.Compensation `json:"compensationId"`
	From           time.Time       `json:"from"` // [From, To) is compensated, and never again
	To             time.Time       `json:"to"`
	FirstDay       calendar.Date   `json:"firstDay"` // of the same time, in the zone of the subscription
	LastDay        calendar.Date   `json:"lastDay"`
	// Days is by how many local days the paid period ends later in which At lies, or GivenAt when the subscription is
	// paused; 0 = money is given instead.
	Days      int           `json:"days,omitempty"`
	GivenAt   time.Time     `json:"givenAt,omitzero"`
	PaidUntil time.Time     `json:"paidUntil,omitzero"` // of the subscription afterwards; zero without a paid period
	Moved     []PeriodPlace `json:"moved,omitempty"`    // periods that lie elsewhere since this event
	Credits   []DaysCredit  `json:"credits,omitempty"`
	At        time.Time     `json:"at"`
}

// CompensationNote is the id of the credit note by which a compensation gives a subscription money on an invoice.
func CompensationNote(of id.Compensation, invoice id.Invoice, to id.Subscription) id.Receipt {
	return id.Derive[id.Receipt]("compensation", of.String(), invoice.String(), to.String())
}

// CompensationTakenBack records that a compensation of a subscription was undone. Days that it gave are taken off the
// paid time again; money that it gave is charged by an invoice of its own. Source: docs/rules/billing.md#undo.
type CompensationTakenBack struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	CompensationID id.Compensation `json:"compensationId"`
	From           time.Time       `json:"from"` // [From, To) can be compensated again
	To             time.Time       `json:"to"`
	Days           int             `json:"days,omitempty"`     // taken off the paid time; 0 = money was given
	GivenAt        time.Time       `json:"givenAt,omitzero"`   // that of the compensation
	PaidUntil      time.Time       `json:"paidUntil,omitzero"` // afterwards; zero without a paid period
	Moved          []PeriodPlace   `json:"moved,omitempty"`    // periods that lie elsewhere since this event
	At             time.Time       `json:"at"`
}

func (CompensationTakenBack) EventType() string  { return "subscribers.CompensationTakenBack.v1" }
func (CompensationTakenBack) subscriptionEvent() {}

func (SubscriptionCompensated) EventType() string  { return "subscribers.SubscriptionCompensated.v1" }
func (SubscriptionCompensated) subscriptionEvent() {}
