package paymentsviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SettlementName keys the projection's checkpoint and schemas, so it never changes.
const SettlementName = "payments_settlement"

// Settlement is the mobile money that accounts received, by the shortcode that it was paid to, less what was taken back
// or refunded. It uses the events and the times of the report of collections, so the settlements of a day are the part
// of the collections that came over the platform's shortcode (docs/rules/money.md#settlement).
type Settlement struct{}

// settlementDDL is compiled in from settlement.sql.
//
//go:embed settlement.sql
var settlementDDL string

// Name keys checkpoint and schemas.
func (Settlement) Name() string { return SettlementName }

// Version must grow with every change to the tables or to Apply.
func (Settlement) Version() int { return 2 }

// DDL creates the tables of settlement.sql.
func (Settlement) DDL() string { return settlementDDL }

// TenantTables are under row-level security.
func (Settlement) TenantTables() []string { return []string{"movements", "paid_to"} }

// Handles lists the events that change the tables.
func (Settlement) Handles() []string {
	return []string{
		events.ReceiptRecorded{}.EventType(), events.ReceiptCredited{}.EventType(),
		events.ReceiptWithdrawn{}.EventType(), events.CreditSetAside{}.EventType(),
		events.SetAsideReturned{}.EventType(),
	}
}

// SQL of Apply. Money of a receipt that has no shortcode is left out.
const (
	paidToSQL = `
insert into {schema}.paid_to (receipt_id, org_id, shortcode, environment) values ($1, $2, $3, $4)
on conflict (receipt_id) do nothing`
	movementSQL = `
insert into {schema}.movements
	(position, org_id, at, receipt_id, receipt_number, shortcode, environment, amount_minor, currency, receipts)
select @position::bigint, @org::uuid, @at::timestamptz, receipt_id, @number, shortcode, environment, @amount::bigint,
	@currency, case when @credited then 1 when @receipts::int < 0 then -least(counted.now, 1)
		when @receipts::int > 0 and counted.ever then 1 - least(counted.now, 1) else 0 end
from {schema}.paid_to p cross join lateral (
	select coalesce(sum(m.receipts), 0) as now, count(*) filter (where m.receipts > 0) > 0 as ever
	from {schema}.movements m where m.receipt_id = p.receipt_id and m.position < @position::bigint
) counted
where receipt_id = @receipt::uuid
on conflict (position) do nothing`
)

// Apply queues the statements for one event. An event applied again adds no second row, because its position is the
// key.
func (Settlement) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.ReceiptRecorded:
		if v.Shortcode != "" {
			w.Exec(paidToSQL, v.ReceiptID, v.OrgID, v.Shortcode, v.Environment)
		}
	case events.ReceiptCredited:
		move(w, e, movement{v.OrgID, v.ReceiptID, v.Number, v.Amount, 1, true})
	case events.ReceiptWithdrawn:
		whole := 0
		if v.Left.IsZero() {
			whole = -1
		}
		move(w, e, movement{e.Meta.OrgID, v.ReceiptID, v.Number, v.Amount.Neg(), whole, false})
	case events.CreditSetAside:
		move(w, e, movement{e.Meta.OrgID, v.ReceiptID, v.Number, v.Amount.Neg(), 0, false})
	case events.SetAsideReturned:
		move(w, e, movement{e.Meta.OrgID, v.ReceiptID, v.Number, v.Amount, 1, false})
	}
	return nil
}

// movement is money of a receipt that came to an account, or left it when the amount is negative.
type movement struct {
	org      id.Organization
	receipt  id.Receipt
	number   string
	amount   money.Amount
	receipts int  // -1 when nothing of the receipt is left, 1 when something is (again), 0 for a part
	credited bool // it is counted whatever was before
}

// move queues the row of one change.
func move(w *runner.Writes, e events.Envelope, m movement) {
	w.Exec(movementSQL, pgx.NamedArgs{
		"position": int64(e.Position), //nolint:gosec // positions fit
		"org":      m.org, "at": e.Meta.At, "receipt": m.receipt, "number": m.number, "amount": m.amount.Minor,
		"currency": m.amount.Currency, "receipts": m.receipts, "credited": m.credited,
	})
}
