package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// CloseAccount ends the account of a customer who is removed, so that no money can come onto it any more: a payment
// that arrives later waits in suspense. An account that was never opened is opened for it. A repeat changes nothing.
// Fails: currency_mismatch, paid_since; with Forget as ErrMoneyOpen says, and account_closed for one that is removed
// with its import.
type CloseAccount struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	Currency     money.Currency
	Reason       string
	Forget       bool // the customer is forgotten when the account is closed, and so nothing may be open
}

// MoneyOpen says what keeps a customer from being forgotten.
type MoneyOpen string

// What can be open on an account, in the order in which it is told.
const (
	OpenBalance  MoneyOpen = "forget_balance_owed"
	OpenCredit   MoneyOpen = "forget_credit_left"
	OpenPrompt   MoneyOpen = "forget_prompt_open"
	OpenRefund   MoneyOpen = "forget_refund_open"
	OpenDraft    MoneyOpen = "forget_draft_open"
	OpenReceipt  MoneyOpen = "forget_receipt_in_doubt"
	OpenApproval MoneyOpen = "forget_approval_open"
	OpenService  MoneyOpen = "forget_service_running"
)

// ErrMoneyOpen is the failure for a customer who cannot be forgotten yet. It says what to do.
func ErrMoneyOpen(open MoneyOpen) error {
	switch open {
	case OpenBalance:
		return failure.NewConflict("forget_balance_owed",
			"The customer owes money. Record the payment, void or credit the invoices, or write the debt off.")
	case OpenCredit:
		return failure.NewConflict("forget_credit_left",
			"There is credit on the account. Refund it, or move the money where it belongs.")
	case OpenPrompt:
		return failure.NewConflict("forget_prompt_open",
			"A phone was asked to pay, and the outcome is not known. Wait until the payment has ended.")
	case OpenRefund:
		return failure.NewConflict("forget_refund_open", "A refund has not ended. Pay it out, or reject it.")
	case OpenDraft:
		return failure.NewConflict("forget_draft_open",
			"An invoice or a credit note has no number yet. Wait for its number, or void the draft.")
	case OpenReceipt:
		return failure.NewConflict("forget_receipt_in_doubt",
			"A payment of the customer is disputed or not booked yet. Settle it first.")
	case OpenApproval:
		return failure.NewConflict("forget_approval_open",
			"An act about the customer waits for a second person. Have it approved, refused or withdrawn.")
	case OpenService:
		return failure.NewConflict("forget_service_running", "A service has not ended. End it first.")
	}
	return nil
}

func (CloseAccount) CommandName() string { return "billing.CloseAccount" }
func (CloseAccount) accountCommand()     {}

// Target is the account of the subscriber.
func (c CloseAccount) Target() Target { return At(AccountCategory, c.SubscriberID) }

// ErrAccountClosed is the failure for money and invoices of a customer who is removed.
func ErrAccountClosed() error {
	return failure.NewConflict("account_closed", "The account is closed: its customer is removed.")
}

// Validate checks form only.
func (c CloseAccount) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Currency.Known(), "currency", "must be a known currency")
	checkReason(&f, c.Reason)
	return f.Err()
}
