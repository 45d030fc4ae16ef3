package paymentsviews

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ProofStepKinds are the values of ProofStep.Kind: what the receipt itself says, then what accounts do with the money.
var ProofStepKinds = []string{
	"recorded", "sighted", "disputed", "matched", "confirmed", "held", "claimed", "absorbed", "unclaimed", "stalled",
	"assigned", "reversed", "reattributed", "refunded",
	"refund_requested", "refund_approved", "refund_submitted", "refund_in_doubt",
	"refund_completed", "refund_failed",
	"credited", "withdrawn", "allocated", "taken_back", "set_aside", "returned", "paid_out", "recovered",
	"recovery_withdrawn",
}

// ProofStep is one event on the way of a receipt's money. Ids that an event does not name are zero.
type ProofStep struct {
	Position     int64         `db:"position"`
	ReceiptID    id.Receipt    `db:"receipt_id"`
	EventID      id.Event      `db:"event_id"`
	Kind         string        `db:"kind"` // see ProofStepKinds
	At           time.Time     `db:"at"`
	ActorKind    string        `db:"actor_kind"`
	ActorID      string        `db:"actor_id"`
	MessageID    uuid.NullUUID `db:"message_id"` // the callback in the inbox that the step came from
	Sighting     string        `db:"sighting"`
	Rule         string        `db:"rule"`
	Reason       *string       `db:"reason"` // nil = none, or erased
	SubscriberID id.Subscriber `db:"subscriber_id"`
	FromID       id.Subscriber `db:"from_id"`
	InvoiceID    id.Invoice    `db:"invoice_id"`
	PaymentID    id.Payment    `db:"payment_id"`
	RelatedID    id.Receipt    `db:"related_id"`
	RefundID     id.Refund     `db:"refund_id"`
	AmountMinor  *int64        `db:"amount_minor"` // nil = the event has none, or it is another organization's
	Shortcode    string        `db:"shortcode"`
	Credit       bool          `db:"credit"`
	Erased       bool          `db:"erased"`
}

// ProofQuery serves the proof of receipts to their organization.
type ProofQuery struct{ Views *runner.Views }

// proofSQL reads the steps of a receipt and of the others of the same money: a provisional receipt and its real one are
// one story.
const proofSQL = `
with pair as (
	select related_id as receipt_id from {schema}.proof_receipts where receipt_id = $1 and related_id is not null
	union select receipt_id from {schema}.proof_receipts where related_id = $1
	union select $1::uuid
)
select position, s.receipt_id, event_id, kind, at, actor_kind, actor_id, message_id, sighting, rule, reason,
	subscriber_id, from_id, invoice_id, payment_id, related_id, refund_id, amount_minor, shortcode, credit, erased
from {schema}.proof_steps s join pair using (receipt_id) where org_id = $2 order by position limit $3`

// Steps gives up to max steps of a receipt of an organization, the oldest first.
func (q ProofQuery) Steps(
	ctx context.Context, org id.Organization, receipt id.Receipt, max int,
) (list []ProofStep, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[ProofStep], q.Views.SQL(ProofName, proofSQL), receipt, org,
			max)
	})
	return list, err
}
