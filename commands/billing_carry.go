package commands

import (
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// CarryBalanceOver records what a customer owed (positive), or had paid ahead (negative), in the system that the
// customer comes from. It acts once for each account; zero changes nothing. Fails: currency_mismatch.
type CarryBalanceOver struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	Amount       money.Amount
	DueOn        calendar.Date // of a debt, in the organization's zone
}

func (CarryBalanceOver) CommandName() string { return "billing.CarryBalanceOver" }
func (CarryBalanceOver) accountCommand()     {}

// Target is the account of the subscriber.
func (c CarryBalanceOver) Target() Target { return At(AccountCategory, c.SubscriberID) }

// Validate checks form only.
func (c CarryBalanceOver) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Amount.Currency.Known(), "amount", "must be in a known currency")
	f.Check(!c.Amount.Positive() || !c.DueOn.IsZero(), "dueDate", "is required")
	return f.Err()
}
