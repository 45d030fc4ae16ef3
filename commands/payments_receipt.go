package commands

import (
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// ReceiptCategory begins the names of the streams of receipts.
const ReceiptCategory = "receipt"

// Providers of receipts. Provider and number together identify money (docs/rules/money.md#receipts-once).
const (
	ProviderMobileMoney = "mobile_money"
	ProviderProvisional = "provisional"
	ProviderCash        = "cash"
)

// Channels of money. Clients see these texts. Source: docs/rules/money.md#receipt-endpoints.
const (
	ChannelPrompt      = "stk"
	ChannelPaybill     = "c2b"
	ChannelCash        = "cash"
	ChannelBillManager = "bill_manager"
)

// Kinds of sighting: the message that told the platform about the money.
const (
	SightingCallback     = "stk_callback"
	SightingConfirmation = "c2b_confirmation"
	SightingBillManager  = "bill_manager"
	SightingQuery        = "query"
	SightingCash         = "cash"
	SightingStatus       = "status"    // our own question about the transaction
	SightingPull         = "pull"      // the provider's list of payments, which we asked for
	SightingStatement    = "statement" // the provider's statement, which a person uploaded
	SightingOperator     = "operator"  // a person said which attempt's money it is
)

// Reasons for which money waits in suspense.
const (
	HeldNoMatch           = "no_match"
	HeldAmbiguous         = "ambiguous"
	HeldDisputed          = "disputed"
	HeldConflictingPrompt = "conflicting_prompt"
	HeldNotCredited       = "not_credited" // the account refused the money after it was matched
)

// maxReceipt is the largest receipt, in major units, so that sums of many receipts never overflow. It is far above
// every provider's limit.
const maxReceipt = 10_000_000_000

// checkMoney checks the amount of a receipt.
func checkMoney(f *failure.Faults, amount money.Amount) {
	f.Check(amount.Positive(), "amount", "must be above zero")
	f.Check(amount.Minor <= maxReceipt*amount.Currency.Unit(), "amount", "must be at most %d", maxReceipt)
}

// Ways in which the subscriber of a receipt was found.
const (
	MatchedByPrompt   = "prompt"
	MatchedByOperator = "operator"
	MatchedByCash     = "cash"
)

// ReceiptID identifies money of the mobile money provider (docs/rules/money.md#receipts-once). The environment is the
// provider's system, EnvironmentSandbox or EnvironmentProduction: both give out receipt numbers, and may give the same
// one. The number must be in capitals.
func ReceiptID(environment, number string) id.Receipt {
	return id.Derive[id.Receipt]("receipt", ProviderMobileMoney, environment, number)
}

// LegacyReceiptID is the id of receipts that were recorded before ids contained the environment. New ones never get it;
// whoever records money looks first whether the receipt exists under it.
func LegacyReceiptID(number string) id.Receipt {
	return id.Derive[id.Receipt]("receipt", ProviderMobileMoney, number)
}

// ReceiptIDs are those that money of the mobile money provider with a number, in capitals, can have.
func ReceiptIDs(number string) []id.Receipt {
	return []id.Receipt{
		ReceiptID(EnvironmentProduction, number), ReceiptID(EnvironmentSandbox, number), LegacyReceiptID(number),
	}
}

// ContradictionID identifies what one organization was told about a receipt that is another organization's. The zero
// organization is the platform.
func ContradictionID(receipt id.Receipt, org id.Organization) id.Receipt {
	return id.Derive[id.Receipt]("contradiction", receipt.String(), org.String())
}

// ProvisionalReceiptID identifies the receipt of a success that only a status query reported and that has no number yet
// (docs/rules/money.md#provisional-receipts).
func ProvisionalReceiptID(checkoutRequestID string) id.Receipt {
	return id.Derive[id.Receipt](ProviderProvisional, checkoutRequestID)
}

// CashReceiptID identifies cash by the reference in the organization's cash book (docs/rules/money.md#cash). "rb 7",
// "RB 7" and "RB  7" are the same entry.
func CashReceiptID(org id.Organization, reference string) id.Receipt {
	return LegacyCashReceiptID(org, CashReference(reference))
}

// CashReference is a reference as it is kept: one space between its words, and none around them.
func CashReference(typed string) string {
	return strings.Join(strings.Fields(inputtext.Code(typed)), " ")
}

// LegacyCashReceiptID is the id of cash that was recorded while spaces within a reference still made a difference. New
// cash never gets it, unless it is the same; whoever records cash looks first whether the receipt exists under it.
func LegacyCashReceiptID(org id.Organization, reference string) id.Receipt {
	return id.Derive[id.Receipt](ProviderCash, org.String(), strings.ToUpper(strings.TrimSpace(reference)))
}

// ReceiptCommand is a command to one receipt. Its id is derived from the identity of the money, so that the same money
// cannot come twice.
//
//sumtype:decl
type ReceiptCommand interface {
	Command
	receiptCommand()
}

// RecordReceipt reports a verified sighting of money. The first creates the receipt, an equal one is recorded once, and
// a contradicting one disputes it, once for each contradiction. A process never sends it, because it has personal data.
type RecordReceipt struct {
	ReceiptID         id.Receipt
	OrgID             id.Organization // zero: money on a platform shortcode without a known organization
	Provider          string
	Environment       string // EnvironmentSandbox or EnvironmentProduction
	ReceiptNumber     string // "" for a provisional receipt
	Channel           string
	Shortcode         string
	Amount            money.Amount
	PaidAt            time.Time
	PayerPhone        personal.Text
	PayerName         personal.Text
	BillRef           personal.Text
	InvoiceNumber     personal.Text // of a paybill's callback; usually empty
	ThirdPartyTransID string
	OrgAccountBalance string // as the provider wrote it
	CheckoutRequestID string
	PaymentID         id.Payment // the attempt, when it is certain; else zero
	Provisional       bool
	Contradicts       id.Receipt // the receipt of the same number that another organization has; else zero
	Sighting          string
}

// RecordCash reports money that a member of staff took for a subscriber (docs/rules/money.md#cash). Fails:
// reference_used, reference_taken_back.
type RecordCash struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	Amount       money.Amount
	Reference    string
	Kind         string        // one of CashKinds
	ReceivedOn   calendar.Date // local day in the organization's zone, in the past or today
}

