package commands

import (
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Limits of extras.
const (
	MaxExtras       = 20 // of a subscription, over ones not counted
	MaxExtraPeriods = 120
	wholePercent    = 10_000 // basis points
)

// AddExtra adds a charge, an add-on or a discount to the next invoices of a subscription. One with an id that is known
// changes nothing. Fails: subscription_not_found, subscription_ended, currency_mismatch, too_many_extras,
// invalid_input for a last day that is over.
type AddExtra struct {
	SubscriptionID id.Subscription
	Extra          events.Extra
	Description    personal.Text
}

// RemoveExtra takes an extra off the next invoices. One that is removed changes nothing. Fails: subscription_not_found,
// extra_not_found.
type RemoveExtra struct {
	SubscriptionID id.Subscription
	ExtraID        id.Extra
	Kind           events.ExtraKind // that it must have
}

func (AddExtra) CommandName() string     { return "subscribers.AddExtra" }
func (RemoveExtra) CommandName() string  { return "subscribers.RemoveExtra" }
func (AddExtra) subscriptionCommand()    {}
func (RemoveExtra) subscriptionCommand() {}

func (c AddExtra) Target() Target    { return At(SubscriptionCategory, c.SubscriptionID) }
func (c RemoveExtra) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }

// Validate checks form only.
func (c AddExtra) Validate() error {
	var f failure.Faults
	e, text := c.Extra, c.Description.Reveal()
	f.Check(!e.ID.IsZero(), "id", "is required")
	f.Check(shows(text), "description", "is required")
	checkLine(&f, "description", text)
	f.Check(utf8.RuneCountInString(text) <= MaxLineDescription, "description", "must be at most %d characters",
		MaxLineDescription)
	switch {
	case e.Kind == events.DiscountExtra && e.BasisPoints != 0:
		f.Check(e.Amount == money.Amount{}, "amount", "must be absent beside percent")
		f.Check(e.BasisPoints > 0 && e.BasisPoints <= wholePercent, "percent", "must be above 0 and at most 100")
	default:
		f.Check(e.BasisPoints == 0, "percent", "is for discounts alone")
		f.Check(e.Amount.Positive(), "amount", "must be above 0")
		f.Check(e.Amount.Cmp(money.Major(maxPrice, e.Amount.Currency)) <= 0, "amount", "must be at most %d", maxPrice)
	}
	f.Check(e.Periods >= 0 && e.Periods <= MaxExtraPeriods, "periods", "must be from 1 to %d", MaxExtraPeriods)
	f.Check(e.Kind != events.ChargeExtra || e.Periods == 1 && e.Until == calendar.Date{}, "periods",
		"must be 1 for a charge")
	return f.Err()
}

// Validate checks form only.
func (RemoveExtra) Validate() error { return nil }

// ErrNoExtra is the failure for an extra that the subscription never had.
func ErrNoExtra() error {
	return failure.NewNotFound("extra_not_found", "There is no such charge, add-on or discount.")
}
