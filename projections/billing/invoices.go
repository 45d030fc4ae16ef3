// Package billingviews has the read models of invoices and of the account's statement.
package billingviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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
func (Invoices) Version() int { return 10 }

// DDL creates the tables of invoices.sql.
func (Invoices) DDL() string { return invoicesDDL }

// TenantTables are under row-level security.
func (Invoices) TenantTables() []string {
	return []string{"invoices", "allocations", "write_offs", "credit_notes", "prepaid", "tax_gateways"}
}

// Handles lists the events that change the tables.
func (Invoices) Handles() []string {
	return append(placing(),
		events.SubscriptionCreated{}.EventType(),
		events.InvoiceDrafted{}.EventType(), events.InvoiceIssued{}.EventType(), events.InvoiceVoided{}.EventType(),
		events.InvoiceAllocated{}.EventType(), events.AllocationWithdrawn{}.EventType(),
		events.InvoicePaid{}.EventType(), events.InvoiceCancelled{}.EventType(), events.CreditNoteDrafted{}.EventType(),
		events.CreditNoteIssued{}.EventType(), events.CreditNoteVoided{}.EventType(),
		events.DebtWrittenOff{}.EventType(), events.WriteOffRecovered{}.EventType(),
		events.RecoveryWithdrawn{}.EventType(), events.SubscriberForgotten{}.EventType(),
		events.BalanceCarriedOver{}.EventType(), events.TaxGatewayConfigured{}.EventType(),
	)
}

// Statements of Apply. Each sets values that the event holds, so that repeating a statement changes nothing.
const (
	draftSQL = `
insert into {schema}.invoices
	(invoice_id, org_id, subscriber_id, subscription_id, state, currency, total_minor, due_on, period_from, period_to,
	drafted_from, drafted_to, prepaid, ordered, lines, taxes, replaces, drafted_at)
values
	(@invoice, @org, @subscriber, @subscription, 'draft', @currency, @total, @due_on::date, @period_from, @period_to,
	@period_from, @period_to, exists (select 1 from {schema}.prepaid where subscription_id = @subscription::uuid),
	@ordered, @lines, @taxes, @replaces, @drafted_at)
on conflict (invoice_id) do nothing`
	// What was owed before is due here without a document of its own.
	carriedSQL = `
insert into {schema}.invoices
	(invoice_id, org_id, subscriber_id, state, currency, total_minor, due_minor, due_on, lines, taxes, drafted_at,
	issued_at)
values
	(@invoice, @org, @subscriber, 'issued', @currency, @total, @total, @due_on::date, '[]', '[]', @at, @at)
on conflict (invoice_id) do nothing`
	// No change of a plan changes who pays ahead.
	prepaidSQL = `
insert into {schema}.prepaid (subscription_id, org_id) values ($1, $2) on conflict do nothing`
	// A prepaid period has a place once it is paid. Before, and while its payment is withdrawn, it has that of the
	// document: with a fixed billing day the one that it was made for, otherwise none.
	placeSQL = `
update {schema}.invoices set period_from = coalesce($2, drafted_from), period_to = coalesce($3, drafted_to)
where invoice_id = $1 and prepaid`
	issueSQL = `
update {schema}.invoices i set number = $2, issued_at = $3, due_minor = total_minor, paid_minor = 0,
	credited_minor = 0, written_off_minor = 0,
	state = case when total_minor = 0 then 'paid' else 'issued' end,
	to_be_signed = not ordered and exists (
		select from {schema}.tax_gateways g where g.org_id = i.org_id and g.turned_on)
where invoice_id = $1`
	taxGatewayOfSQL = `
insert into {schema}.tax_gateways (org_id, turned_on) values ($1, $2)
on conflict (org_id) do update set turned_on = excluded.turned_on`
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
	allocateSQL = `
insert into {schema}.allocations (position, invoice_id, source_id, kind, org_id, amount_minor, at)
select @position::bigint, @invoice::uuid, @source::uuid, case
	when @kind::text <> '' then @kind::text
	when exists (select 1 from {schema}.credit_notes where credit_note_id = @source::uuid) then 'credit_note'
	when exists (select 1 from {schema}.write_offs where write_off_id = @source::uuid) then 'write_off'
	else 'receipt' end, org_id, @amount::bigint, @at::timestamptz
from {schema}.invoices where invoice_id = @invoice::uuid
on conflict do nothing`
	// What credit notes and write-offs do not cover and is not due was paid.
	dueSQL = `
update {schema}.invoices i set due_minor = $2, credited_minor = a.credited, written_off_minor = a.written_off,
	paid_minor = i.total_minor - $2 - a.credited - a.written_off,
	state = case when $2 = 0 and i.cancelled then 'credited' when $2 = 0 and a.written_off > 0 then 'written_off'
		when $2 = 0 then 'paid' when $2 < i.total_minor then 'partially_paid' else 'issued' end
from (
	select coalesce(sum(amount_minor) filter (where kind = 'credit_note'), 0) as credited,
		coalesce(sum(amount_minor) filter (where kind = 'write_off'), 0) as written_off
	from {schema}.allocations where invoice_id = $1
) a
where i.invoice_id = $1`
	recoveredSQL = `
update {schema}.invoices set recovered_minor = (
	select coalesce(sum(amount_minor), 0) from {schema}.allocations where invoice_id = $1 and kind = 'recovery'
) where invoice_id = $1`
	cancelSQL = `
update {schema}.invoices set cancelled = true, state = case when due_minor = 0 then 'credited' else state end
where invoice_id = $1`
	forgetLinesSQL = `
update {schema}.invoices set reason = '', lines = (
	select coalesce(jsonb_agg(jsonb_set(line, '{description}', '""') order by n), '[]')
	from jsonb_array_elements(lines) with ordinality as l (line, n)
) where subscriber_id = $1`
	writeOffSQL = `
insert into {schema}.write_offs (write_off_id, org_id) values ($1, $2) on conflict do nothing`
	noteSQL = `
insert into {schema}.credit_notes
	(credit_note_id, org_id, invoice_id, subscriber_id, state, currency, amount_minor, reason, drafted_at)
values
	(@note, @org, @invoice, @subscriber, 'draft', @currency, @amount, @reason, @drafted_at)
on conflict (credit_note_id) do nothing`
	issueNoteSQL = `
update {schema}.credit_notes n set state = 'issued', number = $2, issued_at = $3, to_be_signed = not $4 and exists (
	select from {schema}.tax_gateways g where g.org_id = n.org_id and g.turned_on)
where credit_note_id = $1`
	// Notes on an order become documents together with it.
	orderPaidSQL = `
update {schema}.invoices i set ordered = false, to_be_signed = $2 and exists (
	select from {schema}.tax_gateways g where g.org_id = i.org_id and g.turned_on)
where invoice_id = $1 and ordered`
	orderNotesSQL = `
update {schema}.credit_notes n set to_be_signed = exists (
	select from {schema}.tax_gateways g where g.org_id = n.org_id and g.turned_on)
where credit_note_id = any($1)`
	voidNoteSQL = `
insert into {schema}.credit_notes
	(credit_note_id, org_id, invoice_id, subscriber_id, number, state, currency, amount_minor, reason, drafted_at)
select @note::uuid, @org::uuid, n.invoice_id, @subscriber::uuid, @number, 'voided', coalesce(n.currency, ''), 0,
	@reason, @at::timestamptz
from (select) one left join {schema}.credit_notes n on n.credit_note_id = @stray_of::uuid
on conflict (credit_note_id) do nothing`
)

