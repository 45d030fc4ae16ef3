package commands

import (
	"regexp"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// PaymentCategory is the category of the streams of prompt attempts.
const PaymentCategory = "payment"

// Limits of a prompt, whole shillings. Source: docs/facts/mobile-money.md#payment-prompt.
const (
	MinPrompt          = 1
	MaxPrompt          = 250_000
	maxReferenceLength = 12
)

// Who told the outcome of a prompt.
const (
	ByCallback = "callback"
	ByQuery    = "query"
	ByC2B      = "c2b"
	ByProvider = "provider" // refused at once
)

// PaymentCommand is a command to one prompt attempt.
//
//sumtype:decl
type PaymentCommand interface {
	Command
	paymentCommand()
}

// InitiatePayment begins an attempt. Fails: payment_exists. Never emitted by a process: it names a phone.
type InitiatePayment struct {
	PaymentID        id.Payment
	OrgID            id.Organization
	SubscriberID     id.Subscriber
	InvoiceID        id.Invoice   // zero = oldest due first
	Amount           money.Amount // whole units
	Phone            personal.Text
	Direct           bool
	Environment      string
	Shortcode        string
	CredentialsRef   id.Secret // of the organization's credentials, zero for the platform's
	AccountReference string    // at most 12 characters, unique to the attempt
}

// BeginSubmission takes the right to call the provider: who gets no change must not call. Fails: payment_not_found.
type BeginSubmission struct{ PaymentID id.Payment }

// AcceptPrompt reports that the provider took the prompt. Fails: payment_not_found.
type AcceptPrompt struct {
	PaymentID         id.Payment
	MerchantRequestID string
	CheckoutRequestID string
	CustomerMessage   string
}

// RefusePrompt reports that the provider refused, or was certainly never reached. Fails: payment_not_found.
type RefusePrompt struct {
	PaymentID id.Payment
	Code      string
	Message   string
}

// DoubtPrompt reports that nobody knows whether the prompt was sent. Fails: payment_not_found.
type DoubtPrompt struct {
	PaymentID id.Payment
	Cause     string
}

// RequestCheck asks for a status query now. Fails: payment_not_found.
type RequestCheck struct{ PaymentID id.Payment }

// RecordCheck reports a status query without a verdict. Fails: payment_not_found.
type RecordCheck struct {
	PaymentID id.Payment
	Code      string // provider's word, or "unreachable"
	Answered  bool
}

// RecordVerdict reports a result code other than success. Codes that are no verdict count as a check. Fails:
// payment_not_found.
type RecordVerdict struct {
	PaymentID         id.Payment
	CheckoutRequestID string // from the callback; teaches an attempt whose answer was lost
	Code              string
	Message           string
	By                string
}

// SettlePayment reports the receipt that pays the attempt. Fails: payment_not_found, payment_settled, amount_mismatch.
type SettlePayment struct {
	PaymentID     id.Payment
	ReceiptID     id.Receipt
	ReceiptNumber string
	Amount        money.Amount
	By            string
	Provisional   bool
}

// ExpirePayment gives an attempt up after a day. Fails: payment_not_found, payment_not_due, payment_unanswered.
type ExpirePayment struct{ PaymentID id.Payment }

// PromptLifetime is how long an attempt may stay open. Source: docs/rules/payments.md#verdicts.
const PromptLifetime = 24 * time.Hour

// phoneShape is the provider's form of a phone. Source: docs/rules/payments.md#phones.
var phoneShape = regexp.MustCompile(`^254[0-9]{9}$`)

// CommandName is the stable name.
func (InitiatePayment) CommandName() string { return "payments.InitiatePayment" }

// CommandName is the stable name.
func (BeginSubmission) CommandName() string { return "payments.BeginSubmission" }

// CommandName is the stable name.
func (AcceptPrompt) CommandName() string { return "payments.AcceptPrompt" }

// CommandName is the stable name.
func (RefusePrompt) CommandName() string { return "payments.RefusePrompt" }

// CommandName is the stable name.
func (DoubtPrompt) CommandName() string { return "payments.DoubtPrompt" }

// CommandName is the stable name.
func (RequestCheck) CommandName() string { return "payments.RequestCheck" }

// CommandName is the stable name.
func (RecordCheck) CommandName() string { return "payments.RecordCheck" }

// CommandName is the stable name.
func (RecordVerdict) CommandName() string { return "payments.RecordVerdict" }

// CommandName is the stable name.
func (SettlePayment) CommandName() string { return "payments.SettlePayment" }

// CommandName is the stable name.
func (ExpirePayment) CommandName() string { return "payments.ExpirePayment" }

// Target is the attempt.
func (c InitiatePayment) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c BeginSubmission) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c AcceptPrompt) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c RefusePrompt) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c DoubtPrompt) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c RequestCheck) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c RecordCheck) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c RecordVerdict) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c SettlePayment) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Target is the attempt.
func (c ExpirePayment) Target() Target { return At(PaymentCategory, c.PaymentID) }

