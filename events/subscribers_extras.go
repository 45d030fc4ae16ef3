package events

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// ExtraKind says what an extra does on an invoice.
type ExtraKind string

// The kinds. Source: docs/rules/subscribers.md#extras.
const (
	ChargeExtra   ExtraKind = "charge"   // once, whole
	AddOnExtra    ExtraKind = "add_on"   // with each period, by days in a part of one
	DiscountExtra ExtraKind = "discount" // off the plan's price in each period, by days in a part of one
)

// Extra stands on invoices of a subscription beside the price of its plan.
type Extra struct {
	ID   id.Extra  `json:"id"`
	Kind ExtraKind `json:"kind"`
	// Amount is for a whole period, or once; positive also for a discount. Zero for one by percent.
	Amount      money.Amount `json:"amount,omitzero"`
	BasisPoints int64        `json:"basisPoints,omitempty"` // of the plan's price, 2500 = 25 %; 0 = Amount
	// Periods is on how many periods it is; 0 = no limit. A charge is on one.
	Periods int `json:"periods,omitempty"`
	// Until is the last day on which a period may begin that has it, in the zone of the subscription; zero = no end.
	Until calendar.Date `json:"until,omitzero"`
}

// PeriodExtra is an extra on one invoice. The amount is that of a line, by the organization's tax rule as the plan's
// price is: negative for a discount.
type PeriodExtra struct {
	ID     id.Extra     `json:"id"`
	Kind   ExtraKind    `json:"kind"`
	Amount money.Amount `json:"amount"`
}

// ExtraText has the description of an extra on invoices.
type ExtraText struct {
	ID          id.Extra      `json:"id"`
	Description personal.Text `json:"description"`
}

// ExtraAdded records an extra of a subscription: the periods have it that become due afterwards.
type ExtraAdded struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Extra          Extra           `json:"extra"`
	Description    personal.Text   `json:"description"` // on the invoice; subject: the subscriber
	At             time.Time       `json:"at"`
}

// ExtraRemoved records that no later period has an extra.
type ExtraRemoved struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Extra          Extra           `json:"extra"`
	At             time.Time       `json:"at"`
}

// ChargesDue records that the charges which no period has must be invoiced now, because the subscription has ended.
type ChargesDue struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	Charges        []PeriodExtra   `json:"charges"`
	At             time.Time       `json:"at"`
}

func (ExtraAdded) EventType() string    { return "subscribers.ExtraAdded.v1" }
func (ExtraRemoved) EventType() string  { return "subscribers.ExtraRemoved.v1" }
func (ChargesDue) EventType() string    { return "subscribers.ChargesDue.v1" }
func (ChargesDue) subscriptionEvent()   {}
func (ExtraAdded) subscriptionEvent()   {}
func (ExtraRemoved) subscriptionEvent() {}

func (e ExtraAdded) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

// ReturnsExtras reports whether extras of a dropped period are for the next one: nothing was given for it.
func (e PeriodCancelled) ReturnsExtras() bool { return e.NeverBegan || !e.UndoneRun.IsZero() }

// HeldExtra is an extra with the periods that have it.
type HeldExtra struct {
	Extra
	On      []int `json:"on,omitempty"`      // ordinals of the newest periods that have it
	Before  int   `json:"before,omitempty"`  // how many older ones have it
	Final   bool  `json:"final,omitempty"`   // it is on the invoice of the subscription's end
	Removed bool  `json:"removed,omitempty"` // no later period has it
}

// Over reports whether no later period has the extra, whatever day it begins on.
func (h HeldExtra) Over() bool {
	return h.Removed || h.Final || h.Periods > 0 && h.Before+len(h.On) >= h.Periods
}

// Ended reports whether the last day of the extra is before a day.
func (h HeldExtra) Ended(day calendar.Date) bool { return !h.Until.IsZero() && h.Until.Before(day) }

// ExtraPeriods is how many of its newest periods an extra knows, and gives back when they are dropped.
const ExtraPeriods = 24

