package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Plans defines what organizations sell: one stream for each plan.
func Plans() aggregates.Definition[Plan, commands.PlanCommand, events.PlanEvent] {
	return aggregates.Definition[Plan, commands.PlanCommand, events.PlanEvent]{
		Category: commands.PlanCategory, Missing: commands.ErrNoPlan, Evolve: evolvePlan, Decide: decidePlan,
		Owner: ownerPlan, Claims: claimsPlan,
		Commands: []commands.PlanCommand{commands.CreatePlan{}, commands.RevisePlan{}, commands.ArchivePlan{}},
	}
}

// Plan is a product of an organization. The zero value is "does not exist".
type Plan struct {
	ID       id.Plan
	Owner    id.Organization
	Code     string
	Version  int // 1 for the first; subscriptions keep the version they were made with
	Terms    events.PlanTerms
	Archived bool
}

// evolvePlan applies one recorded event.
func evolvePlan(s Plan, e events.PlanEvent) Plan {
	switch e := e.(type) {
	case events.PlanCreated:
		return Plan{ID: e.PlanID, Owner: e.OrgID, Code: e.Code, Version: 1, Terms: e.Terms}
	case events.PlanRevised:
		s.Version, s.Terms = e.Version, e.Terms
	case events.PlanArchived:
		s.Archived = true
	}
	return s
}

// ownerPlan is the organization that sells the plan.
func ownerPlan(s Plan) id.Organization { return s.Owner }

// claimsPlan claims the code; it is unique within the organization, also after the plan is archived.
func claimsPlan(s Plan) []commands.Claim {
	if s.ID.IsZero() {
		return nil
	}
	return []commands.Claim{
		{
			Kind: "plan_code", Value: s.Owner.String() + "/" + s.Code, Code: "plan_code_taken",
			Message: "A plan with this code exists already. Choose another code.",
		},
	}
}

// decidePlan dispatches; equal terms and a repeated archiving give no event.
func decidePlan(s Plan, c commands.PlanCommand, _ time.Time) ([]events.PlanEvent, error) {
	if create, ok := c.(commands.CreatePlan); ok {
		if !s.ID.IsZero() {
			return nil, failure.NewConflict("plan_exists", "This plan exists already.")
		}
		return []events.PlanEvent{events.PlanCreated{PlanID: create.PlanID, OrgID: create.OrgID, Code: create.Code,
			Terms: create.Terms}}, nil
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoPlan()
	}
	switch c := c.(type) {
	case commands.CreatePlan:
	case commands.RevisePlan:
		switch {
		case s.Archived:
			return nil, failure.NewConflict("plan_archived", "This plan is archived.")
		case c.Terms.Equal(s.Terms):
			return nil, nil
		}
		return []events.PlanEvent{events.PlanRevised{PlanID: s.ID, Version: s.Version + 1, Terms: c.Terms}}, nil
	case commands.ArchivePlan:
		if s.Archived {
			return nil, nil
		}
		return []events.PlanEvent{events.PlanArchived{PlanID: s.ID, Reason: c.Reason}}, nil
	}
	return nil, nil
}
