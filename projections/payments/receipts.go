package paymentsviews

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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
func (Receipts) Version() int { return 16 }

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
		events.ReceiptStalled{}.EventType(),
		events.ReceiptAssigned{}.EventType(), events.ReceiptReversed{}.EventType(),
		events.ReceiptReattributed{}.EventType(), events.ReceiptSetAside{}.EventType(),
		events.ReceiptReturned{}.EventType(), events.ReceiptRefunded{}.EventType(),
		events.ReceiptCredited{}.EventType(),
		events.ReceiptWithdrawn{}.EventType(), events.InvoiceAllocated{}.EventType(),
		events.AllocationWithdrawn{}.EventType(), events.WriteOffRecovered{}.EventType(),
		events.RecoveryWithdrawn{}.EventType(), events.SubscriberForgotten{}.EventType(),
	}
}

// Sighting is one message about a receipt, as stored in the column sightings.
type Sighting struct {
	Kind     string    `json:"kind"`
	At       time.Time `json:"at"`
	Verified bool      `json:"verified"`           // always true: an unverified message never makes a receipt
	Disputes bool      `json:"disputes,omitempty"` // it contradicts the receipt
	// What a contradicting message said, in minor units; absent when the message was about another organization's
	// money.
	AmountMinor *int64 `json:"amountMinor,omitempty"`
	Shortcode   string `json:"shortcode,omitempty"`
}

// Move is one move of a receipt from an account to another, as stored in the column moves. Its reason is not here: a
// text about a person is kept in one place, the column reason, so that forgetting finds it.
type Move struct {
	From id.Subscriber `json:"from"`
	To   id.Subscriber `json:"to"`
	By   id.User       `json:"by"` // zero = not a member of staff
	At   time.Time     `json:"at"`
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
		return insertReceipt(w, e, v)
	case events.ReceiptSighted:
		seen, err := written(Sighting{Kind: v.Sighting, At: v.At, Verified: true})
		change(v.ReceiptID, `sightings = sightings || @seen::jsonb,
			checkout_request_id = coalesce(checkout_request_id, nullif(@checkout, '')),
			payment_id = coalesce(payment_id, @payment)`,
			pgx.NamedArgs{"seen": seen, "checkout": v.CheckoutRequestID, "payment": v.PaymentID})
		return err
	case events.ReceiptDisputed:
		return applyDispute(change, v)
	case events.ReceiptMatched:
		change(v.ReceiptID, `state = case when @by = 'operator' then 'attributed' else 'matched' end, matched_by = @by,
			org_id = @org, subscriber_id = @subscriber, payment_id = coalesce(payment_id, @payment), channel = @channel,
			reason = '', disputed = false, unclaimed = unclaimed and @by <> 'operator',
			moved_at = case when @confirms then moved_at else @at end`, pgx.NamedArgs{
			"confirms": v.Confirms, "by": v.By, "org": v.OrgID, "subscriber": v.SubscriberID,
			"payment": v.PaymentID, "channel": v.Channel, "at": v.At,
		})
	case events.ReceiptHeld:
		change(v.ReceiptID, `state = 'suspense', reason = @reason, reason_of = coalesce(subscriber_id, reason_of),
			subscriber_id = null, moved_at = @at`,
			pgx.NamedArgs{"reason": v.Reason, "at": v.At})
	case events.ReceiptClaimed:
		change(v.ReceiptID, `receipt_number = @number, related_receipt_id = @by, unclaimed = false`,
			pgx.NamedArgs{"number": v.ReceiptNumber, "by": v.ClaimedBy})
	case events.ReceiptAbsorbed:
		change(v.ReceiptID, `state = 'absorbed', reason = '', disputed = false, unclaimed = false, org_id = @org,
			subscriber_id = @subscriber, payment_id = @payment, related_receipt_id = @related, moved_at = @at`,
			pgx.NamedArgs{
				"at": v.At, "org": v.OrgID, "subscriber": v.SubscriberID, "payment": v.PaymentID,
				"related": v.ProvisionalReceiptID,
			})
	case events.ReceiptUnclaimed:
		change(v.ReceiptID, `unclaimed = true`, nil)
	case events.ReceiptStalled:
		change(v.ReceiptID, `moved_at = moved_at`, nil) // only the revision is new
	case events.ReceiptAssigned:
		change(v.ReceiptID, `org_id = @org, assigned = true`, pgx.NamedArgs{"org": v.OrgID})
	case events.ReceiptReversed:
		change(v.ReceiptID, `state = 'reversed', reason = @reason, disputed = false, unclaimed = false, moved_at = @at`,
			pgx.NamedArgs{"reason": v.Reason.Reveal(), "at": v.At})
	case events.ReceiptReattributed:
		return applyMove(change, v, staffOf(e.Meta.Actor))
	default:
		applyRefund(change, e.Event)
		applyAllocation(w, e)
	}
	return nil
}