// Apply queues the statements for one event. The log has a draft before its issue and its allocations.
func (Invoices) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.SubscriptionCreated:
		if v.Terms.Mode == events.Prepaid {
			w.Exec(prepaidSQL, v.SubscriptionID, v.OrgID)
		}
	case events.InvoiceDrafted:
		return draftInvoice(w, v)
	case events.InvoiceIssued:
		w.Exec(issueSQL, v.InvoiceID, v.Number, v.IssuedAt)
	case events.BalanceCarriedOver:
		carry(w, v)
	case events.TaxGatewayConfigured:
		w.Exec(taxGatewayOfSQL, v.OrgID, v.On)
	case events.InvoiceVoided:
		w.Exec(voidSQL, pgx.NamedArgs{
			"invoice": v.InvoiceID, "org": e.Meta.OrgID, "subscriber": v.SubscriberID, "number": v.Number,
			"currency": string(v.Total.Currency), "total": v.Total.Minor, "reason": v.Reason.Reveal(),
			"at": v.At,
		})
	case events.InvoiceAllocated:
		allocate(w, e, covering{v.InvoiceID, v.ReceiptID, "", v.Amount, v.At})
		w.Exec(dueSQL, v.InvoiceID, v.Due.Minor)
	case events.AllocationWithdrawn:
		allocate(w, e, covering{v.InvoiceID, v.ReceiptID, "", v.Amount.Neg(), v.At})
		w.Exec(dueSQL, v.InvoiceID, v.Due.Minor)
	case events.InvoicePaid:
		payOrder(w, v)
	case events.InvoiceCancelled:
		w.Exec(cancelSQL, v.InvoiceID)
	case events.SubscriberForgotten:
		w.Exec(forgetLinesSQL, v.SubscriberID)
		w.Exec(`update {schema}.credit_notes set reason = '' where subscriber_id = $1`, v.SubscriberID)
	case events.DebtWrittenOff:
		w.Exec(writeOffSQL, v.WriteOffID, v.OrgID)
	case events.WriteOffRecovered:
		allocate(w, e, covering{v.InvoiceID, v.ReceiptID, "recovery", v.Amount, v.At})
		w.Exec(recoveredSQL, v.InvoiceID)
	case events.RecoveryWithdrawn:
		allocate(w, e, covering{v.InvoiceID, v.ReceiptID, "recovery", v.Amount.Neg(), v.At})
		w.Exec(recoveredSQL, v.InvoiceID)
	default:
		applyNote(w, e)
		for _, p := range places(e.Event) {
			w.Exec(placeSQL, p.InvoiceID, null.Time(p.From), null.Time(p.To))
		}
	}
	return nil
}

