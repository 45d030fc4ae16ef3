package outagescases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// UndoCompensations takes compensations back: days that were not used, and money by an invoice, since a credit note
// that has its number stays. Safe for concurrent use.
type UndoCompensations struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// Name says which batches it takes back.
func (UndoCompensations) Name() string { return events.BatchCompensation }

// Check refuses a compensation that is not given, or not to the last part. Fails: batch_not_found, batch_not_finished.
func (u UndoCompensations) Check(ctx context.Context, org id.Organization, batch id.Batch) error {
	state, err := u.state(ctx, org, batch)
	switch {
	case err != nil:
		return err
	case !state.Applied || len(state.Done) < len(state.Parts):
		return commands.ErrBatchNotFinished()
	}
	return nil
}

// state reads how far the giving is. Fails: batch_not_found.
func (u UndoCompensations) state(
	ctx context.Context, org id.Organization, batch id.Batch,
) (outages.Compensation, error) {
	state, _, err := bus.LoadOwned[outages.Compensation](ctx, u.Bus, org, id.As[id.Compensation](batch))
	if failure.KindOf(err) == failure.NotFound {
		return state, commands.ErrNoBatch()
	}
	return state, err
}

// Text names the compensation by the first day of its time, in UTC.
func (u UndoCompensations) Text(ctx context.Context, org id.Organization, batch id.Batch) (string, error) {
	state, err := u.state(ctx, org, batch)
	return "compensation for " + state.From.UTC().Format("2006-01-02"), err
}

// Look asks the subscription, and the account for the credit notes. Fails: compensation_too_old, compensation_used,
// credit_note_not_issued, credit_note_archived, corrected_since, account_closed.
func (u UndoCompensations) Look(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem,
) (string, error) {
	subscription, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, of.OrgID, item.SubscriptionID)
	if err != nil {
		return "", err
	}
	if err := subscription.TakingBack(id.As[id.Compensation](of.BatchID), u.Clock.Now()); err != nil {
		return "", err
	}
	again, err := u.charges(ctx, of, item, subscription)
	return again.outcome, err
}

// charges are the invoices that charge the money of one item again, one for each credit note.
type charges struct {
	drafts  []commands.DraftInvoice // those that are still to be made
	outcome string                  // of the item, with those that were made before
}

// charges looks for the credit notes. What an undo before has charged is not asked about again, whatever became of its
// invoices since.
func (u UndoCompensations) charges(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, subscription subscribers.Subscription,
) (charges, error) {
	out := charges{outcome: events.ItemUndone}
	given, _ := subscription.Given(id.As[id.Compensation](of.BatchID))
	if len(given.Invoices) == 0 {
		return out, nil
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, u.Bus, of.OrgID, item.SubscriberID)
	if err != nil {
		return out, err
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, of.OrgID)
	if err != nil {
		return out, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return out, err
	}
	tax := settings.Tax
	tax.Inclusive = true // the note's amount had the tax in it
	for _, invoice := range given.Invoices {
		note := events.CompensationNote(given.ID, invoice, item.SubscriptionID)
		charge := id.Derive[id.Invoice]("undo", note.String())
		if account.Knows(charge) {
			out.outcome = events.ItemCredited
			continue
		}
		if err := chargeable(account, note, invoice); err != nil {
			return out, err
		}
		issued, known := account.Receipts[note]
		if !known { // nothing was left of the invoice to give back
			continue
		}
		out.outcome = events.ItemCredited
		out.drafts = append(out.drafts, commands.DraftInvoice{
			SubscriberID: item.SubscriberID, OrgID: of.OrgID, InvoiceID: charge, Tax: tax, Currency: settings.Currency,
			Prefix: settings.InvoicePrefix, DueOn: calendar.On(u.Clock.Now(), zone),
			Lines: []commands.LineInput{{
				Description: "Credit note " + issued.Number + " taken back", Quantity: "1", UnitPrice: issued.Amount,
			}},
		})
	}
	return out, nil
}

// chargeable refuses a credit note whose money cannot be charged again, or not yet.
func chargeable(account billing.Account, note id.Receipt, of id.Invoice) error {
	_, drafted := account.Notes[note]
	_, known := account.Receipts[note]
	switch {
	case account.ArchivedNote(note):
		return failure.NewConflict("credit_note_archived", "The credit note is used up and too old to be taken back.")
	case drafted, !known && account.Creditable(of):
		return failure.NewConflict("credit_note_not_issued",
			"Its credit note has no number yet. Try again in a moment.")
	case known && account.GivenBack(of): // the note is a part of that
		return commands.ErrCorrectedSince()
	case known && account.Closed: // nobody could be asked for the money
		return commands.ErrAccountClosed()
	}
	return nil
}

// Undo charges the money first, then takes the subscription's part: the account can refuse, as when its customer is
// forgotten at the same moment, and an item is undone whole or not at all. Fails as Look.
func (u UndoCompensations) Undo(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, meta commands.Meta,
) (string, error) {
	subscription, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, of.OrgID, item.SubscriptionID)
	if err != nil {
		return "", err
	}
	compensation := id.As[id.Compensation](of.BatchID)
	if err := subscription.TakingBack(compensation, u.Clock.Now()); err != nil {
		return "", err
	}
	again, err := u.charges(ctx, of, item, subscription)
	if err != nil {
		return "", err
	}
	for _, draft := range again.drafts {
		if _, err := u.Bus.Execute(ctx, draft, usecases.UndoStep(meta, of)); err != nil {
			return "", err
		}
	}
	_, err = u.Bus.Execute(ctx, commands.TakeBackCompensation{
		SubscriptionID: item.SubscriptionID, CompensationID: compensation,
	}, usecases.UndoStep(meta, of))
	return again.outcome, err
}
