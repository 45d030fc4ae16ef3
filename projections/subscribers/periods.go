package subscribersviews

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Statements of Apply about periods. An event that was recorded without an ordinal gives a new period the next one, and
// changes no place and no paid time that it does not tell. A cancelled one tells the paid time only with an ordinal.
const (
	dueSQL = `
update {schema}.subscriptions set
	open_invoices = array_append(array_remove(open_invoices, $2::uuid), $2), revision = $3, retakes_from = $4
where subscription_id = $1`
	cancelledSQL = `
update {schema}.subscriptions set
	paid_until = case when @ordinal::integer > 0 then @until::timestamptz else paid_until end,
	open_invoices = array_remove(open_invoices, @invoice::uuid), revision = @revision,
	retakes_from = coalesce(@next::timestamptz, retakes_from)
where subscription_id = @subscription`
	extendedSQL = `
update {schema}.subscriptions set paid_until = $2, open_invoices = array_remove(open_invoices, $3::uuid), revision = $4,
	retakes_from = coalesce($5, retakes_from)
where subscription_id = $1`
	withdrawnSQL = `
update {schema}.subscriptions set
	paid_until = $2, open_invoices = array_append(array_remove(open_invoices, $3::uuid), $3), revision = $4,
	retakes_from = coalesce($5, retakes_from)
where subscription_id = $1`
	paidToldSQL = `
update {schema}.subscriptions set paid_told_at = $2, paid_told_event = $3 where subscription_id = $1`
	paidLostSQL = `
update {schema}.subscriptions set paid_lost_at = greatest(paid_lost_at,
	least(paid_until, $2::timestamptz, case when state = 'paused' then state_since end))
where subscription_id = $1 and paid_until is not null`
	becameSQL = `
insert into {schema}.subscription_periods
	(subscription_id, invoice_id, org_id, ordinal, state, due_at, paid_at, from_at, to_at)
select @subscription, @invoice, s.org_id, coalesce(nullif(@ordinal::integer, 0),
		(select coalesce(max(p.ordinal), 0) + 1 from {schema}.subscription_periods p
			where p.subscription_id = @subscription)), @state, @due::timestamptz, @paid::timestamptz,
	@from::timestamptz, @to::timestamptz
from {schema}.subscriptions s where s.subscription_id = @subscription
on conflict (subscription_id, invoice_id) do update set
	state = excluded.state, due_at = coalesce(excluded.due_at, subscription_periods.due_at),
	paid_at = coalesce(excluded.paid_at, subscription_periods.paid_at),
	from_at = coalesce(excluded.from_at, subscription_periods.from_at),
	to_at = coalesce(excluded.to_at, subscription_periods.to_at)`
	reissuedSQL = `
update {schema}.subscriptions set open_invoices = array_replace(open_invoices, $2::uuid, $3::uuid), revision = $4
where subscription_id = $1`
	reissuedPeriodSQL = `
update {schema}.subscription_periods set invoice_id = $3 where subscription_id = $1 and invoice_id = $2`
	placeSQL = `
update {schema}.subscription_periods set from_at = $3, to_at = $4 where subscription_id = $1 and invoice_id = $2`
)

// period is the part of an event that its row of subscription_periods takes. Zero instants leave what is there.
type period struct {
	subscription id.Subscription
	invoice      id.Invoice
	ordinal      int // 0 = not recorded
	state        string
	due, paid    time.Time
	from, to     time.Time
}

// tellPaid notes the event that tells the paid time, and, before it is told, up to when it ran; other events queue
// nothing.
func tellPaid(w *runner.Writes, e events.Envelope) {
	var of id.Subscription
	var back bool
	switch v := e.Event.(type) {
	case events.SubscriptionExtended:
		of = v.SubscriptionID
	case events.PaidTimeCarriedOver:
		of = v.SubscriptionID
	case events.PeriodWithdrawn:
		of, back = v.SubscriptionID, true
	case events.SubscriptionResumed:
		of = v.SubscriptionID
	case events.BillingResumed:
		of = v.SubscriptionID
	case events.SubscriptionCompensated:
		of = v.SubscriptionID
	case events.CompensationTakenBack:
		of, back = v.SubscriptionID, v.Days > 0
	case events.PeriodCancelled:
		if v.Ordinal > 0 {
			of, back = v.SubscriptionID, true
		}
	}
	if back {
		w.Exec(paidLostSQL, of, e.Meta.At)
	}
	if !of.IsZero() {
		w.Exec(paidToldSQL, of, e.Meta.At, e.ID)
	}
}

// applyPeriod queues the statements of an event about one period; other events queue nothing.
func applyPeriod(w *runner.Writes, e events.Event, revision int64) {
	switch v := e.(type) {
	case events.PeriodDue:
		w.Exec(dueSQL, v.SubscriptionID, v.InvoiceID, revision, null.Time(v.NextFrom))
		due := period{
			subscription: v.SubscriptionID, invoice: v.InvoiceID, ordinal: v.Ordinal, state: "due", due: v.DueAt,
		}
		if v.Terms.Mode == events.Postpaid { // a prepaid one takes no time before it is paid
			due.from, due.to = v.From, v.To
		}
		became(w, due)
	case events.PaidTimeCarriedOver:
		w.Exec(`update {schema}.subscriptions set paid_until = $2, revision = $3 where subscription_id = $1`,
			v.SubscriptionID, v.PaidUntil, revision)
	case events.SubscriptionExtended:
		w.Exec(extendedSQL, v.SubscriptionID, v.PaidUntil, v.InvoiceID, revision, null.Time(v.NextFrom))
		became(w, period{
			subscription: v.SubscriptionID, invoice: v.InvoiceID, ordinal: v.Ordinal, state: "paid", paid: v.PaidAt,
			from: v.From, to: v.To,
		})
	case events.PeriodWithdrawn:
		w.Exec(withdrawnSQL, v.SubscriptionID, null.Time(v.PaidUntil), v.InvoiceID, revision, null.Time(v.NextFrom))
		became(w, period{
			subscription: v.SubscriptionID, invoice: v.InvoiceID, ordinal: v.Ordinal, state: "withdrawn",
		})
	case events.PeriodCancelled:
		w.Exec(cancelledSQL, pgx.NamedArgs{
			"subscription": v.SubscriptionID, "invoice": v.InvoiceID, "ordinal": v.Ordinal,
			"until": null.Time(v.PaidUntil), "next": null.Time(v.NextFrom), "revision": revision,
		})
		became(w, period{
			subscription: v.SubscriptionID, invoice: v.InvoiceID, ordinal: v.Ordinal, state: "cancelled",
		})
	case events.PeriodReissued:
		w.Exec(reissuedSQL, v.SubscriptionID, v.InvoiceID, v.CorrectedID, revision)
		w.Exec(reissuedPeriodSQL, v.SubscriptionID, v.InvoiceID, v.CorrectedID)
	}
}

// became queues the row of a period.
func became(w *runner.Writes, p period) {
	w.Exec(becameSQL, pgx.NamedArgs{
		"subscription": p.subscription, "invoice": p.invoice, "ordinal": p.ordinal, "state": p.state,
		"due": null.Time(p.due), "paid": null.Time(p.paid), "from": null.Time(p.from), "to": null.Time(p.to),
	})
}

// place queues the new places of the periods that an event has moved; one that takes no time any more has none.
func place(w *runner.Writes, e events.Event) {
	subscription, moved := events.Moved(e)
	for _, m := range moved {
		w.Exec(placeSQL, subscription, m.InvoiceID, null.Time(m.From), null.Time(m.To))
	}
}
