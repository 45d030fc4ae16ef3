package identitycases

import (
	"cmp"
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// ApprovalLimits says how much one member of the staff may give away on a day (docs/rules/approvals.md#the-limit). Safe
// for concurrent use.
type ApprovalLimits struct {
	Bus *bus.Bus
}

// LimitInput is the limit that somebody wants.
type LimitInput struct {
	Limit  *usecases.Figure // in the organization's currency; nil = nothing needs a second person
	Before money.Amount     // of what a second administrator has granted: the limit that was looked at
}

// Set changes the limit. To raise or remove one where there are several administrators waits for a second one, with a
// *usecases.WaitsForApproval. Fails: organization_not_found, invalid_input, approval_outdated.
func (u ApprovalLimits) Set(ctx context.Context, asked usecases.Asked, in LimitInput) (bus.Result, error) {
	org, _, err := bus.LoadOwned[identity.Organization](ctx, u.Bus, asked.Org(), asked.Org())
	if err != nil {
		return bus.Result{}, err
	}
	command := commands.SetApprovalLimit{
		OrgID: asked.Org(), Approved: !asked.Approval.IsZero(), Before: in.Before,
	}
	if in.Limit != nil {
		var faults failure.Faults
		limit := in.Limit.In(org.Billing.Currency, "limit", &faults)
		if err := faults.Err(); err != nil {
			return bus.Result{}, err
		}
		command.Limit = &limit
	}
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	if failure.CodeOf(err) != failure.CodeOf(commands.ErrSecondPerson()) || org.ApprovalLimit == nil {
		return done, err
	}
	staff, person, notFound := usecases.StaffOf(ctx, u.Bus, asked.Org(), asked.Meta.Actor)
	if notFound != nil || !person {
		return done, err
	}
	act := usecases.Act{
		Kind: events.ActLimit, Amount: money.Of(0, org.Billing.Currency),
		What: events.ApprovalAct{Before: *org.ApprovalLimit, NoLimit: command.Limit == nil},
	}
	if command.Limit != nil {
		act.Amount = *command.Limit
	}
	return done, usecases.Ask(ctx, u.Bus, asked, staff, act)
}

// Granted changes the limit as a second administrator has granted it. Fails: approval_role_lost, and as Set.
func (u ApprovalLimits) Granted(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	in := LimitInput{Limit: of.Figure(), Before: of.What.Before}
	if of.What.NoLimit {
		in.Limit = nil
	}
	command := commands.SetApprovalLimit{OrgID: asked.Org(), Approved: true, Before: in.Before}
	foreseen, err := u.Bus.Would(ctx, command, asked.Meta)
	if err == nil && !foreseen.Acted {
		var state billing.Approval
		state, _, err = bus.LoadOwned[billing.Approval](ctx, u.Bus, asked.Org(), asked.Approval)
		err = cmp.Or(err, usecases.MayStill(ctx, u.Bus, state))
	}
	if err != nil {
		return err
	}
	_, err = u.Set(ctx, asked, in)
	return err
}

// PresentLimit is the limit of an organization, with the revision of the organization.
type PresentLimit struct {
	Limit    *money.Amount // nil = nothing needs a second person
	Currency money.Currency
	Revision uint64
}

// Read gives the limit as the log has it. Fails: organization_not_found.
func (u ApprovalLimits) Read(ctx context.Context, org id.Organization) (PresentLimit, error) {
	state, revision, err := bus.LoadOwned[identity.Organization](ctx, u.Bus, org, org)
	return PresentLimit{Limit: state.ApprovalLimit, Currency: state.Billing.Currency, Revision: revision}, err
}