// applyRefund queues that money went back to the payer. Once all of it has, the receipt is refunded, unless it had left
// otherwise before. A refund that is under way has its own row.
func applyRefund(change func(id.Receipt, string, pgx.NamedArgs), e events.Event) {
	const stays = `case when @left > 0 or state in ('reversed', 'absorbed') then `
	switch v := e.(type) {
	case events.ReceiptSetAside:
		change(v.ReceiptID, `moved_at = moved_at`, nil) // only the revision is new
	case events.ReceiptReturned:
		change(v.ReceiptID, `moved_at = moved_at`, nil)
	case events.ReceiptRefunded:
		change(v.ReceiptID, `refunded_minor = amount_minor - @left, disputed = disputed and @left > 0,
			moved_at = `+stays+`moved_at else @at end, reason = `+stays+`reason else '' end,
			subscriber_id = `+stays+`subscriber_id else @subscriber end, state = `+stays+`state else 'refunded' end`,
			pgx.NamedArgs{"left": v.Left.Minor, "at": v.At, "subscriber": v.SubscriberID})
	}
}

// applyMove queues a move to another account by a person, who may be the first to say which attempt's money it is.
func applyMove(
	change func(id.Receipt, string, pgx.NamedArgs), v events.ReceiptReattributed, by id.User,
) error {
	moved, err := written(Move{From: v.From, To: v.To, By: by, At: v.At})
	change(v.ReceiptID, `state = 'attributed', matched_by = 'operator', reason = @reason, disputed = false,
		subscriber_id = @to, reason_of = @from, moved_at = @at, payment_id = coalesce(payment_id, @payment),
		moves = moves || @moved::jsonb`,
		pgx.NamedArgs{
			"reason": v.Reason.Reveal(), "from": v.From, "to": v.To, "at": v.At, "payment": v.PaymentID, "moved": moved,
		})
	return err
}

// applyDispute queues a contradiction. The receipt's organization sees what the message said, and of which attempt it
// spoke, only when that was about its own money. Money that was taken back, or that another receipt carries, stays
// where it is: nobody has to decide.
func applyDispute(change func(id.Receipt, string, pgx.NamedArgs), v events.ReceiptDisputed) error {
	told := Sighting{Kind: v.Sighting, At: v.At, Verified: true, Disputes: true}
	hidden, err := written(told)
	if err != nil {
		return err
	}
	told.AmountMinor, told.Shortcode = &v.Amount.Minor, v.Shortcode
	seen, err := written(told)
	change(v.ReceiptID, `payment_id = case when org_id = @org then coalesce(payment_id, @payment) else payment_id end,
		disputed = state not in ('reversed', 'absorbed', 'refunded'),
		state = case when state in ('reversed', 'absorbed', 'refunded') then state else 'suspense' end,
		reason = case when state in ('reversed', 'absorbed', 'refunded') then reason else 'disputed' end,
		sightings = sightings ||
		case when org_id = @org or @org::uuid is null and shortcode = @shortcode
			then @seen::jsonb else @hidden::jsonb end`,
		pgx.NamedArgs{
			"org": v.OrgID, "payment": v.PaymentID, "shortcode": v.Shortcode, "seen": seen, "hidden": hidden,
		})
	return err
}

// recordSQL inserts the row of a new receipt, without an owner unless the event has one.
const recordSQL = `
insert into {schema}.receipts
	(receipt_id, org_id, provider, environment, receipt_number, channel, shortcode, amount_minor, currency, paid_at,
	payer_phone, payer_name, bill_ref, invoice_number, third_party_trans_id, org_account_balance, contradicts,
	checkout_request_id, payment_id, provisional, state, disputed, sightings, recorded_at, taken_by, cash_kind,
	received_on, revision)
values
	(@receipt, @org, @provider, @environment, @number, @channel, @shortcode, @amount, @currency, @paid_at,
	@payer_phone, @payer_name, @bill_ref, @invoice_number, @third_party, @balance, @contradicts,
	nullif(@checkout, ''), @payment, @provisional, 'recorded', @contradicts::uuid is not null, @seen::jsonb,
	@recorded_at, @taken_by, nullif(@kind, ''), nullif(@received_on, '')::date, @revision)
on conflict (receipt_id) do nothing`

