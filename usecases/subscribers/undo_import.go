package subscriberscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// UndoImports takes imports back: customers to whom nothing happened since are removed, with their services, unpaid
// invoices and opening balances. Safe for concurrent use.
type UndoImports struct {
	Bus   *bus.Bus
	Views *runner.Views
	Clock clock.Clock
}

// Name says which batches it takes back.
func (UndoImports) Name() string { return events.BatchImport }

// Check refuses an import that is not finished. Fails: batch_not_found, batch_not_finished.
func (u UndoImports) Check(ctx context.Context, org id.Organization, batch id.Batch) error {
	state, _, err := bus.LoadOwned[subscribers.Import](ctx, u.Bus, org, id.As[id.Import](batch))
	switch {
	case failure.KindOf(err) == failure.NotFound:
		return commands.ErrNoBatch()
	case err == nil && !state.Finished:
		return commands.ErrBatchNotFinished()
	}
	return err
}

// Text names the import.
func (UndoImports) Text(context.Context, id.Organization, id.Batch) (string, error) {
	return "import", nil
}

// Look reads all that the customer has. Fails: paid_since, corrected_since.
func (u UndoImports) Look(ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem) (string, error) {
	_, err := u.look(ctx, of, item.SubscriberID)
	return events.ItemUndone, err
}

// imported has the account and the services of a customer from the import.
type imported struct {
	gone          bool // removed already
	account       billing.Account
	subscriptions []id.Subscription
}

// rowServices is how many services a row of a file makes; those that have ended count.
const rowServices = 1

// look refuses a customer to whom something happened since: the histories of the account, of the services and of their
// dunning tell.
func (u UndoImports) look(ctx context.Context, undo usecases.BatchUndoOf, of id.Subscriber) (imported, error) {
	var has imported
	org, batch := undo.OrgID, undo.BatchID
	_, revision, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, org, of)
	switch {
	case failure.KindOf(err) == failure.NotFound: // it was registered here: what is left of it is that it was removed
		has.gone = true
		return has, nil
	case err != nil:
		return has, err
	case revision > 0:
		return has, commands.ErrCorrectedSince()
	}
	has.account, _, err = bus.LoadUnchecked[billing.Account](ctx, u.Bus, of) // of the customer above
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return has, err
	}
	money, err := bus.HistoryUnchecked[billing.Account](ctx, u.Bus, of)
	if err != nil {
		return has, err
	}
	if err := billing.Untouched(money, batch); err != nil {
		return has, err
	}
	rows, err := subscribersviews.SubscriptionsQuery{Views: u.Views}.List(
		ctx, org, of, "", subscribersviews.SubscriptionKey{}, rowServices+1)
	switch {
	case err != nil:
		return has, err
	case len(rows) > rowServices:
		return has, commands.ErrCorrectedSince()
	}
	for _, row := range rows {
		service, err := bus.HistoryUnchecked[subscribers.Subscription](ctx, u.Bus, row.ID)
		if err != nil {
			return has, err
		}
		dunning, err := bus.HistoryUnchecked[access.Dunning](ctx, u.Bus, row.ID)
		if err != nil {
			return has, err
		}
		if !subscribers.Untouched(service, batch) || !access.Untouched(dunning) {
			return has, commands.ErrCorrectedSince()
		}
		has.subscriptions = append(has.subscriptions, row.ID)
	}
	return has, nil
}

// Undo voids what is due, so that the end of the service has nothing to give back; takes what was paid ahead off the
// account; ends the service, and removes the customer as the last step, which is how a repeat knows that all is done.
// Fails as Look.
func (u UndoImports) Undo(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, meta commands.Meta,
) (string, error) {
	has, err := u.look(ctx, of, item.SubscriberID)
	if err != nil || has.gone {
		return events.ItemUndone, err
	}
	var steps []commands.Command
	for _, list := range []map[id.Invoice]billing.Invoice{has.account.Invoices, has.account.Settled} {
		for invoice := range list {
			steps = append(steps, commands.VoidInvoice{
				SubscriberID: item.SubscriberID, InvoiceID: invoice, Reason: of.Text, ReleaseMoney: true,
			})
		}
	}
	ahead := events.CarriedCredit(item.SubscriberID)
	if money, carried := has.account.Receipts[ahead]; carried && !money.Withdrawn {
		steps = append(steps, commands.WithdrawReceipt{
			SubscriberID: item.SubscriberID, ReceiptID: ahead, Reason: of.Text,
		})
	}
	for _, subscription := range has.subscriptions {
		steps = append(steps, commands.EndSubscription{SubscriptionID: subscription, Reason: of.Text})
	}
	steps = append(steps, commands.RemoveSubscriber{SubscriberID: item.SubscriberID, Reason: of.Text})
	for _, step := range steps {
		if _, err := u.Bus.Execute(ctx, step, usecases.UndoStep(meta, of)); err != nil {
			return "", err
		}
	}
	return events.ItemUndone, nil
}
