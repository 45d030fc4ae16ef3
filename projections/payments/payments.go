// Package paymentsviews has the read models of prompt attempts, receipts and gateway settings, and the matching of
// payments to payers.
package paymentsviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// PaymentsName keys the projection's checkpoint and schemas, so it never changes.
const PaymentsName = "payments_payments"

// Gateways as the API shows them. Source of the first: docs/rules/payments.md#outside-statuses.
const (
	GatewayPrompt = "mobile_money_stk"
	GatewayCash   = "cash"
)

// Payments lists prompt attempts, and each receipt of cash as a payment that succeeded at once. The list follows the
// money: a payment is on the list of the subscriber whose account has it
// (docs/rules/payments.md#money-that-left-again).
type Payments struct{}

// paymentsDDL is compiled in from payments.sql.
//
//go:embed payments.sql
var paymentsDDL string

// Name keys checkpoint and schemas.
func (Payments) Name() string { return PaymentsName }

// Version must grow with every change to the tables or to Apply.
func (Payments) Version() int { return 9 }

// DDL creates the tables of payments.sql.
func (Payments) DDL() string { return paymentsDDL }

// TenantTables are under row-level security.
func (Payments) TenantTables() []string { return []string{"payments", "moved"} }

// Handles lists the events that change the tables.
func (Payments) Handles() []string {
	return []string{
		events.PaymentInitiated{}.EventType(), events.PromptSubmitting{}.EventType(),
		events.PromptAccepted{}.EventType(), events.PromptInDoubt{}.EventType(), events.PromptChecked{}.EventType(),
		events.PaymentSucceeded{}.EventType(), events.ProvisionalClaimed{}.EventType(),
		events.PaymentCancelled{}.EventType(), events.PaymentFailed{}.EventType(), events.PaymentExpired{}.EventType(),
		events.PaymentPaidElsewhere{}.EventType(),
		events.ReceiptMatched{}.EventType(), events.ReceiptHeld{}.EventType(), events.ReceiptReattributed{}.EventType(),
		events.ReceiptReversed{}.EventType(), events.SubscriberForgotten{}.EventType(),
	}
}

// Statements of Apply on prompt attempts. An event applied again changes nothing: each compares the revision of the
// attempt's stream.
const (
	initiateSQL = `
insert into {schema}.payments
	(payment_id, org_id, subscriber_id, held_by, invoice_id, gateway, amount_minor, currency, phone, direct,
	environment, shortcode, credentials_ref, account_reference, reference_key, stage, initiated_at, expires_at,
	asked_by, revision)
values
	(@payment, @org, @subscriber, @subscriber, @invoice, @gateway, @amount, @currency, @phone, @direct,
	@environment, @shortcode, @credentials, @reference, @reference_key, 'created', @initiated_at, @expires_at,
	@by, @revision)
on conflict (payment_id) do nothing`
	sentSQL = `
update {schema}.payments set stage = 'sent', revision = $2 where payment_id = $1 and revision < $2`
	acceptedSQL = `
update {schema}.payments set
	merchant_request_id = $2, checkout_request_id = $3, customer_message = nullif($4, ''),
	stage = case when stage in ('created', 'sent', 'in_doubt') then 'awaiting' else stage end, revision = $5
where payment_id = $1 and revision < $5`
	inDoubtSQL = `
update {schema}.payments set stage = 'in_doubt', revision = $2 where payment_id = $1 and revision < $2`
	checkedSQL = `
update {schema}.payments set checks = checks + 1, checked_at = $2, revision = $3
where payment_id = $1 and revision < $3`
	// The money may have left the account before the attempt hears of its success.
	succeededSQL = `
update {schema}.payments p set
	stage = 'succeeded', amount_minor = @amount, receipt_id = @receipt,
	receipt_number = nullif(@number, ''), provisional = @provisional,
	held_by = coalesce((select m.held_by from {schema}.moved m where m.receipt_id = @receipt), p.held_by),
	taken_back = exists (select from {schema}.moved m where m.receipt_id = @receipt and m.taken_back),
	refused = exists (select from {schema}.moved m where m.receipt_id = @receipt and m.refused),
	code = '', told_by = @by, settled_at = @at, revision = @revision,
	message = coalesce((select m.reason from {schema}.moved m where m.receipt_id = @receipt), '')
where payment_id = @payment and revision < @revision`
	claimedSQL = `
update {schema}.payments set receipt_number = $2, provisional = false, revision = $3
where payment_id = $1 and revision < $3`
	endedSQL = `
update {schema}.payments set
	stage = @stage, code = @code, message = @message, told_by = @by, settled_at = @at, revision = @revision
where payment_id = @payment and revision < @revision`
)