// CashKinds name the forms of money that reaches the organization otherwise than through the provider.
var CashKinds = []string{"cash", "cheque", "bank_transfer", "card", "other"}

// MatchReceipt reports the subscriber that the matching rules found. Fails: receipt_not_found, receipt_disputed,
// receipt_matched, receipt_reversed.
type MatchReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice // zero = pay the invoices by due date
	PaymentID    id.Payment
	By           string // MatchedByPrompt, or the name of the rule
}

// HoldReceipt puts money into suspense that has no place yet, or money that was matched to an account which refused it.
// Fails: receipt_not_found.
type HoldReceipt struct {
	ReceiptID    id.Receipt
	Reason       string
	SubscriberID id.Subscriber // whose account refused the money; zero unless Reason is HeldNotCredited
}

// ClaimProvisional reports the real receipt of a provisional one. Fails: receipt_not_found, receipt_not_provisional,
// receipt_claimed, receipt_reversed.
type ClaimProvisional struct {
	ReceiptID     id.Receipt // the provisional one
	ClaimedBy     id.Receipt
	ReceiptNumber string
}

// AbsorbReceipt reports that another receipt already carries the credit of this money. Fails: receipt_not_found.
type AbsorbReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	PaymentID    id.Payment
	CarriedBy    id.Receipt // the receipt that carries the credit
}

// MarkUnclaimed raises the alarm about a provisional receipt that no real receipt claimed within 48 hours. Fails:
// receipt_not_found.
type MarkUnclaimed struct{ ReceiptID id.Receipt }

// MarkStalled reports that the money of a receipt is not where the receipt says, so that its process tries again. The
// longer it stays so, the rarer it is recorded, down to once a day. Fails: receipt_not_found.
type MarkStalled struct {
	ReceiptID id.Receipt
	HeldBy    id.Subscriber // whose account has the money; zero = none has it
}

// AssignReceipt gives unmatched money on a platform shortcode to an organization, also when it was given to another one
// by mistake. Fails: receipt_not_found, receipt_matched, receipt_assigned, receipt_being_matched, receipt_reversed,
// receipt_refunded, currency_mismatch.
type AssignReceipt struct {
	ReceiptID id.Receipt
	OrgID     id.Organization
	From      id.Organization // from which it is taken; zero = it must belong to none
	Currency  money.Currency  // of the organization's accounts; "" = that of the money, whose attempt they had
}

