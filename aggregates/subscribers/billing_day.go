package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// byBillingDay completes a period that becomes due by what the calendar says of it: it begins at an instant and ends on
// the next billing day, and a part of a month costs its share by days.
func (s Subscription) byBillingDay(due events.PeriodDue, from time.Time) events.PeriodDue {
	due.From, due.Part = from, due.Terms.NextPart(from, s.zone())
	if !due.Part.IsZero() {
		due.Charge = due.Part.Share(due.Terms.Price)
	}
	due.To = calendar.BillingMonthAt(from, due.Terms.AnchorDay, s.zone()).Next.Start(s.zone())
	return due
}

// afterPause is an instant on the subscription's own clock: one that lies in a pause or another gap is its end.
func (s Subscription) afterPause(at time.Time) time.Time {
	for _, g := range s.Gaps {
		if !at.Before(g.From) && at.Before(g.To) {
			return g.To
		}
	}
	return at
}

// paidByBillingDay records the payment of the period at an index, which ends on its billing day whenever it is paid.
// The times before the payment that count for nothing do not make it longer: their days are credited.
func (s Subscription) paidByBillingDay(
	at int, paid events.SubscriptionExtended, served []events.TimeSpan,
) []events.SubscriptionEvent {
	p, before := s.Periods[at], s.Course()
	after := evolveSubscription(s, paid).Course()
	place := after.Places[at]
	late := Span{
		latest(place.From, before.PaidUntil, s.UnservedSince), earliest(s.running(paid.PaidAt), after.PaidUntil),
	}
	if p.Mode == events.Prepaid && late.From.Before(late.To) {
		paid.WithoutAccess = notServed(late, served)
		of := s.days(p, place)
		if days := min(of, daysWithout(late, served, s.zone())); days > 0 {
			paid.Credits = []events.DaysCredit{{InvoiceID: p.InvoiceID, Days: days, Of: of}}
		}
	}
	return s.extendedBy(at, paid)
}

// daysWithout counts the local days from the beginning of a span, up to but without the day of its end, on which none
// of the times lies.
func daysWithout(in Span, times []events.TimeSpan, zone *time.Location) int {
	used := map[calendar.Date]bool{}
	first, end := calendar.On(in.From, zone), calendar.On(in.To, zone)
	for _, t := range times {
		from, to := latest(t.From, in.From), earliest(t.To, in.To)
		if !from.Before(to) {
			continue
		}
		for d := calendar.On(from, zone); d.Start(zone).Before(to); d = d.AddDays(1) {
			used[d] = true
		}
	}
	count := 0
	for d := first; d.Before(end); d = d.AddDays(1) {
		if !used[d] {
			count++
		}
	}
	return count
}

// days is the number of local days that the invoice of a period in a place was made for; a pause that made it end later
// is none of them.
func (s Subscription) days(p Period, place Span) int {
	if p.Of > 0 {
		return p.Of
	}
	count := s.daysIn(place)
	if p.BillingDay > 0 {
		return count
	}
	for _, g := range s.Gaps {
		if in := (Span{latest(g.From, place.From), earliest(g.To, place.To)}); in.From.Before(in.To) {
			count -= s.daysIn(in)
		}
	}
	return count
}

// daysIn counts the local days from the beginning of a span, inclusive, to the day of its end, exclusive.
func (s Subscription) daysIn(in Span) int {
	zone := s.zone()
	return calendar.DaysBetween(calendar.On(in.From, zone), calendar.On(in.To, zone))
}

// pausedDays are the days of a pause in the periods that end on a fixed billing day and are owed or paid: an
// anniversary gives the time back instead. The day of the resumption is used.
func (s Subscription) pausedDays(pause Span) []events.DaysCredit {
	var list []events.DaysCredit
	for i, place := range s.Course().Places {
		p := s.Periods[i]
		in := Span{latest(place.From, pause.From), earliest(place.To, pause.To)}
		if p.BillingDay == 0 || !p.takesTime() || p.State == PeriodCancelled || !in.From.Before(in.To) {
			continue
		}
		if days := s.daysIn(in); days > 0 {
			list = append(list, events.DaysCredit{InvoiceID: p.InvoiceID, Days: days, Of: s.days(p, place)})
		}
	}
	return list
}

// daysLeft are the days that an end leaves unused of postpaid periods of weeks and months: who pays later pays up to
// yesterday. An hour or a day that has begun is paid. Source: docs/rules/subscribers.md#pause-and-end.
func (s Subscription) daysLeft(now time.Time) []events.DaysCredit {
	var list []events.DaysCredit
	end := s.running(now)
	for i, place := range s.Course().Places {
		p := s.Periods[i]
		if p.Mode != events.Postpaid || p.Unit.Short() || p.State == PeriodCancelled || !end.Before(place.To) {
			continue
		}
		of := s.days(p, place)
		if days := min(of, s.daysIn(Span{latest(end, place.From), place.To})); days > 0 {
			list = append(list, events.DaysCredit{InvoiceID: p.InvoiceID, Days: days, Of: of})
		}
	}
	return list
}
