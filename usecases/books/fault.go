package bookscases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Code names one kind of fault. Codes never change: alarms and docs/books.md use them.
type Code string

// The codes of faults in accounts.
const (
	BalanceDiffers      Code = "balance_differs"
	BooksToldWrong      Code = "books_told_wrong"
	CreditBesideDebt    Code = "credit_beside_debt"
	ReceiptOverspent    Code = "receipt_overspent"
	InvoiceDueDiffers   Code = "invoice_due_differs"
	InvoiceStateDiffers Code = "invoice_state_differs"
	StreamUnreadable    Code = "stream_unreadable"
)

// The codes of faults in receipts and prompts.
const (
	ReceiptCreditedTwice   Code = "receipt_credited_twice"
	PaymentCreditedTwice   Code = "payment_credited_twice"
	ReceiptExceeded        Code = "receipt_exceeded"
	ReceiptMisplaced       Code = "receipt_misplaced"
	ReceiptAmountDiffers   Code = "receipt_amount_differs"
	ReceiptLost            Code = "receipt_lost"
	ReceiptUnknown         Code = "receipt_unknown"
	RefundDiffers          Code = "refund_differs"
	CarrierMissing         Code = "receipt_carrier_missing"
	ReceiptWaitsForPayer   Code = "receipt_waits_for_payer"
	ReceiptWaitsForCredit  Code = "receipt_waits_for_credit"
	PromptWithoutVerdict   Code = "prompt_without_verdict"
	PromptWithoutReceipt   Code = "prompt_without_receipt"
	PromptAmountDiffers    Code = "prompt_amount_differs"
	ReceiptUnknownToPrompt Code = "receipt_unknown_to_prompt"
	ReservationStale       Code = "reservation_without_prompt"
)

// The codes of faults in subscriptions, numbers and claims.
const (
	PaidUntilDiffers       Code = "paid_until_differs"
	PeriodLengthDiffers    Code = "period_length_differs"
	PeriodsOverlap         Code = "periods_overlap"
	PeriodStateDiffers     Code = "period_state_differs"
	PeriodWithoutInvoice   Code = "period_without_invoice"
	InvoiceWithoutPeriod   Code = "invoice_without_period"
	PeriodMissing          Code = "period_missing"
	CreditWithoutService   Code = "credit_without_service"
	DebtWithoutService     Code = "debt_without_service"
	NumberGap              Code = "number_gap"
	NumberRepeated         Code = "number_repeated"
	NumberWithoutDocument  Code = "number_without_document"
	DocumentWithoutNumber  Code = "document_without_number"
	ClaimWithoutOwner      Code = "claim_without_owner"
	ClaimMissing           Code = "claim_missing"
	ClaimOfSomebodyElse    Code = "claim_of_somebody_else"
	NumberOfOtherDocument  Code = "number_of_other_document"
	InvoiceOfOtherCustomer Code = "invoice_of_other_customer"
)

// meaning is a code with the sentence that the command prints beside it.
type meaning struct {
	code Code
	text string
}