// carry queues the row of a debt that was carried over; credit has none.
func carry(w *runner.Writes, e events.BalanceCarriedOver) {
	if e.InvoiceID.IsZero() {
		return
	}
	w.Exec(carriedSQL, pgx.NamedArgs{
		"invoice": e.InvoiceID, "org": e.OrgID, "subscriber": e.SubscriberID, "currency": string(e.Amount.Currency),
		"total": e.Amount.Minor, "due_on": e.DueOn.String(), "at": e.At,
	})
}

// payOrder queues what becomes of an order that is paid. An older program queued no document of an order.
func payOrder(w *runner.Writes, e events.InvoicePaid) {
	w.Exec(orderPaidSQL, e.InvoiceID, e.Ordered.Number != "")
	if len(e.Ordered.Notes) == 0 {
		return
	}
	notes := make([]id.Receipt, len(e.Ordered.Notes))
	for i, n := range e.Ordered.Notes {
		notes[i] = n.CreditNoteID
	}
	w.Exec(orderNotesSQL, notes)
}

// covering is one change of what covers an invoice; the amount is negative when something was taken from it. kind is ""
// when the source says it.
type covering struct {
	invoice id.Invoice
	source  id.Receipt
	kind    string
	amount  money.Amount
	at      time.Time
}

// allocate queues the row of one change.
func allocate(w *runner.Writes, e events.Envelope, c covering) {
	w.Exec(allocateSQL, pgx.NamedArgs{
		"position": int64(e.Position), "invoice": c.invoice, "source": c.source, "kind": c.kind,
		"amount": c.amount.Minor, "at": c.at,
	})
}

// applyNote queues the statements for the events of credit notes.
func applyNote(w *runner.Writes, e events.Envelope) {
	switch v := e.Event.(type) {
	case events.CreditNoteDrafted:
		w.Exec(noteSQL, pgx.NamedArgs{
			"note": v.CreditNoteID, "org": v.OrgID, "invoice": v.InvoiceID, "subscriber": v.SubscriberID,
			"currency": string(v.Amount.Currency), "amount": v.Amount.Minor, "reason": v.Reason.Reveal(),
			"drafted_at": v.DraftedAt,
		})
	case events.CreditNoteIssued:
		w.Exec(issueNoteSQL, v.CreditNoteID, v.Number, v.IssuedAt, v.Order)
	case events.CreditNoteVoided:
		w.Exec(voidNoteSQL, pgx.NamedArgs{
			"note": v.CreditNoteID, "org": e.Meta.OrgID, "subscriber": v.SubscriberID, "number": v.Number,
			"reason": v.Reason, "at": v.At, "stray_of": v.StrayOf,
		})
	}
}

// Line is one charge of an invoice, as stored in the column lines. The description is personal and is erased with the
// subscriber.
type Line struct {
	Description string             `json:"description"`
	Quantity    string             `json:"quantity"` // decimal number
	UnitPrice   money.Amount       `json:"unitPrice"`
	Net         money.Amount       `json:"net"` // without tax
	Taxes       []events.TaxCharge `json:"taxes,omitempty"`
	Gross       money.Amount       `json:"gross"` // with tax
	Once        bool               `json:"once,omitempty"`
}

// linesOf are the lines of an event, with their descriptions revealed.
func linesOf(list []events.InvoiceLine) []Line {
	lines := make([]Line, len(list))
	for i, l := range list {
		lines[i] = Line{
			Description: l.Description.Reveal(), Quantity: l.Quantity, UnitPrice: l.UnitPrice, Net: l.Net,
			Taxes: l.Taxes, Gross: l.Gross, Once: l.Once,
		}
	}
	return lines
}

// draftInvoice queues the row of a draft, with lines and taxes as JSON.
func draftInvoice(w *runner.Writes, v events.InvoiceDrafted) error {
	lines, err := json.Marshal(linesOf(v.Lines))
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
		"ordered": v.Order, "lines": string(lines), "taxes": string(taxes), "replaces": v.Replaces,
		"drafted_at": v.DraftedAt,
	})
	return nil
}
