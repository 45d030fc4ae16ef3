package billingviews

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// InvoiceStates are the values of a row's state. Source: docs/rules/billing.md#invoice-life.
var InvoiceStates = []string{"draft", "issued", "partially_paid", "paid", "credited", "written_off", "voided"}

// InvoiceRow is one invoice or draft, amounts in minor units of Currency. Fields are zero or nil until the event that
// sets them.
type InvoiceRow struct {
	ID             id.Invoice      `db:"invoice_id"`
	OrgID          id.Organization `db:"org_id"`
	SubscriberID   id.Subscriber   `db:"subscriber_id"`
	SubscriptionID id.Subscription `db:"subscription_id"` // zero for a manual invoice
	Number         string          `db:"number"`          // "" before it is issued
	State          string          `db:"state"`
	Currency       money.Currency  `db:"currency"`
	TotalMinor     int64           `db:"total_minor"` // tax included
	PaidMinor      int64           `db:"paid_minor"`  // by receipts
	// CreditedMinor is covered by credit notes, WrittenOffMinor by write-offs. Later money may recover a part of the
	// latter, which stays written off: RecoveredMinor.
	CreditedMinor   int64              `db:"credited_minor"`
	WrittenOffMinor int64              `db:"written_off_minor"`
	RecoveredMinor  int64              `db:"recovered_minor"`
	DueMinor        int64              `db:"due_minor"` // 0 for drafts and voided ones
	DueOn           string             `db:"due_on"`    // YYYY-MM-DD, "" for a voided number without a draft
	PeriodFrom      *time.Time         `db:"period_from"`
	PeriodTo        *time.Time         `db:"period_to"` // exclusive
	Ordered         bool               `db:"ordered"`   // nobody owes it, as long as it was not paid whole
	Lines           []Line             `db:"lines"`
	Taxes           []events.TaxCharge `db:"taxes"`
	Reason          string             `db:"reason"`       // why it was voided
	ToBeSigned      bool               `db:"to_be_signed"` // by the tax authority
	DraftedAt       time.Time          `db:"drafted_at"`
	IssuedAt        *time.Time         `db:"issued_at"`
	VoidedAt        *time.Time         `db:"voided_at"`
}

// Total is the charge with tax.
func (r InvoiceRow) Total() money.Amount { return money.Of(r.TotalMinor, r.Currency) }

// Paid is the money allocated from receipts. It is the total less what is due, credited and written off.
func (r InvoiceRow) Paid() money.Amount { return money.Of(r.PaidMinor, r.Currency) }

// Credited is the sum that credit notes cover.
func (r InvoiceRow) Credited() money.Amount { return money.Of(r.CreditedMinor, r.Currency) }

// WrittenOff is the sum that was given up.
func (r InvoiceRow) WrittenOff() money.Amount { return money.Of(r.WrittenOffMinor, r.Currency) }

// Due is the unpaid part of an issued invoice; zero for a draft and for a voided invoice.
func (r InvoiceRow) Due() money.Amount { return money.Of(r.DueMinor, r.Currency) }

// Overdue reports whether money is owed and the due date lies before today, a date of the organization's calendar.
func (r InvoiceRow) Overdue(today calendar.Date) bool {
	return r.DueMinor > 0 && !r.Ordered && r.DueOn != "" && r.DueOn < today.String()
}

// AllocationRow is the money of one receipt that pays an invoice, in minor units of the invoice's currency.
type AllocationRow struct {
	ReceiptID   id.Receipt `db:"source_id"`
	AmountMinor int64      `db:"amount_minor"`
	At          time.Time  `db:"at"` // of its first money
}

// TaxesOf are the taxes in a part of the invoice that is given back: the same part of each of its taxes, rounded by
// itself. The note's document, its answer and the tax authority have these.
func (r InvoiceRow) TaxesOf(part money.Amount) []events.TaxCharge {
	taxes := make([]events.TaxCharge, len(r.Taxes))
	for i, t := range r.Taxes {
		if r.TotalMinor > 0 {
			t.Amount = t.Amount.MulDivRounded(part.Minor, r.TotalMinor)
		}
		taxes[i] = t
	}
	return taxes
}

