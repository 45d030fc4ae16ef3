package subscriberscases

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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
	currency      money.Currency
	account       billing.Account
	seen          uint64 // the revision of the account; commands.NoRevision where there is none
	subscriptions []id.Subscription
}

// rowServices is how many services a row of a file makes; those that have ended count.
const rowServices = 1

// look refuses a customer to whom something happened since: the histories of the account, of the services and of their
// dunning tell. One whose account an undo has closed is on the way out.
func (u UndoImports) look(ctx context.Context, undo usecases.BatchUndoOf, of id.Subscriber) (imported, error) {
	var has imported
	org := undo.OrgID
	customer, revision, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, org, of)
	switch {
	case failure.KindOf(err) == failure.NotFound: // it was registered here: what is left of it is that it was removed
		has.gone = true
		return has, nil
	case err != nil:
		return has, err
	}
	has.currency = customer.Currency
	has.account, has.seen, err = bus.LoadUnchecked[billing.Account](ctx, u.Bus, of) // of the customer above
	switch {
	case err != nil:
		return has, err
	case !has.account.Exists():
		has.seen = commands.NoRevision
	case has.account.Closed:
		return u.withServices(ctx, org, of, has)
	}
	if revision > 0 { // the import itself blocks whom the other system had banned
		past, err := bus.HistoryUnchecked[subscribers.Subscriber](ctx, u.Bus, of)
		switch {
		case err != nil:
			return has, err
		case !subscribers.Untouched(past, undo.BatchID):
			return has, commands.ErrCorrectedSince()
		}
	}
	history, err := bus.HistoryUnchecked[billing.Account](ctx, u.Bus, of)
	if err != nil {
		return has, err
	}
	if err := billing.Untouched(history, undo.BatchID); err != nil {
		return has, err
	}
	if has, err = u.withServices(ctx, org, of, has); err != nil {
		return has, err
	}
	if len(has.subscriptions) > rowServices {
		return has, commands.ErrCorrectedSince()
	}
	for _, subscription := range has.subscriptions {
		service, err := bus.HistoryUnchecked[subscribers.Subscription](ctx, u.Bus, subscription)
		if err != nil {
			return has, err
		}
		dunning, err := bus.HistoryUnchecked[access.Dunning](ctx, u.Bus, subscription)
		if err != nil {
			return has, err
		}
		if !subscribers.Untouched(service, undo.BatchID) || !access.Untouched(dunning) {
			return has, commands.ErrCorrectedSince()
		}
	}
	return has, nil
}

// mostServices bounds the services of a customer who is on the way out.
const mostServices = 100

// withServices adds the services of a customer, those that have ended too.
func (u UndoImports) withServices(
	ctx context.Context, org id.Organization, of id.Subscriber, has imported,
) (imported, error) {
	rows, err := subscribersviews.SubscriptionsQuery{Views: u.Views}.List(
		ctx, org, subscribersviews.SubscriptionFilter{Subscriber: of}, subscribersviews.SubscriptionKey{}, mostServices)
	for _, row := range rows {
		has.subscriptions = append(has.subscriptions, row.ID)
	}
	return has, err
}

// undoTries is how often a customer is looked at whose account changes at the same time.
const undoTries = 3

// Undo closes the account as it was looked at, so that nothing comes between; ends the service for nothing, before
// anything on the account could renew it; voids what is due; takes what was paid ahead off the account, and removes the
// customer as the last step, which is how a repeat knows that all is done. Fails as Look.
func (u UndoImports) Undo(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, meta commands.Meta,
) (string, error) {
	var has imported
	var err error
	for range undoTries {
		if has, err = u.look(ctx, of, item.SubscriberID); err != nil || has.gone {
			return events.ItemUndone, err
		}
		as := usecases.UndoStep(meta, of)
		as.ExpectedRevision = &has.seen
		_, err = u.Bus.Execute(ctx, commands.CloseAccount{
			SubscriberID: item.SubscriberID, OrgID: of.OrgID, Currency: has.currency, Reason: of.Text,
		}, as)
		if !errors.Is(err, bus.ErrStale()) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	for _, step := range has.steps(of, item.SubscriberID) {
		if _, err := u.Bus.Execute(ctx, step, usecases.UndoStep(meta, of)); err != nil {
			return "", err
		}
	}
	return events.ItemUndone, nil
}

// steps remove a customer whose account is closed.
func (has imported) steps(of usecases.BatchUndoOf, subscriber id.Subscriber) []commands.Command {
	var steps []commands.Command
	for _, subscription := range has.subscriptions {
		steps = append(steps, commands.EndSubscription{
			SubscriptionID: subscription, Reason: of.Text, Annulled: true,
		})
	}
	for _, list := range []map[id.Invoice]billing.Invoice{has.account.Invoices, has.account.Settled} {
		for invoice := range list {
			steps = append(steps, commands.VoidInvoice{
				SubscriberID: subscriber, InvoiceID: invoice, Reason: of.Text, ReleaseMoney: true,
			})
		}
	}
	ahead := events.CarriedCredit(subscriber)
	if receipt, carried := has.account.Receipts[ahead]; carried && !receipt.Withdrawn {
		steps = append(steps, commands.WithdrawReceipt{
			SubscriberID: subscriber, ReceiptID: ahead, Reason: of.Text,
		})
	}
	return append(steps, commands.RemoveSubscriber{SubscriberID: subscriber, Reason: of.Text})
}
