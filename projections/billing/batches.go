package billingviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// BatchesName keys the projection's checkpoint and schemas, so it never changes.
const BatchesName = "billing_batches"

// Batches lists what changed many customers at once, and what was taken back of it (docs/rules/billing.md#batches).
type Batches struct{}

// batchesDDL is compiled in from batches.sql.
//
//go:embed batches.sql
var batchesDDL string

// Name keys checkpoint and schemas.
func (Batches) Name() string { return BatchesName }

// Version must grow with every change to the tables or to Apply.
func (Batches) Version() int { return 5 }

// DDL creates the tables of batches.sql.
func (Batches) DDL() string { return batchesDDL }

// TenantTables are under row-level security.
func (Batches) TenantTables() []string { return []string{"batches", "items", "notes"} }

// Handles lists the events that change the tables.
func (Batches) Handles() []string {
	return []string{
		events.BillingRunRequested{}.EventType(), events.BillingRunBegan{}.EventType(),
		events.BillingRunHeld{}.EventType(), events.BillingRunReleased{}.EventType(),
		events.BillingRunFinished{}.EventType(), events.PeriodDue{}.EventType(), events.InvoiceDrafted{}.EventType(),
		events.ImportAsked{}.EventType(), events.ImportPartDone{}.EventType(), events.ImportFinished{}.EventType(),
		events.SubscriberRegistered{}.EventType(), events.BalanceCarriedOver{}.EventType(),
		events.CompensationPreviewed{}.EventType(), events.CompensationListed{}.EventType(),
		events.CompensationApplied{}.EventType(), events.CompensationFinished{}.EventType(),
		events.SubscriptionCompensated{}.EventType(), events.BatchUndoAsked{}.EventType(),
		events.BatchUndoPartDone{}.EventType(), events.BatchUndoFinished{}.EventType(),
		events.PlanMoveAsked{}.EventType(), events.PlanMovePartDone{}.EventType(),
		events.PlanMoveFinished{}.EventType(), events.PlanChangePlanned{}.EventType(),
		events.SubscriptionPlanChanged{}.EventType(), events.CreditNoteDrafted{}.EventType(),
	}
}

// Statements of Apply. Each may be applied twice.
const (
	batchSQL = `
insert into {schema}.batches (batch_id, org_id, kind, title, state, asked_at, asked_by, moved_at)
values (@batch, @org, @kind, @title, @state, @at, @by, @at)
on conflict (batch_id) do update set state = excluded.state, finished_at = null, moved_at = excluded.moved_at,
	again_at = case when batches.asked_at < excluded.asked_at then excluded.asked_at else batches.again_at end,
	again_by = case when batches.asked_at < excluded.asked_at then excluded.asked_by else batches.again_by end`
	batchStateSQL = `update {schema}.batches set state = $2, moved_at = $3 where batch_id = $1`
	batchEndedSQL = `
update {schema}.batches set state = 'finished', finished_at = $2, failed = $3, moved_at = $2 where batch_id = $1`
	batchItemSQL = `
insert into {schema}.items (batch_id, item_id, org_id, subscriber_id, subscription_id, made_at, amount_minor, currency,
	days)
values (@batch, @item, @org, @subscriber, @subscription, @made, @amount, @currency, @days)
on conflict (batch_id, item_id) do nothing`
	importedSQL = `
insert into {schema}.items (batch_id, item_id, org_id, subscriber_id, made_at)
select batch_id, $2, org_id, $2, $3 from {schema}.batches where batch_id = $1 and kind = 'import'
on conflict (batch_id, item_id) do nothing`
	itemAmountSQL = `update {schema}.items set amount_minor = $2, currency = $3 where item_id = $1`
	givenItemSQL  = `
update {schema}.items set made_at = $3, days = $4, amount_minor = case when $4 > 0 then 0 else amount_minor end
where batch_id = $1 and item_id = $2`
	givenNoteSQL = `
insert into {schema}.notes (credit_note_id, org_id, batch_id, item_id) values ($1, $2, $3, $4)
on conflict (credit_note_id) do nothing`
	draftedNoteSQL = `
with note as (
	update {schema}.notes set amount_minor = $2 where credit_note_id = $1 returning *
)
update {schema}.items i set currency = $3, amount_minor = $2 + (
	select coalesce(sum(o.amount_minor), 0) from {schema}.notes o where o.batch_id = n.batch_id
		and o.item_id = n.item_id and o.credit_note_id <> $1
) from note n where i.batch_id = n.batch_id and i.item_id = n.item_id`
	outcomeSQL = `
update {schema}.items set outcome = $3, code = $4 where batch_id = $1 and item_id = $2`
	undoAskedSQL = `
update {schema}.batches set undo_round = @round, undo_state = 'running', undo_reason = @reason, undo_at = @at,
	undo_by = @by, undo_ended_at = null, revision = @revision, moved_at = @moved
where batch_id = @batch`
)

