package commands

import (
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// AccountCategory begins the names of the streams of accounts: one for each subscriber, under the subscriber's id.
const AccountCategory = "account"

// AccountCommand is a command to "account-<subscriber id>".
type AccountCommand interface {
	Command
	accountCommand()
}

// Limits of what an invoice may hold.
const (
	MaxInvoiceLines    = 200
	MaxLineDescription = 200 // characters
	maxReason          = 500
	maxTaxBasisPoints  = 10_000
)

// quantityShape is a decimal number as JSON writes it that cannot overflow: up to nine digits and six decimals.
var quantityShape = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$`)

// prefixShape is an invoice prefix, or that with a suffix for another type of document ("ACME-CN").
var prefixShape = regexp.MustCompile(`^[A-Z0-9]{2,6}(-[A-Z]{2})?$`)

// LineInput is one charge as it is asked for; net, tax and gross are computed when the invoice is drafted.
type LineInput struct {
	Description string
	Quantity    string       // decimal number above zero, exact
	UnitPrice   money.Amount // with or without tax as the rule says; negative for a discount
}

// DraftInvoice makes an invoice that gets its number next. A known invoice id changes nothing. Fails:
// currency_mismatch, invoice_out_of_range.
type DraftInvoice struct {
	SubscriberID   id.Subscriber
	OrgID          id.Organization
	InvoiceID      id.Invoice
	SubscriptionID id.Subscription // zero for a manual invoice
	PeriodFrom     time.Time
	PeriodTo       time.Time
	Lines          []LineInput
	Tax            events.TaxRule
	Currency       money.Currency
	Prefix         string
	DueOn          calendar.Date
}

// IssueInvoice makes a draft payable under its number; credit on the account pays it at once. A draft that was voided
// meanwhile becomes a voided document with that number. Fails: account_not_found, invoice_already_numbered.
type IssueInvoice struct {
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	Number       string
}

// VoidInvoice takes back an invoice to which nothing was allocated. Fails: invoice_not_found, invoice_paid,
// invoice_has_payments, invoice_has_credit_note.
type VoidInvoice struct {
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	Reason       string
	// Number is set when the issue under this number was refused: it is recorded with the voided document
	// (docs/rules/billing.md#numbers-without-gaps).
	Number string
}

// DraftCreditNote sets aside a part of an invoice to be given back. Fails: invoice_not_found, invoice_not_issued,
// credit_note_too_large, currency_mismatch.
type DraftCreditNote struct {
	SubscriberID id.Subscriber
	CreditNoteID id.Receipt
	InvoiceID    id.Invoice
	Amount       money.Amount // zero: all that is left of the invoice
	Reason       string
	Prefix       string
}

// IssueCreditNote gives a drafted note back under its number: first to its own invoice, then as any money on the
// account. Fails: account_not_found, credit_note_not_found.
type IssueCreditNote struct {
	SubscriberID id.Subscriber
	CreditNoteID id.Receipt
	Number       string
}

// CreditReceipt puts received money on the account, never twice for one receipt. It pays the named invoice, then the
// oldest due; the rest is credit. Fails: currency_mismatch, receipt_withdrawn.
type CreditReceipt struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	ReceiptID    id.Receipt
	InvoiceID    id.Invoice // zero = oldest due first
	Number       string
	Channel      string
	Amount       money.Amount
	PaidAt       time.Time
	// Move counts how often the receipt had changed hands before: 0 when matched, 1 at its first reattribution, ... It
	// tells money that comes back to an account from a repeated command.
	Move int
}

// WithdrawReceipt takes credited money back: what it paid is due again (docs/rules/money.md#mistakes). Fails:
// receipt_not_found.
type WithdrawReceipt struct {
	SubscriberID id.Subscriber
	ReceiptID    id.Receipt
	Reason       string
}

// ReservePrompt makes sure that no second prompt of the amount is open. Fails: payment_in_progress, invoice_not_found,
// invoice_not_payable, currency_mismatch.
type ReservePrompt struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	PaymentID    id.Payment
	InvoiceID    id.Invoice // zero = oldest due first
	Amount       money.Amount
}

// ReleasePrompt ends a reservation. An unknown one is released already.
type ReleasePrompt struct {
	SubscriberID id.Subscriber
	PaymentID    id.Payment
}

func (DraftInvoice) CommandName() string    { return "billing.DraftInvoice" }
func (IssueInvoice) CommandName() string    { return "billing.IssueInvoice" }
func (VoidInvoice) CommandName() string     { return "billing.VoidInvoice" }
func (DraftCreditNote) CommandName() string { return "billing.DraftCreditNote" }
func (IssueCreditNote) CommandName() string { return "billing.IssueCreditNote" }
func (CreditReceipt) CommandName() string   { return "billing.CreditReceipt" }
func (WithdrawReceipt) CommandName() string { return "billing.WithdrawReceipt" }
func (ReservePrompt) CommandName() string   { return "billing.ReservePrompt" }
func (ReleasePrompt) CommandName() string   { return "billing.ReleasePrompt" }

func (c DraftInvoice) Target() Target    { return At(AccountCategory, c.SubscriberID) }
func (c IssueInvoice) Target() Target    { return At(AccountCategory, c.SubscriberID) }
func (c VoidInvoice) Target() Target     { return At(AccountCategory, c.SubscriberID) }
func (c DraftCreditNote) Target() Target { return At(AccountCategory, c.SubscriberID) }
func (c IssueCreditNote) Target() Target { return At(AccountCategory, c.SubscriberID) }
func (c CreditReceipt) Target() Target   { return At(AccountCategory, c.SubscriberID) }
func (c WithdrawReceipt) Target() Target { return At(AccountCategory, c.SubscriberID) }
func (c ReservePrompt) Target() Target   { return At(AccountCategory, c.SubscriberID) }
func (c ReleasePrompt) Target() Target   { return At(AccountCategory, c.SubscriberID) }

func (DraftInvoice) accountCommand()    {}
func (IssueInvoice) accountCommand()    {}
func (VoidInvoice) accountCommand()     {}
func (DraftCreditNote) accountCommand() {}
func (IssueCreditNote) accountCommand() {}
func (CreditReceipt) accountCommand()   {}
func (WithdrawReceipt) accountCommand() {}
func (ReservePrompt) accountCommand()   {}
func (ReleasePrompt) accountCommand()   {}

// Validate checks form only.
func (c DraftInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Currency.Known(), "currency", "is not a currency that can be billed")
	f.Check(prefixShape.MatchString(c.Prefix), "prefix", "must be 2 to 6 capitals or digits")
	f.Check(!c.DueOn.IsZero(), "dueDate", "is required")
	f.Check(c.PeriodFrom.IsZero() == c.PeriodTo.IsZero() && !c.PeriodTo.Before(c.PeriodFrom), "period",
		"must have a start before its end")
	f.Check(len(c.Lines) > 0, "lines", "must not be empty")
	f.Check(len(c.Lines) <= MaxInvoiceLines, "lines", "must be at most %d", MaxInvoiceLines)
	for i, l := range c.Lines {
		l.check(&f, fmt.Sprintf("lines[%d]", i), c.Currency)
	}
	for i, t := range c.Tax.Components {
		field := fmt.Sprintf("tax.components[%d]", i)
		f.Check(t.Name != "", field+".name", "is required")
		f.Check(t.BasisPoints >= 0 && t.BasisPoints <= maxTaxBasisPoints, field+".rate",
			"must be between 0 and 100 percent")
	}
	return f.Err()
}

// check notes the faults of one line.
func (l LineInput) check(f *failure.Faults, field string, c money.Currency) {
	f.Check(l.Description != "", field+".description", "is required")
	f.Check(utf8.RuneCountInString(l.Description) <= MaxLineDescription, field+".description",
		"must be at most %d characters", MaxLineDescription)
	f.Check(quantityShape.MatchString(l.Quantity), field+".quantity",
		"must be a decimal number with at most 9 digits and 6 decimals")
	f.Check(l.UnitPrice.Currency == c, field+".unitPrice", "must be in %s", c)
}

// Validate checks form only.
func (c IssueInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Number != "", "number", "is required")
	return f.Err()
}

// Validate checks form only.
func (c VoidInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c DraftCreditNote) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.CreditNoteID.IsZero(), "creditNoteId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(!c.Amount.Negative(), "amount", "must be above zero")
	f.Check(prefixShape.MatchString(c.Prefix), "prefix", "must be 2 to 6 capitals or digits")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c IssueCreditNote) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.CreditNoteID.IsZero(), "creditNoteId", "is required")
	f.Check(c.Number != "", "number", "is required")
	return f.Err()
}

// Validate checks form only.
func (c CreditReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(c.Amount.Positive() && c.Amount.Currency.Known(), "amount", "must be above zero and in a known currency")
	f.Check(c.Move >= 0, "move", "must not be negative")
	return f.Err()
}

// Validate checks form only.
func (c WithdrawReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c ReservePrompt) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	f.Check(c.Amount.Positive() && c.Amount.Currency.Known(), "amount", "must be above zero and in a known currency")
	return f.Err()
}

// Validate checks form only.
func (c ReleasePrompt) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	return f.Err()
}

// checkReason notes the faults of a reason that a person gives.
func checkReason(f *failure.Faults, reason string) {
	f.Check(reason != "", "reason", "is required")
	f.Check(utf8.RuneCountInString(reason) <= maxReason, "reason", "must be at most %d characters", maxReason)
}

// ErrNoAccount is the answer for an account that does not exist, and for another organization's.
func ErrNoAccount() error {
	return failure.NewNotFound("account_not_found", "There is no such account.")
}

// ErrNoInvoice is the answer for an invoice that does not exist, and for another organization's.
func ErrNoInvoice() error {
	return failure.NewNotFound("invoice_not_found", "There is no such invoice.")
}

// ErrNoCreditNote is the answer for a credit note that does not exist, and for another organization's.
func ErrNoCreditNote() error {
	return failure.NewNotFound("credit_note_not_found", "There is no such credit note.")
}
