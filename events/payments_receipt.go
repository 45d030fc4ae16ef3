package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// ReceiptEvent is an event of "receipt-<id>". The id is derived from provider and receipt number, the identity of money
// (docs/rules/money.md#receipts-once).
//
//sumtype:decl
type ReceiptEvent interface {
	Event
	receiptEvent()
}

// ReceiptRecorded records money that was really received. The subject of the personal fields is the receipt, because
// the payer can be unknown. Version 1 had neither the environment nor the fields from InvoiceNumber on.
type ReceiptRecorded struct {
	ReceiptID id.Receipt      `json:"receiptId"`
	OrgID     id.Organization `json:"orgId"` // null: money on a platform shortcode without a known organization
	Provider  string          `json:"provider"`
	// Environment is the provider's system that the money moved in: "sandbox" or "production". "" for cash, and for
	// receipts of version 1, whose ids do not contain it.
	Environment   string        `json:"environment"`
	ReceiptNumber string        `json:"receiptNumber"` // "" for a provisional receipt
	Channel       string        `json:"channel"`       // "stk", "c2b", "cash", "bill_manager"
	Shortcode     string        `json:"shortcode"`
	Amount        money.Amount  `json:"amount"`
	PaidAt        time.Time     `json:"paidAt"`
	PayerPhone    personal.Text `json:"payerPhone"` // may be masked or hashed
	PayerName     personal.Text `json:"payerName"`
	BillRef       personal.Text `json:"billRef"` // reference that the payer typed
	// as the paybill's callback gave it; usually empty
	InvoiceNumber     personal.Text `json:"invoiceNumber"`
	ThirdPartyTransID string        `json:"thirdPartyTransId,omitempty"` // from our answer to the validation
	// OrgAccountBalance is the balance of the shortcode after the payment, a decimal text of shillings as the provider
	// wrote it. It belongs to the owner of the shortcode and is not shown to others.
	OrgAccountBalance string `json:"orgAccountBalance,omitempty"`
	CheckoutRequestID string `json:"checkoutRequestId,omitempty"`
	// the attempt, when the sighting came on the attempt's own address
	PaymentID   id.Payment `json:"paymentId"`
	Provisional bool       `json:"provisional,omitempty"`
	// Of cash: what was given ("cash", "cheque", "bank_transfer", "card", "other"; "" = cash), and on which day, local
	// in the organization's zone; no date = that of PaidAt, which is when it was recorded.
	Kind       string        `json:"kind,omitempty"`
	ReceivedOn calendar.Date `json:"receivedOn,omitzero"`
	// Contradicts is the receipt with the same number that another organization has. This one holds what the
	// organization of the contradicting sighting was told, and waits in suspense; null = no contradiction.
	Contradicts id.Receipt `json:"contradicts"`
	Sighting    string     `json:"sighting"` // "stk_callback", "c2b_confirmation", "query", "cash"
	RecordedAt  time.Time  `json:"recordedAt"`
}

// ReceiptSighted records that the same money was seen again, with the same amount and shortcode.
type ReceiptSighted struct {
	ReceiptID         id.Receipt `json:"receiptId"`
	Sighting          string     `json:"sighting"`
	CheckoutRequestID string     `json:"checkoutRequestId,omitempty"`
	PaymentID         id.Payment `json:"paymentId"` // the attempt, when its own address or a person named it
	At                time.Time  `json:"at"`
}

// ReceiptDisputed records a sighting that contradicts the receipt: another amount, shortcode or attempt. Operators are
// alarmed. Version 1 had neither organization nor attempt.
type ReceiptDisputed struct {
	ReceiptID id.Receipt `json:"receiptId"`
	// OrgID is the organization that the sighting belongs to. When it is not the receipt's, amount and shortcode are
	// not shown to the receipt's organization. Null = unknown, or the platform.
	OrgID     id.Organization `json:"orgId"`
	PaymentID id.Payment      `json:"paymentId"` // the attempt on whose own address the sighting came; null = none
	Sighting  string          `json:"sighting"`
	Amount    money.Amount    `json:"amount"`
	Shortcode string          `json:"shortcode"`
	At        time.Time       `json:"at"`
}

// ReceiptMatched records the subscriber that the money belongs to. Version 1 had no Confirms.
type ReceiptMatched struct {
	ReceiptID     id.Receipt      `json:"receiptId"`
	OrgID         id.Organization `json:"orgId"`
	SubscriberID  id.Subscriber   `json:"subscriberId"`
	InvoiceID     id.Invoice      `json:"invoiceId"` // paid first; null = pay the invoices by due date
	PaymentID     id.Payment      `json:"paymentId"`
	ReceiptNumber string          `json:"receiptNumber"`
	Channel       string          `json:"channel"`
	Amount        money.Amount    `json:"amount"`
	PaidAt        time.Time       `json:"paidAt"`
	Move          int             `json:"move,omitempty"` // number of earlier reattributions
	// "prompt", "invoice_number", "account_number", "phone", "username", "operator", "cash"
	By string    `json:"by"`
	At time.Time `json:"at"`
	// Confirms is true when the money was this subscriber's already, and a person settled a dispute about it or said
	// that the money of a provisional receipt exists: nothing is to be credited.
	Confirms bool `json:"confirms,omitempty"`
}

