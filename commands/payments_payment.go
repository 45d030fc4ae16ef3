package commands

import (
	"regexp"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// PaymentCategory begins the names of the streams of prompt attempts.
const PaymentCategory = "payment"

// Limits of a prompt: amounts in whole shillings, the reference in bytes. Source:
// docs/facts/mobile-money.md#payment-prompt.
const (
	MinPrompt          = 1
	MaxPrompt          = 250_000
	maxReferenceLength = 12
)

// Sources of a prompt's outcome.
const (
	ByCallback = "callback"
	ByQuery    = "query"
	ByC2B      = "c2b"
	ByProvider = "provider" // refused at once
	ByPlatform = "platform" // never sent
	ByOperator = "operator" // the money is on an account already, where mostly a person has put it
)

// PaymentCommand is a command to one prompt attempt.
//
//sumtype:decl
type PaymentCommand interface {
	Command
	paymentCommand()
}

// InitiatePayment begins an attempt. A process never sends it, because it has a phone number. Fails: payment_exists.
type InitiatePayment struct {
	PaymentID        id.Payment
	OrgID            id.Organization
	SubscriberID     id.Subscriber
	InvoiceID        id.Invoice   // zero = pay the invoices by due date
	Amount           money.Amount // whole shillings
	Phone            personal.Text
	Direct           bool
	Environment      string
	Shortcode        string
	CredentialsRef   id.Secret // of the organization's credentials; zero for the platform's
	AccountReference string    // 1 to 12 bytes; what the customer reads
}

// BeginSubmission takes the right to call the provider. A caller that gets no change must not call. Fails:
// payment_not_found, prompt_too_late.
type BeginSubmission struct{ PaymentID id.Payment }

// AbandonPrompt ends an attempt that was not sent within PromptPatience, so that its amount is free again. An attempt
// whose submission has begun stays as it is. Fails: payment_not_found.
type AbandonPrompt struct{ PaymentID id.Payment }

// AcceptPrompt reports that the provider accepted the prompt. Fails: payment_not_found.
type AcceptPrompt struct {
	PaymentID         id.Payment
	MerchantRequestID string
	CheckoutRequestID string
	CustomerMessage   string
}

// RefusePrompt reports that the provider refused the prompt, or was certainly not reached. Fails: payment_not_found.
type RefusePrompt struct {
	PaymentID id.Payment
	Code      string
	Message   string
}

// DoubtPrompt reports that the outcome of the call is unknown. Fails: payment_not_found.
type DoubtPrompt struct {
	PaymentID id.Payment
	Cause     string
}

// RequestCheck asks for a status query now. It changes nothing when one was asked for just before, unless something was
// heard of the attempt since. Fails: payment_not_found.
type RequestCheck struct {
	PaymentID id.Payment
	Heard     bool // a callback tells of the attempt
}

// RecordCheck reports a status query without a verdict. Fails: payment_not_found.
type RecordCheck struct {
	PaymentID id.Payment
	Code      string // the provider's result code, or "unreachable"
	Answered  bool   // false: the query itself failed
}

// RecordVerdict reports a result code other than success. A code that means "still pending" counts as a check. Fails:
// payment_not_found.
type RecordVerdict struct {
	PaymentID         id.Payment
	CheckoutRequestID string // from the callback; recorded when the answer to the call was lost
	Code              string
	Message           string
	By                string // ByCallback or ByQuery
}

// SettlePayment reports the receipt that pays the attempt. With ByOperator the money is on an account already, where a
// person put it, or the matching rules before the attempt was known: it is never refused, and makes an attempt a
// success only on the attempt's own account. Fails: payment_not_found, payment_settled, amount_mismatch.
type SettlePayment struct {
	PaymentID     id.Payment
	ReceiptID     id.Receipt
	ReceiptNumber string
	Amount        money.Amount
	By            string // ByCallback, ByQuery, ByC2B or ByOperator
	Provisional   bool
	SubscriberID  id.Subscriber // on whose account the money was put; zero except with ByOperator
}

// ExpirePayment ends an attempt without a verdict after PromptLifetime. Fails: payment_not_found, payment_not_due,
// payment_unanswered.
type ExpirePayment struct{ PaymentID id.Payment }

// PromptLifetime is the longest time that an attempt stays open. Source: docs/rules/payments.md#verdicts.
const PromptLifetime = 24 * time.Hour

// ReceiptPatience is how long after a prompt its money may come: so long a provisional receipt waits for the real one,
// a callback for its attempt, and an account reference names one attempt alone. Sources:
// docs/rules/money.md#provisional-receipts, docs/rules/money.md#unknown-prompts,
// docs/rules/payments.md#account-reference.
const ReceiptPatience = 48 * time.Hour

// ReceiptAhead is how long before its prompt money may seem to have come, since the provider's clock differs from ours.
// Source: docs/rules/money.md#provisional-receipts.
const ReceiptAhead = time.Minute

// PromptPatience is how long a prompt may wait to be sent: the customer has turned away by then. Source:
// docs/rules/payments.md#in-doubt.
const PromptPatience = 2 * time.Minute

// DoubtPatience is how long an attempt that cannot be asked about keeps its amount. Source:
// docs/rules/payments.md#in-doubt.
const DoubtPatience = 5 * time.Minute

// phoneShape is the provider's form of a phone number, without a plus. Source: docs/rules/payments.md#phones.
var phoneShape = regexp.MustCompile(`^254[0-9]{9}$`)

func (InitiatePayment) CommandName() string { return "payments.InitiatePayment" }
func (BeginSubmission) CommandName() string { return "payments.BeginSubmission" }
func (AbandonPrompt) CommandName() string   { return "payments.AbandonPrompt" }
func (AcceptPrompt) CommandName() string    { return "payments.AcceptPrompt" }
func (RefusePrompt) CommandName() string    { return "payments.RefusePrompt" }
func (DoubtPrompt) CommandName() string     { return "payments.DoubtPrompt" }
func (RequestCheck) CommandName() string    { return "payments.RequestCheck" }
func (RecordCheck) CommandName() string     { return "payments.RecordCheck" }
func (RecordVerdict) CommandName() string   { return "payments.RecordVerdict" }
func (SettlePayment) CommandName() string   { return "payments.SettlePayment" }
func (ExpirePayment) CommandName() string   { return "payments.ExpirePayment" }

func (c InitiatePayment) Target() Target { return At(PaymentCategory, c.PaymentID) }
func (c BeginSubmission) Target() Target { return At(PaymentCategory, c.PaymentID) }
func (c AbandonPrompt) Target() Target   { return At(PaymentCategory, c.PaymentID) }
func (c AcceptPrompt) Target() Target    { return At(PaymentCategory, c.PaymentID) }
func (c RefusePrompt) Target() Target    { return At(PaymentCategory, c.PaymentID) }
func (c DoubtPrompt) Target() Target     { return At(PaymentCategory, c.PaymentID) }
func (c RequestCheck) Target() Target    { return At(PaymentCategory, c.PaymentID) }
func (c RecordCheck) Target() Target     { return At(PaymentCategory, c.PaymentID) }
func (c RecordVerdict) Target() Target   { return At(PaymentCategory, c.PaymentID) }
func (c SettlePayment) Target() Target   { return At(PaymentCategory, c.PaymentID) }
func (c ExpirePayment) Target() Target   { return At(PaymentCategory, c.PaymentID) }

// Validate checks form: the amount is in whole shillings and within the provider's limits.
func (c InitiatePayment) Validate() error {
	var f failure.Faults
	unit := c.Amount.Currency.Unit()
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(c.Amount.Currency == money.KES, "currency", "must be KES: prompts are paid in shillings")
	f.Check(c.Amount.Minor%unit == 0 && c.Amount.Minor >= MinPrompt*unit && c.Amount.Minor <= MaxPrompt*unit,
		"amount", "must be from %d to %d", MinPrompt, MaxPrompt)
	f.Check(phoneShape.MatchString(c.Phone.Reveal()), "phone", "must be a Kenyan mobile number such as 254712345678")
	f.Check(c.Shortcode != "", "shortcode", "is required")
	f.Check(c.AccountReference != "" && len(c.AccountReference) <= maxReferenceLength, "accountReference",
		"must have 1 to 12 characters")
	return f.Err()
}

func (c BeginSubmission) Validate() error { return paymentID(c.PaymentID) }
func (c AbandonPrompt) Validate() error   { return paymentID(c.PaymentID) }

// Validate checks form.
func (c AcceptPrompt) Validate() error {
	var f failure.Faults
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	f.Check(c.CheckoutRequestID != "", "checkoutRequestId", "is required")
	return f.Err()
}

func (c RefusePrompt) Validate() error { return paymentID(c.PaymentID) }
func (c DoubtPrompt) Validate() error  { return paymentID(c.PaymentID) }
func (c RequestCheck) Validate() error { return paymentID(c.PaymentID) }
func (c RecordCheck) Validate() error  { return paymentID(c.PaymentID) }

// Validate refuses the code of success, because a success needs a receipt and is sent as SettlePayment.
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
	f.Check(c.Amount.Positive(), "amount", "must be above zero")
	f.Check((c.By == ByOperator) != c.SubscriberID.IsZero(), "subscriberId",
		"belongs to an operator's act, and to no other")
	return f.Err()
}

func (c ExpirePayment) Validate() error { return paymentID(c.PaymentID) }

// paymentID requires the id of an attempt.
func paymentID(p id.Payment) error {
	var f failure.Faults
	f.Check(!p.IsZero(), "paymentId", "is required")
	return f.Err()
}

func (InitiatePayment) paymentCommand() {}
func (BeginSubmission) paymentCommand() {}
func (AbandonPrompt) paymentCommand()   {}
func (AcceptPrompt) paymentCommand()    {}
func (RefusePrompt) paymentCommand()    {}
func (DoubtPrompt) paymentCommand()     {}
func (RequestCheck) paymentCommand()    {}
func (RecordCheck) paymentCommand()     {}
func (RecordVerdict) paymentCommand()   {}
func (SettlePayment) paymentCommand()   {}
func (ExpirePayment) paymentCommand()   {}

// ErrNoPayment is the failure for a payment that does not exist or belongs to another organization.
func ErrNoPayment() error {
	return failure.NewNotFound("payment_not_found", "There is no such payment.")
}
