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

// Limits of an invoice and of the texts of an account.
const (
	MaxInvoiceLines    = 200
	MaxLineDescription = 200    // in characters
	maxReason          = 500    // in characters
	maxTaxBasisPoints  = 10_000 // 100 percent
)

// quantityShape is a decimal number in JSON's form, with at most nine digits and six decimals, so that no product
// overflows.
var quantityShape = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$`)

// prefixShape is an invoice prefix ("ACME"), or a prefix with the suffix of another type of document ("ACME-CN").
var prefixShape = regexp.MustCompile(`^[A-Z0-9]{2,6}(-[A-Z]{2})?$`)

// LineInput is one charge before tax. Net, tax and gross are calculated when the invoice is drafted.
type LineInput struct {
	Description string
	Quantity    string       // decimal number above zero, exact
	UnitPrice   money.Amount // includes tax when the tax rule is inclusive; negative for a discount
	Once        bool         // no day of the invoice's period has a share of it
}

// DraftInvoice creates a draft, which gets its number afterwards. A known invoice id changes nothing. Fails:
// currency_mismatch, invoice_out_of_range.
type DraftInvoice struct {
	SubscriberID   id.Subscriber
	OrgID          id.Organization
	InvoiceID      id.Invoice
	SubscriptionID id.Subscription // whose period it is; zero for an invoice of no period
	SoldTo         id.Subscription // that gets what is sold beside its periods; zero = none
	RunID          id.BillingRun   // that makes the invoice; zero = none
	Order          bool            // nobody owes it: what it is for is given when it is paid
	PeriodFrom     time.Time
	PeriodTo       time.Time
	Lines          []LineInput
	Tax            events.TaxRule
	Currency       money.Currency
	Prefix         string
	DueOn          calendar.Date
}

// IssueInvoice makes a draft payable under its number; credit on the account pays it at once. A draft that was voided
// before becomes a voided document with this number, and so does a second number of one invoice. Fails:
// account_not_found.
type IssueInvoice struct {
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	Number       string
}

// VoidInvoice cancels an invoice on which nothing was paid, or, with ReleaseMoney, one whose money is to become credit
// again. Fails: invoice_not_found, invoice_paid, invoice_has_payments, invoice_has_credit_note, invoice_written_off,
// invoice_archived. With ReleaseMoney it does not fail for a credit note or a write-off: a credit note over the rest
// takes the place of the void; and of a reissued invoice it voids the corrected one.
type VoidInvoice struct {
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	Reason       string
	// Number is set when the issue under this number was refused. The voided document records it
	// (docs/rules/billing.md#numbers-without-gaps).
	Number string
	// ReleaseMoney gives the money on a partly or fully paid invoice back to credit; without it such an invoice is
	// refused.
	ReleaseMoney bool
	// NotePrefix is the prefix of that credit note. Processes leave it empty: billingcases.PeriodInvoices adds it.
	NotePrefix string
}

// TakeBackInvoice takes an invoice back whole, because the batch that made it is undone. One without money is voided;
// over one with money a credit note is drafted, whose money becomes credit. A repeat changes nothing. Fails:
// invoice_not_found, invoice_archived, corrected_since.
type TakeBackInvoice struct {
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	CreditNoteID id.Receipt
	Reason       string
	Prefix       string // of the credit note
	// Dropped says that its period is dropped already. Then what is left is given back, also of an invoice that was
	// corrected.
	Dropped bool
}

// DraftCreditNote reserves a part of an invoice for a credit note. Fails: invoice_not_found, invoice_not_issued,
// invoice_archived, invoice_voided, credit_note_too_large, invoice_given_back, currency_mismatch.
type DraftCreditNote struct {
	SubscriberID id.Subscriber
	CreditNoteID id.Receipt
	InvoiceID    id.Invoice
	Amount       money.Amount // zero: all that is left of the invoice
	Reason       string
	Prefix       string
}

// CreditDays reserves the share of some days of an invoiced period for a credit note, at most what is left of the
// invoice. A known note changes nothing, nor does an invoice of which nothing is left. Of a reissued invoice it is the
// share of the corrected one. Fails: invoice_not_found, invoice_not_issued, invoice_archived.
type CreditDays struct {
	SubscriberID id.Subscriber
	CreditNoteID id.Receipt
	events.DaysCredit
	Reason string
	Prefix string // processes leave it empty
}

// IssueCreditNote takes a drafted note's part of its invoice back under its number; money that paid this part becomes
// credit. A number without a draft, or a second number of one note, becomes a voided document. Fails:
// account_not_found, and invoice_not_issued while the corrected invoice of a reissue is a draft.
type IssueCreditNote struct {
	SubscriberID id.Subscriber
	CreditNoteID id.Receipt
	Number       string
}

// CreditReceipt puts received money on the account, once for each receipt. It pays the named invoice, then the invoices
// by due date; the rest is credit. Fails: currency_mismatch, receipt_withdrawn, receipt_archived.
type CreditReceipt struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	ReceiptID    id.Receipt
	InvoiceID    id.Invoice // zero = oldest due first
	Number       string
	Channel      string
	Amount       money.Amount
	PaidAt       time.Time
	// Move is the number of earlier reattributions: 0 when matched, 1 at the first reattribution. It distinguishes
	// money that returns to an account from a repeated command.
	Move int
	// MatchedAt is when the receipt was matched or moved to this account. It proves to an account that has forgotten
	// old receipts that this one is not among them. Zero proves nothing.
	MatchedAt time.Time
	// Tax is the organization's present rule, as in TellCredit.
	Tax *events.TaxRule
}

// WithdrawReceipt takes credited money or a part of it back: the unused part first, then what it paid last. The
// invoices that it paid are due again (docs/rules/money.md#mistakes). Fails: receipt_not_found, receipt_archived,
// receipt_refunded, receipt_partly_withdrawn, withdrawal_too_large, currency_mismatch.
type WithdrawReceipt struct {
	SubscriberID id.Subscriber
	ReceiptID    id.Receipt
	WithdrawalID id.Withdrawal // of a part; a repeat with the same id takes nothing
	Amount       money.Amount  // zero: all that is left
	// Whole refuses unless the account still has all of the receipt: another account is to get it, and must not get
	// what a refund or an earlier withdrawal took.
	Whole  bool
	Reason string
}

// SetCreditAside takes unused money of a receipt out of the credit, because it is to be refunded. A known refund id
// changes nothing. Fails: receipt_not_found, receipt_archived, refund_too_large, currency_mismatch.
type SetCreditAside struct {
	SubscriberID id.Subscriber
	RefundID     id.Refund
	ReceiptID    id.Receipt
	Amount       money.Amount // zero: all of the receipt that is unused
	Reason       string
}

// ReturnSetAside makes the money of a failed refund credit again. A refund that has ended changes nothing. Fails:
// refund_not_found.
type ReturnSetAside struct {
	SubscriberID id.Subscriber
	RefundID     id.Refund
	Reason       string
}

// PayOutSetAside ends a refund that was completed: its money has left for good. A refund that has ended changes
// nothing. Fails: refund_not_found.
type PayOutSetAside struct {
	SubscriberID id.Subscriber
	RefundID     id.Refund
}

// WriteOffDebt gives up a debt, beginning with the invoice due first (docs/rules/money.md#write-off). A known id
// changes nothing. Fails: account_not_found, write_off_too_large, currency_mismatch.
type WriteOffDebt struct {
	SubscriberID id.Subscriber
	WriteOffID   id.Receipt
	Amount       money.Amount // zero: all that is due
	Reason       string
}

// ReservePrompt refuses a second open prompt of the same amount. Fails: payment_in_progress, invoice_not_found,
// invoice_not_issued, invoice_not_payable, amount_above_loss, currency_mismatch.
type ReservePrompt struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	PaymentID    id.Payment
	InvoiceID    id.Invoice // zero = oldest due first
	Amount       money.Amount
}

// ReleasePrompt ends a reservation. An unknown one changes nothing.
type ReleasePrompt struct {
	SubscriberID id.Subscriber
	PaymentID    id.Payment
}

func (DraftInvoice) CommandName() string       { return "billing.DraftInvoice" }
func (DraftPeriodInvoice) CommandName() string { return "billing.DraftPeriodInvoice" }
func (IssueInvoice) CommandName() string       { return "billing.IssueInvoice" }
func (VoidInvoice) CommandName() string        { return "billing.VoidInvoice" }
func (DraftCreditNote) CommandName() string    { return "billing.DraftCreditNote" }
func (CreditDays) CommandName() string         { return "billing.CreditDays" }
func (IssueCreditNote) CommandName() string    { return "billing.IssueCreditNote" }
func (CreditReceipt) CommandName() string      { return "billing.CreditReceipt" }
func (WithdrawReceipt) CommandName() string    { return "billing.WithdrawReceipt" }
func (ReservePrompt) CommandName() string      { return "billing.ReservePrompt" }
func (ReleasePrompt) CommandName() string      { return "billing.ReleasePrompt" }
func (SetCreditAside) CommandName() string     { return "billing.SetCreditAside" }
func (ReturnSetAside) CommandName() string     { return "billing.ReturnSetAside" }
func (PayOutSetAside) CommandName() string     { return "billing.PayOutSetAside" }
func (WriteOffDebt) CommandName() string       { return "billing.WriteOffDebt" }
func (TakeBackInvoice) CommandName() string    { return "billing.TakeBackInvoice" }
func (TellCredit) CommandName() string         { return "billing.TellCredit" }

func (c DraftInvoice) Target() Target       { return At(AccountCategory, c.SubscriberID) }
func (c DraftPeriodInvoice) Target() Target { return At(AccountCategory, c.SubscriberID) }
func (c IssueInvoice) Target() Target       { return At(AccountCategory, c.SubscriberID) }
func (c VoidInvoice) Target() Target        { return At(AccountCategory, c.SubscriberID) }
func (c DraftCreditNote) Target() Target    { return At(AccountCategory, c.SubscriberID) }
func (c CreditDays) Target() Target         { return At(AccountCategory, c.SubscriberID) }
func (c IssueCreditNote) Target() Target    { return At(AccountCategory, c.SubscriberID) }
func (c CreditReceipt) Target() Target      { return At(AccountCategory, c.SubscriberID) }
func (c WithdrawReceipt) Target() Target    { return At(AccountCategory, c.SubscriberID) }
func (c ReservePrompt) Target() Target      { return At(AccountCategory, c.SubscriberID) }
func (c ReleasePrompt) Target() Target      { return At(AccountCategory, c.SubscriberID) }
func (c SetCreditAside) Target() Target     { return At(AccountCategory, c.SubscriberID) }
func (c ReturnSetAside) Target() Target     { return At(AccountCategory, c.SubscriberID) }
func (c PayOutSetAside) Target() Target     { return At(AccountCategory, c.SubscriberID) }
func (c WriteOffDebt) Target() Target       { return At(AccountCategory, c.SubscriberID) }
func (c TakeBackInvoice) Target() Target    { return At(AccountCategory, c.SubscriberID) }
func (c TellCredit) Target() Target         { return At(AccountCategory, c.SubscriberID) }

func (DraftInvoice) accountCommand()       {}
func (DraftPeriodInvoice) accountCommand() {}
func (IssueInvoice) accountCommand()       {}
func (VoidInvoice) accountCommand()        {}
func (DraftCreditNote) accountCommand()    {}
func (CreditDays) accountCommand()         {}
func (IssueCreditNote) accountCommand()    {}
func (CreditReceipt) accountCommand()      {}
func (WithdrawReceipt) accountCommand()    {}
func (ReservePrompt) accountCommand()      {}
func (ReleasePrompt) accountCommand()      {}
func (SetCreditAside) accountCommand()     {}
func (ReturnSetAside) accountCommand()     {}
func (PayOutSetAside) accountCommand()     {}
func (WriteOffDebt) accountCommand()       {}
func (TakeBackInvoice) accountCommand()    {}
func (TellCredit) accountCommand()         {}

// Validate checks the form of every line and every tax component.
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

// check adds the faults of one line; field is the line's name in them.
func (l LineInput) check(f *failure.Faults, field string, c money.Currency) {
	f.Check(l.Description != "", field+".description", "is required")
	checkLine(f, field+".description", l.Description)
	f.Check(utf8.RuneCountInString(l.Description) <= MaxLineDescription, field+".description",
		"must be at most %d characters", MaxLineDescription)
	f.Check(quantityShape.MatchString(l.Quantity), field+".quantity",
		"must be a decimal number with at most 9 digits and 6 decimals")
	f.Check(l.UnitPrice.Currency == c, field+".unitPrice", "must be in %s", c)
}

// Validate checks form only.
func (c DraftPeriodInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(!c.SubscriptionID.IsZero(), "subscriptionId", "is required")
	f.Check(!c.DueAt.IsZero(), "dueAt", "is required")
	return f.Err()
}

// Validate checks form only.
func (c IssueInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Number != "", "number", "is required")
	return f.Err()
}

// Validate checks form only. Number may be empty.
func (c VoidInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c TakeBackInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(!c.CreditNoteID.IsZero(), "creditNoteId", "is required")
	f.Check(prefixShape.MatchString(c.Prefix), "prefix", "must be 2 to 6 capitals or digits")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only. An amount of zero is valid.
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

// Validate checks form only. The prefix is added later.
func (c CreditDays) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.CreditNoteID.IsZero(), "creditNoteId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Days > 0 && c.Days <= c.Of, "days", "must be from 1 to the days of the period")
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

// Validate checks form only. A part needs an id, so that a repeat takes nothing.
func (c WithdrawReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(!c.Amount.Negative(), "amount", "must be above zero")
	f.Check(c.Amount.IsZero() || !c.WithdrawalID.IsZero(), "withdrawalId", "is required with an amount")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c SetCreditAside) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.RefundID.IsZero(), "refundId", "is required")
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(!c.Amount.Negative(), "amount", "must be above zero")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c ReturnSetAside) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.RefundID.IsZero(), "refundId", "is required")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c PayOutSetAside) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.RefundID.IsZero(), "refundId", "is required")
	return f.Err()
}

// Validate checks form only.
func (c WriteOffDebt) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.WriteOffID.IsZero(), "writeOffId", "is required")
	f.Check(!c.Amount.Negative(), "amount", "must be above zero")
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

// checkReason requires a reason of at most maxReason characters.
func checkReason(f *failure.Faults, reason string) {
	f.Check(reason != "", "reason", "is required")
	f.Check(utf8.RuneCountInString(reason) <= maxReason, "reason", "must be at most %d characters", maxReason)
	checkLines(f, "reason", reason)
}

// ErrNoAccount is the failure for an account that does not exist or belongs to another organization.
func ErrNoAccount() error {
	return failure.NewNotFound("account_not_found", "There is no such account.")
}

// ErrNotDue is the failure for giving up more than is due.
func ErrNotDue() error {
	return failure.New(failure.Invalid, "write_off_too_large", "Only what is due can be written off.")
}

// ErrNoInvoice is the failure for an invoice that does not exist or belongs to another organization.
func ErrNoInvoice() error {
	return failure.NewNotFound("invoice_not_found", "There is no such invoice.")
}

// ErrNoRefund is the failure for a refund for which the account has set no money aside.
func ErrNoRefund() error {
	return failure.NewNotFound("refund_not_found", "There is no such refund.")
}
