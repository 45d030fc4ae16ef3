package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// CloseAccount ends the account of a customer who is removed, so that no money can come onto it any more: a payment
// that arrives later waits in suspense. An account that was never opened is opened for it. A repeat changes nothing.
// Fails: currency_mismatch, paid_since.
type CloseAccount struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	Currency     money.Currency
	Reason       string
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
