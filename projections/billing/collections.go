package billingviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CollectionsName keys the projection's checkpoint and schemas, so it never changes.
const CollectionsName = "billing_collections"

// Collections is the money received, by time, channel and the user who took the cash or made the voucher, less what was
// taken back or refunded. For what accounts received it uses the events and the times of the credit lines of
// statements, so both sums agree over any range. Vouchers have no account: one counts once, at its price, when somebody
// signs in with it first (docs/rules/access-vouchers.md#sold).
type Collections struct{}

// collectionsDDL is compiled in from collections.sql.
//
//go:embed collections.sql
var collectionsDDL string

// Name keys checkpoint and schemas.
func (Collections) Name() string { return CollectionsName }

// Version must grow with every change to the tables or to Apply.
func (Collections) Version() int { return 4 }

// DDL creates the tables of collections.sql.
func (Collections) DDL() string { return collectionsDDL }

// TenantTables are under row-level security.
func (Collections) TenantTables() []string { return []string{"collections", "cash_takers"} }

// Handles lists the events that change the tables.
func (Collections) Handles() []string {
	return []string{
		events.ReceiptRecorded{}.EventType(), events.ReceiptCredited{}.EventType(),
		events.ReceiptWithdrawn{}.EventType(), events.CreditSetAside{}.EventType(),
		events.SetAsideReturned{}.EventType(), events.VoucherRedeemed{}.EventType(),
	}
}

// SQL of Apply. Money that is taken off an account gets the channel and the taker of the credit that it undoes.
const (
	takerSQL = `
insert into {schema}.cash_takers (receipt_id, org_id, user_id) values ($1, $2, $3) on conflict (receipt_id) do nothing`
	collectedSQL = `
insert into {schema}.collections
	(position, org_id, at, receipt_id, subscriber_id, channel, taken_by, amount_minor, receipts)
values
	(@position, @org, @at, @receipt, @subscriber, @channel,
	(select user_id from {schema}.cash_takers where receipt_id = @receipt), @amount, 1)
on conflict (position) do nothing`
	soldSQL = `
insert into {schema}.collections
	(position, org_id, at, receipt_id, subscriber_id, channel, taken_by, amount_minor, receipts)
values ($1, $2, $3, null, null, 'voucher', $4, $5, 1)
on conflict (position) do nothing`
	takenOffSQL = `
insert into {schema}.collections
	(position, org_id, at, receipt_id, subscriber_id, channel, taken_by, amount_minor, receipts)
select @position::bigint, @org::uuid, @at::timestamptz, @receipt::uuid, @subscriber::uuid, coalesce(c.channel, ''),
	c.taken_by, @amount::bigint, @receipts::int
from (select) one left join lateral (
	select channel, taken_by from {schema}.collections
	where receipt_id = @receipt::uuid and position < @position::bigint and receipts > 0
	order by position desc limit 1
) c on true
on conflict (position) do nothing`
)

// Apply queues the statements for one event. An event applied again adds no second row, because its position is the
// key.
func (Collections) Apply(w *runner.Writes, e events.Envelope) error {
	position := int64(e.Position) //nolint:gosec // positions fit
	switch v := e.Event.(type) {
	case events.ReceiptRecorded:
		if user := cashier(v, e.Meta.Actor); !user.IsZero() {
			w.Exec(takerSQL, v.ReceiptID, v.OrgID, user)
		}
	case events.ReceiptCredited:
		w.Exec(collectedSQL, pgx.NamedArgs{
			"position": position, "org": v.OrgID, "at": e.Meta.At, "receipt": v.ReceiptID, "subscriber": v.SubscriberID,
			"channel": v.Channel, "amount": v.Amount.Minor,
		})
	case events.VoucherRedeemed:
		w.Exec(soldSQL, position, v.OrgID, v.At, v.MadeBy, v.Price.Minor)
	case events.ReceiptWithdrawn:
		whole := 0
		if v.Left.IsZero() {
			whole = -1
		}
		takeOff(w, e, taken{v.ReceiptID, v.SubscriberID, v.Amount, whole})
	case events.CreditSetAside:
		takeOff(w, e, taken{v.ReceiptID, v.SubscriberID, v.Amount, 0})
	case events.SetAsideReturned:
		takeOff(w, e, taken{v.ReceiptID, v.SubscriberID, v.Amount.Neg(), 0})
	}
	return nil
}

// taken is money of a receipt that left an account, or came back to it when the amount is negative. receipts is -1 when
// nothing of the receipt is left.
type taken struct {
	receipt  id.Receipt
	from     id.Subscriber
	amount   money.Amount
	receipts int
}

// takeOff queues the row of one change.
func takeOff(w *runner.Writes, e events.Envelope, t taken) {
	w.Exec(takenOffSQL, pgx.NamedArgs{
		"position": int64(e.Position), //nolint:gosec // positions fit
		"org":      e.Meta.OrgID, "at": e.Meta.At, "receipt": t.receipt, "subscriber": t.from,
		"amount": t.amount.Neg().Minor, "receipts": t.receipts,
	})
}

// cashier is the user who took the money by hand. It is zero for other channels and when no user was signed in.
func cashier(v events.ReceiptRecorded, actor events.Actor) id.User {
	if v.Channel != "cash" || actor.Kind != events.ActorUser || v.OrgID.IsZero() {
		return id.User{}
	}
	user, err := id.Parse[id.User](actor.ID)
	if err != nil {
		return id.User{}
	}
	return user
}
