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
// credit_note_not_issued, credit_note_archived, corrected_since.
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
	notes, err := u.notes(ctx, of, item, subscription)
	switch {
	case err != nil:
		return "", err
	case len(notes) > 0:
		return events.ItemCredited, nil
	}
	return events.ItemUndone, nil
}

// notes are the drafts of the invoices that charge the money again, one for each credit note.
func (u UndoCompensations) notes(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, subscription subscribers.Subscription,
) ([]commands.DraftInvoice, error) {
	given, _ := subscription.Given(id.As[id.Compensation](of.BatchID))
	if len(given.Invoices) == 0 {
		return nil, nil
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, u.Bus, of.OrgID, item.SubscriberID)
	if err != nil {
		return nil, err
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, of.OrgID)
	if err != nil {
		return nil, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return nil, err
	}
	tax := settings.Tax
	tax.Inclusive = true // the note's amount had the tax in it
	var drafts []commands.DraftInvoice
	for _, invoice := range given.Invoices {
		note := commands.CompensationNote(given.ID, invoice, item.SubscriptionID)
		_, drafted := account.Notes[note]
		issued, known := account.Receipts[note]
		switch {
		case account.ArchivedNote(note):
			return nil, failure.NewConflict("credit_note_archived",
				"The credit note is used up and too old to be taken back.")
		case drafted, !known && account.Creditable(invoice):
			return nil, failure.NewConflict("credit_note_not_issued",
				"Its credit note has no number yet. Try again in a moment.")
		case !known: // nothing was left of the invoice to give back
			continue
		case account.GivenBack(invoice): // the note is a part of that
			return nil, commands.ErrCorrectedSince()
		}
		drafts = append(drafts, commands.DraftInvoice{
			SubscriberID: item.SubscriberID, OrgID: of.OrgID, InvoiceID: id.Derive[id.Invoice]("undo", note.String()),
			Tax: tax, Currency: settings.Currency, Prefix: settings.InvoicePrefix,
			DueOn: calendar.On(u.Clock.Now(), zone),
			Lines: []commands.LineInput{{
				Description: "Credit note " + issued.Number + " taken back", Quantity: "1", UnitPrice: issued.Amount,
			}},
		})
	}
	return drafts, nil
}

// Undo takes the subscription's part first, then charges the money. Fails as Look.
func (u UndoCompensations) Undo(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, meta commands.Meta,
) (string, error) {
	subscription, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, of.OrgID, item.SubscriptionID)
	if err != nil {
		return "", err
	}
	drafts, err := u.notes(ctx, of, item, subscription)
	if err != nil {
		return "", err
	}
	_, err = u.Bus.Execute(ctx, commands.TakeBackCompensation{
		SubscriptionID: item.SubscriptionID, CompensationID: id.As[id.Compensation](of.BatchID),
	}, usecases.UndoStep(meta, of))
	if err != nil {
		return "", err
	}
	outcome := events.ItemUndone
	for _, draft := range drafts {
		if _, err := u.Bus.Execute(ctx, draft, usecases.UndoStep(meta, of)); err != nil {
			return "", err
		}
		outcome = events.ItemCredited
	}
	return outcome, nil
}
