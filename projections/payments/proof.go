package paymentsviews

import (
	_ "embed"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ProofName keys the projection's checkpoint and schemas, so it never changes.
const ProofName = "payments_proof"

// Proof keeps the way of each receipt's money, event by event (docs/rules/money.md#proof-of-a-receipt).
type Proof struct{}

// proofDDL is compiled in from proof.sql.
//
//go:embed proof.sql
var proofDDL string

// Name keys checkpoint and schemas.
func (Proof) Name() string { return ProofName }

// Version must grow with every change to the tables or to Apply.
func (Proof) Version() int { return 2 }

// DDL creates the tables of proof.sql.
func (Proof) DDL() string { return proofDDL }

// TenantTables are under row-level security.
func (Proof) TenantTables() []string { return []string{"proof_receipts", "proof_steps"} }

// Handles lists the events that change the tables.
func (Proof) Handles() []string {
	return []string{
		events.ReceiptRecorded{}.EventType(), events.ReceiptSighted{}.EventType(), events.ReceiptDisputed{}.EventType(),
		events.ReceiptMatched{}.EventType(), events.ReceiptHeld{}.EventType(), events.ReceiptClaimed{}.EventType(),
		events.ReceiptAbsorbed{}.EventType(), events.ReceiptUnclaimed{}.EventType(),
		events.ReceiptStalled{}.EventType(), events.ReceiptAssigned{}.EventType(),
		events.ReceiptReversed{}.EventType(), events.ReceiptReattributed{}.EventType(),
		events.ReceiptCredited{}.EventType(), events.ReceiptWithdrawn{}.EventType(),
		events.InvoiceAllocated{}.EventType(), events.AllocationWithdrawn{}.EventType(),
		events.CreditSetAside{}.EventType(), events.SetAsideReturned{}.EventType(),
		events.SetAsidePaidOut{}.EventType(), events.WriteOffRecovered{}.EventType(),
		events.RecoveryWithdrawn{}.EventType(), events.ReceiptSetAside{}.EventType(),
		events.ReceiptReturned{}.EventType(), events.ReceiptRefunded{}.EventType(),
		events.RefundRequested{}.EventType(), events.RefundApproved{}.EventType(),
		events.RefundCompleted{}.EventType(), events.RefundFailed{}.EventType(),
		events.RefundSubmitted{}.EventType(), events.RefundDoubted{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	}
}

// proofStep has what one event says about the money of a receipt; a zero field is not said.
type proofStep struct {
	receipt    id.Receipt
	kind       string
	sighting   string
	rule       string
	reason     string
	subscriber id.Subscriber
	from       id.Subscriber
	invoice    id.Invoice
	payment    id.Payment
	related    id.Receipt
	refund     id.Refund
	amount     money.Amount
	shortcode  string
	credit     bool
	// hidden says that the event is about another organization's report: its message and what it said are not shown.
	hiddenFrom *events.ReceiptDisputed
}

// proofStepSQL inserts a step with the organization of its receipt; a receipt that is not known, such as a credit note
// that stands as one, has no steps.
const proofStepSQL = `
insert into {schema}.proof_steps (position, receipt_id, org_id, event_id, kind, at, actor_kind, actor_id, message_id,
	sighting, rule, reason, subscriber_id, from_id, invoice_id, payment_id, related_id, refund_id, amount_minor,
	shortcode, credit)
select @position, receipt_id, org_id, @event, @kind, @at, @actor_kind, @actor,
	case when shown then @message::uuid end, @sighting, @rule, nullif(@reason, ''), @subscriber, @from, @invoice,
	case when shown then @payment::uuid end, @related, @refund, case when shown then @amount::bigint end,
	case when shown then @shortcode::text else '' end, @credit
from (select receipt_id, org_id, not @foreign or org_id = @said_of::uuid
		or @said_of::uuid is null and shortcode = @shortcode as shown
	from {schema}.proof_receipts where receipt_id = @receipt) r
on conflict (position) do nothing`

// Apply queues the step of one event.
func (Proof) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.ReceiptRecorded:
		w.Exec(`insert into {schema}.proof_receipts (receipt_id, org_id, shortcode) values ($1, $2, $3)
			on conflict (receipt_id) do nothing`, v.ReceiptID, v.OrgID, v.Shortcode)
	case events.ReceiptMatched:
		ownProof(w, v.ReceiptID, v.OrgID)
	case events.ReceiptAssigned:
		ownProof(w, v.ReceiptID, v.OrgID)
	case events.ReceiptClaimed:
		relateProof(w, v.ReceiptID, v.ClaimedBy)
	case events.ReceiptAbsorbed:
		ownProof(w, v.ReceiptID, v.OrgID)
		relateProof(w, v.ReceiptID, v.ProvisionalReceiptID)
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.proof_steps set message_id = null, erased = true,
				reason = case when kind = 'held' then reason end
			where receipt_id in (select receipt_id from {schema}.proof_steps
				where subscriber_id = $1 or from_id = $1)`, v.SubscriberID)
		return nil
	}
	step := stepOfReceipt(e.Event)
	if step.kind == "" {
		step = stepOfAccount(e.Event)
	}
	if step.kind == "" {
		step = stepOfRefund(e.Event)
	}
	writeStep(w, e, step)
	return nil
}

// ownProof gives a receipt and its steps to an organization.
func ownProof(w *runner.Writes, receipt id.Receipt, org id.Organization) {
	for _, table := range []string{"proof_receipts", "proof_steps"} {
		w.Exec(`update {schema}.`+table+` set org_id = $2 where receipt_id = $1 and org_id is distinct from $2`,
			receipt, org)
	}
}

// relateProof ties a receipt to the other one of the same money.
func relateProof(w *runner.Writes, receipt, other id.Receipt) {
	w.Exec(`update {schema}.proof_receipts set related_id = $2 where receipt_id = $1`, receipt, other)
}

// writeStep queues a step.
func writeStep(w *runner.Writes, e events.Envelope, s proofStep) {
	var amount *int64
	if s.amount.Currency != "" {
		amount = &s.amount.Minor
	}
	var saidOf id.Organization
	if s.hiddenFrom != nil {
		saidOf = s.hiddenFrom.OrgID
	}
	w.Exec(proofStepSQL, pgx.NamedArgs{
		"position": int64(e.Position), "event": e.ID, "kind": s.kind, "at": e.Meta.At, //nolint:gosec // positions fit
		"actor_kind": string(e.Meta.Actor.Kind), "actor": e.Meta.Actor.ID, "message": messageOf(e, s.sighting),
		"sighting": s.sighting, "rule": s.rule, "reason": s.reason, "subscriber": s.subscriber, "from": s.from,
		"invoice": s.invoice, "payment": s.payment, "related": s.related, "refund": s.refund, "amount": amount,
		"shortcode": s.shortcode, "credit": s.credit, "receipt": s.receipt, "foreign": s.hiddenFrom != nil,
		"said_of": saidOf,
	})
}

// messageOf is the callback that an event of a sighting came from: its commands have the callback as correlation. A
// sighting by our own question may have the callback that made us ask.
func messageOf(e events.Envelope, sighting string) uuid.NullUUID {
	message, err := uuid.Parse(e.Meta.CorrelationID)
	return uuid.NullUUID{UUID: message, Valid: err == nil && sighting != "" && sighting != "cash"}
}

// stepOfReceipt is the step of an event of the receipt itself; one without a kind for any other event.
func stepOfReceipt(e events.Event) proofStep {
	switch v := e.(type) {
	case events.ReceiptRecorded:
		return proofStep{
			receipt: v.ReceiptID, kind: "recorded", sighting: v.Sighting, payment: v.PaymentID, amount: v.Amount,
			shortcode: v.Shortcode, related: v.Contradicts,
		}
	case events.ReceiptSighted:
		return proofStep{receipt: v.ReceiptID, kind: "sighted", sighting: v.Sighting, payment: v.PaymentID}
	case events.ReceiptDisputed:
		return proofStep{
			receipt: v.ReceiptID, kind: "disputed", sighting: v.Sighting, payment: v.PaymentID, amount: v.Amount,
			shortcode: v.Shortcode, hiddenFrom: &v,
		}
	case events.ReceiptMatched:
		kind := "matched"
		if v.Confirms {
			kind = "confirmed"
		}
		return proofStep{
			receipt: v.ReceiptID, kind: kind, rule: v.By, subscriber: v.SubscriberID, invoice: v.InvoiceID,
			payment: v.PaymentID, amount: v.Amount,
		}
	case events.ReceiptHeld:
		return proofStep{receipt: v.ReceiptID, kind: "held", reason: v.Reason}
	case events.ReceiptClaimed:
		return proofStep{
			receipt: v.ReceiptID, kind: "claimed", related: v.ClaimedBy, subscriber: v.SubscriberID,
			payment: v.PaymentID,
		}
	case events.ReceiptAbsorbed:
		return proofStep{
			receipt: v.ReceiptID, kind: "absorbed", related: v.ProvisionalReceiptID, from: v.CreditedTo,
			payment: v.PaymentID, amount: v.Amount,
		}
	case events.ReceiptUnclaimed:
		return proofStep{receipt: v.ReceiptID, kind: "unclaimed"}
	case events.ReceiptStalled:
		return proofStep{receipt: v.ReceiptID, kind: "stalled", subscriber: v.SubscriberID, from: v.HeldBy}
	case events.ReceiptAssigned:
		return proofStep{receipt: v.ReceiptID, kind: "assigned"}
	case events.ReceiptReversed:
		return proofStep{
			receipt: v.ReceiptID, kind: "reversed", from: v.SubscriberID, amount: v.Amount, reason: v.Reason.Reveal(),
		}
	case events.ReceiptReattributed:
		return proofStep{
			receipt: v.ReceiptID, kind: "reattributed", from: v.From, subscriber: v.To, payment: v.PaymentID,
			amount: v.Amount, reason: v.Reason.Reveal(),
		}
	}
	return proofStep{}
}

// stepOfAccount is the step of an event of the account that has, or had, the money.
func stepOfAccount(e events.Event) proofStep {
	switch v := e.(type) {
	case events.ReceiptCredited:
		return proofStep{
			receipt: v.ReceiptID, kind: "credited", subscriber: v.SubscriberID, amount: v.Amount, credit: true,
		}
	case events.ReceiptWithdrawn:
		return proofStep{
			receipt: v.ReceiptID, kind: "withdrawn", from: v.SubscriberID, amount: v.Amount, reason: v.Reason.Reveal(),
		}
	case events.InvoiceAllocated:
		return proofStep{
			receipt: v.ReceiptID, kind: "allocated", subscriber: v.SubscriberID, invoice: v.InvoiceID, amount: v.Amount,
			credit: v.FromCredit,
		}
	case events.AllocationWithdrawn:
		return proofStep{
			receipt: v.ReceiptID, kind: "taken_back", subscriber: v.SubscriberID, invoice: v.InvoiceID,
			amount: v.Amount, credit: v.ToCredit,
		}
	case events.CreditSetAside:
		return proofStep{
			receipt: v.ReceiptID, kind: "set_aside", subscriber: v.SubscriberID, refund: v.RefundID, amount: v.Amount,
			reason: v.Reason.Reveal(),
		}
	case events.SetAsideReturned:
		return proofStep{
			receipt: v.ReceiptID, kind: "returned", subscriber: v.SubscriberID, refund: v.RefundID, amount: v.Amount,
			reason: v.Reason.Reveal(), credit: true,
		}
	case events.SetAsidePaidOut:
		return proofStep{
			receipt: v.ReceiptID, kind: "paid_out", from: v.SubscriberID, refund: v.RefundID, amount: v.Amount,
		}
	case events.WriteOffRecovered:
		return proofStep{
			receipt: v.ReceiptID, kind: "recovered", subscriber: v.SubscriberID, invoice: v.InvoiceID, amount: v.Amount,
		}
	case events.RecoveryWithdrawn:
		return proofStep{
			receipt: v.ReceiptID, kind: "recovery_withdrawn", subscriber: v.SubscriberID, invoice: v.InvoiceID,
			amount: v.Amount, credit: v.ToCredit,
		}
	}
	return proofStep{}
}

// stepOfRefund is the step of an event about a refund of the receipt.
func stepOfRefund(e events.Event) proofStep {
	switch v := e.(type) {
	case events.ReceiptSetAside:
		return proofStep{receipt: v.ReceiptID, kind: "set_aside", refund: v.RefundID, amount: v.Amount}
	case events.ReceiptReturned:
		return proofStep{receipt: v.ReceiptID, kind: "returned", refund: v.RefundID, amount: v.Amount}
	case events.ReceiptRefunded:
		return proofStep{
			receipt: v.ReceiptID, kind: "refunded", from: v.SubscriberID, refund: v.RefundID, amount: v.Amount,
		}
	case events.RefundRequested:
		return proofStep{
			receipt: v.ReceiptID, kind: "refund_requested", subscriber: v.SubscriberID, refund: v.RefundID,
			amount: v.Amount, rule: v.By, reason: v.Reason.Reveal(),
		}
	case events.RefundApproved:
		return proofStep{
			receipt: v.ReceiptID, kind: "refund_approved", subscriber: v.SubscriberID, refund: v.RefundID,
			amount: v.Amount, rule: v.By,
		}
	case events.RefundSubmitted:
		return proofStep{
			receipt: v.ReceiptID, kind: "refund_submitted", subscriber: v.SubscriberID, refund: v.RefundID,
			amount: v.Amount,
		}
	case events.RefundDoubted:
		return proofStep{
			receipt: v.ReceiptID, kind: "refund_in_doubt", subscriber: v.SubscriberID, refund: v.RefundID,
			amount: v.Amount, rule: v.Cause,
		}
	case events.RefundCompleted:
		return proofStep{
			receipt: v.ReceiptID, kind: "refund_completed", subscriber: v.SubscriberID, refund: v.RefundID,
			amount: v.Amount, rule: v.Reference,
		}
	case events.RefundFailed:
		return proofStep{
			receipt: v.ReceiptID, kind: "refund_failed", subscriber: v.SubscriberID, refund: v.RefundID,
			amount: v.Amount, rule: v.Code, reason: v.Reason.Reveal(),
		}
	}
	return proofStep{}
}
