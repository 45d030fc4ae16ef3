package paymentsviews

import (
	_ "embed"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// RefundsName keys the projection's checkpoint and schemas, so it never changes.
const RefundsName = "payments_refunds"

// Refunds lists what goes back to payers (docs/rules/money.md#refunds).
type Refunds struct{}

// refundsDDL is compiled in from refunds.sql.
//
//go:embed refunds.sql
var refundsDDL string

// Name keys checkpoint and schemas.
func (Refunds) Name() string { return RefundsName }

// Version must grow with every change to the tables or to Apply.
func (Refunds) Version() int { return 2 }

// DDL creates the table of refunds.sql.
func (Refunds) DDL() string { return refundsDDL }

// TenantTables are under row-level security.
func (Refunds) TenantTables() []string { return []string{"refunds"} }

// Handles lists the events that change the table.
func (Refunds) Handles() []string {
	return []string{
		events.RefundRequested{}.EventType(), events.RefundSecured{}.EventType(), events.RefundApproved{}.EventType(),
		events.RefundCompleted{}.EventType(), events.RefundFailed{}.EventType(),
		events.RefundSubmitted{}.EventType(), events.RefundDoubted{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	}
}

// insertRefundSQL inserts the row of a new refund.
const insertRefundSQL = `
insert into {schema}.refunds (refund_id, org_id, receipt_id, receipt_number, subscriber_id, amount_minor, currency,
	method, state, reason, requested_at, requested_by, revision)
values (@refund, @org, @receipt, @number, @subscriber, @amount, @currency, @method, 'requested', @reason, @at, @by,
	@revision)
on conflict (refund_id) do nothing`

// Apply queues the statements for one event. An event applied again changes nothing, because each change compares the
// revision of the refund's stream.
func (Refunds) Apply(w *runner.Writes, e events.Envelope) error {
	revision, by := int64(e.Revision), staffOf(e.Meta.Actor) //nolint:gosec // revisions fit
	change := func(refund id.Refund, set string, values pgx.NamedArgs) {
		args := pgx.NamedArgs{"refund": refund, "revision": revision}
		maps.Copy(args, values)
		w.Exec(`update {schema}.refunds set revision = @revision, `+set+
			` where refund_id = @refund and revision < @revision`, args)
	}
	switch v := e.Event.(type) {
	case events.RefundRequested:
		w.Exec(insertRefundSQL, pgx.NamedArgs{
			"refund": v.RefundID, "org": v.OrgID, "receipt": v.ReceiptID, "number": v.ReceiptNumber,
			"subscriber": v.SubscriberID, "amount": v.Amount.Minor, "currency": v.Amount.Currency, "method": v.By,
			"reason": v.Reason.Reveal(), "at": v.At, "by": by, "revision": revision,
		})
	case events.RefundSecured:
		change(v.RefundID, `secured = true`, nil)
	case events.RefundApproved:
		change(v.RefundID, `state = 'approved', approved_at = @at, approved_by = @by`,
			pgx.NamedArgs{"at": v.At, "by": by})
	case events.RefundSubmitted:
		change(v.RefundID, `state = 'submitted', submitted_at = @at`, pgx.NamedArgs{"at": v.At})
	case events.RefundDoubted:
		change(v.RefundID, `state = 'in_doubt', failure = @cause, message = @message`,
			pgx.NamedArgs{"cause": v.Cause, "message": v.Message})
	case events.RefundCompleted:
		change(v.RefundID, `state = 'completed', settled_at = @at, settled_by = @by, reference = @reference,
			failure = '', message = ''`,
			pgx.NamedArgs{"at": v.At, "by": by, "reference": v.Reference})
	case events.RefundFailed:
		change(v.RefundID, `state = 'failed', settled_at = @at, settled_by = @by, failure = @code, message = @message,
			settled_reason = @reason`,
			pgx.NamedArgs{
				"at": v.At, "by": by, "code": v.Code, "message": v.Message, "reason": v.Reason.Reveal(),
			})
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.refunds set reason = '', settled_reason = '' where subscriber_id = $1`, v.SubscriberID)
	}
	return nil
}
