package commands

import (
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// ReceiptCategory is the category of the streams of receipts.
const ReceiptCategory = "receipt"

// Providers of receipts: with the number they are the identity of money (docs/rules/money.md#receipts-once).
const (
	ProviderMobileMoney = "mobile_money"
	ProviderProvisional = "provisional"
	ProviderCash        = "cash"
)

// Channels of money. Source: docs/rules/money.md#receipt-endpoints.
const (
	ChannelPrompt      = "stk"
	ChannelPaybill     = "c2b"
	ChannelCash        = "cash"
	ChannelBillManager = "bill_manager"
)

// Ways in which money was seen.
const (
	SightingCallback     = "stk_callback"
	SightingConfirmation = "c2b_confirmation"
	SightingBillManager  = "bill_manager"
	SightingQuery        = "query"
	SightingCash         = "cash"
)

// Reasons for which money waits in the suspense inbox.
const (
	HeldNoMatch           = "no_match"
	HeldAmbiguous         = "ambiguous"
	HeldDisputed          = "disputed"
	HeldConflictingPrompt = "conflicting_prompt"
)

// maxReceipt keeps sums of many receipts far from overflow, in major units: no provider and no cash box takes as much.
const maxReceipt = 10_000_000_000

// checkMoney checks an amount that came.
func checkMoney(f *failure.Faults, amount money.Amount) {
	f.Check(amount.Positive(), "amount", "must be more than nothing")
	f.Check(amount.Minor <= maxReceipt*amount.Currency.Unit(), "amount", "must be at most %d", maxReceipt)
}

// Ways in which the owner of money was found.
const (
	MatchedByPrompt   = "prompt"
	MatchedByOperator = "operator"
	MatchedByCash     = "cash"
)

// ReceiptID is the identity of money of the mobile money provider (docs/rules/money.md#receipts-once). Number is in
// capitals.
func ReceiptID(number string) id.Receipt {
	return id.Derive[id.Receipt]("receipt", ProviderMobileMoney, number)
}

// ProvisionalReceiptID is the receipt of a success known by query only, which has no number
// (docs/rules/money.md#provisional-receipts).
func ProvisionalReceiptID(checkoutRequestID string) id.Receipt {
	return id.Derive[id.Receipt](ProviderProvisional, checkoutRequestID)
}

// CashReceiptID is the identity of money taken by hand (docs/rules/money.md#cash). "rb-7" and "RB-7" are one entry of a
// cash book.
func CashReceiptID(org id.Organization, reference string) id.Receipt {
	return id.Derive[id.Receipt](ProviderCash, org.String(), strings.ToUpper(reference))
}

// ReceiptCommand is a command to one receipt.
//
//sumtype:decl
type ReceiptCommand interface {
	Command
	receiptCommand()
}

// RecordReceipt reports a verified sighting of money: the first makes the receipt, others are noted, a contradicting
// one disputes it. Never emitted by a process: it names people.
type RecordReceipt struct {
	ReceiptID         id.Receipt
	OrgID             id.Organization // zero: on a platform shortcode, of nobody yet
	Provider          string
	ReceiptNumber     string // "" for a provisional one
	Channel           string
	Shortcode         string
	Amount            money.Amount
	PaidAt            time.Time
	PayerPhone        personal.Text
	PayerName         personal.Text
	BillRef           personal.Text
	CheckoutRequestID string
	PaymentID         id.Payment // the attempt, when it is known beyond doubt
	Provisional       bool
	Sighting          string
}

// RecordCash reports money taken by hand for a subscriber (docs/rules/money.md#cash). Fails: reference_used.
type RecordCash struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	Amount       money.Amount
	Reference    string
}

// MatchReceipt reports whose money it is, as found by the rules. Fails: receipt_not_found, receipt_disputed,
// receipt_matched, receipt_reversed.
type MatchReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice // zero = oldest due
	PaymentID    id.Payment
	By           string
}

// HoldReceipt puts money into the suspense inbox. Fails: receipt_not_found.
type HoldReceipt struct {
	ReceiptID id.Receipt
	Reason    string
}

// ClaimProvisional reports the real receipt of a provisional one. Fails: receipt_not_found, receipt_reversed.
type ClaimProvisional struct {
	ReceiptID     id.Receipt // the provisional one
	ClaimedBy     id.Receipt
	ReceiptNumber string
}

// AbsorbReceipt reports that this money is credited already by another receipt. Fails: receipt_not_found.
type AbsorbReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	PaymentID    id.Payment
	CarriedBy    id.Receipt // the receipt that is credited
}

// MarkUnclaimed raises the alarm about a provisional receipt that nothing claimed for 48 hours. Fails:
// receipt_not_found.
type MarkUnclaimed struct{ ReceiptID id.Receipt }

// AssignReceipt gives unmatched money on a platform shortcode to an organization. Fails: receipt_not_found,
// receipt_matched, receipt_assigned, receipt_reversed.
type AssignReceipt struct {
	ReceiptID id.Receipt
	OrgID     id.Organization
}

// AttributeReceipt gives money in suspense to a subscriber, by hand. Fails: receipt_not_found, receipt_matched,
// receipt_reversed, receipt_absorbed.
type AttributeReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
}