// AttributeReceipt gives money in suspense to a subscriber, by a person. Fails: receipt_not_found, receipt_matched,
// receipt_reversed, receipt_absorbed, receipt_of_other_payment.
type AttributeReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	PaymentID    id.Payment // the attempt that the person names; zero = what the receipt knows counts alone
}

// NameAttempt says which attempt's money in suspense is. The attempt then takes it as its receipt, and a provisional
// receipt of the attempt keeps the credit. Fails: receipt_not_found, receipt_matched, receipt_reversed,
// receipt_absorbed, receipt_disputed, receipt_of_other_payment.
type NameAttempt struct {
	ReceiptID id.Receipt
	OrgID     id.Organization
	PaymentID id.Payment
}

// ReverseReceipt takes the money back from suspense or from the account (docs/rules/money.md#mistakes). Fails:
// receipt_not_found, receipt_absorbed.
type ReverseReceipt struct {
	ReceiptID id.Receipt
	OrgID     id.Organization
	Reason    string
}

// ReattributeReceipt moves the money to another subscriber of the organization (docs/rules/money.md#mistakes). Fails:
// receipt_not_found, receipt_absorbed, receipt_not_matched, receipt_of_other_payment.
type ReattributeReceipt struct {
	ReceiptID    id.Receipt
	OrgID        id.Organization
	SubscriberID id.Subscriber
	PaymentID    id.Payment // as in AttributeReceipt
	Reason       string
}

// SetReceiptAside lets all of the money in suspense wait for a refund. Fails: receipt_not_found, receipt_being_matched,
// receipt_matched, receipt_reversed, receipt_absorbed, receipt_refunded, receipt_disputed, refund_attempt_unclear,
// refund_whole_only.
type SetReceiptAside struct {
	ReceiptID id.Receipt
	OrgID     id.Organization
	RefundID  id.Refund
	Amount    money.Amount
}

// ReturnReceipt ends a refund of money in suspense that was not paid. Fails: receipt_not_found, refund_not_found.
type ReturnReceipt struct {
	ReceiptID id.Receipt
	RefundID  id.Refund
}

// RefundReceipt reports that money of the receipt went back to the payer. It is recorded once for each refund, wherever
// the receipt is by then. Fails: receipt_not_found.
type RefundReceipt struct {
	ReceiptID    id.Receipt
	RefundID     id.Refund
	SubscriberID id.Subscriber // whose account paid it out; zero = it was in suspense
	Amount       money.Amount
}

func (RecordReceipt) CommandName() string      { return "payments.RecordReceipt" }
func (RecordCash) CommandName() string         { return "payments.RecordCash" }
func (MatchReceipt) CommandName() string       { return "payments.MatchReceipt" }
func (HoldReceipt) CommandName() string        { return "payments.HoldReceipt" }
func (ClaimProvisional) CommandName() string   { return "payments.ClaimProvisional" }
func (AbsorbReceipt) CommandName() string      { return "payments.AbsorbReceipt" }
func (MarkUnclaimed) CommandName() string      { return "payments.MarkUnclaimed" }
func (MarkStalled) CommandName() string        { return "payments.MarkStalled" }
func (AssignReceipt) CommandName() string      { return "payments.AssignReceipt" }
func (AttributeReceipt) CommandName() string   { return "payments.AttributeReceipt" }
func (NameAttempt) CommandName() string        { return "payments.NameAttempt" }
func (ReverseReceipt) CommandName() string     { return "payments.ReverseReceipt" }
func (ReattributeReceipt) CommandName() string { return "payments.ReattributeReceipt" }
func (SetReceiptAside) CommandName() string    { return "payments.SetReceiptAside" }
func (ReturnReceipt) CommandName() string      { return "payments.ReturnReceipt" }
func (RefundReceipt) CommandName() string      { return "payments.RefundReceipt" }