// Apply queues the statements for one event. An event applied again changes nothing.
func (Batches) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.PeriodDue:
		if !v.RunID.IsZero() {
			w.Exec(batchItemSQL, pgx.NamedArgs{
				"batch": v.RunID, "item": v.InvoiceID, "org": v.OrgID, "subscriber": v.SubscriberID,
				"subscription": v.SubscriptionID, "made": v.At, "amount": 0, "currency": "", "days": 0,
			})
		}
	case events.InvoiceDrafted:
		w.Exec(itemAmountSQL, v.InvoiceID, v.Total.Minor, string(v.Total.Currency))
	case events.SubscriberRegistered:
		if batch := batchOf(e.Meta); !batch.IsZero() {
			w.Exec(importedSQL, batch, v.SubscriberID, v.RegisteredAt)
		}
	case events.BalanceCarriedOver:
		w.Exec(itemAmountSQL, v.SubscriberID, v.Amount.Minor, string(v.Amount.Currency))
	case events.CompensationListed:
		for _, item := range v.Items {
			if item.Code == "" {
				w.Exec(batchItemSQL, pgx.NamedArgs{
					"batch": v.CompensationID, "item": item.SubscriptionID, "org": v.OrgID,
					"subscriber": item.SubscriberID, "subscription": item.SubscriptionID, "made": nil,
					"amount": item.Amount.Minor, "currency": string(item.Amount.Currency), "days": item.Days,
				})
			}
		}
	case events.PlanChangePlanned:
		movedItem(w, e, v.MoveID, v.SubscriberID, v.SubscriptionID)
	case events.SubscriptionPlanChanged:
		movedItem(w, e, v.MoveID, v.SubscriberID, v.SubscriptionID)
	case events.SubscriptionCompensated:
		w.Exec(givenItemSQL, v.CompensationID, v.SubscriptionID, v.At, v.Days)
		for _, c := range v.Credits {
			note := events.CompensationNote(v.CompensationID, c.InvoiceID, v.SubscriptionID)
			w.Exec(givenNoteSQL, note, e.Meta.OrgID, v.CompensationID, v.SubscriptionID)
		}
	case events.CreditNoteDrafted:
		w.Exec(draftedNoteSQL, v.CreditNoteID, v.Amount.Minor, string(v.Amount.Currency))
	default:
		applyBatch(w, e)
	}
	return nil
}

// batchOf is the batch that a command may belong to; zero = none. Most commands are the first of what they are part of,
// and so have their own id as correlation: no import is looked for then.
func batchOf(m events.Metadata) id.Batch {
	if m.CorrelationID == m.CommandID.String() {
		return id.Batch{}
	}
	batch, err := id.Parse[id.Batch](m.CorrelationID)
	if err != nil {
		return id.Batch{}
	}
	return batch
}

