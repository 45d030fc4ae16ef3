package paymentsjobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// answerPatience bounds how long the money of a prompt waits for its attempt: a callback may arrive before the answer
// to the submission is recorded.
const answerPatience = 2 * time.Minute

// early reports whether what came at an instant may still be ahead of what explains it. An instant that is far from now
// on either side was read from a clock that was set since: money does not wait until that shows it again.
func (w *Workers) early(came time.Time) bool {
	return w.cfg.Clock.Now().Sub(came).Abs() < answerPatience
}

// FindPayer looks for the owner of a receipt's money: first the attempt that it belongs to, then the payer by the
// matching rules. It waits until the read models show the position at which the receipt was recorded.
func (w *Workers) FindPayer(ctx context.Context, args commands.FindPayer, cause jobs.Cause) error {
	for _, name := range []string{
		paymentsviews.ReceiptsName, paymentsviews.PaymentsName, paymentsviews.MatchingName, paymentsviews.GatewaysName,
	} {
		if err := w.cfg.Views.WaitFor(ctx, name, args.Position); err != nil {
			return err
		}
	}
	r, err := w.receipts.Any(ctx, args.ReceiptID)
	if err != nil || r == nil {
		return errors.Join(err, fmt.Errorf("receipt %s is not in the read model", args.ReceiptID))
	}
	if r.Disputed {
		return nil // a person decides
	}
	attempt, several, err := w.payments.AttemptOf(ctx, *r)
	placed := r.State != "recorded" && r.State != "suspense"
	switch {
	case err != nil:
		return err
	case attempt != nil && (attempt.ProvenBy(*r) || !r.OrgID.IsZero()):
		return w.settle(ctx, cause, *r, *attempt)
	case placed:
		return nil
	case several != nil:
		return w.holdAmong(ctx, cause, *r, several)
	case attempt != nil:
		return w.settleTyped(ctx, cause, *r, *attempt)
	case r.Channel == commands.ChannelPrompt && w.early(r.RecordedAt):
		return jobrunner.Snooze(5 * time.Second)
	}
	return w.match(ctx, cause, *r)
}

// settle gives the money to its attempt. When the attempt refuses the money, a person decides: the money goes to
// suspense, and money without an owner to the organization of an attempt that the provider's own ids name. Money that
// was put on an account before the attempt was known stays there, and the attempt learns of it, so that a success found
// by a status query is not credited beside it. Money that came at a paybill is a payment of its own when the attempt
// has another receipt: what was typed says whose it is (docs/rules/payments.md#account-reference). The read model may
// show too late that the attempt has one.
func (w *Workers) settle(
	ctx context.Context, cause jobs.Cause, r paymentsviews.ReceiptRow, attempt paymentsviews.PaymentRow,
) error {
	by := commands.ByC2B
	if r.Channel == commands.ChannelPrompt {
		by = commands.ByCallback
	}
	settle := commands.SettlePayment{
		PaymentID: attempt.ID, ReceiptID: r.ID, ReceiptNumber: r.ReceiptNumber, Amount: r.Amount(), By: by,
		Provisional: r.Provisional,
	}
	err := w.reportAsPlatform(ctx, cause, settle)
	switch {
	case refused(err) && r.OnAccount():
		settle.By, settle.SubscriberID = commands.ByOperator, r.SubscriberID
		meta := cause.Meta(settle.CommandName() + " where it is")
		meta.OrgID, meta.Actor = id.Organization{}, platformActor
		_, err = w.execute(ctx, settle, meta)
		return err
	case failure.CodeOf(err) == "payment_settled" && r.BillRef != nil:
		return w.match(ctx, cause, r)
	case refused(err):
		err = w.hold(ctx, cause, r.ID, commands.HeldConflictingPrompt)
		if err != nil || !r.OrgID.IsZero() || !attempt.ProvenBy(r) {
			return err
		}
		return w.assign(ctx, cause, r.ID, attempt.OrgID)
	}
	return err
}

