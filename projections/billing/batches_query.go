package billingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// BatchKinds are the values of BatchRow.Kind, and BatchStates those of BatchRow.State.
var (
	BatchKinds  = []string{events.BatchRun, events.BatchImport, events.BatchCompensation, events.BatchPlanMove}
	BatchStates = []string{"preview", "queued", "running", "held", "finished"}
)

// BatchRow is a batch with what it made and what was taken back of it.
type BatchRow struct {
	ID          id.Batch       `db:"batch_id"`
	Kind        string         `db:"kind"`
	Title       string         `db:"title"`
	State       string         `db:"state"`
	AskedAt     time.Time      `db:"asked_at"`
	AskedBy     id.User        `db:"asked_by"` // zero = the clock
	AgainAt     *time.Time     `db:"again_at"` // when it was asked for last, after the first time
	AgainBy     id.User        `db:"again_by"`
	FinishedAt  *time.Time     `db:"finished_at"`
	Failed      int            `db:"failed"`
	UndoRound   int            `db:"undo_round"` // 0 = never
	UndoState   string         `db:"undo_state"` // "", "running", "finished"
	UndoReason  string         `db:"undo_reason"`
	UndoAt      *time.Time     `db:"undo_at"`
	UndoBy      id.User        `db:"undo_by"`
	UndoEndedAt *time.Time     `db:"undo_ended_at"`
	Revision    int64          `db:"revision"`
	Made        int            `db:"made"`
	Stands      int            `db:"stands"`       // of Made: what was not taken back
	AmountMinor int64          `db:"amount_minor"` // of what stands
	Currency    money.Currency `db:"currency"`     // "" = no money
	Days        int            `db:"days"`
	Undone      int            `db:"undone"`
	Credited    int            `db:"credited"`
	Blocked     int            `db:"blocked"`
}

// BatchKey is a row's place in the list, newest first. The zero value starts at the newest row.
type BatchKey struct {
	At time.Time `json:"a"`
	ID id.Batch  `json:"i"`
}

// Key makes the next page begin after this row.
func (r BatchRow) Key() BatchKey { return BatchKey{At: r.AskedAt, ID: r.ID} }

// BatchesQuery serves batches to their organization.
type BatchesQuery struct{ Views *runner.Views }

// standing selects the items that no undo has taken back.
const standing = `outcome not in ('undone', 'credited')`

// batchSelect fits BatchRow; a condition on b follows.
const batchSelect = `
select b.batch_id, b.kind, b.title, b.state, b.asked_at, b.asked_by, b.again_at, b.again_by, b.finished_at,
	b.failed, b.undo_round, b.undo_state, b.undo_reason, b.undo_at, b.undo_by, b.undo_ended_at, b.revision, i.made,
	i.stands, i.amount_minor, i.currency, i.days, i.undone, i.credited, i.blocked
from {schema}.batches b cross join lateral (
	select count(*)::int as made, count(*) filter (where ` + standing + `)::int as stands,
		coalesce(sum(amount_minor) filter (where ` + standing + `), 0)::bigint as amount_minor,
		coalesce(max(currency), '') as currency,
		coalesce(sum(days) filter (where ` + standing + `), 0)::int as days,
		count(*) filter (where outcome = 'undone')::int as undone,
		count(*) filter (where outcome = 'credited')::int as credited,
		count(*) filter (where outcome = 'blocked')::int as blocked
	from {schema}.items where batch_id = b.batch_id and made_at is not null) i
where b.org_id = @org and `

// Get returns one batch of an organization, nil when it has none with this id.
func (q BatchesQuery) Get(ctx context.Context, org id.Organization, batch id.Batch) (row *BatchRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[BatchRow],
			q.Views.SQL(BatchesName, batchSelect+`b.batch_id = @batch`), pgx.NamedArgs{"org": org, "batch": batch})
	})
	return row, err
}

