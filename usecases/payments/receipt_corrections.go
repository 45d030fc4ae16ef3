package paymentscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// AttributeInput names the subscriber to whom a receipt in suspense belongs.
type AttributeInput struct {
	ReceiptID    id.Receipt
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice // to be paid first; zero = the oldest due
	Word         Word       // which attempt's money it is
}

// ReattributeInput names the subscriber to whom a payment is moved.
type ReattributeInput struct {
	ReceiptID    id.Receipt
	SubscriberID id.Subscriber
	Reason       string // kept with the events, and shown in both timelines
	Word         Word   // which attempt's money it is
}

// ReverseInput names the money that is taken back, and says why.
type ReverseInput struct {
	ReceiptID id.Receipt
	Reason    string // kept with the events, and shown in the timeline
}

// Attribute gives money in suspense to a subscriber, with all that follows from a matched payment. The account must be
// kept in the money's currency, and must have the invoice that is named, with something due on it, or lost by a
// write-off. Money that may be that of an attempt needs a word about it; when the account has the attempt's provisional
// credit, that stays and becomes the receipt's. A repeat changes nothing more; one that names another invoice is
// refused. Fails: invalid_input, subscriber_not_found, receipt_not_found, payment_not_found, invoice_not_found,
// invoice_not_issued, invoice_not_payable, currency_mismatch, receipt_matched, receipt_attributed, receipt_reversed,
// receipt_absorbed, attempt_not_named, attempt_does_not_fit, payment_settled, receipt_of_other_payment.
func (r Receipts) Attribute(ctx context.Context, asked usecases.Asked, in AttributeInput) (Booked, error) {
	command := commands.AttributeReceipt{
		ReceiptID: in.ReceiptID, OrgID: asked.Org(), SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID,
		PaymentID: in.Word.PaymentID,
	}
	if err := command.Validate(); err != nil {
		return Booked{}, err
	}
	to, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, r.Bus, asked.Org(), in.SubscriberID)
	if err != nil {
		return Booked{}, err
	}
	var kept bool
	done, err := usecases.Amend(ctx, r.Bus, asked, in.ReceiptID,
		func(present payments.Receipt) (commands.Command, error) {
			if err := accepts(to, present); err != nil {
				return nil, err
			}
			kept, err = r.attribution(ctx, present, in)
			if kept {
				return commands.NameAttempt{
					ReceiptID: in.ReceiptID, OrgID: asked.Org(), PaymentID: in.Word.PaymentID,
				}, err
			}
			return command, err
		})
	if err != nil {
		return Booked{}, err
	}
	if kept {
		return Booked{OrgID: asked.Org(), ReceiptID: in.ReceiptID, Named: true, Done: done}, nil
	}
	return booked(asked, in.ReceiptID, done, in.SubscriberID), nil
}

// attribution checks what a person says about money in suspense, and reports whether the account keeps the credit that
// it has of the attempt. A repeat and other money on an account are left to the receipt itself, which compares and
// refuses.
func (r Receipts) attribution(ctx context.Context, present payments.Receipt, in AttributeInput) (bool, error) {
	named := !in.Word.PaymentID.IsZero()
	switch present.Standing {
	case payments.StandingRecorded, payments.StandingHeld:
		if err := r.mayPay(ctx, present.Org, in.SubscriberID, in.InvoiceID); err != nil {
			return false, err
		}
	case payments.StandingMatched:
		if !named {
			return false, nil
		}
	case payments.StandingAbsorbed:
		return named && present.Attempt() == in.Word.PaymentID, nil
	default:
		return false, nil
	}
	attempt, err := r.attempt(ctx, present, in.SubscriberID, in.Word)
	if err != nil || attempt == nil || present.Standing == payments.StandingMatched {
		return false, err
	}
	return r.keepsCredit(ctx, *attempt, present, in)
}