// meanings lists every code. docs/books.md has a section for each.
func meanings() []meaning {
	return []meaning{
		{BalanceDiffers, "The lines of the statement do not sum to the balance of the account."},
		{BooksToldWrong, "An event told other sums of the account than its money had after it."},
		{CreditBesideDebt, "The account has credit although something is owed on it."},
		{ReceiptOverspent, "More of a receipt, credit note or write-off was used than it has."},
		{InvoiceDueDiffers, "What is due on an invoice is not its total less money, credit notes and write-offs."},
		{InvoiceStateDiffers, "An invoice counts as paid while money is due on it, or the other way round."},
		{StreamUnreadable, "A closed stream passed on a state that the program cannot read."},
		{ReceiptCreditedTwice, "The money of one receipt was credited more than once."},
		{PaymentCreditedTwice, "The money of one prompt is on accounts by its provisional and by its real receipt."},
		{ReceiptExceeded, "More of a receipt is on accounts, refunded or withdrawn in parts than it has."},
		{ReceiptMisplaced, "An account has money of a receipt whose place is elsewhere."},
		{ReceiptAmountDiffers, "An account credited another amount than the receipt has."},
		{ReceiptLost, "The account gave a receipt back, but the receipt is still the account's."},
		{ReceiptUnknown, "An account has money of a receipt that the organization does not have."},
		{RefundDiffers, "Accounts paid more or less of a receipt out for refunds than the receipt says."},
		{CarrierMissing, "A receipt was absorbed by one that does not carry its money."},
		{ReceiptWaitsForPayer, "Nobody has found out whose money a receipt is, and it is not in suspense."},
		{ReceiptWaitsForCredit, "A receipt has a payer whose account has not credited it."},
		{PromptWithoutVerdict, "A prompt should have ended, and has no verdict."},
		{PromptWithoutReceipt, "A prompt succeeded with a receipt that does not exist."},
		{PromptAmountDiffers, "A prompt and its receipt have different amounts."},
		{ReceiptUnknownToPrompt, "A receipt was matched by a prompt that does not know it."},
		{ReservationStale, "An account reserves the amount of a prompt that has ended or never began."},
		{PaidUntilDiffers, "The paid time of a subscription is not the end of its last paid period."},
		{PeriodLengthDiffers, "A paid period is longer or shorter than what was bought."},
		{PeriodsOverlap, "Two paid periods of a subscription give the same time."},
		{PeriodStateDiffers, "A period and its invoice disagree about whether it is paid."},
		{PeriodWithoutInvoice, "A period is due and has no invoice."},
		{InvoiceWithoutPeriod, "An invoice is for a period that its subscription does not have."},
		{PeriodMissing, "The last period of a postpaid subscription is over, and the next one is not due."},
		{CreditWithoutService, "A subscription without service has no open period although the credit covers one."},
		{DebtWithoutService, "Money is due for a period that never began because its subscription ended."},
		{InvoiceOfOtherCustomer, "An invoice for a period is on another account than the subscriber's."},
		{NumberGap, "A series of numbers has a gap."},
		{NumberRepeated, "A number was granted twice, or is on two documents."},
		{NumberWithoutDocument, "A granted number is on no document."},
		{NumberOfOtherDocument, "A number is on another document than the one that it was granted to."},
		{DocumentWithoutNumber, "A document has a number that was never granted."},
		{ClaimWithoutOwner, "A unique value is reserved for something that does not exist or does not use it."},
		{ClaimMissing, "A unique value is in use and not reserved."},
		{ClaimOfSomebodyElse, "A unique value is in use and reserved for somebody else."},
	}
}

// Codes lists all codes of faults.
func Codes() []Code {
	var list []Code
	for _, m := range meanings() {
		list = append(list, m.code)
	}
	return list
}

// Meaning is the sentence that explains a code; "" for an unknown one.
func (c Code) Meaning() string {
	for _, m := range meanings() {
		if m.code == c {
			return m.text
		}
	}
	return ""
}

// About is one thing that a fault concerns, such as an account.
type About struct {
	Kind string // such as "account"; the account's id is the subscriber's
	ID   id.Any
}

// String is the kind and the id.
func (a About) String() string { return a.Kind + " " + a.ID.String() }

// about names one thing.
func about[I ~[16]byte](kind string, of I) About { return About{kind, id.As[id.Any](of)} }

// Fault is one contradiction in the books. It has no personal text.
type Fault struct {
	Code   Code
	About  []About
	Detail string // amounts, numbers and instants, for the person who looks at it
}

// String is the fault in one line, without its meaning.
func (f Fault) String() string {
	parts := make([]string, 0, len(f.About))
	for _, a := range f.About {
		parts = append(parts, a.String())
	}
	return fmt.Sprintf("%s: %s: %s", f.Code, strings.Join(parts, ", "), f.Detail)
}

// findings collects faults. Something that is younger than the patience is not judged yet: work on it may be under way.
type findings struct {
	list   []Fault
	before time.Time // what changed after this instant is not judged
}

// add notes a fault.
func (f *findings) add(code Code, detail string, on ...About) {
	f.list = append(f.list, Fault{Code: code, About: on, Detail: detail})
}

// old reports whether something that has been so since an instant should have gone on long ago.
func (f *findings) old(since time.Time) bool { return !since.After(f.before) }

// sorted gives the faults in an order that does not depend on chance.
func (f *findings) sorted() []Fault {
	slices.SortFunc(f.list, func(a, b Fault) int { return cmp.Compare(a.String(), b.String()) })
	return f.list
}