// List returns up to max batches of an organization after a key, the newest first; of one kind unless it is "". Those
// that were only previewed are none.
func (q BatchesQuery) List(
	ctx context.Context, org id.Organization, kind string, after BatchKey, max int,
) (rows []BatchRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BatchRow], q.Views.SQL(BatchesName, batchSelect+`
			b.state <> 'preview' and (@kind = '' or b.kind = @kind)
			and (@at::timestamptz is null or (b.asked_at, b.batch_id) < (@at, @after))
			order by b.asked_at desc, b.batch_id desc limit @max`), pgx.NamedArgs{
			"org": org, "kind": kind, "at": null.Time(after.At), "after": after.ID, "max": max,
		})
	})
	return rows, err
}

// stillSQL lists the batches on which nothing was done since an instant, though they are not at their end. What an item
// of them was made is a step, too.
const stillSQL = `
select b.batch_id, b.kind, b.title, m.moved as since from {schema}.batches b cross join lateral (
	select greatest(b.moved_at, max(i.made_at)) as moved from {schema}.items i where i.batch_id = b.batch_id) m
where b.org_id = $1 and (b.state in ('queued', 'running') or b.undo_state = 'running') and b.moved_at < $2
	and m.moved < $2
order by m.moved, b.batch_id limit $3`

// StillBatch is a batch that does not go on.
type StillBatch struct {
	ID    id.Batch  `db:"batch_id"`
	Kind  string    `db:"kind"`
	Title string    `db:"title"`
	Since time.Time `db:"since"` // of its last step
}

// Still lists up to max batches of an organization on which nothing was done since an instant, the oldest first.
func (q BatchesQuery) Still(
	ctx context.Context, org id.Organization, since time.Time, max int,
) (rows []StillBatch, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[StillBatch], q.Views.SQL(BatchesName, stillSQL), org, since,
			max)
	})
	return rows, err
}

// BatchItemRow is one thing that a batch made.
type BatchItemRow struct {
	ID             id.Any          `db:"item_id"`
	SubscriberID   id.Subscriber   `db:"subscriber_id"`
	SubscriptionID id.Subscription `db:"subscription_id"`
	AmountMinor    int64           `db:"amount_minor"`
	Currency       money.Currency  `db:"currency"`
	Days           int             `db:"days"`
	Outcome        string          `db:"outcome"` // of an undo; "" = it was not taken back
	Code           string          `db:"code"`
}

// BatchItemKey is an item's place in the list. The zero value stands before its first row.
type BatchItemKey struct {
	ID id.Any `json:"i"`
}

// Key makes the next page begin after this row.
func (r BatchItemRow) Key() BatchItemKey { return BatchItemKey{ID: r.ID} }

// batchItemColumns fit BatchItemRow.
const batchItemColumns = `item_id, subscriber_id, subscription_id, amount_minor, currency, days, outcome, code`

// Items returns up to max items of a batch after a key; those with an outcome only, unless it is "".
func (q BatchesQuery) Items(
	ctx context.Context, org id.Organization, batch id.Batch, outcome string, after BatchItemKey, max int,
) (rows []BatchItemRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BatchItemRow], q.Views.SQL(BatchesName, `
			select `+batchItemColumns+` from {schema}.items
			where org_id = $1 and batch_id = $2 and made_at is not null and ($3 = '' or outcome = $3)
				and ($4::uuid is null or item_id > $4)
			order by item_id limit $5`), org, batch, outcome, after.ID, max)
	})
	return rows, err
}

// Left returns up to max items of a batch after one that are not taken back, of those that were made up to an instant,
// and how many there are in all.
func (q BatchesQuery) Left(
	ctx context.Context, org id.Organization, batch id.Batch, until time.Time, after id.Any, max int,
) (rows []BatchItemRow, all int, err error) {
	const where = `org_id = $1 and batch_id = $2 and made_at <= $3 and ` + standing
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BatchItemRow], q.Views.SQL(BatchesName, `
			select `+batchItemColumns+` from {schema}.items where `+where+` and ($4::uuid is null or item_id > $4)
			order by item_id limit $5`), org, batch, until, after, max)
		postgres.CollectOne(r, &all, pgx.RowTo[int],
			q.Views.SQL(BatchesName, `select count(*) from {schema}.items where `+where), org, batch, until)
	})
	return rows, all, err
}
