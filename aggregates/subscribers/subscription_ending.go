package subscribers

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// LatePeriod tells how much an end leaves to pay of a period whose invoice it makes, without taxes on top.
type LatePeriod struct {
	PlanName string
	Amount   money.Amount
}

// Ending lists the invoices of the periods that an end of the subscription at an instant would cancel, the oldest
// first, the days of other periods that it would give back, and the charges and late periods that it would invoice. It
// asks the decision itself, so that a preview cannot differ from what the command does.
func (s Subscription) Ending(
	at time.Time,
) (never []id.Invoice, unused []events.DaysCredit, charges []events.PeriodExtra, late []LatePeriod) {
	made := decideEnd(s, commands.EndSubscription{}, at)
	for _, e := range made {
		switch e := e.(type) {
		case events.PeriodDue:
			unused = append(unused, e.Credits...)
		case events.PeriodCancelled:
			never, unused = append(never, e.InvoiceID), append(unused, e.Credits...)
		case events.SubscriptionEnded:
			unused = append(unused, e.Credits...)
		case events.ChargesDue:
			charges = e.Charges
		default: // late periods are asked for below, when the days that are given back are known
		}
	}
	for _, e := range made {
		if due, ok := e.(events.PeriodDue); ok {
			late = append(late, LatePeriod{due.PlanName, leftOf(due, unused)})
		}
	}
	return never, unused, charges, late
}

// leftOf is the price of a period without the days of it that are given back; charges are whole.
func leftOf(due events.PeriodDue, unused []events.DaysCredit) money.Amount {
	left, byDays := due.Net(), due.Net()
	for _, x := range due.Extras {
		if x.Kind == events.ChargeExtra {
			byDays = byDays.Sub(x.Amount)
		}
	}
	for _, c := range unused {
		if c.InvoiceID == due.InvoiceID {
			left = left.Sub(byDays.MulDivRounded(int64(c.Days), int64(c.Of)))
		}
	}
	return left
}

// decideEnd ends the subscription. A prepaid period that never began is cancelled, because paying it would give no
// service. One whose payment was withdrawn after its service had begun stays due. Charges that no period has are
// invoiced, unless there never was service. Time that was used and is on no invoice is due before.
func decideEnd(s Subscription, c commands.EndSubscription, now time.Time) []events.SubscriptionEvent {
	ended := events.SubscriptionEnded{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Reason: personal.Of(c.Reason), At: now,
	}
	switch {
	case s.State == Ended:
		return nil
	case c.Annulled:
		return []events.SubscriptionEvent{ended}
	}
	served := s.State != Pending
	s, made := s.billUsed(now)
	ended.Credits = s.daysLeft(now)
	s, made = evolveSubscription(s, ended), append(made, ended)
	for at := range s.Periods {
		if s.neverServed(at, now) {
			event := cancelled(s, at, now)
			s = evolveSubscription(s, event)
			made = append(made, event)
		}
	}
	if charges := s.Extras.Waiting(); served && len(charges) > 0 {
		made = append(made, events.ChargesDue{
			SubscriptionID: s.ID, OrgID: s.Owner, SubscriberID: s.SubscriberID, Charges: charges,
			InvoiceID: id.Derive[id.Invoice]("final", s.ID.String()), At: now,
		})
	}
	return made
}

// billUsed makes due what was used and is on no invoice, and gives the subscription afterwards: postpaid periods that
// have begun, and of a prepaid one that an undo took back the used days. Nobody could ask for it after an end.
// Source: docs/rules/subscribers.md#periods-that-are-not-invoiced-yet.
func (s Subscription) billUsed(now time.Time) (next Subscription, made []events.SubscriptionEvent) {
	if s.Terms.Mode == events.Postpaid {
		_, made = s.asBegun(now)
		for _, e := range made {
			s = evolveSubscription(s, e)
		}
		return s, made
	}
	for s.nextRetakes() {
		period, _ := due(s, now)[0].(events.PeriodDue) // nothing else happens when a prepaid one becomes due
		if period = s.used(period, now); period.InvoiceID.IsZero() {
			break
		}
		s, made = evolveSubscription(s, period), append(made, period)
	}
	return s, made
}

// asBegun is the subscription with all postpaid periods that have begun, those that an undo took back included, as if
// it was neither paused nor cut off until then. made are the events of those that are not due yet.
func (s Subscription) asBegun(now time.Time) (next Subscription, made []events.SubscriptionEvent) {
	serving, until := s.untilStopped(now)
	return serving.begun(commands.MakePeriodDue{Received: true}, until)
}

// untilStopped is the subscription as if it was neither paused nor cut off without being billed, and the instant until
// which that was so: what began before it is billed.
func (s Subscription) untilStopped(now time.Time) (serving Subscription, until time.Time) {
	until = now
	if s.State == Paused {
		s.State, until = Active, earliest(until, s.PausedAt)
	}
	if !s.Suspended.IsZero() {
		until = earliest(until, s.Suspended.At)
		s.Suspended = Suspension{}
	}
	return s, until
}

// used is the part of a period that retakes its place of which time was given: the days up to the one on which that
// stopped, without it. The zero value is none of them. An hour or a day that has begun is whole. Days that were given
// are none of those that the price is for: they come after them.
func (s Subscription) used(period events.PeriodDue, now time.Time) events.PeriodDue {
	place, _ := s.placed(period)
	s.Grants = slices.DeleteFunc(slices.Clone(s.Grants), func(g Grant) bool { return !g.At.Before(place.From) })
	place, next := s.placed(period)
	over := next.stopsAt(now)
	switch {
	case !place.From.Before(over):
		return events.PeriodDue{}
	case period.Terms.Period.Short() || !over.Before(place.To):
		return period
	}
	last := next.Periods[len(next.Periods)-1]
	of, left := next.days(last, place), Span{over, place.To}
	for _, g := range s.Gaps {
		if last.BillingDay == 0 { // a pause after it has moved its end
			left.To = left.To.Add(-Span{latest(g.From, over), g.To}.until(place.To))
		}
	}
	days := of - min(of, s.daysIn(left))
	switch days {
	case 0:
		return events.PeriodDue{}
	case of:
		return period
	}
	period.Part = events.PartPeriod{Days: days, Of: cmp.Or(period.Part.Of, of)}
	period.Charge = period.Part.Share(period.Terms.Price)
	place, _ = s.placed(period)
	period.From, period.To = place.From, place.To
	return s.withExtras(period)
}

// nextPlace is where the period after the next one begins when that retakes a place, too; zero = it does not.
func (s Subscription) nextPlace(period events.PeriodDue) time.Time {
	_, next := s.placed(period)
	return next.paidBefore(len(next.Periods)).Course().waitsAt()
}

// placed tells where the next period lies once it is paid, and gives the subscription with it.
func (s Subscription) placed(period events.PeriodDue) (Span, Subscription) {
	next := evolveSubscription(s, period)
	at := len(next.Periods) - 1
	paid := next.paidBefore(at)
	paid.Periods[at].State = PeriodPaid
	return paid.Course().Places[at], next
}