// onto adds a period to those that have the extra.
func (h *HeldExtra) onto(ordinal int) {
	if slices.Contains(h.On, ordinal) {
		return
	}
	if h.On = append(slices.Clone(h.On), ordinal); len(h.On) > ExtraPeriods {
		h.On, h.Before = h.On[1:], h.Before+1
	}
}

// Extras are those of a subscription, in the order in which they were added. Methods return new values.
type Extras []HeldExtra

// Next are the extras of a period that becomes due: price is that of a whole one under its plan, and from the instant
// on which it begins, in a zone. All discounts together take off the plan's price at most.
func (x Extras) Next(price money.Amount, part PartPeriod, from time.Time, zone *time.Location) []PeriodExtra {
	var list []PeriodExtra
	left, day := part.Share(price), calendar.On(from, zone)
	for _, h := range x {
		if h.Over() || h.Ended(day) {
			continue
		}
		amount := h.Amount
		switch h.Kind {
		case AddOnExtra:
			amount = part.Share(h.Amount)
		case DiscountExtra:
			amount = part.Share(h.Amount)
			if h.BasisPoints > 0 {
				amount = part.Share(price).MulDivRounded(h.BasisPoints, percents)
			}
			amount = amount.Min(left)
			left, amount = left.Sub(amount), amount.Neg()
		}
		if !amount.IsZero() {
			list = append(list, PeriodExtra{ID: h.ID, Kind: h.Kind, Amount: amount})
		}
	}
	return list
}

// percents are the basis points of a whole.
const percents = 10_000

// Waiting are the charges that no period has yet.
func (x Extras) Waiting() []PeriodExtra {
	var list []PeriodExtra
	for _, h := range x {
		if h.Kind == ChargeExtra && !h.Over() {
			list = append(list, PeriodExtra{ID: h.ID, Kind: h.Kind, Amount: h.Amount})
		}
	}
	return list
}

// ChargedOn reports whether a period has a charge.
func (x Extras) ChargedOn(ordinal int) bool {
	return slices.ContainsFunc(x, func(h HeldExtra) bool {
		return h.Kind == ChargeExtra && slices.Contains(h.On, ordinal)
	})
}

// Percent is the part that discounts by percent take off what is bought within a period on a day, in basis points:
// those that are on the period, also when they are for no later one, and those of the day.
func (x Extras) Percent(ordinal int, day calendar.Date) int64 {
	var sum int64
	for _, h := range x {
		if h.Kind == DiscountExtra && (slices.Contains(h.On, ordinal) || !h.Over() && !h.Ended(day)) {
			sum += h.BasisPoints
		}
	}
	return min(sum, percents)
}

// After are the extras after an event of their subscription.
func (x Extras) After(e Event) Extras {
	switch e := e.(type) {
	case ExtraAdded:
		return append(slices.Clone(x), HeldExtra{Extra: e.Extra})
	case ExtraRemoved:
		return x.edit(func(h *HeldExtra) { h.Removed = h.Removed || h.ID == e.Extra.ID })
	case PeriodDue:
		return x.edit(func(h *HeldExtra) {
			if slices.ContainsFunc(e.Extras, func(p PeriodExtra) bool { return p.ID == h.ID }) {
				h.onto(e.Ordinal)
			}
		})
	case PeriodCancelled:
		if e.ReturnsExtras() {
			return x.edit(func(h *HeldExtra) {
				if h.Kind != ChargeExtra || !e.DropsCharges {
					h.On = slices.DeleteFunc(slices.Clone(h.On), func(ordinal int) bool { return ordinal == e.Ordinal })
				}
			})
		}
	case ChargesDue:
		return x.edit(func(h *HeldExtra) {
			h.Final = slices.ContainsFunc(e.Charges, func(p PeriodExtra) bool { return p.ID == h.ID })
		})
	}
	return x
}

// edit changes copies of all extras; none stays none.
func (x Extras) edit(change func(h *HeldExtra)) Extras {
	x = slices.Clone(x)
	for i := range x {
		change(&x[i])
	}
	return x
}
