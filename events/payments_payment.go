package events

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// PaymentEvent is an event of "payment-<id>": one payment prompt attempt.
//
//sumtype:decl
type PaymentEvent interface {
	Event
	paymentEvent()
}

// PaymentInitiated records that a prompt will be sent. The subject of Phone is the subscriber.
type PaymentInitiated struct {
	PaymentID        id.Payment      `json:"paymentId"`
	OrgID            id.Organization `json:"orgId"`
	SubscriberID     id.Subscriber   `json:"subscriberId"`
	InvoiceID        id.Invoice      `json:"invoiceId"` // null = pay the invoices by due date
	Amount           money.Amount    `json:"amount"`    // whole units
	Phone            personal.Text   `json:"phone"`     // 254XXXXXXXXX
	Direct           bool            `json:"direct"`    // the organization's own credentials; false: the platform's
	Environment      string          `json:"environment"`
	Shortcode        string          `json:"shortcode"`
	CredentialsRef   id.Secret       `json:"credentialsRef"`   // the organization's in the vault; null = the platform's
	AccountReference string          `json:"accountReference"` // what the customer reads; at most 12 characters
	InitiatedAt      time.Time       `json:"initiatedAt"`
	ExpiresAt        time.Time       `json:"expiresAt"`
}

// PromptSubmitting records that the call to the provider begins. After a crash the attempt is in doubt, and the call is
// never repeated.
type PromptSubmitting struct {
	PaymentID id.Payment `json:"paymentId"`
	At        time.Time  `json:"at"`
}

// PromptAccepted records that the provider accepted the prompt for delivery. The customer has not paid yet.
type PromptAccepted struct {
	PaymentID         id.Payment `json:"paymentId"`
	MerchantRequestID string     `json:"merchantRequestId"`
	CheckoutRequestID string     `json:"checkoutRequestId"`
	CustomerMessage   string     `json:"customerMessage"`
	At                time.Time  `json:"at"`
}

// PromptInDoubt records that the outcome of the call to the provider is unknown.
type PromptInDoubt struct {
	PaymentID id.Payment `json:"paymentId"`
	Cause     string     `json:"cause"`
	At        time.Time  `json:"at"`
}

// PromptChecked records a status query that gave no verdict.
type PromptChecked struct {
	PaymentID id.Payment `json:"paymentId"`
	Code      string     `json:"code"` // the provider's result code, or "unreachable"
	Answered  bool       `json:"answered"`
	At        time.Time  `json:"at"`
}

// PaymentSucceeded records that the customer paid. Nothing changes this verdict later. It is recorded again when a
// person put the real receipt of a provisional success on an account: the success is by that receipt from then on.
type PaymentSucceeded struct {
	PaymentID     id.Payment      `json:"paymentId"`
	OrgID         id.Organization `json:"orgId"`
	SubscriberID  id.Subscriber   `json:"subscriberId"`
	InvoiceID     id.Invoice      `json:"invoiceId"`
	Amount        money.Amount    `json:"amount"`        // of the attempt; by "operator" what came, which may differ
	ReceiptID     id.Receipt      `json:"receiptId"`     // the provisional one when Provisional
	ReceiptNumber string          `json:"receiptNumber"` // "" when Provisional
	// Provisional is a success that only a status query reported: there is no receipt number yet
	// (docs/rules/money.md#provisional-receipts).
	Provisional bool      `json:"provisional"`
	By          string    `json:"by"` // "callback", "query", "c2b" or "operator"
	At          time.Time `json:"at"`
}

// ProvisionalClaimed records that the real receipt of a provisional success arrived. It is not credited again.
type ProvisionalClaimed struct {
	PaymentID            id.Payment      `json:"paymentId"`
	OrgID                id.Organization `json:"orgId"`
	SubscriberID         id.Subscriber   `json:"subscriberId"`
	InvoiceID            id.Invoice      `json:"invoiceId"`
	ReceiptID            id.Receipt      `json:"receiptId"`
	ReceiptNumber        string          `json:"receiptNumber"`
	ProvisionalReceiptID id.Receipt      `json:"provisionalReceiptId"`
	At                   time.Time       `json:"at"`
}

// ProvisionalSuperseded records that a status query reported a success whose real receipt was known already. The
// provisional receipt is the same money.
type ProvisionalSuperseded struct {
	PaymentID            id.Payment      `json:"paymentId"`
	OrgID                id.Organization `json:"orgId"`
	SubscriberID         id.Subscriber   `json:"subscriberId"`
	ReceiptID            id.Receipt      `json:"receiptId"` // the real receipt, which carries the credit
	ProvisionalReceiptID id.Receipt      `json:"provisionalReceiptId"`
	At                   time.Time       `json:"at"`
}