// Apply queues the statements for one event. Events of receipts, and of money that was put elsewhere, go to applyMoney,
// those of subscribers to forgetSubscriber.
func (Payments) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	switch v := e.Event.(type) {
	case events.PaymentInitiated:
		w.Exec(initiateSQL, pgx.NamedArgs{
			"payment": v.PaymentID, "org": v.OrgID, "subscriber": v.SubscriberID, "invoice": v.InvoiceID,
			"gateway": GatewayPrompt, "amount": v.Amount.Minor, "currency": v.Amount.Currency,
			"phone": revealed(v.Phone), "direct": v.Direct, "environment": v.Environment, "shortcode": v.Shortcode,
			"credentials": v.CredentialsRef, "reference": v.AccountReference,
			"reference_key": referenceKey(v.AccountReference), "initiated_at": v.InitiatedAt,
			"expires_at": v.ExpiresAt, "by": staffOf(e.Meta.Actor), "revision": revision,
		})
	case events.PromptSubmitting:
		w.Exec(sentSQL, v.PaymentID, revision)
	case events.PromptAccepted:
		w.Exec(acceptedSQL, v.PaymentID, v.MerchantRequestID, v.CheckoutRequestID, v.CustomerMessage, revision)
	case events.PromptInDoubt:
		w.Exec(inDoubtSQL, v.PaymentID, revision)
	case events.PromptChecked:
		w.Exec(checkedSQL, v.PaymentID, v.At, revision)
	case events.PaymentSucceeded:
		w.Exec(succeededSQL, pgx.NamedArgs{
			"payment": v.PaymentID, "amount": v.Amount.Minor, "receipt": v.ReceiptID, "number": v.ReceiptNumber,
			"provisional": v.Provisional, "by": v.By, "at": v.At, "revision": revision,
		})
	case events.ProvisionalClaimed:
		w.Exec(claimedSQL, v.PaymentID, v.ReceiptNumber, revision)
	case events.PaymentCancelled:
		w.Exec(endedSQL, pgx.NamedArgs{
			"stage": "cancelled", "payment": v.PaymentID, "code": v.Code, "message": v.Message, "by": v.By, "at": v.At,
			"revision": revision,
		})
	case events.PaymentFailed:
		w.Exec(endedSQL, pgx.NamedArgs{
			"stage": "failed", "payment": v.PaymentID, "code": v.Code, "message": v.Message, "by": v.By, "at": v.At,
			"revision": revision,
		})
	case events.PaymentExpired:
		w.Exec(endedSQL, pgx.NamedArgs{
			"stage": "expired", "payment": v.PaymentID, "code": "", "message": "", "by": "", "at": v.At,
			"revision": revision,
		})
	case events.SubscriberForgotten:
		forgetSubscriber(w, v)
	default:
		applyMoney(w, e)
	}
	return nil
}

// Statements of applyMoney. They compare no revision: each sets fixed values.
const (
	cashSQL = `
insert into {schema}.payments
	(payment_id, org_id, subscriber_id, held_by, invoice_id, gateway, amount_minor, currency, stage, receipt_id,
	receipt_number, initiated_at, settled_at, asked_by, revision)
values
	(@payment, @org, @subscriber, @subscriber, @invoice, @gateway, @amount, @currency, 'succeeded', @payment, @number,
	@paid_at, @paid_at, @by, 0)
on conflict (payment_id) do nothing`
	movedSQL = `
insert into {schema}.moved (receipt_id, org_id, held_by) values ($1, $2, $3)
on conflict (receipt_id) do update set held_by = excluded.held_by`
	goneSQL = `
insert into {schema}.moved (receipt_id, org_id, taken_back, taken_from, reason) values ($1, $2, true, $3, $4)
on conflict (receipt_id) do update set
	taken_back = true, taken_from = excluded.taken_from, reason = excluded.reason`
	// A real receipt is credited by itself once its provisional one was taken back.
	carriedSQL = `
update {schema}.payments set
	receipt_id = @receipt, receipt_number = nullif(@number, ''), provisional = false, amount_minor = @amount
where payment_id = @payment and receipt_id <> @receipt and taken_back and stage = 'succeeded'`
	heldSQL = `
update {schema}.payments set held_by = $2, taken_back = false, refused = false, message = ''
where receipt_id = $1 and stage = 'succeeded'`
	takenBackSQL = `
update {schema}.payments set taken_back = true, message = $2 where receipt_id = $1 and stage = 'succeeded'`
)

