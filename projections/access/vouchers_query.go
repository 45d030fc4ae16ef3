package accessviews

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// The states of a voucher at an instant.
const (
	VoucherUnused = "unused"
	VoucherActive = "active" // its time runs
	VoucherUsed   = "used"   // its time is over
	VoucherVoid   = "void"
)

// VoucherRow is one voucher with what its batch says.
type VoucherRow struct {
	ID         id.Voucher      `db:"voucher_id"`
	BatchID    id.VoucherBatch `db:"batch_id"`
	PlanID     id.Plan         `db:"plan_id"`
	PlanName   string          `db:"plan_name"`
	Period     string          `db:"period"`
	Prefix     string          `db:"prefix"`
	PriceMinor int64           `db:"price_minor"`
	Currency   money.Currency  `db:"currency"`
	MadeBy     id.User         `db:"made_by"` // zero = no signed-in person
	MadeAt     time.Time       `db:"made_at"`
	RedeemedAt *time.Time      `db:"redeemed_at"`
	EndsAt     *time.Time      `db:"ends_at"`
	DeviceID   id.Device       `db:"device_id"`
	MAC        string          `db:"mac"`
	Moves      int             `db:"moves"`
	VoidedAt   *time.Time      `db:"voided_at"`
	VoidedBy   id.User         `db:"voided_by"`   // zero = no signed-in person, or not void
	VoidReason string          `db:"void_reason"` // "" = not void, or the person is forgotten
}

// VoucherKey is a row's place in the list, the newest batch first. The zero value starts at the newest row.
type VoucherKey struct {
	MadeAt time.Time  `json:"m"`
	ID     id.Voucher `json:"i"`
}

// Key makes the next page begin after this row.
func (r VoucherRow) Key() VoucherKey { return VoucherKey{MadeAt: r.MadeAt, ID: r.ID} }

// State is the state at an instant.
func (r VoucherRow) State(at time.Time) string {
	switch {
	case r.VoidedAt != nil:
		return VoucherVoid
	case r.RedeemedAt == nil || r.EndsAt == nil:
		return VoucherUnused
	case at.Before(*r.EndsAt):
		return VoucherActive
	}
	return VoucherUsed
}

// VoucherFilter limits a list. Zero fields limit nothing.
type VoucherFilter struct {
	Batch id.VoucherBatch
	Plan  id.Plan
	State string // at At
	At    time.Time
}

// VouchersQuery serves an organization's vouchers.
type VouchersQuery struct{ Views *runner.Views }

// voucherSelect fits VoucherRow; the condition follows.
const voucherSelect = `select v.voucher_id, v.batch_id, v.plan_id, b.plan_name, b.period, b.prefix, b.price_minor,
	b.currency, b.made_by, v.made_at, v.redeemed_at, v.ends_at, v.device_id, v.mac, v.moves, v.voided_at,
	v.voided_by, v.void_reason
	from {schema}.vouchers v join {schema}.batches b using (batch_id) `

// voucherStates are the conditions of the states. "" is every state.
var voucherStates = map[string]string{
	"": "true", VoucherUnused: "v.redeemed_at is null and v.voided_at is null",
	VoucherActive: "v.redeemed_at is not null and v.voided_at is null and v.ends_at > @at",
	VoucherUsed:   "v.redeemed_at is not null and v.voided_at is null and v.ends_at <= @at",
	VoucherVoid:   "v.voided_at is not null",
}

// Get returns one voucher; nil when the organization has none of this id.
func (q VouchersQuery) Get(ctx context.Context, org id.Organization, voucher id.Voucher) (*VoucherRow, error) {
	var row *VoucherRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[VoucherRow],
			q.Views.SQL(VouchersName, voucherSelect+`where v.org_id = $1 and v.voucher_id = $2`), org, voucher)
	})
	return row, err
}

// BatchOf finds the batch of a voucher; zero when the organization has no such voucher.
func (q VouchersQuery) BatchOf(
	ctx context.Context, org id.Organization, voucher id.Voucher,
) (id.VoucherBatch, error) {
	row, err := q.Get(ctx, org, voucher)
	if row == nil {
		return id.VoucherBatch{}, err
	}
	return row.BatchID, err
}

// Since counts the vouchers of an organization that are unused, in use, or that ended after an instant, with all that
// the log has by now. It fails with runner.ErrBuilding when they are not shown within 2 s.
func (q VouchersQuery) Since(ctx context.Context, org id.Organization, ended time.Time) (int, error) {
	whole, err := q.Views.WaitWhole(ctx, VouchersName, func(context.Context) (bool, error) { return true, nil })
	if err != nil {
		return 0, err
	}
	if !whole {
		return 0, fmt.Errorf("count vouchers: %w", runner.ErrBuilding)
	}
	var count int
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &count, pgx.RowTo[int], q.Views.SQL(VouchersName, `
			select count(*) from {schema}.vouchers where org_id = $1
				and (coalesce(voided_at, ends_at) is null or coalesce(voided_at, ends_at) > $2)`), org, ended)
	})
	return count, err
}

// List returns up to max vouchers after a key, the newest batch first.
func (q VouchersQuery) List(
	ctx context.Context, org id.Organization, f VoucherFilter, after VoucherKey, max int,
) ([]VoucherRow, error) {
	var rows []VoucherRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[VoucherRow], q.Views.SQL(VouchersName, voucherSelect+`
			where v.org_id = @org and `+voucherStates[f.State]+` and (@batch::uuid is null or v.batch_id = @batch)
				and (@plan::uuid is null or v.plan_id = @plan) and @at::timestamptz is not null
				and (@made::timestamptz is null or (v.made_at, v.voucher_id) < (@made, @id))
			order by v.made_at desc, v.voucher_id desc limit @max`), pgx.NamedArgs{
			"org": org, "batch": f.Batch, "plan": f.Plan, "at": f.At, "made": null.Time(after.MadeAt),
			"id": after.ID, "max": max,
		})
	})
	return rows, err
}
