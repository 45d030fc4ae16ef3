package usecases

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Granted is an act as a second person has granted it.
type Granted struct {
	Of     events.ApprovalSubject
	What   events.ApprovalAct
	Reason string // of who asked
}

// Figure is the amount in the form of use cases.
func (g Granted) Figure() *Figure {
	figure := Figure(g.Of.Amount.Decimal())
	return &figure
}

// Approvals does what second persons have granted, by the use cases that could have done it at once. All fields are
// required. Safe for concurrent use.
type Approvals struct {
	Bus *bus.Bus
	// Acts does an act of each kind, as events.ActKinds and events.ActLimit name them.
	Acts map[string]func(ctx context.Context, asked Asked, granted Granted) error
}

// CarryOut does one granted act and records how it ended, once, however often it runs: the ids of all that the act
// makes derive from the approval. meta makes the metadata of the report. It fails where a repeat may succeed.
func (u Approvals) CarryOut(ctx context.Context, args commands.CarryOutApproval, meta commands.Meta) error {
	state, _, err := bus.LoadOwned[billing.Approval](ctx, u.Bus, args.OrgID, args.ApprovalID)
	if err != nil {
		return err
	}
	if state.State != billing.ApprovalApproved {
		return nil
	}
	meta.CorrelationID = args.ApprovalID.String()
	finish := commands.FinishApproval{ApprovalID: args.ApprovalID}
	if err := u.act(ctx, state, meta); err != nil {
		if again(ctx, err) {
			return err
		}
		finish.Code = failure.CodeOf(err)
	}
	_, err = u.Bus.Execute(ctx, finish, meta)
	return err
}

// again reports whether a repeat may succeed, or the fault is the program's own, which a later version may not have.
func again(ctx context.Context, err error) bool {
	kind := failure.KindOf(err)
	return Away(ctx, err) || kind == failure.Stale || kind == failure.Internal ||
		failure.CodeOf(err) == failure.CodeOf(bus.ErrConcurrentChange())
}

// act does it in the name of who asked; a refund is let go by who approved, as without a limit. Fails as the use case.
func (u Approvals) act(ctx context.Context, state billing.Approval, meta commands.Meta) error {
	meta.CommandID = id.Derive[id.Command]("approved", state.Subject.ApprovalID.String())
	by, role := state.By, state.Role
	if state.Subject.Kind == events.ActRefund {
		by, role = state.GrantedBy, state.GrantRole
	}
	meta.Actor = events.Actor{Kind: events.ActorUser, ID: by.String(), Role: string(role)}
	do := u.Acts[state.Subject.Kind]
	if do == nil { // a kind of a later version: the job waits for it
		return fmt.Errorf("approval %s: unknown kind %q", state.Subject.ApprovalID, state.Subject.Kind)
	}
	return do(ctx, Asked{Meta: meta, Keyed: true, Approval: state.Subject.ApprovalID}, Granted{
		Of: state.Subject, What: state.Act, Reason: state.Reason.Reveal(),
	})
}

// MayStill refuses what was asked for or approved by somebody who is no administrator any more. Fails:
// approval_role_lost.
func MayStill(ctx context.Context, b *bus.Bus, approval billing.Approval) error {
	for _, user := range []id.User{approval.By, approval.GrantedBy} {
		state, _, err := bus.LoadUnchecked[identity.User](ctx, b, user)
		if err != nil {
			return err
		}
		member, found := state.MemberAt(approval.Subject.OrgID)
		admin := found && !member.Pending && !member.Disabled && member.Role.AtLeast(events.RoleAdmin)
		if state.Forgotten || !admin && !state.SuperAdmin {
			return failure.NewConflict("approval_role_lost",
				"Who asked for this, or who approved it, is no administrator any more. Ask for another approval.")
		}
	}
	return nil
}