// PaymentPaidElsewhere records that a person put the money of an attempt on another account than the attempt's. The
// attempt itself stays as it was; a success that a status query reports later is this money and is not credited again.
type PaymentPaidElsewhere struct {
	PaymentID     id.Payment      `json:"paymentId"`
	OrgID         id.Organization `json:"orgId"`
	SubscriberID  id.Subscriber   `json:"subscriberId"` // of the attempt
	ReceiptID     id.Receipt      `json:"receiptId"`
	ReceiptNumber string          `json:"receiptNumber"`
	Amount        money.Amount    `json:"amount"` // of the receipt, which may differ from the attempt's
	PaidTo        id.Subscriber   `json:"paidTo"` // whose account has the money
	At            time.Time       `json:"at"`
}

// PromptCheckRequested records that the provider must be asked now, because of a person or an unverified callback.
type PromptCheckRequested struct {
	PaymentID id.Payment `json:"paymentId"`
	At        time.Time  `json:"at"`
}

// PaymentCancelled records that the customer refused the prompt.
type PaymentCancelled struct {
	PaymentID    id.Payment    `json:"paymentId"`
	SubscriberID id.Subscriber `json:"subscriberId"`
	Code         string        `json:"code"`
	Message      string        `json:"message"`
	By           string        `json:"by"`
	At           time.Time     `json:"at"`
}

// PaymentFailed records that the provider refused the prompt, or that it failed on the handset.
type PaymentFailed struct {
	PaymentID    id.Payment    `json:"paymentId"`
	SubscriberID id.Subscriber `json:"subscriberId"`
	Code         string        `json:"code"`
	Message      string        `json:"message"`
	// "provider" (refused at once), "callback", "query" or "platform" (never sent)
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// PaymentExpired records that 24 hours passed without a verdict, although the provider could be asked.
type PaymentExpired struct {
	PaymentID    id.Payment    `json:"paymentId"`
	SubscriberID id.Subscriber `json:"subscriberId"`
	At           time.Time     `json:"at"`
}

func (PaymentInitiated) EventType() string      { return "payments.PaymentInitiated.v1" }
func (PromptSubmitting) EventType() string      { return "payments.PromptSubmitting.v1" }
func (PromptAccepted) EventType() string        { return "payments.PromptAccepted.v1" }
func (PromptInDoubt) EventType() string         { return "payments.PromptInDoubt.v1" }
func (PromptChecked) EventType() string         { return "payments.PromptChecked.v1" }
func (PaymentSucceeded) EventType() string      { return "payments.PaymentSucceeded.v1" }
func (ProvisionalClaimed) EventType() string    { return "payments.ProvisionalClaimed.v1" }
func (ProvisionalSuperseded) EventType() string { return "payments.ProvisionalSuperseded.v1" }
func (PaymentPaidElsewhere) EventType() string  { return "payments.PaymentPaidElsewhere.v1" }
func (PromptCheckRequested) EventType() string  { return "payments.PromptCheckRequested.v1" }
func (PaymentCancelled) EventType() string      { return "payments.PaymentCancelled.v1" }
func (PaymentFailed) EventType() string         { return "payments.PaymentFailed.v1" }
func (PaymentExpired) EventType() string        { return "payments.PaymentExpired.v1" }

func (PaymentInitiated) paymentEvent()      {}
func (PromptSubmitting) paymentEvent()      {}
func (PromptAccepted) paymentEvent()        {}
func (PromptInDoubt) paymentEvent()         {}
func (PromptChecked) paymentEvent()         {}
func (PaymentSucceeded) paymentEvent()      {}
func (ProvisionalClaimed) paymentEvent()    {}
func (ProvisionalSuperseded) paymentEvent() {}
func (PaymentPaidElsewhere) paymentEvent()  {}
func (PromptCheckRequested) paymentEvent()  {}
func (PaymentCancelled) paymentEvent()      {}
func (PaymentFailed) paymentEvent()         {}
func (PaymentExpired) paymentEvent()        {}

func (e PaymentInitiated) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

// paymentReasons translates the provider's result codes and our own codes into stable words of the API. Source:
// docs/facts/mobile-money.md#result-codes.
var paymentReasons = map[string]string{
	"1": "insufficient_funds", "17": "internal_failure", "1001": "customer_busy", "1032": "cancelled_by_customer",
	"2001": "wrong_pin", "2028": "product_not_permitted", "8006": "pin_locked", "9999": "not_delivered",
	"not_sent": "not_sent", "prompt_too_late": "not_sent",
	"provider_unavailable": "provider_unavailable",
}

// PaymentReason is the word for the code of an attempt that failed or was cancelled; "provider_refused" for a code
// without one.
func PaymentReason(code string) string { return cmp.Or(paymentReasons[code], "provider_refused") }
