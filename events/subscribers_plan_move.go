package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// BatchPlanMove is the kind of batch that moves the customers of a plan to its newest version.
const BatchPlanMove = "plan_move"

// PlanMoveEvent is an event of "plan_move-<id>": how the customers of a plan are moved to its newest version. What it
// means for each of them is an event of their subscription. Source: docs/rules/subscribers.md#plan-moves.
//
//sumtype:decl
type PlanMoveEvent interface {
	Event
	planMoveEvent()
}

// PlanMoveAsked records that a person wants all customers of a plan to have a version of it from their next period on.
type PlanMoveAsked struct {
	MoveID      id.PlanMove     `json:"moveId"`
	OrgID       id.Organization `json:"orgId"`
	PlanID      id.Plan         `json:"planId"`
	PlanName    string          `json:"planName"`
	PlanVersion int             `json:"planVersion"`
	Terms       PlanTerms       `json:"terms"`
	Reason      string          `json:"reason"`
	At          time.Time       `json:"at"`
}

// PlanMovePartDone records that a part of the subscriptions was asked. The next part begins after the last of them.
type PlanMovePartDone struct {
	MoveID  id.PlanMove       `json:"moveId"`
	OrgID   id.Organization   `json:"orgId"`
	Part    int               `json:"part"` // from 0
	Last    id.Subscription   `json:"last"`
	Moved   int               `json:"moved"`
	Kept    int               `json:"kept"` // had the version already
	Refused []PlanMoveRefusal `json:"refused,omitempty"`
	At      time.Time         `json:"at"`
}

// PlanMoveRefusal says why a subscription stays as it is.
type PlanMoveRefusal struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Code           string          `json:"code"` // of the failure
}

// PlanMoveFinished records that no subscription is left.
type PlanMoveFinished struct {
	MoveID  id.PlanMove     `json:"moveId"`
	OrgID   id.Organization `json:"orgId"`
	Moved   int             `json:"moved"`
	Kept    int             `json:"kept"`
	Refused int             `json:"refused"`
	At      time.Time       `json:"at"`
}

func (PlanMoveAsked) EventType() string    { return "subscribers.PlanMoveAsked.v1" }
func (PlanMovePartDone) EventType() string { return "subscribers.PlanMovePartDone.v1" }
func (PlanMoveFinished) EventType() string { return "subscribers.PlanMoveFinished.v1" }
func (PlanMoveAsked) planMoveEvent()       {}
func (PlanMovePartDone) planMoveEvent()    {}
func (PlanMoveFinished) planMoveEvent()    {}
