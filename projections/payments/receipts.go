package paymentsviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ReceiptsName keys the projection's checkpoint and schemas, so it never changes.
const ReceiptsName = "payments_receipts"

// Receipts lists received money, including money in suspense.
type Receipts struct{}

// receiptsDDL is compiled in from receipts.sql.
//
//go:embed receipts.sql
var receiptsDDL string

// Name keys checkpoint and schemas.
func (Receipts) Name() string { return ReceiptsName }

// Version must grow with every change to the tables or to Apply.
func (Receipts) Version() int { return 1 }

// DDL creates the tables of receipts.sql.
func (Receipts) DDL() string { return receiptsDDL }

// TenantTables are under row-level security.
func (Receipts) TenantTables() []string { return []string{"receipts", "allocations"} }

// Handles lists the events that change the tables.
func (Receipts) Handles() []string {
	return []string{
		events.ReceiptRecorded{}.EventType(), events.ReceiptSighted{}.EventType(), events.ReceiptDisputed{}.EventType(),
		events.ReceiptMatched{}.EventType(), events.ReceiptHeld{}.EventType(), events.ReceiptClaimed{}.EventType(),
		events.ReceiptAbsorbed{}.EventType(), events.ReceiptUnclaimed{}.EventType(),
		events.ReceiptAssigned{}.EventType(), events.ReceiptReversed{}.EventType(),
		events.ReceiptReattributed{}.EventType(), events.InvoiceAllocated{}.EventType(),
		events.AllocationWithdrawn{}.EventType(), events.SubscriberForgotten{}.EventType(),
	}
}

// Sighting is one message about a receipt, as stored in the column sightings.
type Sighting struct {
	Kind     string    `json:"kind"`
	At       time.Time `json:"at"`
	Verified bool      `json:"verified"`           // always true: an unverified message never makes a receipt
	Disputes bool      `json:"disputes,omitempty"` // it contradicts the receipt
}

// Apply queues the statements for one event. An event applied again changes no receipt, because each change compares
// the revision of the receipt's stream.
func (Receipts) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	change := func(receipt id.Receipt, set string, values pgx.NamedArgs) {
		args := pgx.NamedArgs{"receipt": receipt, "revision": revision}
		maps.Copy(args, values)
		w.Exec(`update {schema}.receipts set revision = @revision, `+set+
			` where receipt_id = @receipt and revision < @revision`, args)
	}
	switch v := e.Event.(type) {
	case events.ReceiptRecorded:
		return insertReceipt(w, v, revision)
	case events.ReceiptSighted:
		seen, err := sighted(v.Sighting, v.At, false)
		change(v.ReceiptID, `sightings = sightings || @seen::jsonb,
			checkout_request_id = coalesce(checkout_request_id, nullif(@checkout, '')),
			payment_id = coalesce(payment_id, @payment)`,
			pgx.NamedArgs{"seen": seen, "checkout": v.CheckoutRequestID, "payment": v.PaymentID})
		return err
	case events.ReceiptDisputed:
		seen, err := sighted(v.Sighting, v.At, true)
		change(v.ReceiptID, `sightings = sightings || @seen::jsonb, disputed = true, state = 'suspense',
			reason = 'disputed'`, pgx.NamedArgs{"seen": seen})
		return err
	case events.ReceiptMatched:
		change(v.ReceiptID, `state = case when @by = 'operator' then 'attributed' else 'matched' end, matched_by = @by,
			org_id = @org, subscriber_id = @subscriber, payment_id = coalesce(payment_id, @payment), channel = @channel,
			reason = '', disputed = false`, pgx.NamedArgs{
			"by": v.By, "org": v.OrgID, "subscriber": v.SubscriberID, "payment": v.PaymentID, "channel": v.Channel,
		})
	case events.ReceiptHeld:
		change(v.ReceiptID, `state = 'suspense', reason = @reason`, pgx.NamedArgs{"reason": v.Reason})
	case events.ReceiptClaimed:
		change(v.ReceiptID, `receipt_number = @number, related_receipt_id = @by, unclaimed = false`,
			pgx.NamedArgs{"number": v.ReceiptNumber, "by": v.ClaimedBy})
	case events.ReceiptAbsorbed:
		change(v.ReceiptID, `state = 'absorbed', reason = '', disputed = false, org_id = @org,
			subscriber_id = @subscriber, payment_id = @payment, related_receipt_id = @related`, pgx.NamedArgs{
			"org": v.OrgID, "subscriber": v.SubscriberID, "payment": v.PaymentID, "related": v.ProvisionalReceiptID,
		})
	case events.ReceiptUnclaimed:
		change(v.ReceiptID, `unclaimed = true`, nil)
	case events.ReceiptAssigned:
		change(v.ReceiptID, `org_id = @org`, pgx.NamedArgs{"org": v.OrgID})
	case events.ReceiptReversed:
		change(v.ReceiptID, `state = 'reversed', reason = @reason, disputed = false`,
			pgx.NamedArgs{"reason": v.Reason})
	case events.ReceiptReattributed:
		change(v.ReceiptID, `state = 'attributed', matched_by = 'operator', reason = @reason, disputed = false,
			subscriber_id = @to`, pgx.NamedArgs{"reason": v.Reason, "to": v.To})
	default:
		applyAllocation(w, e)
	}
	return nil
}

