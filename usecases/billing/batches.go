package billingcases

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Batches previews how batches would be taken back, and takes them back. Safe for concurrent use.
type Batches struct {
	Bus   *bus.Bus
	Views *runner.Views
	Kinds []usecases.BatchKind
	Clock clock.Clock
	// Logger is told of items at which the program failed.
	Logger *slog.Logger
}

// Bounds of a preview: it is made while somebody waits.
const (
	mostLooked  = 5000 // items that are asked
	mostBlocked = 100  // that are listed of each outcome; the others are counted
	undoCrew    = 16   // items that are asked, or taken back, at the same time
)

// BatchPreview tells the outcomes that an undo would have now.
type BatchPreview struct {
	Items    int // that are left to be taken back
	Looked   int // of them, up to mostLooked
	Undone   int
	Credited int
	Blocked  int
	// Billed are those of which a new invoice is made at once, over what was used before the end of the service.
	Billed int
	// CreditedItems and BlockedItems are the first of them.
	CreditedItems []usecases.BatchItem
	BlockedItems  []BlockedItem
}

// BlockedItem is one that would stay as it is, and why.
type BlockedItem struct {
	usecases.BatchItem
	Code string // of the failure
}

// find reads a batch and its kind. Fails: batch_not_found.
func (u Batches) find(
	ctx context.Context, org id.Organization, batch id.Batch,
) (usecases.BatchKind, error) {
	row, err := billingviews.BatchesQuery{Views: u.Views}.Get(ctx, org, batch)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, commands.ErrNoBatch()
	}
	return u.kind(row.Kind)
}

// kind finds what takes batches of a kind back. Fails: batch_not_found.
func (u Batches) kind(name string) (usecases.BatchKind, error) {
	for _, kind := range u.Kinds {
		if kind.Name() == name {
			return kind, nil
		}
	}
	return nil, commands.ErrNoBatch()
}

// Preview asks each item what would become of it; the first 5,000 of a larger batch. Fails: batch_not_found,
// batch_not_finished, batch_undo_runs.
func (u Batches) Preview(ctx context.Context, org id.Organization, batch id.Batch) (BatchPreview, error) {
	kind, err := u.find(ctx, org, batch)
	if err != nil {
		return BatchPreview{}, err
	}
	if err := u.ready(ctx, kind, org, batch); err != nil {
		return BatchPreview{}, err
	}
	query := billingviews.BatchesQuery{Views: u.Views}
	of := usecases.BatchUndoOf{BatchID: batch, OrgID: org, Text: "preview", At: u.Clock.Now()}
	items, total, err := query.Left(ctx, org, batch, of.At, id.Any{}, mostLooked)
	if err != nil {
		return BatchPreview{}, err
	}
	bills, again := kind.(usecases.BillingUndo)
	var billed atomic.Int64
	looked, err := u.eachItem(ctx, batch, items, func(item usecases.BatchItem) (string, error) {
		outcome, err := kind.Look(ctx, of, item)
		if err != nil || !again {
			return outcome, err
		}
		is, err := bills.Bills(ctx, of, item)
		if is {
			billed.Add(1)
		}
		return outcome, err
	})
	out := BatchPreview{Items: total, Looked: len(looked), Billed: int(billed.Load())}
	for i, one := range looked {
		out.add(items[i], one)
	}
	return out, err
}

// add counts and lists one item.
func (p *BatchPreview) add(row billingviews.BatchItemRow, one events.BatchUndoItem) {
	item := itemOf(row)
	switch one.Outcome {
	case events.ItemUndone:
		p.Undone++
	case events.ItemCredited:
		if p.Credited++; len(p.CreditedItems) < mostBlocked {
			p.CreditedItems = append(p.CreditedItems, item)
		}
	default:
		if p.Blocked++; len(p.BlockedItems) < mostBlocked {
			p.BlockedItems = append(p.BlockedItems, BlockedItem{BatchItem: item, Code: one.Code})
		}
	}
}

// itemOf keeps of a row what an undo needs.
func itemOf(row billingviews.BatchItemRow) usecases.BatchItem {
	return usecases.BatchItem{ID: row.ID, SubscriberID: row.SubscriberID, SubscriptionID: row.SubscriptionID}
}

// ready refuses a batch that still makes something, and one that is being taken back.
func (u Batches) ready(ctx context.Context, kind usecases.BatchKind, org id.Organization, batch id.Batch) error {
	if err := kind.Check(ctx, org, batch); err != nil {
		return err
	}
	state, err := u.state(ctx, org, batch)
	if err == nil && state.Running {
		err = commands.ErrBatchUndoRuns()
	}
	return err
}

