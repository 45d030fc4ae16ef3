package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// CompensationEvent is an event of "compensation-<compensation id>": what customers are given for a time without
// service. What each of them got is an event of the subscription.
//
//sumtype:decl
type CompensationEvent interface {
	Event
	compensationEvent()
}

// CompensationGive says what each subscription gets: exactly one field is set. Source:
// docs/rules/outages.md#compensation.
type CompensationGive struct {
	Days         int          `json:"days,omitempty"`
	Money        money.Amount `json:"money,omitzero"`
	Proportional bool         `json:"proportional,omitempty"` // a day for each 24 hours that began
}

// CompensationPreviewed records what a person wants to give, and to how many. Nothing is given yet.
type CompensationPreviewed struct {
	CompensationID id.Compensation  `json:"compensationId"`
	OrgID          id.Organization  `json:"orgId"`
	Place          NetworkPlace     `json:"place"`
	OutageID       id.Outage        `json:"outageId"` // null = it is about a place that a person chose
	From           time.Time        `json:"from"`
	To             time.Time        `json:"to"`
	Give           CompensationGive `json:"give"`
	Reason         string           `json:"reason"` // of the organization, not of one customer
	Subscriptions  int              `json:"subscriptions"`
	Parts          int              `json:"parts"` // the events CompensationListed that follow
	At             time.Time        `json:"at"`
}

// CompensationListed records a part of the subscriptions of a preview.
type CompensationListed struct {
	CompensationID id.Compensation    `json:"compensationId"`
	OrgID          id.Organization    `json:"orgId"`
	Part           int                `json:"part"` // from 0
	Items          []CompensationItem `json:"items"`
}

// CompensationItem is one subscription, with what it gets: days, or an amount, or nothing with the code that says why.
type CompensationItem struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	// From and To are the time without service of this one; zero = that of the compensation.
	From   time.Time    `json:"from,omitzero"`
	To     time.Time    `json:"to,omitzero"`
	Days   int          `json:"days,omitempty"`
	Amount money.Amount `json:"amount,omitzero"`
	Code   string       `json:"code,omitempty"` // a failure code; "" = it gets something
}

// CompensationApplied records that a person wants the previewed compensation to be given.
type CompensationApplied struct {
	CompensationID id.Compensation `json:"compensationId"`
	OrgID          id.Organization `json:"orgId"`
	Parts          int             `json:"parts"`
	At             time.Time       `json:"at"`
}

// CompensationPartDone records that a part was given, and which of its subscriptions refused it.
type CompensationPartDone struct {
	CompensationID id.Compensation       `json:"compensationId"`
	OrgID          id.Organization       `json:"orgId"`
	Part           int                   `json:"part"`
	Given          int                   `json:"given"`
	Refused        []CompensationRefusal `json:"refused,omitempty"`
	At             time.Time             `json:"at"`
}

// CompensationRefusal is a subscription that got nothing, and why.
type CompensationRefusal struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Code           string          `json:"code"`
}

// CompensationFinished records that all parts were given.
type CompensationFinished struct {
	CompensationID id.Compensation `json:"compensationId"`
	OrgID          id.Organization `json:"orgId"`
	Given          int             `json:"given"`
	Refused        int             `json:"refused"`
	At             time.Time       `json:"at"`
}

func (CompensationPreviewed) EventType() string { return "outages.CompensationPreviewed.v1" }
func (CompensationListed) EventType() string    { return "outages.CompensationListed.v1" }
func (CompensationApplied) EventType() string   { return "outages.CompensationApplied.v1" }
func (CompensationPartDone) EventType() string  { return "outages.CompensationPartDone.v1" }
func (CompensationFinished) EventType() string  { return "outages.CompensationFinished.v1" }

func (CompensationPreviewed) compensationEvent() {}
func (CompensationListed) compensationEvent()    {}
func (CompensationApplied) compensationEvent()   {}
func (CompensationPartDone) compensationEvent()  {}
func (CompensationFinished) compensationEvent()  {}
