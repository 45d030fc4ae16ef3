package billingviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// StatementName keys the projection's checkpoint and schemas, so it never changes.
const StatementName = "billing_statement"

// Statement explains each subscriber's balance line by line. Debits are charges and credits are payments
// (docs/rules/money.md#statement). An event that undoes a charge is a negative debit and one that undoes a payment a
// negative credit, so that the sum of credits is the money received. Using credit for an invoice does not change the
// balance and has no line.
type Statement struct{}

// statementDDL is compiled in from statement.sql.
//
//go:embed statement.sql
var statementDDL string

// Name keys checkpoint and schemas.
func (Statement) Name() string { return StatementName }

// Version must grow with every change to the tables or to Apply.
func (Statement) Version() int { return 7 }

// DDL creates the tables of statement.sql.
func (Statement) DDL() string { return statementDDL }

// TenantTables are under row-level security.
func (Statement) TenantTables() []string { return []string{"statement_lines"} }

// Handles lists the events that change the tables.
func (Statement) Handles() []string {
	return []string{
		events.InvoiceIssued{}.EventType(), events.InvoiceVoided{}.EventType(), events.ReceiptCredited{}.EventType(),
		events.ReceiptWithdrawn{}.EventType(), events.CreditNoteIssued{}.EventType(),
		events.CreditSetAside{}.EventType(), events.SetAsideReturned{}.EventType(),
		events.DebtWrittenOff{}.EventType(), events.WriteOffRecovered{}.EventType(),
		events.RecoveryWithdrawn{}.EventType(), events.SubscriberForgotten{}.EventType(),
		events.BalanceCarriedOver{}.EventType(), events.RefundCompleted{}.EventType(),
	}
}

// lineSQL inserts a line. A line about an invoice has the number that the line of its issue has. The balance is that of
// the subscriber's line before it plus its own amounts.
const lineSQL = `
insert into {schema}.statement_lines
	(subscriber_id, position, org_id, at, kind, number, invoice, channel, remark, currency, debit_minor, credit_minor,
	balance_minor, cause_type, cause_id)
select @subscriber, @position, @org, @at, @kind, @number, coalesce((
		select number from {schema}.statement_lines
		where subscriber_id = @subscriber and kind = 'invoice' and cause_id = @about::uuid
	), ''), @channel, @remark, @currency, @debit::bigint, @credit::bigint,
	@debit::bigint - @credit::bigint + coalesce((
		select balance_minor from {schema}.statement_lines
		where subscriber_id = @subscriber and position < @position order by position desc limit 1
	), 0),
	@cause_type, @cause
on conflict (subscriber_id, position) do update set balance_minor = excluded.balance_minor`

// refundEndedSQL says on the line of a refund what became of it. The line is there before: money is set aside before it
// comes back, and before the refund is completed.
const refundEndedSQL = `
update {schema}.statement_lines set outcome = $3, reference = $4
where subscriber_id = $1 and cause_id = $2 and kind = 'refund'`

// line is the effect of one event on a balance; either debit or credit is zero.
type line struct {
	subscriber    id.Subscriber
	org           id.Organization
	kind          string
	number        string        // of the document or receipt; "" = it has none yet
	channel       string        // of a payment
	remark        personal.Text // the reason that somebody gave
	debit, credit money.Amount
	causeType     string
	cause         id.Any
	about         id.Invoice // for which a credit note is; zero = none
}