// CreditNoteRow is a credit note on an invoice: an amount that the organization charges no more.
type CreditNoteRow struct {
	ID          id.Receipt     `db:"credit_note_id"`
	InvoiceID   id.Invoice     `db:"invoice_id"`
	Number      string         `db:"number"` // "" before it is issued
	State       string         `db:"state"`  // "draft", "issued" or "voided"
	Currency    money.Currency `db:"currency"`
	AmountMinor int64          `db:"amount_minor"`
	Reason      string         `db:"reason"`
	ToBeSigned  bool           `db:"to_be_signed"` // by the tax authority
	DraftedAt   time.Time      `db:"drafted_at"`
	IssuedAt    *time.Time     `db:"issued_at"`
}

// Amount includes tax and is positive.
func (r CreditNoteRow) Amount() money.Amount { return money.Of(r.AmountMinor, r.Currency) }

// InvoiceRef names an invoice.
type InvoiceRef struct {
	ID     id.Invoice `db:"invoice_id"`
	Number string     `db:"number"` // "" before it is issued
}

// InvoiceDetail is an invoice with the money that paid it and the credit notes on it.
type InvoiceDetail struct {
	InvoiceRow
	Allocations []AllocationRow // oldest first; they sum to Paid
	CreditNotes []CreditNoteRow // oldest first
	Replaces    *InvoiceRef     // the wrong one, in whose place it is; nil = none
	ReplacedBy  *InvoiceRef     // the corrected one in its place; nil = none
}

// InvoiceKey is a row's place in the list, newest first. The zero value starts at the newest row.
type InvoiceKey struct {
	DraftedAt time.Time  `json:"d"`
	ID        id.Invoice `json:"i"`
}

// Key makes the next page begin after this row.
func (r InvoiceRow) Key() InvoiceKey { return InvoiceKey{DraftedAt: r.DraftedAt, ID: r.ID} }

// InvoiceFilter narrows a list. A zero field does not restrict it, but Among finds nothing when it is empty and not
// nil.
type InvoiceFilter struct {
	SubscriberID id.Subscriber
	Among        []id.Subscriber
	State        string
	Number       string // in any case of letters
	Overdue      *bool
	Today        calendar.Date // the organization's date; required with Overdue
}

// InvoicesQuery serves lists and details of invoices, and waits for their states.
type InvoicesQuery struct{ Views *runner.Views }

// invoiceColumns fit InvoiceRow; the table invoices has the alias i.
const invoiceColumns = `i.invoice_id, i.org_id, i.subscriber_id, i.subscription_id, i.number, i.state, i.currency,
	i.total_minor, i.paid_minor, i.credited_minor, i.written_off_minor, i.recovered_minor,
	i.due_minor, coalesce(i.due_on::text, '') as due_on, i.period_from, i.period_to, i.ordered,
	i.lines, i.taxes, i.reason, i.to_be_signed, i.drafted_at, i.issued_at, i.voided_at`

// Get returns one invoice of an organization with its allocations and credit notes; nil when the organization has none
// with this id.
func (q InvoicesQuery) Get(ctx context.Context, org id.Organization, invoice id.Invoice) (*InvoiceDetail, error) {
	var row *InvoiceRow
	var d InvoiceDetail
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[InvoiceRow],
			q.Views.SQL(InvoicesName, `select `+invoiceColumns+` from {schema}.invoices i where i.invoice_id = $1`),
			invoice)
		postgres.Collect(r, &d.Allocations, pgx.RowToStructByName[AllocationRow],
			q.Views.SQL(InvoicesName,
				`select source_id, sum(amount_minor)::bigint as amount_minor, min(at) as at
				from {schema}.allocations where invoice_id = $1 and kind = 'receipt'
				group by source_id having sum(amount_minor) > 0 order by min(position)`),
			invoice)
		postgres.Collect(r, &d.CreditNotes, pgx.RowToStructByName[CreditNoteRow],
			q.Views.SQL(InvoicesName,
				`select `+creditNoteColumns+`
				from {schema}.credit_notes where invoice_id = $1 order by drafted_at, credit_note_id`), invoice)
		postgres.CollectMaybe(r, &d.Replaces, pgx.RowToStructByName[InvoiceRef], q.Views.SQL(InvoicesName, `
			select w.invoice_id, w.number from {schema}.invoices c join {schema}.invoices w on w.invoice_id = c.replaces
			where c.invoice_id = $1`), invoice)
		postgres.CollectMaybe(r, &d.ReplacedBy, pgx.RowToStructByName[InvoiceRef], q.Views.SQL(InvoicesName, `
			select invoice_id, number from {schema}.invoices where replaces = $1`), invoice)
	})
	if err != nil || row == nil {
		return nil, err
	}
	d.InvoiceRow = *row
	return &d, nil
}

