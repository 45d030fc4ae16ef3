package events

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// DunningOwed says what a subscription must pay from an instant on. Without PaidUntil and debts it is nothing.
type DunningOwed struct {
	At time.Time `json:"at"`
	// PaidUntil is the first instant that is not paid for; for prepaid only. Zero = postpaid, or not in service.
	PaidUntil time.Time     `json:"paidUntil,omitzero"`
	Debts     []DunningDebt `json:"debts,omitempty"` // by due date, then by id
}

// DunningDebt is the part of an invoice that is not paid.
type DunningDebt struct {
	InvoiceID id.Invoice    `json:"invoiceId"`
	DueOn     calendar.Date `json:"dueOn"` // local; overdue from the first instant of the next day
	Amount    money.Amount  `json:"amount"`
	// GivenUp is the part of the amount that was written off: nobody asks for it, and it gives no access back.
	GivenUp money.Amount `json:"givenUp,omitzero"`
}

// Asked is the part of the debt that is still asked for.
func (d DunningDebt) Asked() money.Amount { return d.Amount.Sub(d.GivenUp) }

// Same reports whether the same is owed, whenever it began.
func (o DunningOwed) Same(other DunningOwed) bool {
	return o.PaidUntil.Equal(other.PaidUntil) && slices.Equal(o.Debts, other.Debts)
}

// Overdue are the debts that are overdue at an instant, in a zone. For prepaid they are all that are not paid once the
// paid time is over.
func (o DunningOwed) Overdue(at time.Time, zone *time.Location) []DunningDebt {
	if !o.PaidUntil.IsZero() {
		if at.Before(o.PaidUntil) {
			return nil
		}
		return o.Debts
	}
	var late []DunningDebt
	for _, d := range o.Debts {
		if !at.Before(d.DueOn.AddDays(1).Start(zone)) {
			late = append(late, d)
		}
	}
	return late
}

// DunningReviewed records what a subscription owes and what comes next, after everything known was looked at. It is
// recorded when one of the two has changed.
type DunningReviewed struct {
	DunningSubject
	PlanID    id.Plan      `json:"planId"`
	State     DunningState `json:"state"` // after the steps that the same review took
	Owed      DunningOwed  `json:"owed"`
	NextState DunningState `json:"nextState,omitempty"` // "" = nothing comes by itself
	NextAt    time.Time    `json:"nextAt,omitzero"`     // when it begins if nothing is paid
	WakeAt    time.Time    `json:"wakeAt,omitzero"`     // the next step or reminder; zero = none
	// Since is the instant from which the due instant of Owed holds, when that was before Owed.At: what was owed in
	// between leads to the same due instant. Zero = from Owed.At, or nothing is due.
	Since time.Time `json:"since,omitzero"`
	// MinimumDue is that of the policy by which Owed keeps a state in force that takes access away; zero = in no such
	// state.
	MinimumDue money.Amount `json:"minimumDue,omitzero"`
	At         time.Time    `json:"at"`
}

// DunningReviewAsked records that rules have changed, so that what comes next must be looked at anew.
type DunningReviewAsked struct {
	DunningSubject
	At time.Time `json:"at"`
}

func (DunningReviewed) EventType() string    { return "access.DunningReviewed.v1" }
func (DunningReviewAsked) EventType() string { return "access.DunningReviewAsked.v1" }

func (DunningReviewed) dunningEvent()    {}
func (DunningReviewAsked) dunningEvent() {}
