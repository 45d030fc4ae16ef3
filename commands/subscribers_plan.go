package commands

import (
	"regexp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// PlanCategory begins the names of the streams of plans.
const PlanCategory = "plan"

// PlanCommand is a command to "plan-<id>".
//
//sumtype:decl
type PlanCommand interface {
	Command
	planCommand()
}

// CreatePlan creates a plan. Fails: plan_code_taken, plan_exists.
type CreatePlan struct {
	PlanID id.Plan
	OrgID  id.Organization
	Code   string
	Terms  events.PlanTerms
}

// RevisePlan makes the next version; equal terms change nothing. Existing subscriptions keep their version. Fails:
// plan_not_found, plan_archived.
type RevisePlan struct {
	PlanID id.Plan
	Terms  events.PlanTerms
}

// ArchivePlan refuses new subscriptions to the plan. Fails: plan_not_found.
type ArchivePlan struct {
	PlanID id.Plan
	Reason string
}

func (CreatePlan) CommandName() string  { return "subscribers.CreatePlan" }
func (RevisePlan) CommandName() string  { return "subscribers.RevisePlan" }
func (ArchivePlan) CommandName() string { return "subscribers.ArchivePlan" }
func (CreatePlan) planCommand()         {}
func (RevisePlan) planCommand()         {}
func (ArchivePlan) planCommand()        {}

func (c CreatePlan) Target() Target  { return At(PlanCategory, c.PlanID) }
func (c RevisePlan) Target() Target  { return At(PlanCategory, c.PlanID) }
func (c ArchivePlan) Target() Target { return At(PlanCategory, c.PlanID) }

// codeForm is the form of a plan's code.
var codeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$`)

// maxPrice is the highest price, in major units, so that sums of many periods never overflow.
const maxPrice = 1_000_000_000

// Validate checks the form of code and terms.
func (c CreatePlan) Validate() error {
	var f failure.Faults
	f.Check(codeForm.MatchString(c.Code), "code", "must have 1 to 50 letters, digits or . _ -")
	checkTerms(&f, c.Terms)
	return f.Err()
}

// Validate checks the form of the terms.
func (c RevisePlan) Validate() error {
	var f failure.Faults
	checkTerms(&f, c.Terms)
	return f.Err()
}

// Validate checks the reason, which may be empty.
func (c ArchivePlan) Validate() error {
	if c.Reason == "" {
		return nil
	}
	return requireReason(c.Reason)
}

// ErrNoPlan is the failure for a plan that does not exist or belongs to another organization.
func ErrNoPlan() error {
	return failure.NewNotFound("plan_not_found", "There is no such plan.")
}
