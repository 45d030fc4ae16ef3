package paymentsviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// BillsName keys the projection's checkpoint and schemas, so it never changes.
const BillsName = "payments_bills"

// Bills has the invoices at the bill manager, and each organization's settings for that
// (docs/rules/payments-billmanager.md#states).
type Bills struct{}

// billsDDL is compiled in from bills.sql.
//
//go:embed bills.sql
var billsDDL string

// Name keys checkpoint and schemas.
func (Bills) Name() string { return BillsName }

// Version must grow with every change to the tables or to Apply.
func (Bills) Version() int { return 3 }

// DDL creates the tables of bills.sql.
func (Bills) DDL() string { return billsDDL }

// TenantTables are under row-level security.
func (Bills) TenantTables() []string { return []string{"bill_managers", "bills"} }

// Handles lists the events that change the tables.
func (Bills) Handles() []string {
	return []string{
		events.BillManagerConfigured{}.EventType(), events.BillQueued{}.EventType(), events.BillOffered{}.EventType(),
		events.BillFreed{}.EventType(), events.BillDelayed{}.EventType(), events.BillSent{}.EventType(),
		events.BillFailed{}.EventType(),
		events.BillRecalled{}.EventType(), events.BillCancelled{}.EventType(), events.BillSettled{}.EventType(),
		events.BillReopened{}.EventType(), events.BillPaid{}.EventType(), events.BillAcknowledged{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	}
}

// Statements of Apply. An event applied again changes nothing: each compares the revision of its stream.
const (
	billManagerSQL = `
insert into {schema}.bill_managers as m (org_id, turned_on, reminders, has_left, revision) values ($1, $2, $3, $4, $5)
on conflict (org_id) do update set turned_on = excluded.turned_on, reminders = excluded.reminders,
	has_left = excluded.has_left, revision = excluded.revision
where m.revision < excluded.revision`
	billQueuedSQL = `
insert into {schema}.bills as b (invoice_id, org_id, subscriber_id, number, stage, queued_at, revision)
values (@invoice, @org, @subscriber, @number, 'queued', @at, @revision)
on conflict (invoice_id) do update set retry_at = null, stage = 'queued', doubts = 0, recalled = '', settled_at = null,
	through_minor = 0, queued_at = @at, revision = @revision
where b.revision < @revision`
	billOfferedSQL = `
update {schema}.bills set retry_at = null, offered = true, reference = @reference, asked_minor = @asked,
	revision = @revision
where invoice_id = @invoice and revision < @revision`
	billFreedSQL = `
update {schema}.bills set retry_at = null, offered = false, doubts = doubts + $3, revision = $2
where invoice_id = $1 and revision < $2`
	billDelayedSQL = `
update {schema}.bills set retry_at = $3, waits_for = $4, revision = $2 where invoice_id = $1 and revision < $2`
	billSentSQL = `
update {schema}.bills set retry_at = null, stage = 'sent', sent_at = $3, revision = $2
where invoice_id = $1 and revision < $2`
	billFailedSQL = `
update {schema}.bills set retry_at = null, stage = 'failed', code = $3, message = $4, revision = $2
where invoice_id = $1 and revision < $2`
	billRecalledSQL = `
update {schema}.bills set retry_at = null, recalled = $3, revision = $2,
	stage = case stage when 'failed' then 'queued' else stage end
where invoice_id = $1 and revision < $2`
	billCancelledSQL = `
update {schema}.bills set retry_at = null, stage = 'cancelled', offered = false, recalled = $3, revision = $2
where invoice_id = $1 and revision < $2`
	billSettledSQL = `
update {schema}.bills set retry_at = null, settled_at = $3, revision = $2 where invoice_id = $1 and revision < $2`
	billPaidSQL = `
update {schema}.bills set retry_at = null, through_minor = through_minor + $3,
	unacknowledged = unacknowledged + 1, revision = $2
where invoice_id = $1 and revision < $2`
	billAcknowledgedSQL = `
update {schema}.bills set retry_at = null, unacknowledged = unacknowledged - 1, revision = $2
where invoice_id = $1 and revision < $2`
	billForgottenSQL = `update {schema}.bills set message = '', forgotten = true where subscriber_id = $1`
)

// Apply queues the statements for one event.
func (Bills) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	switch v := e.Event.(type) {
	case events.BillManagerConfigured:
		w.Exec(billManagerSQL, v.OrgID, v.On, v.Reminders, v.Left, revision)
	case events.SubscriberForgotten:
		w.Exec(billForgottenSQL, v.SubscriberID)
	case events.BillEvent:
		applyBill(w, v, events.BillOf(v).InvoiceID, revision)
	}
	return nil
}

// applyBill queues the statements for one event of a bill.
func applyBill(w *runner.Writes, e events.BillEvent, invoice id.Invoice, revision int64) {
	switch v := e.(type) { // complete: gochecksumtype, no default
	case events.BillQueued:
		w.Exec(billQueuedSQL, pgx.NamedArgs{
			"invoice": invoice, "org": v.OrgID, "subscriber": v.SubscriberID, "number": v.Number, "at": v.At,
			"revision": revision,
		})
	case events.BillOffered:
		w.Exec(billOfferedSQL, pgx.NamedArgs{
			"invoice": invoice, "reference": v.Reference, "asked": v.Amount.Minor, "revision": revision,
		})
	case events.BillFreed:
		doubts := 0
		if v.Doubted {
			doubts = 1
		}
		w.Exec(billFreedSQL, invoice, revision, doubts)
	case events.BillDelayed:
		w.Exec(billDelayedSQL, invoice, revision, v.Until, v.Reason)
	case events.BillSent:
		w.Exec(billSentSQL, invoice, revision, v.At)
	case events.BillFailed:
		w.Exec(billFailedSQL, invoice, revision, v.Code, v.Message.Reveal())
	case events.BillRecalled:
		w.Exec(billRecalledSQL, invoice, revision, v.Reason)
	case events.BillCancelled:
		w.Exec(billCancelledSQL, invoice, revision, v.Reason)
	case events.BillSettled:
		w.Exec(billSettledSQL, invoice, revision, v.At)
	case events.BillReopened:
		w.Exec(billSettledSQL, invoice, revision, nil)
	case events.BillPaid:
		w.Exec(billPaidSQL, invoice, revision, v.Amount.Minor)
	case events.BillAcknowledged:
		w.Exec(billAcknowledgedSQL, invoice, revision)
	}
}
