// Package billingviews has the read models of invoices and of the account's statement.
package billingviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// InvoicesName keys the projection's checkpoint and schemas, so it never changes.
const InvoicesName = "billing_invoices"

// Invoices lists invoices with their charges, the money that paid them and the amount due. "Overdue" is not stored: it
// is derived at each read.
type Invoices struct{}

// invoicesDDL is compiled in from invoices.sql.
//
//go:embed invoices.sql
var invoicesDDL string

// Name keys checkpoint and schemas.
func (Invoices) Name() string { return InvoicesName }

// Version must grow with every change to the tables or to Apply.
func (Invoices) Version() int { return 1 }

// DDL creates the tables of invoices.sql.
func (Invoices) DDL() string { return invoicesDDL }

// TenantTables are under row-level security.
func (Invoices) TenantTables() []string { return []string{"invoices", "allocations", "credit_notes"} }

// Handles lists the events that change the tables.
func (Invoices) Handles() []string {
	return []string{
		events.InvoiceDrafted{}.EventType(), events.InvoiceIssued{}.EventType(), events.InvoiceVoided{}.EventType(),
		events.InvoiceAllocated{}.EventType(), events.AllocationWithdrawn{}.EventType(),
		events.CreditNoteDrafted{}.EventType(), events.CreditNoteIssued{}.EventType(),
	}
}

// Statements of Apply. Each sets values that the event holds, so that repeating a statement changes nothing.
const (
	draftSQL = `
insert into {schema}.invoices
	(invoice_id, org_id, subscriber_id, subscription_id, state, currency, total_minor, due_on, period_from, period_to,
	lines, taxes, drafted_at)
values
	(@invoice, @org, @subscriber, @subscription, 'draft', @currency, @total, @due_on::date, @period_from, @period_to,
	@lines, @taxes, @drafted_at)
on conflict (invoice_id) do nothing`
	issueSQL = `
update {schema}.invoices set number = $2, issued_at = $3, due_minor = total_minor, paid_minor = 0,
	state = case when total_minor = 0 then 'paid' else 'issued' end
where invoice_id = $1`
	// A number can be voided without a known draft. It is a legal document all the same and gets a row.
	voidSQL = `
insert into {schema}.invoices as i
	(invoice_id, org_id, subscriber_id, number, state, currency, total_minor, lines, taxes, reason, drafted_at,
	voided_at)
values
	(@invoice, @org, @subscriber, @number, 'voided', @currency, @total, '[]', '[]', @reason, @at, @at)
on conflict (invoice_id) do update set
	state = 'voided', due_minor = 0, paid_minor = 0, reason = excluded.reason,
	number = coalesce(nullif(excluded.number, ''), i.number), voided_at = coalesce(i.voided_at, excluded.voided_at)`
	dueSQL = `
update {schema}.invoices set due_minor = $2, paid_minor = total_minor - $2,
	state = case when $2 = 0 then 'paid' when $2 < total_minor then 'partially_paid' else 'issued' end
where invoice_id = $1`
	allocateSQL = `
insert into {schema}.allocations (invoice_id, source_id, position, org_id, amount_minor, at)
select $1, $2, $3, org_id, $4, $5 from {schema}.invoices where invoice_id = $1
on conflict do nothing`
	withdrawSQL = `delete from {schema}.allocations where invoice_id = $1 and source_id = $2 and position < $3`
	noteSQL     = `
insert into {schema}.credit_notes
	(credit_note_id, org_id, invoice_id, subscriber_id, state, currency, amount_minor, reason, drafted_at)
values
	(@note, @org, @invoice, @subscriber, 'draft', @currency, @amount, @reason, @drafted_at)
on conflict (credit_note_id) do nothing`
	issueNoteSQL = `
update {schema}.credit_notes set state = 'issued', number = $2, issued_at = $3 where credit_note_id = $1`
)

// Apply queues the statements for one event. The log has a draft before its issue and its allocations.
func (Invoices) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.InvoiceDrafted:
		return draftInvoice(w, v)
	case events.InvoiceIssued:
		w.Exec(issueSQL, v.InvoiceID, v.Number, v.IssuedAt)
	case events.InvoiceVoided:
		w.Exec(voidSQL, pgx.NamedArgs{
			"invoice": v.InvoiceID, "org": e.Meta.OrgID, "subscriber": v.SubscriberID, "number": v.Number,
			"currency": string(v.Total.Currency), "total": v.Total.Minor, "reason": v.Reason, "at": v.At,
		})
	case events.InvoiceAllocated:
		w.Exec(dueSQL, v.InvoiceID, v.Due.Minor)
		w.Exec(allocateSQL, v.InvoiceID, v.ReceiptID, int64(e.Position), v.Amount.Minor, v.At)
	case events.AllocationWithdrawn:
		w.Exec(dueSQL, v.InvoiceID, v.Due.Minor)
		w.Exec(withdrawSQL, v.InvoiceID, v.ReceiptID, int64(e.Position))
	case events.CreditNoteDrafted:
		w.Exec(noteSQL, pgx.NamedArgs{
			"note": v.CreditNoteID, "org": v.OrgID, "invoice": v.InvoiceID, "subscriber": v.SubscriberID,
			"currency": string(v.Amount.Currency), "amount": v.Amount.Minor, "reason": v.Reason,
			"drafted_at": v.DraftedAt,
		})
	case events.CreditNoteIssued:
		w.Exec(issueNoteSQL, v.CreditNoteID, v.Number, v.IssuedAt)
	}
	return nil
}

// draftInvoice queues the row of a draft, with lines and taxes as JSON.
func draftInvoice(w *runner.Writes, v events.InvoiceDrafted) error {
	lines, err := json.Marshal(v.Lines)
	if err != nil {
		return fmt.Errorf("marshal lines: %w", err)
	}
	taxes := []byte("[]")
	if len(v.Taxes) > 0 {
		if taxes, err = json.Marshal(v.Taxes); err != nil {
			return fmt.Errorf("marshal taxes: %w", err)
		}
	}
	w.Exec(draftSQL, pgx.NamedArgs{
		"invoice": v.InvoiceID, "org": v.OrgID, "subscriber": v.SubscriberID, "subscription": v.SubscriptionID,
		"currency": string(v.Total.Currency), "total": v.Total.Minor, "due_on": v.DueOn.String(),
		"period_from": null.Time(v.PeriodFrom), "period_to": null.Time(v.PeriodTo),
		"lines": string(lines), "taxes": string(taxes), "drafted_at": v.DraftedAt,
	})
	return nil
}