// settleTyped gives money without an owner to the attempt whose reference was typed, unless it may be meant for another
// organization's customer: then the platform decides (docs/rules/money.md#typed-references-of-prompts).
func (w *Workers) settleTyped(
	ctx context.Context, cause jobs.Cause, r paymentsviews.ReceiptRow, attempt paymentsviews.PaymentRow,
) error {
	found, err := w.matching.Find(ctx, r.Reference())
	switch {
	case err != nil:
		return err
	case !found.Allows(attempt.OrgID):
		return w.hold(ctx, cause, r.ID, commands.HeldConflictingPrompt)
	}
	return w.settle(ctx, cause, r, attempt)
}

// match gives the money to the payer that the matching rules find. Money without an owner on another shortcode than the
// platform's waits for the platform to decide: it must not be credited to customers of just any organization.
func (w *Workers) match(ctx context.Context, cause jobs.Cause, r paymentsviews.ReceiptRow) error {
	if r.OrgID.IsZero() {
		shared, err := w.shared(ctx, r)
		if err != nil {
			return err
		}
		if !shared {
			return w.hold(ctx, cause, r.ID, commands.HeldNoMatch)
		}
	}
	found, err := w.matching.Find(ctx, r.Reference())
	switch {
	case err != nil:
		return err
	case found.Payer == nil:
		return w.holdUnmatched(ctx, cause, r, found)
	}
	err = w.reportAsPlatform(ctx, cause, commands.MatchReceipt{
		ReceiptID: r.ID, OrgID: found.Payer.OrgID, SubscriberID: found.Payer.SubscriberID,
		InvoiceID: found.Payer.InvoiceID, By: found.Payer.By,
	})
	if refused(err) {
		return nil // a person decided first, or has to: the receipt stays as it is
	}
	return err
}

// holdUnmatched puts money into suspense that the rules give to nobody. Where the customers of one organization alone
// may be meant, its staff finds out which (docs/rules/money.md#money-without-an-owner).
func (w *Workers) holdUnmatched(
	ctx context.Context, cause jobs.Cause, r paymentsviews.ReceiptRow, found paymentsviews.Found,
) error {
	reason := commands.HeldNoMatch
	if found.Ambiguous {
		reason = commands.HeldAmbiguous
	}
	err := w.hold(ctx, cause, r.ID, reason)
	if err != nil || !r.OrgID.IsZero() || found.Sole.IsZero() {
		return err
	}
	return w.assign(ctx, cause, r.ID, found.Sole)
}

// holdAmong puts money into suspense that may be that of several attempts. When all of them are of one organization,
// and no other organization's customer may be meant, its staff finds out which
// (docs/rules/money.md#money-without-an-owner).
func (w *Workers) holdAmong(
	ctx context.Context, cause jobs.Cause, r paymentsviews.ReceiptRow, several []paymentsviews.PaymentRow,
) error {
	err := w.hold(ctx, cause, r.ID, commands.HeldConflictingPrompt)
	org := several[0].OrgID
	if err != nil || !r.OrgID.IsZero() ||
		slices.ContainsFunc(several, func(p paymentsviews.PaymentRow) bool { return p.OrgID != org }) {
		return err
	}
	shared, err := w.shared(ctx, r)
	if err != nil || !shared {
		return err
	}
	if found, err := w.matching.Find(ctx, r.Reference()); err != nil || !found.Allows(org) {
		return err
	}
	return w.assign(ctx, cause, r.ID, org)
}

// assign gives money in suspense to the organization whose staff can find out whose it is.
func (w *Workers) assign(ctx context.Context, cause jobs.Cause, receipt id.Receipt, org id.Organization) error {
	err := w.reportAsPlatform(ctx, cause, commands.AssignReceipt{ReceiptID: receipt, OrgID: org})
	if refused(err) {
		return nil // a person was faster
	}
	return err
}

// hold puts money into suspense, where a person attributes it. reason is one of the commands.Held constants.
func (w *Workers) hold(ctx context.Context, cause jobs.Cause, receipt id.Receipt, reason string) error {
	w.cfg.Logger.WarnContext(ctx, "money waits in suspense", "receipt_id", receipt, "reason", reason)
	return w.reportAsPlatform(ctx, cause, commands.HoldReceipt{ReceiptID: receipt, Reason: reason})
}
