package billingcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// UndoRuns takes billing runs back: each invoice, and the period that it is for. Safe for concurrent use.
type UndoRuns struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// Name says which batches it takes back.
func (UndoRuns) Name() string { return events.BatchRun }

// Check refuses a run that still makes invoices. Fails: batch_not_found, batch_not_finished.
func (u UndoRuns) Check(ctx context.Context, org id.Organization, batch id.Batch) error {
	run, err := u.run(ctx, org, batch)
	switch {
	case err != nil:
		return err
	case run.State != billing.RunFinished:
		return commands.ErrBatchNotFinished()
	}
	return nil
}

// run reads what the batch is. Fails: batch_not_found.
func (u UndoRuns) run(ctx context.Context, org id.Organization, batch id.Batch) (billing.Run, error) {
	run, _, err := bus.LoadOwned[billing.Run](ctx, u.Bus, org, id.As[id.BillingRun](batch))
	if failure.KindOf(err) == failure.NotFound {
		return run, commands.ErrNoBatch()
	}
	return run, err
}

// Text names the run by its day.
func (u UndoRuns) Text(ctx context.Context, org id.Organization, batch id.Batch) (string, error) {
	run, err := u.run(ctx, org, batch)
	return "billing run of " + run.Date.String(), err
}

// Look asks the subscription and the account what they would do, and has the account's answer. Fails:
// later_period_billed, corrected_since, taken_back_already, period_archived, invoice_archived, invoice_not_found,
// account_closed.
func (u UndoRuns) Look(ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem) (string, error) {
	period, invoice := u.commands(of, item)
	subscription, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, of.OrgID, item.SubscriptionID)
	if err != nil {
		return "", err
	}
	now := u.Clock.Now()
	if invoice.Dropped, err = subscription.Undoing(period, now); err != nil {
		return "", err
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, u.Bus, of.OrgID, item.SubscriberID)
	if err != nil {
		return "", err
	}
	return account.TakingBack(invoice, now)
}

// Bills asks the subscription whether the undo makes what was used due at once.
func (u UndoRuns) Bills(ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem) (bool, error) {
	period, _ := u.commands(of, item)
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, of.OrgID, item.SubscriptionID)
	return err == nil && s.UndoBills(period, u.Clock.Now()), err
}

// commands are the two by which an invoice is taken back. The note's id follows from the invoice, so that a repeat
// finds it.
func (u UndoRuns) commands(
	of usecases.BatchUndoOf, item usecases.BatchItem,
) (commands.UndoPeriod, commands.TakeBackInvoice) {
	invoice := id.As[id.Invoice](item.ID)
	return commands.UndoPeriod{
			SubscriptionID: item.SubscriptionID, InvoiceID: invoice, RunID: id.As[id.BillingRun](of.BatchID),
		}, commands.TakeBackInvoice{
			SubscriberID: item.SubscriberID, InvoiceID: invoice, Reason: of.Text,
			CreditNoteID: id.Derive[id.Receipt]("undo", invoice.String()),
		}
}

// Undo drops the period first, since an invoice that is void would drop it in another way, and then takes the invoice
// back whatever became of it in between. Fails as Look.
func (u UndoRuns) Undo(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, meta commands.Meta,
) (string, error) {
	outcome, err := u.Look(ctx, of, item)
	if err != nil {
		return "", err
	}
	period, invoice := u.commands(of, item)
	if invoice.Prefix, err = usecases.NotePrefix(ctx, u.Bus, of.OrgID); err != nil {
		return "", err
	}
	if _, err := u.Bus.Execute(ctx, period, usecases.UndoStep(meta, of)); err != nil {
		return "", err
	}
	invoice.Dropped = true
	done, err := u.Bus.Execute(ctx, invoice, usecases.UndoStep(meta, of))
	if err != nil {
		return "", err
	}
	for _, e := range done.Events {
		switch e.(type) {
		case events.CreditNoteDrafted:
			outcome = events.ItemCredited
		case events.InvoiceVoided:
			outcome = events.ItemUndone
		}
	}
	return outcome, nil
}
