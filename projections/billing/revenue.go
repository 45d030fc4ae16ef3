package billingviews

import (
	_ "embed"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// RevenueName keys the projection's checkpoint and schemas, so it never changes.
const RevenueName = "billing_revenue"

// Revenue tells what invoices earn, and over which time: a period over its days, everything else at once
// (docs/rules/money.md#recognised-revenue). Each change is booked by rows of its own, so that a day that is over keeps
// what it had.
type Revenue struct{}

// revenueDDL is compiled in from revenue.sql.
//
//go:embed revenue.sql
var revenueDDL string

// bookSQL is compiled in from revenue_book.sql. {where} says which invoices are booked.
//
//go:embed revenue_book.sql
var bookSQL string

// Name keys checkpoint and schemas.
func (Revenue) Name() string { return RevenueName }

// Version must grow with every change to the tables or to Apply.
func (Revenue) Version() int { return 7 }

// DDL creates the tables of revenue.sql.
func (Revenue) DDL() string { return revenueDDL }

// TenantTables are under row-level security.
func (Revenue) TenantTables() []string {
	return []string{"earnings", "sold", "revenue", "beside", "given_up"}
}

// Handles lists the events that change the tables.
func (Revenue) Handles() []string {
	return append(placing(),
		events.InvoiceDrafted{}.EventType(), events.InvoiceIssued{}.EventType(), events.InvoiceVoided{}.EventType(),
		events.InvoicePaid{}.EventType(), events.CreditNoteIssued{}.EventType(), events.DebtWrittenOff{}.EventType(),
		events.InvoiceAllocated{}.EventType(),
		events.WriteOffRecovered{}.EventType(), events.RecoveryWithdrawn{}.EventType(),
		events.VoucherRedeemed{}.EventType(), events.SubscriptionCreated{}.EventType(),
		events.SubscriptionPaused{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.SubscriptionPlanChanged{}.EventType(), events.BillingSuspended{}.EventType(),
	)
}

// Statements of Apply about what is known. A row takes no event that was applied to it before.
const (
	earnSQL = `
insert into {schema}.earnings
	(invoice_id, org_id, subscription_id, plan_id, net_minor, tax_minor, prepaid, ordered, from_at, to_at, position)
values
	(@invoice, @org, @subscription, (select plan_id from {schema}.sold where subscription_id = @sold_to), @net, @tax,
	coalesce((select prepaid from {schema}.sold where subscription_id = @subscription), false), @ordered, @from, @to,
	@position)
on conflict (invoice_id) do nothing`
	earnIssuedSQL = `
update {schema}.earnings set issued = true where invoice_id = $1 and position < $2`
	earnVoidedSQL = `
update {schema}.earnings set voided = true where invoice_id = $1 and position < $2`
	earnOrderedSQL = `
update {schema}.earnings set ordered = false where invoice_id = $1 and position < $2`
	earnCreditedSQL = `
update {schema}.earnings set credited_minor = credited_minor + $3 where invoice_id = $1 and position < $2`
	// Only a prepaid period needs its payment. A postpaid one keeps its place.
	earnPaidSQL = `
update {schema}.earnings set paid = $3 where invoice_id = $1 and position < $2 and prepaid`
	earnPlaceSQL = `
update {schema}.earnings set from_at = $3, to_at = $4 where invoice_id = $1 and position < $2`
	earnReissuedSQL = `
update {schema}.earnings c set paid = w.paid from {schema}.earnings w
where c.invoice_id = $1 and c.position < $2 and c.prepaid and w.invoice_id = $3`
	// No change of a plan changes who pays ahead.
	soldNewSQL = `
insert into {schema}.sold (subscription_id, org_id, plan_id, prepaid) values ($1, $2, $3, $4)
on conflict (subscription_id) do nothing`
	besideSQL = `
insert into {schema}.beside (position, org_id, kind, at, amount_minor) values ($1, $2, $3, $4, $5)
on conflict (position) do nothing`
	givenUpSQL = `
insert into {schema}.given_up (write_off_id, org_id) values ($1, $2) on conflict (write_off_id) do nothing`
	// What is written off of an invoice is a loss up to what the invoice is booked with. A debt that an import brought
	// was earned elsewhere, and is lost here. Of a prepaid period it is a loss as long as other money pays the rest.
	lossSQL = `
insert into {schema}.beside (position, org_id, kind, at, amount_minor)
select @position::bigint, w.org_id, 'loss', @at, lost.amount
from {schema}.given_up w left join {schema}.earnings e on e.invoice_id = @invoice
cross join lateral (
	select least(@amount::bigint, coalesce(e.done_net + e.open_net + e.done_tax + e.open_tax, @amount)) as amount
) lost
where w.write_off_id = @write_off and lost.amount > 0 and not coalesce(e.prepaid, false)
on conflict (position) do nothing`
	giveUpSQL = `
update {schema}.earnings set given_up_minor = given_up_minor + $3, position = $2
where invoice_id = $1 and position < $2 and prepaid
	and exists (select 1 from {schema}.given_up where write_off_id = $4)`
	loseSQL = `
with lost as (
	update {schema}.earnings e set lost_minor = case when e.paid then e.given_up_minor else 0 end
	from {schema}.earnings o
	where e.invoice_id = @invoice::uuid and o.invoice_id = e.invoice_id and e.position < @position::bigint
		and o.lost_minor <> case when e.paid then e.given_up_minor else 0 end
	returning e.org_id, e.lost_minor - o.lost_minor as amount
)
insert into {schema}.beside (position, org_id, kind, at, amount_minor)
select @position::bigint, org_id, 'loss', @at::timestamptz, amount from lost
on conflict (position) do nothing`
)

// Statements that book one invoice, and what is open of all invoices of a subscription.
var (
	bookInvoiceSQL      = strings.ReplaceAll(bookSQL, "{where}", "e.invoice_id = @invoice")
	bookSubscriptionSQL = strings.ReplaceAll(bookSQL, "{where}", `e.subscription_id = @subscription
		and (e.open_net <> 0 or e.open_tax <> 0) and (e.open_to is null or e.open_to > @at::timestamptz)`)
)

// Apply queues the statements for one event.
func (Revenue) Apply(w *runner.Writes, e events.Envelope) error {
	b := booking{w: w, at: e.Meta.At, position: int64(e.Position)} //nolint:gosec // positions fit
	switch v := e.Event.(type) {
	case events.InvoiceDrafted:
		b.draft(v)
	case events.InvoiceIssued:
		b.know(earnIssuedSQL, v.InvoiceID)
		b.book(v.InvoiceID)
	case events.InvoiceVoided:
		b.know(earnVoidedSQL, v.InvoiceID)
		b.book(v.InvoiceID)
	case events.InvoicePaid:
		b.know(earnOrderedSQL, v.InvoiceID)
		b.book(v.InvoiceID)
	case events.CreditNoteIssued:
		b.know(earnCreditedSQL, v.InvoiceID, v.Amount.Minor)
		b.book(v.InvoiceID)
	case events.DebtWrittenOff:
		if !v.WriteOffID.IsZero() { // without one no allocation can be of it, so that nothing says what was lost
			w.Exec(givenUpSQL, v.WriteOffID, v.OrgID)
		}
	case events.InvoiceAllocated: // most allocations are of money, and match no write-off
		w.Exec(lossSQL, pgx.NamedArgs{
			"write_off": v.ReceiptID, "invoice": v.InvoiceID, "amount": v.Amount.Minor, "at": b.at,
			"position": b.position,
		})
		b.know(giveUpSQL, v.InvoiceID, v.Amount.Minor, v.ReceiptID)
	case events.WriteOffRecovered:
		b.beside(v.OrgID, "loss", b.at, v.Amount.Neg())
	case events.RecoveryWithdrawn:
		b.beside(v.OrgID, "loss", b.at, v.Amount)
	case events.VoucherRedeemed:
		b.beside(v.OrgID, "voucher", v.At, v.Price)
	default:
		b.subscription(e.Event)
	}
	return nil
}

// booking queues the statements of one event.
type booking struct {
	w        *runner.Writes
	at       time.Time // of the record
	position int64
}

// know queues what the event says of an invoice; further values are the arguments from the third one on.
func (b booking) know(sql string, invoice id.Invoice, more ...any) {
	b.w.Exec(sql, append([]any{invoice, b.position}, more...)...)
}

// book queues the change of the revenue of an invoice that follows from what is known now.
func (b booking) book(invoice id.Invoice) {
	b.w.Exec(bookInvoiceSQL, pgx.NamedArgs{"invoice": invoice, "at": b.at, "position": b.position})
}

// paid queues that a prepaid period is paid, or is not any more, and what of its invoice is lost then.
func (b booking) paid(invoice id.Invoice, is bool) {
	b.know(earnPaidSQL, invoice, is)
	b.lose(invoice)
}

// lose queues what is lost of the invoice of a prepaid period, as it is known now.
func (b booking) lose(invoice id.Invoice) {
	b.w.Exec(loseSQL, pgx.NamedArgs{"invoice": invoice, "position": b.position, "at": b.at})
}

// beside queues a row of what stands beside the revenue.
func (b booking) beside(org id.Organization, kind string, at time.Time, amount money.Amount) {
	b.w.Exec(besideSQL, b.position, org, kind, at, amount.Minor)
}

// draft queues the row of an invoice. Its lines say what of it is tax.
func (b booking) draft(v events.InvoiceDrafted) {
	var net int64
	for _, l := range v.Lines {
		net += l.Net.Minor
	}
	args := pgx.NamedArgs{
		"invoice": v.InvoiceID, "org": v.OrgID, "subscription": v.SubscriptionID, "sold_to": v.SubscriptionID,
		"net": net, "tax": v.Total.Minor - net, "ordered": v.Order, "position": b.position,
		"from": nil, "to": nil,
	}
	if v.SubscriptionID.IsZero() {
		args["sold_to"] = v.SoldTo
	}
	if !v.PeriodFrom.IsZero() {
		args["from"], args["to"] = v.PeriodFrom, v.PeriodTo
	}
	b.w.Exec(earnSQL, args)
}

// subscription queues what an event of a subscription changes.
func (b booking) subscription(e events.Event) {
	elsewhere := places(e)
	for _, p := range elsewhere {
		b.place(p)
	}
	switch v := e.(type) {
	case events.SubscriptionCreated:
		b.w.Exec(soldNewSQL, v.SubscriptionID, v.OrgID, v.PlanID, v.Terms.Mode == events.Prepaid)
	case events.SubscriptionPlanChanged:
		b.w.Exec(`update {schema}.sold set plan_id = $2 where subscription_id = $1`, v.SubscriptionID, v.PlanID)
	case events.SubscriptionExtended:
		b.paid(v.InvoiceID, true)
		b.bookAll(v.InvoiceID, elsewhere)
	case events.PeriodWithdrawn:
		b.paid(v.InvoiceID, false)
		b.bookAll(v.InvoiceID, elsewhere)
	case events.PeriodCancelled:
		b.paid(v.InvoiceID, false)
		b.bookAll(v.InvoiceID, elsewhere)
	case events.PeriodReissued:
		b.know(earnReissuedSQL, v.CorrectedID, v.InvoiceID)
		b.lose(v.CorrectedID)
		b.know(earnPaidSQL, v.InvoiceID, false)
		b.bookAll(v.InvoiceID, elsewhere)
	case events.SubscriptionPaused:
		b.state(v.SubscriptionID, `update {schema}.sold set stopped = true where subscription_id = $1`)
	case events.SubscriptionResumed:
		b.state(v.SubscriptionID, `update {schema}.sold set stopped = false where subscription_id = $1`)
	case events.BillingSuspended:
		if v.By == events.BillUsedDays {
			b.state(v.SubscriptionID, `update {schema}.sold set stopped = true where subscription_id = $1`)
		}
	case events.BillingResumed:
		b.state(v.SubscriptionID, `update {schema}.sold set stopped = false where subscription_id = $1`)
	case events.SubscriptionEnded:
		b.state(v.SubscriptionID, `update {schema}.sold set ended = true where subscription_id = $1`)
	}
}

// place queues where a period lies. One that takes no time any more keeps its place: whether it is paid decides.
func (b booking) place(p events.PeriodPlace) {
	if !p.From.IsZero() {
		b.know(earnPlaceSQL, p.InvoiceID, p.From, p.To)
	}
}

// bookAll books the invoice that an event is about, and then the others whose periods lie elsewhere since.
func (b booking) bookAll(about id.Invoice, moved []events.PeriodPlace) {
	b.book(about)
	for _, p := range moved {
		if p.InvoiceID != about {
			b.book(p.InvoiceID)
		}
	}
}

// state queues a change of a subscription and what follows for what is open.
func (b booking) state(subscription id.Subscription, sql string) {
	b.w.Exec(sql, subscription)
	b.w.Exec(bookSubscriptionSQL, pgx.NamedArgs{"subscription": subscription, "at": b.at, "position": b.position})
}
