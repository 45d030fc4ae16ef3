package paymentsjobs

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// The sweep of money: how often it runs, and how many receipts and prompts it takes in one run.
const (
	sweepInterval = time.Hour
	sweepPage     = 200
)

// SweepAfter is how long money may be without a place, and a prompt without its end, before the sweep and the alarms
// take notice.
const SweepAfter = 15 * time.Minute

// SweepMoney finds what was forgotten on its way: receipts whose payer nobody searches for, matched receipts that no
// account has credited, and prompts that should have ended. It sets each going again; the alarms count them until they
// have moved (docs/rules/money.md#alarms). One that fails does not keep the others from being taken.
func (w *Workers) SweepMoney(ctx context.Context, _ commands.SweepMoney, cause jobs.Cause) error {
	before := w.cfg.Clock.Now().Add(-SweepAfter)
	receipts, err := w.receipts.Unplaced(ctx, before, sweepPage)
	if err != nil {
		return err
	}
	prompts, err := w.payments.Overdue(ctx, before, sweepPage)
	if err != nil {
		return err
	}
	var faults []error
	for _, r := range receipts {
		w.cfg.Logger.WarnContext(ctx, "money without a place", "receipt_id", r.ID, "state", r.State)
		faults = append(faults, w.place(ctx, cause, r))
	}
	for _, p := range prompts {
		w.cfg.Logger.WarnContext(ctx, "prompt without an end", "payment_id", p.ID, "stage", p.Stage)
		faults = append(faults, w.finish(ctx, cause, p))
	}
	return errors.Join(faults...)
}

// place searches the payer of a receipt again, or has its account credit it. Money that the account refuses waits in
// suspense.
func (w *Workers) place(ctx context.Context, cause jobs.Cause, r paymentsviews.ReceiptRow) error {
	if r.State == "recorded" {
		return w.again(ctx, commands.FindPayer{ReceiptID: r.ID}, id.Any(r.ID))
	}
	receipt, _, err := bus.LoadUnchecked[payments.Receipt](ctx, w.cfg.Bus, r.ID)
	if err != nil || receipt.Standing != payments.StandingMatched {
		return err
	}
	cause = swept(cause, id.Any(r.ID))
	err = w.reportAsPlatform(ctx, cause, commands.CreditReceipt{
		SubscriberID: receipt.Subscriber, OrgID: receipt.Org, ReceiptID: receipt.ID, InvoiceID: receipt.Invoice,
		Number: receipt.Number, Channel: r.Channel, Amount: receipt.Amount, PaidAt: receipt.PaidAt, Move: receipt.Moves,
	})
	if refused(err) {
		err = w.reportAsPlatform(ctx, cause, commands.HoldReceipt{
			ReceiptID: receipt.ID, Reason: commands.HeldNotCredited, SubscriberID: receipt.Subscriber,
		})
	}
	return err
}

// finish ends a prompt that was asked about since it should have ended, and asks about any other.
func (w *Workers) finish(ctx context.Context, cause jobs.Cause, p paymentsviews.PaymentRow) error {
	if p.CheckoutRequestID != nil && (p.CheckedAt == nil || p.ExpiresAt != nil && p.CheckedAt.Before(*p.ExpiresAt)) {
		return w.again(ctx, commands.QueryPrompt{PaymentID: p.ID}, id.Any(p.ID))
	}
	err := w.reportAsPlatform(ctx, swept(cause, id.Any(p.ID)), commands.ExpirePayment{PaymentID: p.ID})
	if refused(err) { // the provider did not answer: ask again
		return w.again(ctx, commands.QueryPrompt{PaymentID: p.ID}, id.Any(p.ID))
	}
	return err
}

// swept is the cause of one of the things that a run takes: their commands must not share an id.
func swept(cause jobs.Cause, target id.Any) jobs.Cause {
	cause.JobID = id.Derive[id.Any]("swept", cause.JobID.String(), target.String())
	return cause
}

// again enqueues a job about a target, once an hour at most.
func (w *Workers) again(ctx context.Context, job commands.Job, target id.Any) error {
	hour := w.cfg.Clock.Now().UTC().Format("2006-01-02T15")
	return w.queue.Insert(ctx, job, id.Derive[id.Any]("sweep", job.Kind(), target.String(), hour),
		jobs.Cause{Actor: platformActor}, 0)
}