func (c RecordReceipt) Target() Target      { return At(ReceiptCategory, c.ReceiptID) }
func (c RecordCash) Target() Target         { return At(ReceiptCategory, c.ReceiptID) }
func (c MatchReceipt) Target() Target       { return At(ReceiptCategory, c.ReceiptID) }
func (c HoldReceipt) Target() Target        { return At(ReceiptCategory, c.ReceiptID) }
func (c ClaimProvisional) Target() Target   { return At(ReceiptCategory, c.ReceiptID) }
func (c AbsorbReceipt) Target() Target      { return At(ReceiptCategory, c.ReceiptID) }
func (c MarkUnclaimed) Target() Target      { return At(ReceiptCategory, c.ReceiptID) }
func (c MarkStalled) Target() Target        { return At(ReceiptCategory, c.ReceiptID) }
func (c AssignReceipt) Target() Target      { return At(ReceiptCategory, c.ReceiptID) }
func (c AttributeReceipt) Target() Target   { return At(ReceiptCategory, c.ReceiptID) }
func (c NameAttempt) Target() Target        { return At(ReceiptCategory, c.ReceiptID) }
func (c ReverseReceipt) Target() Target     { return At(ReceiptCategory, c.ReceiptID) }
func (c ReattributeReceipt) Target() Target { return At(ReceiptCategory, c.ReceiptID) }
func (c SetReceiptAside) Target() Target    { return At(ReceiptCategory, c.ReceiptID) }
func (c ReturnReceipt) Target() Target      { return At(ReceiptCategory, c.ReceiptID) }
func (c RefundReceipt) Target() Target      { return At(ReceiptCategory, c.ReceiptID) }

// Validate checks form: every receipt except a provisional one has a number.
func (c RecordReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	checkMoney(&f, c.Amount)
	f.Check((c.ReceiptNumber == "") == c.Provisional, "receiptNumber",
		"is required, except for a provisional receipt, which must have none")
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
	f.Check(c.Kind == "" || slices.Contains(CashKinds, c.Kind), "kind",
		"must be cash, cheque, bank_transfer, card or other")
	return f.Err()
}

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
func (c MarkStalled) Validate() error {
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

// Validate checks form.
func (c NameAttempt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero() && !c.OrgID.IsZero(), "receiptId", "is required")
	f.Check(!c.PaymentID.IsZero(), "paymentId", "is required")
	return f.Err()
}

// Validate checks form. It also checks the reason as strictly as the account does: if the account refused it later, the
// money would stay there.
func (c ReverseReceipt) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	if err := f.Err(); err != nil {
		return err
	}
	return requireReason(c.Reason)
}

// Validate checks form. It also checks the reason as strictly as the account does: if the account refused it later, the
// money would stay there.
func (c ReattributeReceipt) Validate() error {
	if err := requireReason(c.Reason); err != nil {
		return err
	}
	return forSubscriber(c.ReceiptID, c.OrgID, c.SubscriberID)
}

// Validate checks form.
func (c SetReceiptAside) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	checkMoney(&f, c.Amount)
	if err := f.Err(); err != nil {
		return err
	}
	return ofRefund(c.ReceiptID, c.RefundID)
}

// Validate checks form.
func (c ReturnReceipt) Validate() error { return ofRefund(c.ReceiptID, c.RefundID) }

// Validate checks form.
func (c RefundReceipt) Validate() error {
	var f failure.Faults
	checkMoney(&f, c.Amount)
	if err := f.Err(); err != nil {
		return err
	}
	return ofRefund(c.ReceiptID, c.RefundID)
}

// ofRefund requires the ids of receipt and refund.
func ofRefund(receipt id.Receipt, refund id.Refund) error {
	var f failure.Faults
	f.Check(!receipt.IsZero(), "receiptId", "is required")
	f.Check(!refund.IsZero(), "refundId", "is required")
	return f.Err()
}

// forSubscriber requires the ids of receipt, organization and subscriber.
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
func (MarkStalled) receiptCommand()        {}
func (AssignReceipt) receiptCommand()      {}
func (AttributeReceipt) receiptCommand()   {}
func (NameAttempt) receiptCommand()        {}
func (ReverseReceipt) receiptCommand()     {}
func (ReattributeReceipt) receiptCommand() {}
func (SetReceiptAside) receiptCommand()    {}
func (ReturnReceipt) receiptCommand()      {}
func (RefundReceipt) receiptCommand()      {}

// ErrNoReceipt is the failure for a receipt that does not exist or belongs to another organization.
func ErrNoReceipt() error {
	return failure.NewNotFound("receipt_not_found", "There is no such receipt.")
}

// ErrOtherAttempt is the failure for money that is known to be another attempt's than a person says.
func ErrOtherAttempt() error {
	return failure.NewConflict("receipt_of_other_payment",
		"This money is that of another payment attempt: the provider or a person has named it.")
}
