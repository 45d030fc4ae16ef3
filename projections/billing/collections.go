package billingviews

import (
	"cmp"
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CollectionsName keys the projection's checkpoint and schemas, so it never changes.
const CollectionsName = "billing_collections"

// Collections is the money received, by time, channel and the user who took the cash or made the voucher, less what was
// taken back or refunded. For what accounts received it uses the events and the times of the credit lines of
// statements, so both sums agree over any range. Vouchers have no account: one counts once, at its price, when somebody
// signs in with it first (docs/rules/access-vouchers.md#sold). What an import brings as paid ahead never came in, so
// neither its coming nor its undo has a row.
type Collections struct{}

// collectionsDDL is compiled in from collections.sql.
//
//go:embed collections.sql
var collectionsDDL string

// Name keys checkpoint and schemas.
func (Collections) Name() string { return CollectionsName }

// Version must grow with every change to the tables or to Apply.
func (Collections) Version() int { return 8 }

// DDL creates the tables of collections.sql.
func (Collections) DDL() string { return collectionsDDL }

// TenantTables are under row-level security.
func (Collections) TenantTables() []string { return []string{"collections", "cash", "causes"} }

// Handles lists the events that change the tables.
func (Collections) Handles() []string {
	return []string{
		events.ReceiptRecorded{}.EventType(), events.ReceiptCredited{}.EventType(),
		events.ReceiptWithdrawn{}.EventType(), events.CreditSetAside{}.EventType(),
		events.SetAsideReturned{}.EventType(), events.VoucherRedeemed{}.EventType(),
		events.ReceiptHeld{}.EventType(), events.ReceiptReattributed{}.EventType(),
		events.ReceiptReversed{}.EventType(), events.ReceiptAbsorbed{}.EventType(),
	}
}

// The reasons of rows: why money was received or taken back.
const (
	whyPaid         = "paid"         // it came and was credited at once
	whyPlaced       = "placed"       // it waited in suspense before
	whyReattributed = "reattributed" // from another account, or to one
	whyRefundFailed = "refund_failed"
	whySold         = "sold" // a voucher
	whyReversed     = "reversed"
	whyAbsorbed     = "absorbed" // another receipt carries the same money
	whySetAside     = "set_aside"
	whyWithdrawn    = "withdrawn" // a part of a receipt
)

// CollectedWhys are the reasons of rows.
var CollectedWhys = []string{
	whyPaid, whyPlaced, whyReattributed, whyRefundFailed, whySold, whyReversed, whyAbsorbed, whySetAside, whyWithdrawn,
}

// SQL of Apply. Money that is taken off an account gets the channel and the taker of the credit that it undoes. The
// cause of a row is recorded before the row, because accounts follow what happens to the receipt.
const (
	cashSQL = `
insert into {schema}.cash (receipt_id, org_id, user_id, kind, received_on)
values ($1, $2, $3, $4, nullif($5, '')::date) on conflict (receipt_id) do nothing`
	causeSQL = `
insert into {schema}.causes (receipt_id, org_id, position, why) values ($1, $2, $3, $4)
on conflict (receipt_id) do update set org_id = excluded.org_id, position = excluded.position, why = excluded.why
where causes.position < excluded.position`
	collectedSQL = `
insert into {schema}.collections
	(position, org_id, at, paid_at, receipt_id, subscriber_id, channel, taken_by, received_on, amount_minor, receipts,
	why)
select @position::bigint, @org::uuid, @at::timestamptz, @paid_at::timestamptz, @receipt::uuid, @subscriber::uuid,
	coalesce(cash.kind, @channel), cash.user_id, cash.received_on, @amount::bigint, 1,
	coalesce((select why from {schema}.causes where receipt_id = @receipt and why in ('placed', 'reattributed')),
		'paid')
from (select) one left join {schema}.cash on cash.receipt_id = @receipt
on conflict (position) do nothing`
	soldSQL = `
insert into {schema}.collections
	(position, org_id, at, paid_at, voucher_id, batch_id, channel, taken_by, amount_minor, receipts, why)
values (@position, @org, @at, @at, @voucher, @batch, 'voucher', @made_by, @amount, 1, @why)
on conflict (position) do nothing`
	takenOffSQL = `
insert into {schema}.collections
	(position, org_id, at, paid_at, receipt_id, subscriber_id, channel, taken_by, received_on, amount_minor, receipts,
	why)
select @position::bigint, @org::uuid, @at::timestamptz, c.paid_at, @receipt::uuid, @subscriber::uuid,
	coalesce(c.channel, ''), c.taken_by, c.received_on, @amount::bigint,
	case when @receipts::int < 0 then -least(counted.now, 1)
		when @receipts::int > 0 and counted.ever then 1 - least(counted.now, 1) else 0 end,
	coalesce(nullif(@why, ''), (select why from {schema}.causes
		where receipt_id = @receipt::uuid and why in ('reversed', 'reattributed', 'absorbed')), 'withdrawn')
from (
	select coalesce(sum(receipts), 0) as now, count(*) filter (where receipts > 0) > 0 as ever
	from {schema}.collections where receipt_id = @receipt::uuid and position < @position::bigint
) counted left join lateral (
	select channel, taken_by, received_on, paid_at from {schema}.collections
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
		if v.Channel == "cash" && !v.OrgID.IsZero() {
			w.Exec(cashSQL, v.ReceiptID, v.OrgID, cashier(e.Meta.Actor), cmp.Or(v.Kind, "cash"), v.ReceivedOn.String())
		}
	case events.ReceiptHeld:
		w.Exec(causeSQL, v.ReceiptID, e.Meta.OrgID, position, whyPlaced)
	case events.ReceiptReattributed:
		w.Exec(causeSQL, v.ReceiptID, v.OrgID, position, whyReattributed)
	case events.ReceiptReversed:
		w.Exec(causeSQL, v.ReceiptID, v.OrgID, position, whyReversed)
	case events.ReceiptAbsorbed:
		w.Exec(causeSQL, v.ReceiptID, v.OrgID, position, whyAbsorbed)
	case events.ReceiptCredited:
		w.Exec(collectedSQL, pgx.NamedArgs{
			"position": position, "org": v.OrgID, "at": e.Meta.At, "paid_at": null.Time(v.PaidAt),
			"receipt": v.ReceiptID, "subscriber": v.SubscriberID, "channel": v.Channel, "amount": v.Amount.Minor,
		})
	case events.VoucherRedeemed:
		w.Exec(soldSQL, pgx.NamedArgs{
			"position": position, "org": v.OrgID, "at": v.At, "voucher": v.VoucherID, "batch": v.BatchID,
			"made_by": v.MadeBy, "amount": v.Price.Minor, "why": whySold,
		})
	case events.ReceiptWithdrawn:
		if !v.OfCarried() {
			takeOff(w, e, withdrawal(v))
		}
	case events.CreditSetAside:
		takeOff(w, e, taken{v.ReceiptID, v.SubscriberID, v.Amount, 0, whySetAside})
	case events.SetAsideReturned:
		takeOff(w, e, taken{v.ReceiptID, v.SubscriberID, v.Amount.Neg(), 1, whyRefundFailed})
	}
	return nil
}

// taken is money of a receipt that left an account, or came back to it when the amount is negative. receipts is -1 when
// nothing of the receipt is left, and 1 when something is again; a receipt that is counted so already is not counted a
// second time. why is "" when the cause of the receipt says it.
type taken struct {
	receipt  id.Receipt
	from     id.Subscriber
	amount   money.Amount
	receipts int
	why      string
}

// withdrawal gives the money that a receipt lost. A part that was withdrawn under an id of its own has nothing to do
// with what happened to the receipt before.
func withdrawal(v events.ReceiptWithdrawn) taken {
	t := taken{receipt: v.ReceiptID, from: v.SubscriberID, amount: v.Amount}
	if v.Left.IsZero() {
		t.receipts = -1
	}
	if !v.WithdrawalID.IsZero() {
		t.why = whyWithdrawn
	}
	return t
}

// takeOff queues the row of one change.
func takeOff(w *runner.Writes, e events.Envelope, t taken) {
	w.Exec(takenOffSQL, pgx.NamedArgs{
		"position": int64(e.Position), //nolint:gosec // positions fit
		"org":      e.Meta.OrgID, "at": e.Meta.At, "receipt": t.receipt, "subscriber": t.from,
		"amount": t.amount.Neg().Minor, "receipts": t.receipts, "why": t.why,
	})
}

// cashier is the user who took the money by hand; zero when no user was signed in.
func cashier(actor events.Actor) id.User {
	if actor.Kind != events.ActorUser {
		return id.User{}
	}
	user, err := id.Parse[id.User](actor.ID)
	if err != nil {
		return id.User{}
	}
	return user
}
