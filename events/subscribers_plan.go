package events

import (
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// PlanEvent is an event of "plan-<id>".
//
//sumtype:decl
type PlanEvent interface {
	Event
	planEvent()
}

// BillingMode says whether the customer pays before or after the period.
type BillingMode string

// The modes.
const (
	Prepaid  BillingMode = "prepaid"
	Postpaid BillingMode = "postpaid"
)

// Rates are speeds in kbit/s as the customer sees them. Burst is 0 when there is none.
type Rates struct {
	Down  int64 `json:"down"`
	Up    int64 `json:"up"`
	Burst int64 `json:"burst,omitempty"`
}

// PlanTerms are what a subscription takes over when it is made, and keeps when the plan changes.
type PlanTerms struct {
	Name      string          `json:"name"`
	Kind      string          `json:"kind"`  // "pppoe" or "hotspot"
	Price     money.Amount    `json:"price"` // a period; with or without tax as the organization's TaxRule says
	Mode      BillingMode     `json:"mode"`
	Period    calendar.Period `json:"period"`
	AnchorDay int             `json:"anchorDay,omitempty"` // 1 to 28: billing day of monthly plans; 0 = the anniversary
	Rates     Rates           `json:"rates"`
}

// PlanCreated records a plan at version 1.
type PlanCreated struct {
	PlanID id.Plan         `json:"planId"`
	OrgID  id.Organization `json:"orgId"`
	Code   string          `json:"code"` // unique in the organization
	Terms  PlanTerms       `json:"terms"`
}

// PlanRevised records the next version; subscriptions keep theirs.
type PlanRevised struct {
	PlanID  id.Plan   `json:"planId"`
	Version int       `json:"version"`
	Terms   PlanTerms `json:"terms"`
}

// PlanArchived records that nobody new may take the plan.
type PlanArchived struct {
	PlanID id.Plan `json:"planId"`
	Reason string  `json:"reason"`
}

func (PlanCreated) EventType() string  { return "subscribers.PlanCreated.v1" }
func (PlanRevised) EventType() string  { return "subscribers.PlanRevised.v1" }
func (PlanArchived) EventType() string { return "subscribers.PlanArchived.v1" }
func (PlanCreated) planEvent()         {}
func (PlanRevised) planEvent()         {}
func (PlanArchived) planEvent()        {}
