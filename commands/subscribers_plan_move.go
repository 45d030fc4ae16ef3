package commands

import (
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// PlanMoveCategory begins the names of the streams of moves of the customers of a plan.
const PlanMoveCategory = "plan_move"

// PlanMoveItems is how many subscriptions one job moves, so that a part that is begun again is soon over.
const PlanMoveItems = 200

// PlanMoveCommand is a command to "plan_move-<id>".
//
//sumtype:decl
type PlanMoveCommand interface {
	Command
	planMoveCommand()
}

// AskPlanMove begins a move, once. The caller has read the newest version of the plan from the log.
type AskPlanMove struct {
	MoveID id.PlanMove
	OrgID  id.Organization
	NewPlan
	Reason string
}

// RecordPlanMovePart records what became of a part, once; one without a last subscription is the end. Parts come in
// their order. Fails: batch_not_found.
type RecordPlanMovePart struct {
	MoveID  id.PlanMove
	Part    int
	Last    id.Subscription
	Moved   int
	Kept    int
	Refused []events.PlanMoveRefusal
}

// MovePlanPart is the job that moves the next subscriptions.
type MovePlanPart struct {
	OrgID  id.Organization `json:"orgId"`
	MoveID id.PlanMove     `json:"moveId"`
	Part   int             `json:"part"`
}

// Kind is the durable name of the job.
func (MovePlanPart) Kind() string { return "subscribers_move_plan_part" }

func (AskPlanMove) CommandName() string        { return "subscribers.AskPlanMove" }
func (RecordPlanMovePart) CommandName() string { return "subscribers.RecordPlanMovePart" }
func (AskPlanMove) planMoveCommand()           {}
func (RecordPlanMovePart) planMoveCommand()    {}
func (c AskPlanMove) Target() Target           { return At(PlanMoveCategory, c.MoveID) }
func (c RecordPlanMovePart) Target() Target    { return At(PlanMoveCategory, c.MoveID) }

// Validate checks form only.
func (c AskPlanMove) Validate() error {
	var f failure.Faults
	f.Check(!c.MoveID.IsZero(), "moveId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.PlanID.IsZero() && c.Version > 0, "planId", "is required")
	f.Check(strings.TrimSpace(c.Reason) != "", "reason", "is required")
	checkLines(&f, "reason", c.Reason)
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c RecordPlanMovePart) Validate() error {
	var f failure.Faults
	f.Check(c.Part >= 0 && c.Moved >= 0 && c.Kept >= 0, "part", "must not be negative")
	f.Check(len(c.Refused) <= PlanMoveItems, "refused", "must be at most %d", PlanMoveItems)
	return f.Err()
}

// ErrPlanMoveBegan is the failure for a customer for whom a moved plan cannot be taken back: a period of it is paid, or
// owed at its end.
func ErrPlanMoveBegan() error {
	return failure.NewConflict("plan_move_began", "A period under the new version is paid or has begun. Give its "+
		"difference back by a credit note, and change the plan for the next one.")
}
