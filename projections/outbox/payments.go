package outbox

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Gateways of payments. Those that GET /payments shows have the same name here.
const (
	gatewayPrompt = "mobile_money_stk"
	// gatewayPaybill is money that a customer sent to the paybill without a prompt.
	gatewayPaybill = "mobile_money_c2b"
)

// paymentData is the JSON payload of events.OutboxPaymentSucceeded, and with a reason that of
// events.OutboxPaymentFailed: part of the public contract (docs/rules/webhooks.md#data-of-types).
type paymentData struct {
	PaymentID    id.Any         `json:"paymentId"` // that of its receipt for money that came without a prompt
	SubscriberID id.Subscriber  `json:"subscriberId"`
	Amount       json.Number    `json:"amount"` // major units
	Currency     money.Currency `json:"currency"`
	Gateway      string         `json:"gateway"`
}

// Statements about prompts. An end takes what was asked for from the beginning.
const (
	attemptSQL = `
insert into {schema}.attempts (payment_id, org_id, payload) values ($1, $2, $3) on conflict do nothing`
	failedSQL = `
with gone as (delete from {schema}.attempts where payment_id = @payment returning org_id, payload)
insert into {schema}.messages (position, ordinal, message_id, org_id, type, at, payload)
select @position, 0, @message, org_id, @type, @at, payload || jsonb_build_object('reason', @reason::text) from gone
on conflict do nothing`
	attemptOverSQL = `delete from {schema}.attempts where payment_id = $1`
)

// applyPayment publishes what became of payments.
func applyPayment(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.PaymentInitiated:
		payload, err := json.Marshal(paymentData{
			id.Any(v.PaymentID), v.SubscriberID, v.Amount.Number(), v.Amount.Currency, gatewayPrompt,
		})
		if err != nil {
			return fmt.Errorf("note attempt: %w", err)
		}
		w.Exec(attemptSQL, v.PaymentID, v.OrgID, string(payload))
	case events.PaymentSucceeded:
		w.Exec(attemptOverSQL, v.PaymentID)
		return succeeded(w, e, v.OrgID, paymentData{
			id.Any(v.PaymentID), v.SubscriberID, v.Amount.Number(), v.Amount.Currency, gatewayPrompt,
		})
	case events.ReceiptMatched:
		if v.Confirms || !v.PaymentID.IsZero() { // nothing is credited, or the success of its prompt tells it
			return nil
		}
		return succeeded(w, e, v.OrgID, paymentData{
			id.Any(v.ReceiptID), v.SubscriberID, v.Amount.Number(), v.Amount.Currency, gatewayOf(v.Channel),
		})
	case events.PaymentCancelled:
		failed(w, e, v.PaymentID, events.PaymentReason(v.Code))
	case events.PaymentFailed:
		failed(w, e, v.PaymentID, events.PaymentReason(v.Code))
	case events.PaymentExpired:
		failed(w, e, v.PaymentID, "expired")
	}
	return nil
}

// gatewayOf is the gateway of money that came without a prompt.
func gatewayOf(channel string) string {
	if channel == "c2b" || channel == "stk" {
		return gatewayPaybill
	}
	return channel // "cash", "bill_manager"
}

// succeeded publishes a success. A payment has one: it may be recorded again by its real receipt, and money that went
// back to suspense may be put on an account again.
func succeeded(w *runner.Writes, e events.Envelope, org id.Organization, data paymentData) error {
	of := subject{org, id.Derive[id.Any]("outbox payment", data.PaymentID.String())}
	return publishOf(w, e, of, events.OutboxPaymentSucceeded, data)
}

// failed publishes the end of a prompt without money.
func failed(w *runner.Writes, e events.Envelope, payment id.Payment, reason string) {
	w.Exec(failedSQL, pgx.NamedArgs{
		"position": int64(e.Position), //nolint:gosec // positions fit
		"message":  id.Derive[id.Any]("outbox", e.ID.String()), "type": events.OutboxPaymentFailed, "at": e.Meta.At,
		"reason": reason, "payment": payment,
	})
}