// ReceiptHeld records that the money waits in suspense: it is on no account, and a person decides.
type ReceiptHeld struct {
	ReceiptID id.Receipt `json:"receiptId"`
	// Reason is "no_match", "ambiguous", "disputed", "conflicting_prompt", or "not_credited" when the account refused
	// the money after it was matched.
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// ReceiptClaimed records the real receipt of a provisional one. The provisional receipt keeps the credit.
type ReceiptClaimed struct {
	ReceiptID     id.Receipt      `json:"receiptId"` // the provisional receipt
	OrgID         id.Organization `json:"orgId"`
	SubscriberID  id.Subscriber   `json:"subscriberId"`
	PaymentID     id.Payment      `json:"paymentId"`
	ClaimedBy     id.Receipt      `json:"claimedBy"`
	ReceiptNumber string          `json:"receiptNumber"`
	At            time.Time       `json:"at"`
}

// ReceiptAbsorbed records that another receipt already carries the credit of this money: a real receipt after its
// provisional one, or a provisional receipt after the real one.
type ReceiptAbsorbed struct {
	ReceiptID            id.Receipt      `json:"receiptId"`
	OrgID                id.Organization `json:"orgId"`
	SubscriberID         id.Subscriber   `json:"subscriberId"`
	PaymentID            id.Payment      `json:"paymentId"`
	ProvisionalReceiptID id.Receipt      `json:"provisionalReceiptId"` // the other receipt, which carries the credit
	// subscriber whose account also has this receipt and must give it back; null = none
	CreditedTo id.Subscriber `json:"creditedTo"`
	Amount     money.Amount  `json:"amount"`
	At         time.Time     `json:"at"`
}

// ReceiptUnclaimed records that no real receipt claimed a provisional one within 48 hours. Operators are alarmed.
type ReceiptUnclaimed struct {
	ReceiptID id.Receipt `json:"receiptId"`
	At        time.Time  `json:"at"`
}

// ReceiptStalled records that the money of a receipt was for a while not where the receipt says, and that its process
// tries again. It has all that the process needs for that.
type ReceiptStalled struct {
	ReceiptID id.Receipt      `json:"receiptId"`
	OrgID     id.Organization `json:"orgId"`
	// SubscriberID has the account that should have the money; null = no account should.
	SubscriberID  id.Subscriber `json:"subscriberId"`
	HeldBy        id.Subscriber `json:"heldBy"`    // whose account has the money instead; null = none has it
	InvoiceID     id.Invoice    `json:"invoiceId"` // paid first; null = pay the invoices by due date
	ReceiptNumber string        `json:"receiptNumber"`
	Channel       string        `json:"channel"`
	Amount        money.Amount  `json:"amount"`
	PaidAt        time.Time     `json:"paidAt"`
	Move          int           `json:"move"`  // number of earlier reattributions
	Since         time.Time     `json:"since"` // when the receipt came to where it says that it is
	At            time.Time     `json:"at"`
}

// ReceiptAssigned records that unmatched money on a platform shortcode was given to an organization.
type ReceiptAssigned struct {
	ReceiptID id.Receipt      `json:"receiptId"`
	OrgID     id.Organization `json:"orgId"`
	From      id.Organization `json:"from,omitzero"` // that had it by mistake; zero = it belonged to none
	At        time.Time       `json:"at"`
}

// ReceiptReversed records that the money was given back to the payer or was never received.
type ReceiptReversed struct {
	ReceiptID id.Receipt      `json:"receiptId"`
	OrgID     id.Organization `json:"orgId"`
	// subscriber whose account had the money; null when it was in suspense
	SubscriberID id.Subscriber `json:"subscriberId"`
	Amount       money.Amount  `json:"amount"`
	Reason       personal.Text `json:"reason"`
	At           time.Time     `json:"at"`
}

// ReceiptReattributed records that the money belongs to another subscriber.
type ReceiptReattributed struct {
	ReceiptID     id.Receipt      `json:"receiptId"`
	OrgID         id.Organization `json:"orgId"`
	From          id.Subscriber   `json:"from"`
	To            id.Subscriber   `json:"to"`
	PaymentID     id.Payment      `json:"paymentId"` // the attempt whose money it is; null = none, or not recorded
	ReceiptNumber string          `json:"receiptNumber"`
	Channel       string          `json:"channel"`
	Amount        money.Amount    `json:"amount"`
	PaidAt        time.Time       `json:"paidAt"`
	Move          int             `json:"move"` // 1 at the first reattribution
	Reason        personal.Text   `json:"reason"`
	At            time.Time       `json:"at"`
}

// ReceiptSetAside records that money in suspense waits for a refund: nobody can be credited with it meanwhile.
type ReceiptSetAside struct {
	ReceiptID id.Receipt      `json:"receiptId"`
	OrgID     id.Organization `json:"orgId"`
	RefundID  id.Refund       `json:"refundId"`
	Amount    money.Amount    `json:"amount"` // all of the receipt
	At        time.Time       `json:"at"`
}

// ReceiptReturned records that a refund of money in suspense was not paid: the money waits for its payer again.
type ReceiptReturned struct {
	ReceiptID id.Receipt      `json:"receiptId"`
	OrgID     id.Organization `json:"orgId"`
	RefundID  id.Refund       `json:"refundId"`
	Amount    money.Amount    `json:"amount"`
	At        time.Time       `json:"at"`
}

// ReceiptRefunded records that money of the receipt went back to the payer.
type ReceiptRefunded struct {
	ReceiptID    id.Receipt      `json:"receiptId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"` // whose account had the money; null when it was in suspense
	RefundID     id.Refund       `json:"refundId"`
	Amount       money.Amount    `json:"amount"`
	Left         money.Amount    `json:"left"` // of the receipt, less all of its refunds
	At           time.Time       `json:"at"`
}

func (ReceiptRecorded) EventType() string     { return "payments.ReceiptRecorded.v2" }
func (ReceiptSighted) EventType() string      { return "payments.ReceiptSighted.v1" }
func (ReceiptDisputed) EventType() string     { return "payments.ReceiptDisputed.v2" }
func (ReceiptMatched) EventType() string      { return "payments.ReceiptMatched.v2" }
func (ReceiptHeld) EventType() string         { return "payments.ReceiptHeld.v1" }
func (ReceiptClaimed) EventType() string      { return "payments.ReceiptClaimed.v1" }
func (ReceiptAbsorbed) EventType() string     { return "payments.ReceiptAbsorbed.v1" }
func (ReceiptUnclaimed) EventType() string    { return "payments.ReceiptUnclaimed.v1" }
func (ReceiptStalled) EventType() string      { return "payments.ReceiptStalled.v1" }
func (ReceiptAssigned) EventType() string     { return "payments.ReceiptAssigned.v1" }
func (ReceiptReversed) EventType() string     { return "payments.ReceiptReversed.v2" }
func (ReceiptReattributed) EventType() string { return "payments.ReceiptReattributed.v3" }
func (ReceiptSetAside) EventType() string     { return "payments.ReceiptSetAside.v1" }
func (ReceiptReturned) EventType() string     { return "payments.ReceiptReturned.v1" }
func (ReceiptRefunded) EventType() string     { return "payments.ReceiptRefunded.v1" }

func (ReceiptRecorded) receiptEvent()     {}
func (ReceiptSighted) receiptEvent()      {}
func (ReceiptDisputed) receiptEvent()     {}
func (ReceiptMatched) receiptEvent()      {}
func (ReceiptHeld) receiptEvent()         {}
func (ReceiptClaimed) receiptEvent()      {}
func (ReceiptAbsorbed) receiptEvent()     {}
func (ReceiptUnclaimed) receiptEvent()    {}
func (ReceiptStalled) receiptEvent()      {}
func (ReceiptAssigned) receiptEvent()     {}
func (ReceiptReversed) receiptEvent()     {}
func (ReceiptReattributed) receiptEvent() {}
func (ReceiptSetAside) receiptEvent()     {}
func (ReceiptReturned) receiptEvent()     {}
func (ReceiptRefunded) receiptEvent()     {}

// PersonalSubject is the receipt itself, because the payer can be unknown.
func (e ReceiptRecorded) PersonalSubject() uuid.UUID { return e.ReceiptID.UUID() }

// PersonalSubject is the subscriber whose account had the money, or the receipt itself when the money was in suspense.
func (e ReceiptReversed) PersonalSubject() uuid.UUID {
	if e.SubscriberID.IsZero() {
		return e.ReceiptID.UUID()
	}
	return e.SubscriberID.UUID()
}

// PersonalSubject is the subscriber whose account had the money before.
func (e ReceiptReattributed) PersonalSubject() uuid.UUID { return e.From.UUID() }

func (ReceiptReversed) remark()     {}
func (ReceiptReattributed) remark() {}