// creditNoteColumns fit CreditNoteRow.
const creditNoteColumns = `credit_note_id, invoice_id, number, state, currency, amount_minor, reason, to_be_signed,
	drafted_at, issued_at`

// CreditNote returns one credit note of an organization; nil when the organization has none with this id. One whose
// number was voided without a draft has no invoice.
func (q InvoicesQuery) CreditNote(
	ctx context.Context, org id.Organization, note id.Receipt,
) (*CreditNoteRow, error) {
	var row *CreditNoteRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[CreditNoteRow], q.Views.SQL(InvoicesName,
			`select `+creditNoteColumns+` from {schema}.credit_notes where credit_note_id = $1`), note)
	})
	return row, err
}

// State returns the state of an invoice, "" when no row is there yet. WaitFinal uses it.
func (q InvoicesQuery) State(ctx context.Context, org id.Organization, invoice id.Invoice) (string, error) {
	var state *string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &state, pgx.RowTo[string],
			q.Views.SQL(InvoicesName, `select state from {schema}.invoices where invoice_id = $1`), invoice)
	})
	if err != nil || state == nil {
		return "", err
	}
	return *state, nil
}

// CreditNoteState returns the state of a credit note, "" when no row is there yet.
func (q InvoicesQuery) CreditNoteState(ctx context.Context, org id.Organization, note id.Receipt) (string, error) {
	var state *string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &state, pgx.RowTo[string],
			q.Views.SQL(InvoicesName, `select state from {schema}.credit_notes where credit_note_id = $1`), note)
	})
	if err != nil || state == nil {
		return "", err
	}
	return *state, nil
}

// Numbers gives the numbers of some invoices of an organization with one statement. A draft is left out.
func (q InvoicesQuery) Numbers(
	ctx context.Context, org id.Organization, invoices []id.Invoice,
) (map[id.Invoice]string, error) {
	if len(invoices) == 0 {
		return nil, nil
	}
	var numbers map[id.Invoice]string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &numbers, q.Views.SQL(InvoicesName, `
			select invoice_id, number from {schema}.invoices
			where invoice_id = any($1) and org_id = $2 and number <> ''`), invoices, org)
	})
	return numbers, err
}

// Payable has of an invoice what a bill says that asks for its money.
type Payable struct {
	ID           id.Invoice    `db:"invoice_id"`
	SubscriberID id.Subscriber `db:"subscriber_id"`
	Number       string        `db:"number"`       // "" before it is issued
	DueMinor     int64         `db:"due_minor"`    // 0 for drafts and voided ones
	ToBeSigned   bool          `db:"to_be_signed"` // by the tax authority
}

// Payables gives some invoices of an organization with one statement. Unknown ones are missing in the result.
func (q InvoicesQuery) Payables(
	ctx context.Context, org id.Organization, invoices []id.Invoice,
) (map[id.Invoice]Payable, error) {
	var rows []Payable
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Payable], q.Views.SQL(InvoicesName, `
			select invoice_id, subscriber_id, number, due_minor, to_be_signed from {schema}.invoices
			where invoice_id = any($1) and org_id = $2`), invoices, org)
	})
	out := make(map[id.Invoice]Payable, len(rows))
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, err
}

// OpenInvoice asks a subscriber for money, or will when it has its number.
type OpenInvoice struct {
	SubscriberID   id.Subscriber    `db:"subscriber_id"`
	SubscriptionID *id.Subscription `db:"subscription_id"` // nil = by hand
	Ordered        bool             `db:"ordered"`         // nobody owes it
	DueMinor       int64            `db:"due_minor"`       // zero of a draft
}

// Open queues the reading of some subscribers' drafts, and of the issued invoices with an amount due.
func (q InvoicesQuery) Open(
	r *postgres.Reads, into *[]OpenInvoice, org id.Organization, subscribers []id.Subscriber,
) {
	postgres.Collect(r, into, pgx.RowToStructByName[OpenInvoice], q.Views.SQL(InvoicesName, `
		select subscriber_id, subscription_id, ordered, due_minor from {schema}.invoices
		where org_id = $1 and subscriber_id = any($2) and (due_minor > 0 or state = 'draft')`), org, subscribers)
}