// Reverse takes a payment back from the account that has it (docs/rules/money.md#mistakes). The account is asked first
// whether it can give the money up, and the receipt is reversed only while it is on that account; a process then takes
// it from the account. A repeat changes nothing more. Fails: invalid_input, receipt_not_found, receipt_archived,
// period_archived, receipt_absorbed, approval_outdated, account_closed.
func (r Receipts) Reverse(ctx context.Context, asked usecases.Asked, in ReverseInput) (Booked, error) {
	command := commands.ReverseReceipt{ReceiptID: in.ReceiptID, OrgID: asked.Org(), Reason: in.Reason}
	if err := command.Validate(); err != nil {
		return Booked{}, err
	}
	asked.Meta.Reason = in.Reason
	var from id.Subscriber
	amend := func(present payments.Receipt) (commands.Command, error) {
		from = present.Subscriber
		return command, r.leaves(ctx, present)
	}
	done, err := r.alone(ctx, asked, in.ReceiptID, usecases.Act{
		Kind: events.ActReversal, Reason: in.Reason, What: events.ApprovalAct{ReceiptID: in.ReceiptID},
	}, amend)
	if err != nil {
		return Booked{}, err
	}
	return booked(asked, in.ReceiptID, done, from), nil
}

// Reattribute moves a payment to another subscriber (docs/rules/money.md#mistakes). The account that has it is asked
// first whether it can give the money up, as in Reverse, and the other account must be kept in the money's currency; a
// process then moves it. The word about an attempt is needed as in Attribute. A repeat changes nothing more. Fails:
// invalid_input, subscriber_not_found, receipt_not_found, receipt_archived, period_archived, currency_mismatch,
// receipt_not_matched, receipt_reversed, receipt_absorbed, and those of Attribute about attempts.
func (r Receipts) Reattribute(ctx context.Context, asked usecases.Asked, in ReattributeInput) (Booked, error) {
	command := commands.ReattributeReceipt{
		ReceiptID: in.ReceiptID, OrgID: asked.Org(), SubscriberID: in.SubscriberID, Reason: in.Reason,
		PaymentID: in.Word.PaymentID,
	}
	if err := command.Validate(); err != nil {
		return Booked{}, err
	}
	to, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, r.Bus, asked.Org(), in.SubscriberID)
	if err != nil {
		return Booked{}, err
	}
	asked.Meta.Reason = in.Reason
	var from id.Subscriber
	amend := func(present payments.Receipt) (commands.Command, error) {
		from = present.Subscriber
		if err := r.leaves(ctx, present); err != nil {
			return nil, err
		}
		if err := accepts(to, present); err != nil {
			return nil, err
		}
		if present.Standing != payments.StandingMatched || present.Subscriber == in.SubscriberID {
			return command, nil // a repeat, or refused by the receipt itself
		}
		_, err := r.attempt(ctx, present, in.SubscriberID, in.Word)
		return command, err
	}
	done, err := r.alone(ctx, asked, in.ReceiptID, usecases.Act{
		Kind: events.ActReattribution, Reason: in.Reason, What: events.ApprovalAct{
			ReceiptID: in.ReceiptID, ToID: in.SubscriberID, PaymentID: in.Word.PaymentID, NoPrompt: in.Word.NoPrompt,
		},
	}, amend)
	if err != nil {
		return Booked{}, err
	}
	return booked(asked, in.ReceiptID, done, from, in.SubscriberID), nil
}

// alone corrects a receipt when one person may do that with so much money, and asks for a second one otherwise. What
// was approved is done with the receipt as it was looked at, and not after another correction.
func (r Receipts) alone(
	ctx context.Context, asked usecases.Asked, receipt id.Receipt, act usecases.Act,
	amend func(present payments.Receipt) (commands.Command, error),
) (done bus.Result, err error) {
	present, revision, err := bus.LoadOwned[payments.Receipt](ctx, r.Bus, asked.Org(), receipt)
	if err != nil {
		return done, err
	}
	if act.Command, err = amend(present); err != nil {
		return done, err
	}
	act.SubscriberID, act.Amount = present.Subscriber, present.Amount
	if !asked.Approval.IsZero() {
		asked.Meta.ExpectedRevision = &revision
	}
	err = usecases.Alone(ctx, r.Bus, asked, act, func() (err error) {
		done, err = usecases.Amend(ctx, r.Bus, asked, receipt, amend)
		return err
	})
	return done, err
}