// applyMoney follows the money of receipts: where a person moved it, and that it was taken back. Cash makes a payment
// of its own, which has the id of its receipt.
func applyMoney(w *runner.Writes, e events.Envelope) {
	switch v := e.Event.(type) {
	case events.ReceiptMatched:
		applyMatched(w, v, staffOf(e.Meta.Actor))
	case events.ReceiptHeld:
		if v.Reason == "not_credited" {
			w.Exec(`update {schema}.moved set refused = true where receipt_id = $1`, v.ReceiptID)
			w.Exec(`update {schema}.payments set refused = true where receipt_id = $1 and stage = 'succeeded'`,
				v.ReceiptID)
		}
	case events.PaymentPaidElsewhere: // the attempt may succeed later, by this receipt
		w.Exec(`insert into {schema}.moved (receipt_id, org_id, held_by) values ($1, $2, $3)
			on conflict (receipt_id) do nothing`, v.ReceiptID, v.OrgID, v.PaidTo)
	case events.ReceiptReattributed:
		w.Exec(movedSQL, v.ReceiptID, v.OrgID, v.To)
		w.Exec(heldSQL, v.ReceiptID, v.To)
	case events.ReceiptReversed:
		if !v.OrgID.IsZero() { // otherwise it was never an organization's
			w.Exec(goneSQL, v.ReceiptID, v.OrgID, v.SubscriberID, v.Reason.Reveal())
			w.Exec(takenBackSQL, v.ReceiptID, v.Reason.Reveal())
		}
	}
}

// Statements of forgetSubscriber. Somebody's reason may be about either of the subscribers between whom money was
// moved. Money at a paybill has a row in moved alone.
const (
	forgetPhoneSQL   = `update {schema}.payments set phone = null where subscriber_id = $1`
	forgetReasonsSQL = `
with gone as (
	update {schema}.payments set message = ''
	where (subscriber_id = $1 or held_by = $1) and message <> '' and (gateway = 'cash' or taken_back)
	returning receipt_id
)
update {schema}.moved set reason = '' where receipt_id in (select receipt_id from gone)`
	forgetMovedSQL = `
update {schema}.moved set reason = '' where (taken_from = $1 or held_by = $1) and reason <> ''`
)

// forgetSubscriber erases a person's phone and the reasons that may be about this person.
func forgetSubscriber(w *runner.Writes, e events.SubscriberForgotten) {
	w.Exec(forgetPhoneSQL, e.SubscriberID)
	w.Exec(forgetReasonsSQL, e.SubscriberID)
	w.Exec(forgetMovedSQL, e.SubscriberID)
}

// staffOf is the member of staff who acted; zero for a customer, a person without a sign-in and the program.
func staffOf(actor events.Actor) id.User {
	if actor.Kind != events.ActorUser || !events.Role(actor.Role).AtLeast(events.RoleSupport) {
		return id.User{}
	}
	user, err := id.Parse[id.User](actor.ID)
	if err != nil {
		return id.User{}
	}
	return user
}

// applyMatched adds a payment for cash, which somebody took, and notes whose account a receipt is given to.
func applyMatched(w *runner.Writes, v events.ReceiptMatched, by id.User) {
	if v.Channel == "cash" {
		w.Exec(cashSQL, pgx.NamedArgs{
			"payment": v.ReceiptID, "org": v.OrgID, "subscriber": v.SubscriberID, "invoice": v.InvoiceID,
			"gateway": GatewayCash, "amount": v.Amount.Minor, "currency": v.Amount.Currency,
			"number": v.ReceiptNumber, "paid_at": v.PaidAt, "by": by,
		})
	}
	if !v.PaymentID.IsZero() {
		w.Exec(carriedSQL, pgx.NamedArgs{
			"payment": v.PaymentID, "receipt": v.ReceiptID, "number": v.ReceiptNumber, "amount": v.Amount.Minor,
		})
	}
	if v.By == "operator" && !v.PaymentID.IsZero() { // perhaps on another account than that of its prompt
		w.Exec(movedSQL, v.ReceiptID, v.OrgID, v.SubscriberID)
	}
	w.Exec(`update {schema}.moved set held_by = $2, taken_back = false, refused = false, reason = ''
		where receipt_id = $1`, v.ReceiptID, v.SubscriberID)
	w.Exec(heldSQL, v.ReceiptID, v.SubscriberID)
}
