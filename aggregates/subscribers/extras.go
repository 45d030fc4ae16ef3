package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// decideAddExtra adds an extra to the periods that become due from now on.
func decideAddExtra(s Subscription, c commands.AddExtra, now time.Time) ([]events.SubscriptionEvent, error) {
	held, today := 0, calendar.On(now, s.zone())
	for _, h := range s.Extras {
		if h.ID == c.Extra.ID {
			return nil, nil
		}
		if !h.Over() && !h.Ended(today) {
			held++
		}
	}
	switch {
	case s.State == Ended:
		return nil, failure.NewConflict("subscription_ended", "This subscription has ended.")
	case c.Extra.BasisPoints == 0 && c.Extra.Amount.Currency != s.Terms.Price.Currency:
		return nil, commands.ErrCurrencyMismatch(s.Terms.Price.Currency)
	case events.HeldExtra{Extra: c.Extra}.Ended(today):
		return nil, failure.NewInvalid("invalid_input", "until must not be over")
	case held >= commands.MaxExtras:
		return nil, failure.NewConflict("too_many_extras",
			"A subscription has at most %d charges, add-ons and discounts at a time. Remove one first.",
			commands.MaxExtras)
	}
	return []events.SubscriptionEvent{events.ExtraAdded{
		SubscriptionID: s.ID, OrgID: s.Owner, SubscriberID: s.SubscriberID, Extra: c.Extra,
		Description: c.Description, At: now,
	}}, nil
}

// decideRemoveExtra takes an extra off later periods. Invoices that have it keep it: a charge is then on no later one,
// also where another invoice takes the place of its own.
func decideRemoveExtra(s Subscription, c commands.RemoveExtra, now time.Time) ([]events.SubscriptionEvent, error) {
	at := slices.IndexFunc(s.Extras, func(h events.HeldExtra) bool { return h.ID == c.ExtraID && h.Kind == c.Kind })
	switch {
	case at < 0:
		return nil, commands.ErrNoExtra()
	case s.Extras[at].Removed:
		return nil, nil
	}
	return []events.SubscriptionEvent{events.ExtraRemoved{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Extra: s.Extras[at].Extra, At: now,
	}}, nil
}

// extra applies an event about extras: what they are called is personal, and kept beside them.
func (s Subscription) extra(e events.SubscriptionEvent) Subscription {
	switch e := e.(type) {
	case events.ExtraAdded:
		s = s.told(e.At)
		s.Called = append(slices.Clone(s.Called), events.ExtraText{ID: e.Extra.ID, Description: e.Description})
	case events.ExtraRemoved:
		s = s.told(e.At)
	case events.ChargesDue:
		s = s.told(e.At)
	default: // the other events are told elsewhere
	}
	s.Extras = s.Extras.After(e)
	return s
}

// ExtraCalled is the description of an extra; empty for one that is not kept.
func (s Subscription) ExtraCalled(extra id.Extra) string {
	for _, t := range s.Called {
		if t.ID == extra {
			return t.Description.Reveal()
		}
	}
	return ""
}

// NextPrice is the price of a period that would become due now, with its extras and without taxes on top.
func (s Subscription) NextPrice(now time.Time) money.Amount {
	for _, e := range due(s, now) {
		if period, ok := e.(events.PeriodDue); ok {
			return period.Net()
		}
	}
	return s.Terms.Price
}

// withExtras completes a period that becomes due. One that retakes a place has the extras of its place.
func (s Subscription) withExtras(period events.PeriodDue) events.PeriodDue {
	begins := s.partFrom(period.DueAt)
	if period.Terms.Mode == events.Postpaid {
		begins = period.From
	}
	period.Extras = s.Extras.Next(period.Terms.Price, period.Part, begins, s.zone())
	return period
}

// keptExtras drops those that are over, and on no period that is kept.
func (s Subscription) keptExtras() Subscription {
	last := calendar.On(s.nextBegins(), s.zone())
	s.Extras = slices.DeleteFunc(slices.Clone(s.Extras), func(h events.HeldExtra) bool {
		kept := func(ordinal int) bool { return ordinal > s.Base.Ordinal }
		return (h.Over() || h.Ended(last)) && !slices.ContainsFunc(h.On, kept)
	})
	s.Called = slices.DeleteFunc(slices.Clone(s.Called), func(t events.ExtraText) bool {
		return !slices.ContainsFunc(s.Extras, func(h events.HeldExtra) bool { return h.ID == t.ID })
	})
	return s
}

// nextBegins is an instant before which no later period begins: a postpaid one may be late, and begin where a newer one
// was that is taken back.
func (s Subscription) nextBegins() time.Time {
	course := s.Course()
	first := earliest(s.Latest, latest(course.End, s.StartsAt))
	for _, place := range course.Places[max(0, len(course.Places)-events.ExtraPeriods):] {
		if !place.IsZero() {
			first = earliest(first, place.From)
		}
	}
	return first
}
