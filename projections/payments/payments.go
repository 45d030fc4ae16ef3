// Package paymentsviews has the read models of prompt attempts, receipts, gateway settings, and of whose money a
// payment is.
package paymentsviews

import (
	_ "embed"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// PaymentsName is the projection's durable name.
const PaymentsName = "payments_payments"

// Gateways as the API shows them. Source: spec.md, Webhook event envelope, for the first.
const (
	GatewayPrompt = "mobile_money_stk"
	GatewayCash   = "cash"
)

// Payments lists prompt attempts, and cash as payments that succeeded at once.
type Payments struct{}

//go:embed payments.sql
var paymentsDDL string

// Name is the durable name.
func (Payments) Name() string { return PaymentsName }

// Version is raised when tables or Apply change.
func (Payments) Version() int { return 1 }

// DDL creates the tables.
func (Payments) DDL() string { return paymentsDDL }

// TenantTables are under row-level security.
func (Payments) TenantTables() []string { return []string{"payments"} }

// Handles lists the events.
func (Payments) Handles() []string {
	return []string{
		events.PaymentInitiated{}.EventType(), events.PromptSubmitting{}.EventType(),
		events.PromptAccepted{}.EventType(), events.PromptInDoubt{}.EventType(), events.PromptChecked{}.EventType(),
		events.PaymentSucceeded{}.EventType(), events.ProvisionalClaimed{}.EventType(),
		events.PaymentCancelled{}.EventType(), events.PaymentFailed{}.EventType(), events.PaymentExpired{}.EventType(),
		events.ReceiptMatched{}.EventType(), events.ReceiptReattributed{}.EventType(),
		events.ReceiptReversed{}.EventType(), events.SubscriberForgotten{}.EventType(),
	}
}

// Apply queues the statements for one event.
func (Payments) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	switch v := e.Event.(type) {
	case events.PaymentInitiated:
		w.Exec(`insert into {schema}.payments (payment_id, org_id, subscriber_id, invoice_id, gateway, amount_minor, currency, phone, direct,
				environment, shortcode, credentials_ref, account_reference, stage, initiated_at, expires_at, revision)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'created', $14, $15, $16) on conflict (payment_id) do nothing`,
			v.PaymentID, v.OrgID, v.SubscriberID, v.InvoiceID, GatewayPrompt, v.Amount.Minor, v.Amount.Currency,
			revealed(v.Phone), v.Direct,
			v.Environment, v.Shortcode, v.CredentialsRef, v.AccountReference, v.InitiatedAt, v.ExpiresAt, revision)
	case events.PromptSubmitting:
		w.Exec(`update {schema}.payments set stage = 'sent', revision = $2 where payment_id = $1 and revision < $2`,
			v.PaymentID, revision)
	case events.PromptAccepted:
		w.Exec(`update {schema}.payments set merchant_request_id = $2, checkout_request_id = $3, customer_message = nullif($4, ''),
				stage = case when stage in ('created', 'sent', 'in_doubt') then 'awaiting' else stage end, revision = $5
			where payment_id = $1 and revision < $5`, v.PaymentID, v.MerchantRequestID, v.CheckoutRequestID,
			v.CustomerMessage, revision)
	case events.PromptInDoubt:
		w.Exec(`update {schema}.payments set stage = 'in_doubt', revision = $2 where payment_id = $1 and revision < $2`,
			v.PaymentID, revision)
	case events.PromptChecked:
		w.Exec(`update {schema}.payments set checks = checks + 1, checked_at = $2, revision = $3 where payment_id = $1 and revision < $3`,
			v.PaymentID, v.At, revision)
	case events.PaymentSucceeded:
		w.Exec(`update {schema}.payments set stage = 'succeeded', receipt_id = $2, receipt_number = nullif($3, ''), provisional = $4,
				code = '', message = '', told_by = $5, settled_at = $6, revision = $7 where payment_id = $1 and revision < $7`,
			v.PaymentID, v.ReceiptID, v.ReceiptNumber, v.Provisional, v.By, v.At, revision)
	case events.ProvisionalClaimed:
		w.Exec(`update {schema}.payments set receipt_number = $2, provisional = false, revision = $3 where payment_id = $1 and revision < $3`,
			v.PaymentID, v.ReceiptNumber, revision)
	case events.PaymentCancelled:
		end(w, "cancelled", v.PaymentID.String(), v.Code, v.Message, v.By, v.At, revision)
	case events.PaymentFailed:
		end(w, "failed", v.PaymentID.String(), v.Code, v.Message, v.By, v.At, revision)
	case events.PaymentExpired:
		end(w, "expired", v.PaymentID.String(), "", "", "", v.At, revision)
	default:
		applyCash(w, e.Event)
	}
	return nil
}

// end queues the end of an attempt that brought no money.
func end(w *runner.Writes, stage, payment, code, message, by string, at any, revision int64) {
	w.Exec(`update {schema}.payments set stage = $2, code = $3, message = $4, told_by = $5, settled_at = $6, revision = $7
		where payment_id = $1 and revision < $7`, payment, stage, code, message, by, at, revision)
}

// applyCash keeps the payments that are receipts of cash. Their id is the receipt's.
func applyCash(w *runner.Writes, e events.Event) {
	switch v := e.(type) {
	case events.ReceiptMatched:
		if v.Channel == "cash" {
			w.Exec(`insert into {schema}.payments (payment_id, org_id, subscriber_id, invoice_id, gateway, amount_minor, currency, stage, receipt_id,
					receipt_number, initiated_at, settled_at, revision)
				values ($1, $2, $3, $4, $5, $6, $7, 'succeeded', $1, $8, $9, $9, 0) on conflict (payment_id) do nothing`,
				v.ReceiptID, v.OrgID, v.SubscriberID, v.InvoiceID, GatewayCash, v.Amount.Minor, v.Amount.Currency,
				v.ReceiptNumber, v.PaidAt)
		}
	case events.ReceiptReattributed:
		w.Exec(`update {schema}.payments set subscriber_id = $2, invoice_id = null where payment_id = $1 and gateway = 'cash'`, v.ReceiptID, v.To)
	case events.ReceiptReversed:
		w.Exec(`update {schema}.payments set stage = 'failed', code = 'reversed', message = $2 where payment_id = $1 and gateway = 'cash'`, v.ReceiptID, v.Reason)
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.payments set phone = null where subscriber_id = $1`, v.SubscriberID)
	}
}
