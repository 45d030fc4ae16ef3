package paymentsjobs

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
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

// SweepMoney finds what was forgotten on its way: receipts whose payer nobody searches for, money that is not where its
// receipt says, and prompts that should have ended. It sets each going again; the alarms count them until they
// have moved (docs/rules/money.md#alarms). The provider is asked for the receipts of provisional money
// (docs/rules/payments.md#questions-about-transactions). One that fails does not keep the others from being taken.
func (w *Workers) SweepMoney(ctx context.Context, _ commands.SweepMoney, cause jobs.Cause) error {
	before := w.cfg.Clock.Now().Add(-SweepAfter)
	return errors.Join(w.sweepReceipts(ctx, before, cause), w.sweepPrompts(ctx, before, cause), w.sweepProvisional(ctx))
}

// sweepReceipts takes all receipts that are not in their place, page by page.
func (w *Workers) sweepReceipts(ctx context.Context, before time.Time, cause jobs.Cause) error {
	var faults []error
	for after := (id.Receipt{}); ctx.Err() == nil; {
		page, err := w.receipts.Unplaced(ctx, before, after, sweepPage)
		faults = append(faults, err)
		for _, r := range page {
			w.cfg.Logger.WarnContext(ctx, "money without a place", "receipt_id", r.ID, "state", r.State)
			faults = append(faults, w.place(ctx, cause, r))
			after = r.ID
		}
		if len(page) < sweepPage {
			break
		}
	}
	return errors.Join(append(faults, ctx.Err())...)
}

// sweepPrompts takes all prompts that should have ended, page by page.
func (w *Workers) sweepPrompts(ctx context.Context, before time.Time, cause jobs.Cause) error {
	var faults []error
	for after := (paymentsviews.OverdueKey{}); ctx.Err() == nil; {
		page, err := w.payments.Overdue(ctx, before, after, sweepPage)
		faults = append(faults, err)
		for _, p := range page {
			w.cfg.Logger.WarnContext(ctx, "prompt without an end", "payment_id", p.ID, "stage", p.Stage)
			faults = append(faults, w.finish(ctx, cause, p))
			after = paymentsviews.OverdueKey{ExpiresAt: *p.ExpiresAt, ID: p.ID}
		}
		if len(page) < sweepPage {
			break
		}
	}
	return errors.Join(append(faults, ctx.Err())...)
}

// place searches the payer of a receipt again, or has its process book it again. It books nothing itself: only the
// process knows which booking of the receipt is under way, and money must leave one account before another gets it.
func (w *Workers) place(ctx context.Context, cause jobs.Cause, r paymentsviews.ReceiptRow) error {
	if r.State == "recorded" {
		return w.again(ctx, commands.FindPayer{ReceiptID: r.ID})
	}
	heldBy := r.CreditedTo
	if !heldBy.IsZero() { // the read model may be behind the log
		account, _, err := bus.LoadUnchecked[billing.Account](ctx, w.cfg.Bus, heldBy)
		if err != nil {
			return err
		}
		if _, known := account.Receipts[r.ID]; known && !account.Holds(r.ID) {
			heldBy = id.Subscriber{}
		}
	}
	return w.reportAsPlatform(ctx, swept(cause, id.Any(r.ID)), commands.MarkStalled{ReceiptID: r.ID, HeldBy: heldBy})
}

// finish ends a prompt that was asked about since it should have ended, and asks about any other.
func (w *Workers) finish(ctx context.Context, cause jobs.Cause, p paymentsviews.PaymentRow) error {
	if p.CheckoutRequestID != nil && (p.CheckedAt == nil || p.ExpiresAt != nil && p.CheckedAt.Before(*p.ExpiresAt)) {
		return w.again(ctx, commands.QueryPrompt{PaymentID: p.ID})
	}
	err := w.reportAsPlatform(ctx, swept(cause, id.Any(p.ID)), commands.ExpirePayment{PaymentID: p.ID})
	if refused(err) { // the provider did not answer: ask again
		return w.again(ctx, commands.QueryPrompt{PaymentID: p.ID})
	}
	return err
}

// swept is the cause of one of the things that a run takes: their commands must not share an id.
func swept(cause jobs.Cause, target id.Any) jobs.Cause {
	cause.JobID = id.Derive[id.Any]("swept", cause.JobID.String(), target.String())
	return cause
}

// again enqueues a job that names its request: one of it waits or runs at most.
func (w *Workers) again(ctx context.Context, job commands.Asked) error {
	return w.queue.Insert(ctx, job, id.New[id.Any](), jobs.Cause{Actor: platformActor}, 0)
}