// ReverseReceipt takes the money back, wherever it went (docs/rules/money.md#mistakes). Fails: receipt_not_found,
// receipt_absorbed.
type ReverseReceipt struct {
	ReceiptID id.Receipt
	OrgID     id.Organization
	Reason    string
}

// ReattributeReceipt moves the money to another subscriber (docs/rules/money.md#mistakes). Fails: receipt_not_found,
// receipt_not_matched.
type ReattributeReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	Reason       string
}

// CommandName is the stable name.
func (RecordReceipt) CommandName() string { return "payments.RecordReceipt" }

// CommandName is the stable name.
func (RecordCash) CommandName() string { return "payments.RecordCash" }

// CommandName is the stable name.
func (MatchReceipt) CommandName() string { return "payments.MatchReceipt" }

// CommandName is the stable name.
func (HoldReceipt) CommandName() string { return "payments.HoldReceipt" }

// CommandName is the stable name.
func (ClaimProvisional) CommandName() string { return "payments.ClaimProvisional" }

// CommandName is the stable name.
func (AbsorbReceipt) CommandName() string { return "payments.AbsorbReceipt" }

// CommandName is the stable name.
func (MarkUnclaimed) CommandName() string { return "payments.MarkUnclaimed" }

// CommandName is the stable name.
func (AssignReceipt) CommandName() string { return "payments.AssignReceipt" }

// CommandName is the stable name.
func (AttributeReceipt) CommandName() string { return "payments.AttributeReceipt" }

// CommandName is the stable name.
func (ReverseReceipt) CommandName() string { return "payments.ReverseReceipt" }

// CommandName is the stable name.
func (ReattributeReceipt) CommandName() string { return "payments.ReattributeReceipt" }

// Target is the receipt.
func (c RecordReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c RecordCash) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c MatchReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c HoldReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the provisional receipt.
func (c ClaimProvisional) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c AbsorbReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c MarkUnclaimed) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c AssignReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c AttributeReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c ReverseReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Target is the receipt.
func (c ReattributeReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }

// Validate checks form: only a provisional receipt has no number.
func (c RecordReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	checkMoney(&f, c.Amount)
	f.Check((c.ReceiptNumber == "") == c.Provisional, "receiptNumber", "belongs to every receipt but a provisional one")
	f.Check(!c.Provisional || !c.PaymentID.IsZero(), "paymentId", "is required of a provisional receipt")
	f.Check(c.Channel != "" && c.Sighting != "", "channel", "is required")
	return f.Err()
}

// Validate checks form.
func (c RecordCash) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero() && !c.OrgID.IsZero(), "receiptId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	checkMoney(&f, c.Amount)
	f.Check(c.Reference != "", "reference", "is required")
	return f.Err()
}

// Validate checks form.
func (c MatchReceipt) Validate() error { return forSubscriber(c.ReceiptID, c.OrgID, c.SubscriberID) }

// Validate checks form.
func (c HoldReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(c.Reason != "", "reason", "is required")
	return f.Err()
}

// Validate checks form.
func (c ClaimProvisional) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero() && !c.ClaimedBy.IsZero(), "receiptId", "is required")
	return f.Err()
}

// Validate checks form.
func (c AbsorbReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero() && !c.CarriedBy.IsZero(), "receiptId", "is required")
	return f.Err()
}

// Validate checks form.
func (c MarkUnclaimed) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	return f.Err()
}

// Validate checks form.
func (c AssignReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	return f.Err()
}

// Validate checks form.
func (c AttributeReceipt) Validate() error {
	return forSubscriber(c.ReceiptID, c.OrgID, c.SubscriberID)
}

// Validate checks form. The reason goes on to the account, which must not refuse it: the money would stay there.
func (c ReverseReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	if err := f.Err(); err != nil {
		return err
	}
	return requireReason(c.Reason)
}

// Validate checks form. The reason goes on to the account, which must not refuse it: the money would stay where it was.
func (c ReattributeReceipt) Validate() error {
	if err := requireReason(c.Reason); err != nil {
		return err
	}
	return forSubscriber(c.ReceiptID, c.OrgID, c.SubscriberID)
}

// forSubscriber checks that money, organization and subscriber are named.
func forSubscriber(r id.Receipt, o id.Organization, s id.Subscriber) error {
	var f failure.Faults
	f.Check(!r.IsZero(), "receiptId", "is required")
	f.Check(!o.IsZero(), "orgId", "is required")
	f.Check(!s.IsZero(), "subscriberId", "is required")
	return f.Err()
}

func (RecordReceipt) receiptCommand()      {}
func (RecordCash) receiptCommand()         {}
func (MatchReceipt) receiptCommand()       {}
func (HoldReceipt) receiptCommand()        {}
func (ClaimProvisional) receiptCommand()   {}
func (AbsorbReceipt) receiptCommand()      {}
func (MarkUnclaimed) receiptCommand()      {}
func (AssignReceipt) receiptCommand()      {}
func (AttributeReceipt) receiptCommand()   {}
func (ReverseReceipt) receiptCommand()     {}
func (ReattributeReceipt) receiptCommand() {}

// ErrNoReceipt is the answer for a receipt that does not exist, and for another organization's.
func ErrNoReceipt() error {
	return failure.NewNotFound("receipt_not_found", "There is no such receipt.")
}
