package paymentscases

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Refunds gives received money back to payers (docs/rules/money.md#refunds). Safe for concurrent use.
type Refunds struct {
	Bus   *bus.Bus
	Views *runner.Views // with refunds: tells when the money is set aside
	// MayAsk reports whether the provider can be asked about the money of a shortcode; nil = never.
	MayAsk func(ctx context.Context, org id.Organization, environment, shortcode string) (bool, error)
}

// RefundInput describes a refund that somebody asks for.
type RefundInput struct {
	ReceiptID id.Receipt
	Amount    *usecases.Figure // nil = all that can be refunded
	Reason    string           // kept with the events, and shown in the timeline
	By        string           // commands.RefundManual or commands.RefundReversal
}

// SettleInput says what became of a refund.
type SettleInput struct {
	RefundID  id.Refund
	Completed bool
	Reference string // of the payment to the payer
	Reason    string // why the payer does not get the money
}

// Request asks for a refund, and waits a moment until its money is set aside. What the receipt and the account say is
// asked first, for a clear answer; they decide themselves once more when the money is set aside. Fails: invalid_input,
// receipt_not_found, receipt_being_matched, receipt_reversed, receipt_absorbed, receipt_refunded, receipt_disputed,
// receipt_archived, refund_unconfirmed, refund_attempt_unclear, refund_whole_only, refund_too_large,
// reversal_not_available, reversal_whole_only, currency_mismatch.
func (r Refunds) Request(ctx context.Context, asked usecases.Asked, in RefundInput) (id.Refund, bus.Result, error) {
	refund := usecases.NewID[id.Refund](asked, "refund")
	command := commands.RequestRefund{
		RefundID: refund, OrgID: asked.Org(), ReceiptID: in.ReceiptID, By: in.By, Reason: in.Reason,
		Amount: money.Major(1, money.KES), // until the receipt says what it can be
	}
	if err := command.Validate(); err != nil {
		return refund, bus.Result{}, err
	}
	receipt, _, err := bus.LoadOwned[payments.Receipt](ctx, r.Bus, asked.Org(), in.ReceiptID)
	if err != nil {
		return refund, bus.Result{}, err
	}
	made, _, err := bus.LoadUnchecked[payments.Refund](ctx, r.Bus, refund)
	if err != nil {
		return refund, bus.Result{}, err
	}
	if command.Amount = made.Amount; made.State == payments.RefundNone { // else a repeat: its money waits already
		if command.Amount, err = r.refundable(ctx, receipt, in.Amount); err != nil {
			return refund, bus.Result{}, err
		}
		if in.By == commands.RefundReversal {
			if err := r.reversible(ctx, receipt, command.Amount); err != nil {
				return refund, bus.Result{}, err
			}
		}
	}
	staff, _, err := usecases.StaffOf(ctx, r.Bus, asked.Org(), asked.Meta.Actor)
	if err != nil {
		return refund, bus.Result{}, err
	}
	command.ReceiptNumber, command.SubscriberID, command.AskedBy = receipt.Number, receipt.Subscriber, staff.UserID
	asked.Meta.Reason = in.Reason
	done, err := r.Bus.Execute(ctx, command, asked.Meta)
	if err != nil {
		return refund, done, err
	}
	return refund, done, r.awaitSecured(ctx, asked.Org(), refund)
}

// reversible fails when the provider cannot send a payment back: it is not the provider's, nobody may ask for that, or
// it would not be the whole payment.
func (r Refunds) reversible(ctx context.Context, receipt payments.Receipt, amount money.Amount) error {
	available, err := r.Reversible(ctx, receipt)
	switch {
	case err != nil:
		return err
	case !available:
		return failure.NewConflict("reversal_not_available",
			"The provider cannot be asked to send this money back. Refund by hand: pay the customer, then settle "+
				"the refund.")
	case amount != receipt.Amount:
		return failure.NewConflict("reversal_whole_only",
			"The provider sends back whole payments only. To refund a part, do it by hand.")
	}
	return nil
}

// Reversible reports whether the provider can be asked to send the money of a receipt back.
func (r Refunds) Reversible(ctx context.Context, receipt payments.Receipt) (bool, error) {
	if r.MayAsk == nil || receipt.Channel == commands.ChannelCash || receipt.Number == "" {
		return false, nil
	}
	return r.MayAsk(ctx, receipt.Org, receipt.Environment, receipt.Shortcode)
}

// refundable gives the amount that a refund of a receipt would have, and the failure that it would have.
func (r Refunds) refundable(
	ctx context.Context, receipt payments.Receipt, wanted *usecases.Figure,
) (money.Amount, error) {
	var amount money.Amount
	if wanted != nil {
		var faults failure.Faults
		amount = wanted.In(receipt.Amount.Currency, "amount", &faults)
		faults.Check(amount.Positive(), "amount", "must be above zero")
		if err := faults.Err(); err != nil {
			return amount, err
		}
	}
	if err := receipt.MayRefund(amount); err != nil {
		return amount, err
	}
	if receipt.Subscriber.IsZero() {
		return receipt.Amount, nil
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, r.Bus, receipt.Org, receipt.Subscriber)
	if err == nil {
		amount, err = account.MayRefund(receipt.ID, amount)
	}
	if failure.KindOf(err) == failure.NotFound { // the money is on its way to the account
		return amount, payments.ErrBeingMatched()
	}
	return amount, err
}

// awaitSecured waits, 2 s at most, until the money of a refund is set aside, or could not be. A longer delay is no
// failure: the refund shows it a little later.
func (r Refunds) awaitSecured(ctx context.Context, org id.Organization, refund id.Refund) error {
	q := paymentsviews.RefundsQuery{Views: r.Views}
	_, err := r.Views.WaitUntil(ctx, paymentsviews.RefundsName, func(ctx context.Context) (bool, error) {
		row, err := q.Get(ctx, org, refund)
		return row != nil && (row.Secured || row.State == "failed"), err
	})
	return err
}

// Approve lets the money of a refund go. A repeat changes nothing more. Who asked for the refund may let it go only
// within the limit of what one person gives away; above it, it waits for a second person, whose approval here is that
// of GET /approvals, too. Fails: refund_not_found, refund_not_secured, refund_ended, api_key_not_allowed,
// approver_too_new, approval_outdated.
func (r Refunds) Approve(ctx context.Context, asked usecases.Asked, refund id.Refund) (done bus.Result, err error) {
	state, _, err := bus.LoadOwned[payments.Refund](ctx, r.Bus, asked.Org(), refund)
	if err != nil {
		return done, err
	}
	command := commands.ApproveRefund{RefundID: refund, OrgID: asked.Org()}
	act := usecases.Act{
		Kind: events.ActRefund, SubscriberID: state.Subscriber, Amount: state.Amount, Command: command,
		What: events.ApprovalAct{RefundID: refund}, ID: id.As[id.Command](refund),
	}
	do := func() (err error) {
		done, err = r.Bus.Execute(ctx, command, asked.Meta)
		return err
	}
	if !asked.Approval.IsZero() {
		return done, usecases.Alone(ctx, r.Bus, asked, act, do)
	}
	own, reason, err := r.own(ctx, asked, refund)
	if err != nil {
		return done, err
	}
	if !own {
		if err := r.mayBeSecond(ctx, asked); err != nil {
			return done, err
		}
	}
	var waits bool
	act.ApprovalID, waits, err = usecases.WaitingOrNext(ctx, r.Bus, func(round int) id.Approval {
		return commands.ApprovalOfRefund(refund, round)
	})
	if err != nil {
		return done, err
	}
	switch {
	case waits && !own:
		return r.grant(ctx, asked, command, act.ApprovalID)
	case !own:
		return done, do()
	}
	act.Reason = reason
	return done, usecases.Alone(ctx, r.Bus, asked, act, do)
}

// mayBeSecond refuses, where one person has a limit, API keys: whoever has the text of one is not seen. It also refuses
// whom somebody else has let in a moment ago: that may be who asked for the refund. Fails: api_key_not_allowed,
// approver_too_new.
func (r Refunds) mayBeSecond(ctx context.Context, asked usecases.Asked) error {
	org, _, err := bus.LoadUnchecked[identity.Organization](ctx, r.Bus, asked.Org())
	switch {
	case err != nil || org.ApprovalLimit == nil:
		return err
	case asked.Meta.Actor.Kind == events.ActorAPIKey:
		return usecases.ErrPeopleOnly()
	}
	staff, person, err := usecases.StaffOf(ctx, r.Bus, asked.Org(), asked.Meta.Actor)
	if err != nil || !person {
		return err
	}
	return commands.MayBeSecond(staff.Opened, r.Bus.Now())
}

// own reports whether who approves a refund is who asked for it, and why that was.
func (r Refunds) own(ctx context.Context, asked usecases.Asked, refund id.Refund) (bool, string, error) {
	history, err := bus.HistoryUnchecked[payments.Refund](ctx, r.Bus, refund) // it is the organization's
	if err != nil || len(history) == 0 {
		return false, "", err
	}
	approver, person, err := usecases.StaffOf(ctx, r.Bus, asked.Org(), asked.Meta.Actor)
	if err != nil || !person {
		return false, "", err
	}
	requested, _ := history[0].Event.(events.RefundRequested)
	requester, person, err := r.requester(ctx, asked.Org(), requested, history[0].Meta.Actor)
	if err != nil || !person {
		return false, "", err
	}
	own, err := usecases.SamePerson(ctx, r.Bus, approver, requester)
	return own, requested.Reason.Reveal(), err
}

// requester is who asked for a refund, false for a program. Who answers for a key now says nothing about that: a
// request of before this was recorded counts for who answered for its key then.
func (r Refunds) requester(
	ctx context.Context, org id.Organization, requested events.RefundRequested, actor events.Actor,
) (usecases.Staff, bool, error) {
	if !requested.AskedBy.IsZero() {
		actor = events.Actor{Kind: events.ActorUser, ID: requested.AskedBy.String(), Role: actor.Role}
	}
	if actor.Kind != events.ActorAPIKey {
		return usecases.StaffOf(ctx, r.Bus, org, actor)
	}
	key, err := id.Parse[id.APIKey](actor.ID)
	if err != nil {
		return usecases.Staff{}, false, fmt.Errorf("actor %q: %w", actor.ID, err)
	}
	if _, _, err := bus.LoadOwned[identity.APIKey](ctx, r.Bus, org, key); err != nil {
		return usecases.Staff{}, false, err
	}
	history, err := bus.HistoryUnchecked[identity.APIKey](ctx, r.Bus, key)
	if err != nil {
		return usecases.Staff{}, false, err
	}
	var then id.User
	for _, of := range history {
		switch e := of.Event.(type) {
		case events.APIKeyIssued:
			then = e.By
		case events.APIKeyRotated:
			if !e.At.After(requested.At) {
				then = e.By
			}
		}
	}
	actor = events.Actor{Kind: events.ActorUser, ID: then.String(), Role: actor.Role}
	return usecases.StaffOf(ctx, r.Bus, org, actor)
}

// grant approves the approval that a refund waits for, and waits a moment until its money may go.
func (r Refunds) grant(
	ctx context.Context, asked usecases.Asked, command commands.ApproveRefund, approval id.Approval,
) (bus.Result, error) {
	if _, err := r.Bus.Would(ctx, command, asked.Meta); err != nil {
		return bus.Result{}, err
	}
	done, err := usecases.Grant(ctx, r.Bus, asked, approval)
	if err != nil {
		return done, err
	}
	q := paymentsviews.RefundsQuery{Views: r.Views}
	_, err = r.Views.WaitUntil(ctx, paymentsviews.RefundsName, func(ctx context.Context) (bool, error) {
		row, err := q.Get(ctx, asked.Org(), command.RefundID)
		return row != nil && row.State != "requested", err
	})
	if err != nil {
		return done, err
	}
	_, done.Revision, err = bus.LoadOwned[payments.Refund](ctx, r.Bus, asked.Org(), command.RefundID)
	return done, err
}

// Cancel ends a refund before its money has left. Fails: invalid_input, refund_not_found, refund_ended.
func (r Refunds) Cancel(
	ctx context.Context, asked usecases.Asked, refund id.Refund, reason string,
) (bus.Result, error) {
	asked.Meta.Reason = reason
	return r.Bus.Execute(ctx, commands.CancelRefund{RefundID: refund, OrgID: asked.Org(), Reason: reason}, asked.Meta)
}

// Settle takes the word of a person about what became of a refund. Fails: invalid_input, refund_not_found,
// refund_not_approved, refund_ended.
func (r Refunds) Settle(ctx context.Context, asked usecases.Asked, in SettleInput) (bus.Result, error) {
	asked.Meta.Reason = in.Reason
	return r.Bus.Execute(ctx, commands.SettleRefund{
		RefundID: in.RefundID, OrgID: asked.Org(), Completed: in.Completed, Reference: in.Reference, Reason: in.Reason,
	}, asked.Meta)
}