// leaves asks the account that has the money whether it can give it up, and the subscriptions whose periods it paid
// whether these can be taken back. Otherwise the receipt would name another place while the money stays there, or the
// period would stay paid without money. The correction is valid for the receipt's revision only, so it is this account
// that the money leaves.
func (r Receipts) leaves(ctx context.Context, present payments.Receipt) error {
	if present.Subscriber.IsZero() {
		return nil
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, r.Bus, present.Org, present.Subscriber)
	if failure.KindOf(err) == failure.NotFound {
		return nil // there is no account yet: its first money is on the way
	}
	if err != nil {
		return err
	}
	if err := account.MayWithdraw(present.ID); err != nil {
		return err
	}
	return usecases.PeriodsMayChange(ctx, r.Bus, present.Org, account.PeriodsReopened(present.ID))
}

// mayPay refuses money that names an invoice which the subscriber does not have, or on which nothing is due nor lost by
// a write-off. Otherwise the money would become credit, and nobody would notice that the invoice was mistaken. Fails:
// invoice_not_found, invoice_not_issued, invoice_not_payable.
func (r Receipts) mayPay(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, invoice id.Invoice,
) error {
	if invoice.IsZero() {
		return nil
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, r.Bus, org, subscriber)
	if failure.KindOf(err) == failure.NotFound {
		return commands.ErrNoInvoice()
	}
	if err != nil {
		return err
	}
	return account.MayPay(invoice)
}

// accepts refuses money in another currency than the account's, which never changes. Fails: currency_mismatch.
func accepts(s subscribers.Subscriber, receipt payments.Receipt) error {
	if receipt.Amount.Currency != s.Currency {
		return failure.NewConflict("currency_mismatch", "Accounts of this organization are kept in %s.", s.Currency)
	}
	return nil
}

// Assign gives unmatched money on a platform shortcode to an organization, whose staff then attribute it
// (docs/rules/money.md#money-without-an-owner). Only the platform does this: asked has no organization. Money that it
// gave to another organization by mistake is moved, while that one has done nothing with it; money of an attempt
// belongs to the organization of that. A repeat changes nothing more. Money in another currency than the
// organization's is on no account of it. Fails: invalid_input, currency_mismatch, receipt_not_found, receipt_matched,
// receipt_assigned, receipt_being_matched, receipt_reversed, receipt_refunded.
func (r Receipts) Assign(
	ctx context.Context, asked usecases.Asked, receipt id.Receipt, to id.Organization,
) (bus.Result, error) {
	owner, _, err := bus.LoadOwned[identity.Organization](ctx, r.Bus, to, to)
	if failure.KindOf(err) == failure.NotFound {
		return bus.Result{}, failure.NewInvalid("invalid_input", "orgId names no organization")
	}
	if err != nil {
		return bus.Result{}, err
	}
	present, _, err := bus.LoadUnchecked[payments.Receipt](ctx, r.Bus, receipt)
	if err != nil {
		return bus.Result{}, err
	}
	assign := commands.AssignReceipt{ReceiptID: receipt, OrgID: to, Currency: owner.Billing.Currency}
	if present.Org != to && asked.Org().IsZero() {
		if assign.From = present.Org; !assign.From.IsZero() && !present.Payment.IsZero() {
			attempt, _, err := bus.LoadUnchecked[payments.Payment](ctx, r.Bus, present.Payment)
			if err != nil {
				return bus.Result{}, err
			}
			if attempt.Org != to {
				return bus.Result{}, payments.ErrAssigned()
			}
		}
	}
	return r.Bus.Execute(ctx, assign, asked.Meta)
}