// Validate checks form: the amount is whole shillings within the provider's limits.
func (c InitiatePayment) Validate() error {
	var f failure.Faults
	unit := c.Amount.Currency.Unit()
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(c.Amount.Currency == money.KES, "currency", "must be KES: prompts are paid in shillings")
	f.Check(c.Amount.Minor%unit == 0 && c.Amount.Minor >= MinPrompt*unit && c.Amount.Minor <= MaxPrompt*unit,
		"amount", "must be from %d to %d", MinPrompt, MaxPrompt)
	f.Check(phoneShape.MatchString(c.Phone.Reveal()), "phone", "must be a mobile number of Kenya")
	f.Check(c.Shortcode != "", "shortcode", "is required")
	f.Check(c.AccountReference != "" && len(c.AccountReference) <= maxReferenceLength, "accountReference",
		"must have 1 to 12 characters")
	return f.Err()
}

// Validate checks form.
func (c BeginSubmission) Validate() error { return paymentID(c.PaymentID) }

// Validate checks form.
func (c AcceptPrompt) Validate() error {
	var f failure.Faults
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	f.Check(c.CheckoutRequestID != "", "checkoutRequestId", "is required")
	return f.Err()
}

// Validate checks form.
func (c RefusePrompt) Validate() error { return paymentID(c.PaymentID) }

// Validate checks form.
func (c DoubtPrompt) Validate() error { return paymentID(c.PaymentID) }

// Validate checks form.
func (c RequestCheck) Validate() error { return paymentID(c.PaymentID) }

// Validate checks form.
func (c RecordCheck) Validate() error { return paymentID(c.PaymentID) }

// Validate checks form: a success is money, and money is a receipt.
func (c RecordVerdict) Validate() error {
	var f failure.Faults
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	f.Check(c.Code != "" && c.Code != "0", "code", "must be a result code other than success")
	return f.Err()
}

// Validate checks form.
func (c SettlePayment) Validate() error {
	var f failure.Faults
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(c.Amount.Positive(), "amount", "must be more than nothing")
	return f.Err()
}

// Validate checks form.
func (c ExpirePayment) Validate() error { return paymentID(c.PaymentID) }

// paymentID checks that an attempt is named.
func paymentID(p id.Payment) error {
	var f failure.Faults
	f.Check(!p.IsZero(), "paymentId", "is required")
	return f.Err()
}

func (InitiatePayment) paymentCommand() {}
func (BeginSubmission) paymentCommand() {}
func (AcceptPrompt) paymentCommand()    {}
func (RefusePrompt) paymentCommand()    {}
func (DoubtPrompt) paymentCommand()     {}
func (RequestCheck) paymentCommand()    {}
func (RecordCheck) paymentCommand()     {}
func (RecordVerdict) paymentCommand()   {}
func (SettlePayment) paymentCommand()   {}
func (ExpirePayment) paymentCommand()   {}

// ErrNoPayment is the answer for a payment that does not exist, and for another organization's.
func ErrNoPayment() error {
	return failure.NewNotFound("payment_not_found", "There is no such payment.")
}
