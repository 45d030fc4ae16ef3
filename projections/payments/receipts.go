package paymentsviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ReceiptsName is the projection's durable name.
const ReceiptsName = "payments_receipts"

// Receipts lists the money that came in, the suspense inbox included.
type Receipts struct{}

//go:embed receipts.sql
var receiptsDDL string

// Name is the durable name.
func (Receipts) Name() string { return ReceiptsName }

// Version is raised when tables or Apply change.
func (Receipts) Version() int { return 1 }

// DDL creates the tables.
func (Receipts) DDL() string { return receiptsDDL }

// TenantTables are under row-level security.
func (Receipts) TenantTables() []string { return []string{"receipts", "allocations"} }

// Handles lists the events.
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

// Sighting is one way in which the money was seen.
type Sighting struct {
	Kind     string    `json:"kind"`
	At       time.Time `json:"at"`
	Verified bool      `json:"verified"`           // always: unverified ones never make a receipt
	Disputes bool      `json:"disputes,omitempty"` // it contradicts the receipt
}

// Apply queues the statements for one event. Every change of a receipt is guarded by its stream's revision.
func (Receipts) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	change := func(receipt id.Receipt, set string, args ...any) {
		w.Exec(`update {schema}.receipts set revision = $2, `+set+` where receipt_id = $1 and revision < $2`,
			append([]any{receipt, revision}, args...)...)
	}
	switch v := e.Event.(type) {
	case events.ReceiptRecorded:
		return insertReceipt(w, v, revision)
	case events.ReceiptSighted:
		seen, err := sighted(v.Sighting, v.At, false)
		change(v.ReceiptID,
			`sightings = sightings || $3::jsonb, checkout_request_id = coalesce(checkout_request_id, nullif($4, '')),
			payment_id = coalesce(payment_id, $5)`, seen, v.CheckoutRequestID, v.PaymentID)
		return err
	case events.ReceiptDisputed:
		seen, err := sighted(v.Sighting, v.At, true)
		change(v.ReceiptID,
			`sightings = sightings || $3::jsonb, disputed = true, state = 'suspense', reason = 'disputed'`, seen)
		return err
	case events.ReceiptMatched:
		change(v.ReceiptID,
			`state = case when $3 = 'operator' then 'attributed' else 'matched' end, matched_by = $3, org_id = $4, subscriber_id = $5,
			payment_id = coalesce(payment_id, $6), channel = $7, reason = '', disputed = false`, v.By, v.OrgID,
			v.SubscriberID, v.PaymentID, v.Channel)
	case events.ReceiptHeld:
		change(v.ReceiptID, `state = 'suspense', reason = $3`, v.Reason)
	case events.ReceiptClaimed:
		change(v.ReceiptID, `receipt_number = $3, related_receipt_id = $4, unclaimed = false`, v.ReceiptNumber,
			v.ClaimedBy)
	case events.ReceiptAbsorbed:
		change(v.ReceiptID,
			`state = 'absorbed', reason = '', disputed = false, org_id = $3, subscriber_id = $4, payment_id = $5, related_receipt_id = $6`,
			v.OrgID, v.SubscriberID, v.PaymentID, v.ProvisionalReceiptID)
	case events.ReceiptUnclaimed:
		change(v.ReceiptID, `unclaimed = true`)
	case events.ReceiptAssigned:
		change(v.ReceiptID, `org_id = $3`, v.OrgID)
	case events.ReceiptReversed:
		change(v.ReceiptID, `state = 'reversed', reason = $3, disputed = false`, v.Reason)
	case events.ReceiptReattributed:
		change(v.ReceiptID,
			`state = 'attributed', matched_by = 'operator', reason = $3, disputed = false, subscriber_id = $4`,
			v.Reason, v.To)
	default:
		applyAllocation(w, e)
	}
	return nil
}

// insertReceipt queues a new receipt.
func insertReceipt(w *runner.Writes, v events.ReceiptRecorded, revision int64) error {
	seen, err := sighted(v.Sighting, v.RecordedAt, false)
	if err != nil {
		return err
	}
	w.Exec(`insert into {schema}.receipts (receipt_id, org_id, provider, receipt_number, channel, shortcode, amount_minor, currency, paid_at,
			payer_phone, payer_name, bill_ref, checkout_request_id, payment_id, provisional, state, sightings, recorded_at, revision)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, nullif($13, ''), $14, $15, 'recorded', $16::jsonb, $17, $18)
		on conflict (receipt_id) do nothing`,
		v.ReceiptID, v.OrgID, v.Provider, v.ReceiptNumber, v.Channel, v.Shortcode, v.Amount.Minor, v.Amount.Currency,
		v.PaidAt,
		revealed(v.PayerPhone), revealed(v.PayerName), revealed(v.BillRef), v.CheckoutRequestID, v.PaymentID,
		v.Provisional, seen, v.RecordedAt, revision)
	return nil
}

// sighted is one sighting as a JSON list.
func sighted(kind string, at time.Time, disputes bool) (string, error) {
	b, err := json.Marshal([]Sighting{{Kind: kind, At: at, Verified: true, Disputes: disputes}})
	if err != nil {
		return "[]", fmt.Errorf("write sighting: %w", err)
	}
	return string(b), nil
}

// applyAllocation keeps what receipts pay. The receipt's row comes before: its organization is the allocation's.
func applyAllocation(w *runner.Writes, e events.Envelope) {
	position := int64(e.Position) //nolint:gosec // positions fit
	const insert = `insert into {schema}.allocations (org_id, position, receipt_id, invoice_id, amount_minor)
		select org_id, $1, receipt_id, $3, $4 from {schema}.receipts where receipt_id = $2 and org_id is not null on conflict (position) do nothing`
	switch v := e.Event.(type) {
	case events.InvoiceAllocated:
		w.Exec(insert, position, v.ReceiptID, v.InvoiceID, v.Amount.Minor)
		w.Exec(`update {schema}.receipts set state = 'allocated' where receipt_id = $1 and state = 'matched'`,
			v.ReceiptID)
	case events.AllocationWithdrawn:
		w.Exec(insert, position, v.ReceiptID, v.InvoiceID, -v.Amount.Minor)
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.receipts set payer_phone = null, payer_name = null, bill_ref = null where subscriber_id = $1`, v.SubscriberID)
	}
}