// recordSQL inserts the row of a new receipt, without an owner unless the event has one.
const recordSQL = `
insert into {schema}.receipts
	(receipt_id, org_id, provider, receipt_number, channel, shortcode, amount_minor, currency, paid_at, payer_phone,
	payer_name, bill_ref, checkout_request_id, payment_id, provisional, state, sightings, recorded_at, revision)
values
	(@receipt, @org, @provider, @number, @channel, @shortcode, @amount, @currency, @paid_at, @payer_phone,
	@payer_name, @bill_ref, nullif(@checkout, ''), @payment, @provisional, 'recorded', @seen::jsonb, @recorded_at,
	@revision)
on conflict (receipt_id) do nothing`

// insertReceipt queues the row of a new receipt with its first sighting.
func insertReceipt(w *runner.Writes, v events.ReceiptRecorded, revision int64) error {
	seen, err := sighted(v.Sighting, v.RecordedAt, false)
	if err != nil {
		return err
	}
	w.Exec(recordSQL, pgx.NamedArgs{
		"receipt": v.ReceiptID, "org": v.OrgID, "provider": v.Provider, "number": v.ReceiptNumber, "channel": v.Channel,
		"shortcode": v.Shortcode, "amount": v.Amount.Minor, "currency": v.Amount.Currency, "paid_at": v.PaidAt,
		"payer_phone": revealed(v.PayerPhone), "payer_name": revealed(v.PayerName), "bill_ref": revealed(v.BillRef),
		"checkout": v.CheckoutRequestID, "payment": v.PaymentID, "provisional": v.Provisional, "seen": seen,
		"recorded_at": v.RecordedAt, "revision": revision,
	})
	return nil
}

// sighted returns a JSON list of one verified sighting, to append to the column.
func sighted(kind string, at time.Time, disputes bool) (string, error) {
	b, err := json.Marshal([]Sighting{{Kind: kind, At: at, Verified: true, Disputes: disputes}})
	if err != nil {
		return "[]", fmt.Errorf("write sighting: %w", err)
	}
	return string(b), nil
}

// applyAllocation queues the payments of invoices by receipts, and erases payers. An allocation takes the organization
// of its receipt's row, which is always written before; an allocation of a credit note finds no row and is left out.
func applyAllocation(w *runner.Writes, e events.Envelope) {
	position := int64(e.Position) //nolint:gosec // positions fit
	const insert = `
insert into {schema}.allocations (org_id, position, receipt_id, invoice_id, amount_minor)
select org_id, $1, receipt_id, $3, $4 from {schema}.receipts where receipt_id = $2 and org_id is not null
on conflict (position) do nothing`
	switch v := e.Event.(type) {
	case events.InvoiceAllocated:
		w.Exec(insert, position, v.ReceiptID, v.InvoiceID, v.Amount.Minor)
		w.Exec(`update {schema}.receipts set state = 'allocated' where receipt_id = $1 and state = 'matched'`,
			v.ReceiptID)
	case events.AllocationWithdrawn:
		w.Exec(insert, position, v.ReceiptID, v.InvoiceID, -v.Amount.Minor)
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.receipts set payer_phone = null, payer_name = null, bill_ref = null
			where subscriber_id = $1`, v.SubscriberID)
	}
}