// state is how far a batch is taken back; the zero value when that was never asked for.
func (u Batches) state(ctx context.Context, org id.Organization, batch id.Batch) (billing.BatchUndo, error) {
	state, _, err := bus.LoadOwned[billing.BatchUndo](ctx, u.Bus, org, batch)
	if failure.KindOf(err) == failure.NotFound {
		return billing.BatchUndo{}, nil
	}
	return state, err
}

// Undo asks for a batch to be taken back, as one act; jobs do it part by part. Fails: batch_not_found,
// batch_not_finished, batch_undo_runs, invalid_input.
func (u Batches) Undo(
	ctx context.Context, asked usecases.Asked, batch id.Batch, reason string,
) (bus.Result, error) {
	kind, err := u.find(ctx, asked.Org(), batch)
	if err != nil {
		return bus.Result{}, err
	}
	if err := u.ready(ctx, kind, asked.Org(), batch); err != nil {
		return bus.Result{}, err
	}
	meta := asked.Meta
	meta.CorrelationID, meta.Reason = batch.String(), reason
	return u.Bus.Execute(ctx, commands.AskBatchUndo{
		BatchID: batch, OrgID: asked.Org(), Kind: kind.Name(), Reason: strings.TrimSpace(reason),
	}, meta)
}

// UndoPart takes the next items back and records what became of them. A part that was begun before finds what it did.
// Fails: ErrRunBehind, as the log and the read models do, and as a part that could not be taken back for an outage.
func (u Batches) UndoPart(ctx context.Context, part commands.UndoBatchPart, meta commands.Meta) error {
	state, err := u.state(ctx, part.OrgID, part.BatchID)
	if err != nil {
		return err
	}
	if !state.Running || state.Round != part.Round || state.Next != part.Part {
		return nil
	}
	kind, err := u.kind(state.Kind)
	if err != nil {
		return err
	}
	whole := func(context.Context) (bool, error) { return true, nil }
	if ok, err := u.Views.WaitWhole(ctx, billingviews.BatchesName, whole); err != nil || !ok {
		return errors.Join(err, ErrRunBehind)
	}
	text, err := kind.Text(ctx, part.OrgID, part.BatchID)
	if err != nil {
		return err
	}
	of := usecases.BatchUndoOf{
		BatchID: part.BatchID, OrgID: part.OrgID, Reason: state.Reason, Text: undoText(text, state.Reason),
		At: state.AskedAt,
	}
	items, _, err := billingviews.BatchesQuery{Views: u.Views}.Left(ctx, part.OrgID, part.BatchID, state.AskedAt,
		state.After, commands.UndoPartItems)
	if err != nil {
		return err
	}
	done, err := u.eachItem(ctx, part.BatchID, items, func(item usecases.BatchItem) (string, error) {
		return kind.Undo(ctx, of, item, meta)
	})
	if err != nil {
		return err
	}
	meta.CorrelationID = part.BatchID.String()
	_, err = u.Bus.Execute(ctx, commands.RecordBatchUndoPart{
		BatchID: part.BatchID, Round: part.Round, Part: part.Part, Items: done,
	}, meta)
	return err
}

// maxUndoText is how long the reason on a document is, in characters.
const maxUndoText = 400

// undoText is the reason on documents and statements.
func undoText(batch, reason string) string {
	text := []rune("The " + batch + " was undone: " + reason)
	return string(text[:min(len(text), maxUndoText)])
}

// eachItem does something with each item, some of them side by side, and has what became of them in their order. An
// item that refuses or cannot be read is blocked.
func (u Batches) eachItem(
	ctx context.Context, batch id.Batch, items []billingviews.BatchItemRow,
	do func(usecases.BatchItem) (string, error),
) ([]events.BatchUndoItem, error) {
	done := make([]events.BatchUndoItem, len(items))
	ids := make([]id.Any, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	of := usecases.Items{Logger: u.Logger, Batch: batch, Crew: undoCrew}
	codes, err := usecases.EachItem(ctx, of, ids, func(i int) (err error) {
		done[i].Outcome, err = do(itemOf(items[i]))
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, code := range codes {
		if done[i].ItemID = ids[i]; code != "" {
			done[i].Outcome, done[i].Code = events.ItemBlocked, code
		}
	}
	return done, nil
}