// List returns up to max invoices of an organization after a key, newest first.
func (q InvoicesQuery) List(
	ctx context.Context, org id.Organization, f InvoiceFilter, after InvoiceKey, max int,
) ([]InvoiceRow, error) {
	sql, args := invoiceListSQL(org, f, after, max)
	var rows []InvoiceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[InvoiceRow], q.Views.SQL(InvoicesName, sql), args...)
	})
	return rows, err
}

// invoiceListSQL builds the statement of List. Every value is a parameter, none is part of the text.
func invoiceListSQL(org id.Organization, f InvoiceFilter, after InvoiceKey, max int) (string, []any) {
	args := []any{org, max}
	where := []string{`i.org_id = $1`}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if !after.DraftedAt.IsZero() {
		where = append(where, fmt.Sprintf(`(i.drafted_at, i.invoice_id) < (%s, %s)`, arg(after.DraftedAt),
			arg(after.ID)))
	}
	if !f.SubscriberID.IsZero() {
		where = append(where, `i.subscriber_id = `+arg(f.SubscriberID))
	}
	if f.Among != nil {
		where = append(where, `i.subscriber_id = any(`+arg(f.Among)+`)`)
	}
	if f.State != "" {
		where = append(where, `i.state = `+arg(f.State))
	}
	if f.Number != "" {
		where = append(where, `i.number_key = upper(`+arg(f.Number)+`)`)
	}
	if f.Overdue != nil {
		overdue := `i.due_minor > 0 and not i.ordered and i.due_on < ` + arg(f.Today.String()) + `::date`
		if !*f.Overdue {
			overdue = `(` + overdue + `) is not true`
		}
		where = append(where, overdue)
	}
	return `select ` + invoiceColumns + ` from {schema}.invoices i where ` + strings.Join(where, " and ") +
		` order by i.drafted_at desc, i.invoice_id desc limit $2`, args
}

// WaitShown waits a few seconds until an invoice can be read, and reports whether it can.
func (q InvoicesQuery) WaitShown(ctx context.Context, org id.Organization, invoice id.Invoice) (bool, error) {
	return q.Views.WaitWhole(ctx, InvoicesName, func(ctx context.Context) (bool, error) {
		state, err := q.State(ctx, org, invoice)
		return state != "", err
	})
}

// WaitFinal waits a few seconds until an invoice is issued or voided and all that came with it is shown, and reports
// whether it is.
func (q InvoicesQuery) WaitFinal(ctx context.Context, org id.Organization, invoice id.Invoice) (bool, error) {
	return q.Views.WaitWhole(ctx, InvoicesName, func(ctx context.Context) (bool, error) {
		state, err := q.State(ctx, org, invoice)
		return state != "" && state != "draft", err
	})
}

// WaitNoteFinal waits a few seconds until a credit note is issued and all that came with it is shown, and reports
// whether it is.
func (q InvoicesQuery) WaitNoteFinal(ctx context.Context, org id.Organization, note id.Receipt) (bool, error) {
	return q.Views.WaitWhole(ctx, InvoicesName, func(ctx context.Context) (bool, error) {
		state, err := q.CreditNoteState(ctx, org, note)
		return state == "issued", err
	})
}

// Overdue sums up the debts of an organization whose due date lies before today.
type Overdue struct {
	AmountMinor   int64 `db:"amount_minor"`
	Invoices      int   `db:"invoices"`
	Subscribers   int   `db:"subscribers"`
	Subscriptions int   `db:"subscriptions"` // an invoice made by hand has none
}

// Overdue sums up the invoices that the list with the filter Overdue has.
func (q InvoicesQuery) Overdue(ctx context.Context, org id.Organization, today calendar.Date) (o Overdue, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &o, pgx.RowToStructByName[Overdue], q.Views.SQL(InvoicesName, `
			select coalesce(sum(due_minor), 0)::bigint as amount_minor, count(*)::int as invoices,
				count(distinct subscriber_id)::int as subscribers, count(distinct subscription_id)::int as subscriptions
			from {schema}.invoices where org_id = $1 and due_minor > 0 and due_on < $2::date and not ordered`),
			org, today.String())
	})
	return o, err
}
