package accessviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// VouchersName keys the projection's checkpoint and schemas, so it never changes.
const VouchersName = "access_vouchers"

// Vouchers has one row for each voucher, with its batch.
type Vouchers struct{}

// vouchersDDL is compiled in from vouchers.sql.
//
//go:embed vouchers.sql
var vouchersDDL string

// Name keys checkpoint and schemas.
func (Vouchers) Name() string { return VouchersName }

// Version must grow with every change to the tables or to Apply.
func (Vouchers) Version() int { return 5 }

// DDL creates the tables of vouchers.sql.
func (Vouchers) DDL() string { return vouchersDDL }

// TenantTables are under row-level security.
func (Vouchers) TenantTables() []string { return []string{"batches", "vouchers"} }

// Handles lists the events that change the tables.
func (Vouchers) Handles() []string {
	return []string{
		events.VoucherBatchMade{}.EventType(), events.VouchersAdded{}.EventType(),
		events.VoucherRedeemed{}.EventType(), events.VoucherBeganEarlier{}.EventType(),
		events.VoucherMoved{}.EventType(), events.VoucherVoided{}.EventType(),
		events.UserForgotten{}.EventType(),
	}
}

// Statements of Apply.
const (
	batchSQL = `
insert into {schema}.batches
	(batch_id, org_id, plan_id, plan_name, period, prefix, price_minor, currency, made_by, made_at, count)
values (@batch, @org, @plan, @name, @period, @prefix, @price, @currency, @maker, @at, @count)
on conflict (batch_id) do nothing`
	addedSQL = `
insert into {schema}.vouchers (voucher_id, org_id, batch_id, plan_id, made_at)
select v, $2, $3, b.plan_id, b.made_at from {schema}.batches b, unnest($1::uuid[]) v where b.batch_id = $3
on conflict (voucher_id) do nothing`
	redeemedSQL = `
update {schema}.vouchers set redeemed_at = $2, ends_at = $3, device_id = $4, mac = $5, moves = 0, moved = 0
where voucher_id = $1`
	earlierSQL = `update {schema}.vouchers set redeemed_at = $2, ends_at = $3 where voucher_id = $1`
	movedSQL   = `
update {schema}.vouchers set device_id = $2, mac = $3, moves = moves + 1, moved = $4
where voucher_id = $1 and moved < $4`
	voidedSQL = `
update {schema}.vouchers set voided_at = $2, voided_by = $3, void_reason = $4 where voucher_id = $1`
)

// Apply queues the statements for one event; the same event again changes nothing.
func (Vouchers) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.VoucherBatchMade:
		w.Exec(batchSQL, pgx.NamedArgs{
			"batch": v.BatchID, "org": v.OrgID, "plan": v.PlanID, "name": v.Terms.Name,
			"period": string(v.Terms.Period), "prefix": v.Prefix, "price": v.Terms.Price.Minor,
			"currency": string(v.Terms.Price.Currency), "maker": v.MadeBy, "at": v.At,
			"count": v.Count,
		})
	case events.VouchersAdded:
		w.Exec(addedSQL, id.Texts(v.Vouchers), v.OrgID, v.BatchID)
	case events.VoucherRedeemed:
		w.Exec(redeemedSQL, v.VoucherID, v.At, v.EndsAt, v.DeviceID, v.MAC.Reveal())
	case events.VoucherBeganEarlier:
		w.Exec(earlierSQL, v.VoucherID, v.At, v.EndsAt)
	case events.VoucherMoved:
		w.Exec(movedSQL, v.VoucherID, v.DeviceID, v.MAC.Reveal(), int64(e.Revision)) //nolint:gosec // revisions fit
	case events.VoucherVoided:
		w.Exec(voidedSQL, v.VoucherID, v.At, userOf(e.Meta.Actor), e.Meta.Why())
	case events.UserForgotten:
		w.Exec(`update {schema}.vouchers set void_reason = '' where voided_by = $1`, v.UserID)
	}
	return nil
}

// userOf is the signed-in person who acts; zero for anybody else.
func userOf(a events.Actor) id.User {
	if a.Kind != events.ActorUser {
		return id.User{}
	}
	user, _ := id.Parse[id.User](a.ID) // zero when it is none
	return user
}