// Apply queues one line for each event that changes a balance; voiding a draft has none.
func (Statement) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.InvoiceIssued:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "invoice", number: v.Number,
			debit: v.Total, causeType: "invoice", cause: id.As[id.Any](v.InvoiceID),
		})
	case events.InvoiceVoided:
		if v.WasIssued {
			write(w, e, line{
				subscriber: v.SubscriberID, org: e.Meta.OrgID, kind: "invoice_voided",
				number: v.Number, remark: v.Reason, debit: v.Total.Neg(), causeType: "invoice",
				cause: id.As[id.Any](v.InvoiceID),
			})
		}
	case events.ReceiptCredited:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "payment", number: v.Number, channel: v.Channel,
			credit: v.Amount, causeType: "receipt", cause: id.As[id.Any](v.ReceiptID),
		})
	case events.ReceiptWithdrawn:
		write(w, e, withdrawnLine(v))
	case events.CreditNoteIssued:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "credit_note",
			number: v.Number, remark: v.Reason, debit: v.Amount.Neg(), causeType: "credit_note",
			cause: id.As[id.Any](v.CreditNoteID), about: v.InvoiceID,
		})
	case events.CreditSetAside:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "refund",
			number: v.Number, remark: v.Reason, credit: v.Amount.Neg(),
			causeType: "refund", cause: id.As[id.Any](v.RefundID),
		})
	case events.SetAsideReturned:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "refund_failed",
			number: v.Number, remark: v.Reason, credit: v.Amount,
			causeType: "refund", cause: id.As[id.Any](v.RefundID),
		})
		w.Exec(refundEndedSQL, v.SubscriberID, v.RefundID, "failed", "")
	case events.RefundCompleted:
		w.Exec(refundEndedSQL, v.SubscriberID, v.RefundID, "completed", v.Reference)
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.statement_lines set remark = null where subscriber_id = $1`, v.SubscriberID)
	default:
		applyLoss(w, e)
	}
	return nil
}

// withdrawnLine is that of money that is taken back. What an import had brought was no payment, and is taken off as it
// came.
func withdrawnLine(v events.ReceiptWithdrawn) line {
	l := line{
		subscriber: v.SubscriberID, org: v.OrgID, kind: "payment_withdrawn", number: v.Number, remark: v.Reason,
		credit: v.Amount.Neg(), causeType: "receipt", cause: id.As[id.Any](v.ReceiptID),
	}
	if v.OfCarried() {
		l.kind, l.causeType, l.debit, l.credit = "opening_balance", "opening_balance", v.Amount, money.Amount{}
	}
	return l
}

// applyLoss queues the lines of debts that were written off, and of a balance that was carried over. Money that
// recovers a debt is a payment; beside it stands the debt that it pays.
func applyLoss(w *runner.Writes, e events.Envelope) {
	switch v := e.Event.(type) {
	case events.DebtWrittenOff:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "write_off", remark: v.Reason,
			debit: v.Amount.Neg(), causeType: "write_off", cause: id.As[id.Any](v.WriteOffID),
		})
	case events.BalanceCarriedOver:
		cause := id.As[id.Any](v.InvoiceID)
		if v.InvoiceID.IsZero() {
			cause = id.As[id.Any](v.ReceiptID)
		}
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "opening_balance", debit: v.Amount,
			causeType: "opening_balance", cause: cause,
		})
	case events.WriteOffRecovered:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "write_off_recovered",
			number: v.Number, debit: v.Amount, causeType: "invoice",
			cause: id.As[id.Any](v.InvoiceID),
		})
	case events.RecoveryWithdrawn:
		write(w, e, line{
			subscriber: v.SubscriberID, org: v.OrgID, kind: "write_off_recovered",
			number: v.Number, debit: v.Amount.Neg(),
			causeType: "invoice", cause: id.As[id.Any](v.InvoiceID),
		})
	}
}

// write queues one line. The line has the time of the record, not of the payment, because a statement follows the order
// of the books.
func write(w *runner.Writes, e events.Envelope, l line) {
	c := l.debit.Add(l.credit).Currency
	w.Exec(lineSQL, pgx.NamedArgs{
		"subscriber": l.subscriber, "position": int64(e.Position), "org": l.org, "at": e.Meta.At, "kind": l.kind,
		"number": l.number, "channel": l.channel, "remark": remarkOf(l.remark), "currency": string(c),
		"debit": l.debit.Minor, "credit": l.credit.Minor, "cause_type": l.causeType, "cause": l.cause, "about": l.about,
	})
}

// remarkOf is the revealed text; nil when there is none, and when it was erased with the person.
func remarkOf(t personal.Text) *string {
	if plain := t.Reveal(); plain != "" {
		return &plain
	}
	return nil
}
