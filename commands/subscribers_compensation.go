package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CompensateSubscription gives a subscription time or money for [From, To). A compensation that was given already
// changes nothing. Fails: subscription_not_found, compensation_not_over, already_compensated, compensation_too_old,
// not_served_then, nothing_to_compensate, compensation_changed.
type CompensateSubscription struct {
	SubscriptionID id.Subscription
	CompensationID id.Compensation
	From           time.Time
	To             time.Time
	Give           events.CompensationGive
	Only           GiftKind // what was agreed to; "" = either
}

// GiftKind is whether a compensation gives a subscription days or money.
type GiftKind string

// What a subscription gets.
const (
	GiftDays  GiftKind = "days"
	GiftMoney GiftKind = "money"
)

// GiftOf tells days from money in an item of a preview; "" for nothing.
func GiftOf(item events.CompensationItem) GiftKind {
	switch {
	case item.Code != "":
		return ""
	case item.Amount.Positive():
		return GiftMoney
	}
	return GiftDays
}

// ErrNothingToCompensate refuses money for which no invoice is left.
func ErrNothingToCompensate() error {
	return failure.NewConflict("nothing_to_compensate",
		"There is no period of more than a day whose invoice could be credited.")
}

// ErrCompensationChanged refuses a gift that is not the one that was previewed and agreed to.
func ErrCompensationChanged() error {
	return failure.NewConflict("compensation_changed",
		"Since the preview the subscription has come to get something else: money for days, days for money, or more.")
}

// TakeBackCompensation takes off a subscription what a compensation gave; money is charged by whoever asks, on the
// account. A repeat changes nothing. Fails: subscription_not_found, compensation_too_old, compensation_used,
// corrected_since.
type TakeBackCompensation struct {
	SubscriptionID id.Subscription
	CompensationID id.Compensation
}

func (TakeBackCompensation) CommandName() string  { return "subscribers.TakeBackCompensation" }
func (c TakeBackCompensation) Target() Target     { return At(SubscriptionCategory, c.SubscriptionID) }
func (TakeBackCompensation) subscriptionCommand() {}

// Validate checks form.
func (c TakeBackCompensation) Validate() error {
	var f failure.Faults
	f.Check(!c.CompensationID.IsZero(), "compensationId", "is required")
	return f.Err()
}

func (CompensateSubscription) CommandName() string  { return "subscribers.CompensateSubscription" }
func (c CompensateSubscription) Target() Target     { return At(SubscriptionCategory, c.SubscriptionID) }
func (CompensateSubscription) subscriptionCommand() {}

// Validate checks form.
func (c CompensateSubscription) Validate() error {
	var f failure.Faults
	f.Check(!c.CompensationID.IsZero(), "compensationId", "is required")
	checkCompensated(&f, c.From, c.To, c.Give)
	return f.Err()
}

// Bounds of what one compensation gives.
const (
	maxCompensatedDays = 366
	maxCompensatedSpan = 366 * 24 * time.Hour
)

// checkCompensated checks the time and what is given for it: exactly one of days, money and the days without service.
func checkCompensated(f *failure.Faults, from, to time.Time, give events.CompensationGive) {
	f.Check(!from.IsZero(), "from", "is required")
	f.Check(from.Before(to), "to", "must be after from")
	f.Check(to.Sub(from) <= maxCompensatedSpan, "to", "must be within a year of from")
	kinds := 0
	for _, is := range []bool{give.Days != 0, !give.Money.IsZero(), give.Proportional} {
		if is {
			kinds++
		}
	}
	f.Check(kinds == 1, "give", `must be {"days": n}, {"money": amount} or "proportional"`)
	f.Check(give.Days >= 0 && give.Days <= maxCompensatedDays, "give", "must have 1 to %d days", maxCompensatedDays)
	f.Check(give.Money.Minor >= 0, "give", "must have money above zero")
}