// movedItem queues the statement for a subscription that was moved to another version of its plan, if a move did it.
func movedItem(
	w *runner.Writes, e events.Envelope, move id.PlanMove, subscriber id.Subscriber, subscription id.Subscription,
) {
	if move.IsZero() {
		return
	}
	w.Exec(batchItemSQL, pgx.NamedArgs{
		"batch": move, "item": subscription, "org": e.Meta.OrgID, "subscriber": subscriber,
		"subscription": subscription, "made": e.Meta.At, "amount": 0, "currency": "", "days": 0,
	})
}

// applyBatch queues the statements of events about whole batches.
func applyBatch(w *runner.Writes, e events.Envelope) {
	begin := func(batch id.Any, org id.Organization, kind, title, state string) {
		w.Exec(batchSQL, pgx.NamedArgs{
			"batch": batch, "org": org, "kind": kind, "title": title, "state": state, "at": e.Meta.At,
			"by": staffOf(e.Meta.Actor),
		})
	}
	switch v := e.Event.(type) {
	case events.BillingRunRequested:
		begin(id.As[id.Any](v.RunID), v.OrgID, events.BatchRun, v.Date.String(), "queued")
	case events.BillingRunBegan:
		w.Exec(batchStateSQL, v.RunID, "running", e.Meta.At)
	case events.BillingRunHeld:
		w.Exec(batchStateSQL, v.RunID, "held", e.Meta.At)
	case events.BillingRunReleased:
		w.Exec(batchStateSQL, v.RunID, "queued", e.Meta.At)
	case events.BillingRunFinished:
		w.Exec(batchEndedSQL, v.RunID, v.At, v.Failed)
	case events.ImportAsked:
		begin(id.As[id.Any](v.ImportID), v.OrgID, events.BatchImport, v.Source, "queued")
	case events.ImportPartDone:
		w.Exec(batchStateSQL, v.ImportID, "running", e.Meta.At)
	case events.ImportFinished:
		w.Exec(batchEndedSQL, v.ImportID, v.At, 0)
	case events.PlanMoveAsked:
		begin(id.As[id.Any](v.MoveID), v.OrgID, events.BatchPlanMove, v.PlanName, "queued")
	case events.PlanMovePartDone:
		w.Exec(batchStateSQL, v.MoveID, "running", e.Meta.At)
	case events.PlanMoveFinished:
		w.Exec(batchEndedSQL, v.MoveID, v.At, v.Refused)
	case events.CompensationPreviewed:
		begin(id.As[id.Any](v.CompensationID), v.OrgID, events.BatchCompensation, v.Reason, "preview")
	case events.CompensationApplied:
		w.Exec(batchStateSQL, v.CompensationID, "running", e.Meta.At)
	case events.CompensationFinished:
		w.Exec(batchEndedSQL, v.CompensationID, v.At, v.Refused)
	default:
		applyUndo(w, e)
	}
}

// applyUndo queues the statements of events about what is taken back.
func applyUndo(w *runner.Writes, e events.Envelope) {
	revision := int64(e.Revision) //nolint:gosec // fits
	switch v := e.Event.(type) {
	case events.BatchUndoAsked:
		w.Exec(undoAskedSQL, pgx.NamedArgs{
			"batch": v.BatchID, "round": v.Round, "reason": v.Reason, "at": v.At, "by": staffOf(e.Meta.Actor),
			"revision": revision, "moved": e.Meta.At,
		})
	case events.BatchUndoPartDone:
		for _, item := range v.Items {
			w.Exec(outcomeSQL, v.BatchID, item.ItemID, item.Outcome, item.Code)
		}
		w.Exec(`update {schema}.batches set revision = $2, moved_at = $3 where batch_id = $1`, v.BatchID, revision,
			e.Meta.At)
	case events.BatchUndoFinished:
		w.Exec(`update {schema}.batches set undo_state = 'finished', undo_ended_at = $2, moved_at = $2, revision = $3
			where batch_id = $1`, v.BatchID, v.At, revision)
	}
}
