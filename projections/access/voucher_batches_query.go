package accessviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// BatchRow is one batch, and how many of its vouchers are in each state.
type BatchRow struct {
	ID         id.VoucherBatch `db:"batch_id"`
	PlanID     id.Plan         `db:"plan_id"`
	PlanName   string          `db:"plan_name"`
	Period     string          `db:"period"`
	Prefix     string          `db:"prefix"`
	PriceMinor int64           `db:"price_minor"`
	Currency   money.Currency  `db:"currency"`
	MadeBy     id.User         `db:"made_by"` // zero = no signed-in person
	MadeAt     time.Time       `db:"made_at"`
	Count      int             `db:"count"`
	Unused     int             `db:"unused"`
	Active     int             `db:"active"`
	Used       int             `db:"used"`
	Void       int             `db:"void"`
}

// BatchKey is a row's place in the list, the newest batch first. The zero value starts at the newest row.
type BatchKey struct {
	MadeAt time.Time       `json:"m"`
	ID     id.VoucherBatch `json:"i"`
}

// Key makes the next page begin after this row.
func (r BatchRow) Key() BatchKey { return BatchKey{MadeAt: r.MadeAt, ID: r.ID} }

// batchesSQL fits BatchRow. The batches of a page are chosen first, so that only their vouchers are counted.
var batchesSQL = `
with b as (
	select * from {schema}.batches
	where org_id = @org and (@batch::uuid is null or batch_id = @batch)
		and (@plan::uuid is null or plan_id = @plan)
		and (@made::timestamptz is null or (made_at, batch_id) < (@made, @id))
	order by made_at desc, batch_id desc limit @max
)
select b.batch_id, b.plan_id, b.plan_name, b.period, b.prefix, b.price_minor, b.currency, b.made_by, b.made_at, b.count,
	n.unused, n.active, n.used, n.void
from b cross join lateral (
	select count(*) filter (where ` + voucherStates[VoucherUnused] + `)::int as unused,
		count(*) filter (where ` + voucherStates[VoucherActive] + `)::int as active,
		count(*) filter (where ` + voucherStates[VoucherUsed] + `)::int as used,
		count(*) filter (where ` + voucherStates[VoucherVoid] + `)::int as void
	from {schema}.vouchers v where v.batch_id = b.batch_id
) n
order by b.made_at desc, b.batch_id desc`

// BatchFilter limits a list of batches. Zero ids limit nothing.
type BatchFilter struct {
	Batch id.VoucherBatch
	Plan  id.Plan
	At    time.Time // at which the states are counted
}

// Batches returns up to max batches after a key, the newest first.
func (q VouchersQuery) Batches(
	ctx context.Context, org id.Organization, f BatchFilter, after BatchKey, max int,
) ([]BatchRow, error) {
	var rows []BatchRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		sql := q.Views.SQL(VouchersName, batchesSQL)
		postgres.Collect(r, &rows, pgx.RowToStructByName[BatchRow], sql, pgx.NamedArgs{
			"org": org, "batch": f.Batch, "plan": f.Plan, "at": f.At, "made": null.Time(after.MadeAt), "id": after.ID,
			"max": max,
		})
	})
	return rows, err
}

// Batch returns one batch, as it is at an instant; nil when the organization has none of this id.
func (q VouchersQuery) Batch(
	ctx context.Context, org id.Organization, batch id.VoucherBatch, at time.Time,
) (*BatchRow, error) {
	rows, err := q.Batches(ctx, org, BatchFilter{Batch: batch, At: at}, BatchKey{}, 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// Unused lists up to max vouchers of a batch with which nobody has signed in, and that are not void.
func (q VouchersQuery) Unused(
	ctx context.Context, org id.Organization, batch id.VoucherBatch, max int,
) ([]id.Voucher, error) {
	var list []id.Voucher
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Voucher], q.Views.SQL(VouchersName, `
			select v.voucher_id from {schema}.vouchers v where v.org_id = $1 and v.batch_id = $2
				and `+voucherStates[VoucherUnused]+` order by v.voucher_id limit $3`), org, batch, max)
	})
	return list, err
}