// insertReceipt queues the row of a new receipt with its first sighting. Cash was taken by who recorded it.
func insertReceipt(w *runner.Writes, e events.Envelope, v events.ReceiptRecorded) error {
	var takenBy id.User
	var kind string
	if v.Channel == "cash" {
		takenBy, kind = staffOf(e.Meta.Actor), cmp.Or(v.Kind, "cash")
	}
	seen, err := written(Sighting{Kind: v.Sighting, At: v.RecordedAt, Verified: true})
	if err != nil {
		return err
	}
	w.Exec(recordSQL, pgx.NamedArgs{
		"receipt": v.ReceiptID, "org": v.OrgID, "provider": v.Provider, "environment": v.Environment,
		"number": v.ReceiptNumber, "channel": v.Channel, "shortcode": v.Shortcode, "amount": v.Amount.Minor,
		"currency": v.Amount.Currency, "paid_at": v.PaidAt, "payer_phone": revealed(v.PayerPhone),
		"payer_name": revealed(v.PayerName), "bill_ref": revealed(v.BillRef),
		"invoice_number": revealed(v.InvoiceNumber), "third_party": v.ThirdPartyTransID,
		"balance": v.OrgAccountBalance, "contradicts": v.Contradicts, "checkout": v.CheckoutRequestID,
		"payment": v.PaymentID, "provisional": v.Provisional, "seen": seen, "recorded_at": v.RecordedAt,
		"taken_by": takenBy, "kind": kind, "received_on": v.ReceivedOn.String(),
		"revision": int64(e.Revision), //nolint:gosec // revisions fit
	})
	return nil
}

// written returns a JSON list of one sighting or move, to append to its column.
func written[T Sighting | Move](one T) (string, error) {
	b, err := json.Marshal([]T{one})
	if err != nil {
		return "[]", fmt.Errorf("write %T: %w", one, err)
	}
	return string(b), nil
}

// applyAllocation queues which account has a receipt and which invoices it pays, and erases payers.
func applyAllocation(w *runner.Writes, e events.Envelope) {
	switch v := e.Event.(type) {
	case events.ReceiptCredited:
		w.Exec(`update {schema}.receipts set credited_to = $2 where receipt_id = $1`, v.ReceiptID, v.SubscriberID)
	case events.ReceiptWithdrawn:
		if !v.WithdrawalID.IsZero() {
			return // a part: the account remains the place of the receipt
		}
		w.Exec(`update {schema}.receipts set credited_to = null where receipt_id = $1 and credited_to = $2`,
			v.ReceiptID, v.SubscriberID)
	case events.InvoiceAllocated:
		allocate(w, e, allocation{v.ReceiptID, v.InvoiceID, v.Amount, false})
	case events.AllocationWithdrawn:
		allocate(w, e, allocation{v.ReceiptID, v.InvoiceID, v.Amount.Neg(), false})
	case events.WriteOffRecovered:
		allocate(w, e, allocation{v.ReceiptID, v.InvoiceID, v.Amount, true})
	case events.RecoveryWithdrawn:
		allocate(w, e, allocation{v.ReceiptID, v.InvoiceID, v.Amount.Neg(), true})
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.receipts set payer_phone = null, payer_name = null, bill_ref = null,
				invoice_number = null
			where subscriber_id = $1`, v.SubscriberID)
		w.Exec(`update {schema}.receipts set reason = ''
			where (subscriber_id = $1 or reason_of = $1) and state <> 'suspense'`, v.SubscriberID)
	}
}

// allocation is money of a receipt that pays an invoice, or leaves it when the amount is negative.
type allocation struct {
	receipt id.Receipt
	invoice id.Invoice
	amount  money.Amount
	loss    bool // the invoice is written off: the money recovers its loss
}

// allocateSQL takes the organization of the receipt's row, which is always written before; an allocation of a credit
// note finds no row and is left out.
const allocateSQL = `
insert into {schema}.allocations (org_id, position, receipt_id, invoice_id, loss, amount_minor)
select org_id, $1, receipt_id, $3, $4, $5 from {schema}.receipts where receipt_id = $2 and org_id is not null
on conflict (position) do nothing`

// allocate queues the row of one allocation, and the state of a receipt that pays something.
func allocate(w *runner.Writes, e events.Envelope, a allocation) {
	w.Exec(allocateSQL, int64(e.Position), a.receipt, a.invoice, a.loss, a.amount.Minor) //nolint:gosec // positions fit
	if a.amount.Positive() {
		w.Exec(`update {schema}.receipts set state = 'allocated' where receipt_id = $1 and state = 'matched'`,
			a.receipt)
	}
}
