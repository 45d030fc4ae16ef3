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

// givenBack reports whether all days of a paid period, of which each alone was not to be paid, have been given back.
func (s Subscription) givenBack(at int) bool {
	p := s.Periods[at]
	return p.State == PeriodPaid && p.BillingDay > 0 && p.Paused+p.Free >= s.days(p, s.Course().Places[at])
}

// notToPay credits further days of a period because they need not be paid. As long as days of a prepaid one are left,
// it keeps what is left of its time, also where the invoice has other notes, of a person or of a compensation, which
// leave less than the share of the days: none of these means that the period goes.
func (p Period) notToPay(days, of int) events.DaysCredit {
	return events.DaysCredit{
		InvoiceID: p.InvoiceID, Days: days, Of: of,
		KeepsPeriod: p.Mode == events.Prepaid && p.Paused+p.Free+days < of,
	}
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
		without := func(in Span) int { return daysWithout(in, served, s.zone()) }
		for i, place := range after.Places {
			q, in := s.Periods[i], clipped(late, place)
			if i != at && (q.State != PeriodPaid || q.BillingDay == 0) || !in.From.Before(in.To) {
				continue
			}
			of := s.days(q, place)
			if days := min(of-q.Paused-q.Free, without(in)); days > 0 {
				paid.Credits = append(paid.Credits, q.notToPay(days, of))
			}
			paid.Credits = s.withUpgrades(paid.Credits, i, in, without)
		}
		for i := range paid.Credits {
			if c := &paid.Credits[i]; c.InvoiceID != p.InvoiceID {
				c.PeriodOf = p.InvoiceID
			}
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
	asSold := place
	for _, g := range s.Gaps {
		if p.BillingDay == 0 {
			inside := Span{latest(g.From, place.From), g.To}.until(place.To)
			asSold.To = asSold.To.Add(-inside)
		}
	}
	return s.daysIn(asSold)
}

// daysIn counts the local days from the beginning of a span, inclusive, to the day of its end, exclusive.
func (s Subscription) daysIn(in Span) int {
	zone := s.zone()
	return calendar.DaysBetween(calendar.On(in.From, zone), calendar.On(in.To, zone))
}

// halfDay is from where on a part of 24 hours counts as a day of a pause.
const halfDay = 12 * time.Hour

// pausedDays are the days of a pause in the periods that end on a fixed billing day and are owed or paid: an
// anniversary gives the time back instead. The day of the resumption is used. The day on which the pause begins counts
// when the pause as a whole is as long as its days, rounded: a few minutes around midnight are no day. All pauses of a
// period together have no more days than their sum, a part of one counted whole: ten times half a day are five days.
// Source: docs/rules/billing.md#billing-day.
func (s Subscription) pausedDays(pause Span) []events.DaysCredit {
	var list []events.DaysCredit
	gaps, count := withGap(s.Gaps, pause), s.daysOf(pause)
	moved := s
	moved.Gaps = gaps // time before a period that ends later by the pause moves the period behind it
	for i, place := range moved.Course().Places {
		p, in := s.Periods[i], clipped(place, pause)
		if p.BillingDay == 0 || !p.takesTime() || !in.From.Before(in.To) {
			continue
		}
		left := max(0, wholeDays(gaps, place)-p.Paused)
		bounded := func(in Span) int { return min(count(in), left) }
		of := s.days(p, place)
		if days := min(bounded(in), of-p.Paused-p.Free); days > 0 && p.State != PeriodCancelled {
			list = append(list, p.notToPay(days, of))
		}
		list = s.withUpgrades(list, i, in, bounded)
	}
	return list
}

// daysOf counts the days of a pause in a part of it.
func (s Subscription) daysOf(pause Span) func(in Span) int {
	length := int((pause.To.Sub(pause.From) + halfDay) / (2 * halfDay))
	used := max(0, s.daysIn(pause)-length)
	return func(in Span) int {
		if in.From.Equal(pause.From) {
			return s.daysIn(in) - used
		}
		return s.daysIn(in)
	}
}

// pausedBefore are the days of a postpaid period on a fixed billing day, which becomes due, in pauses that are over.
// There are some where an undo took it back, and then a pause ended, or service came back after a cut: nothing of it
// could be given back then. Source: docs/rules/billing.md#undo.
func (s Subscription) pausedBefore(period events.PeriodDue) []events.DaysCredit {
	next := evolveSubscription(s, period)
	p := next.Periods[len(next.Periods)-1]
	if p.BillingDay == 0 {
		return nil
	}
	place, days := Span{period.From, period.To}, 0
	for i, pause := range s.Gaps {
		in := clipped(place, pause)
		if in.From.Before(in.To) {
			days += min(s.daysOf(pause)(in), wholeDays(s.Gaps[:i+1], place)-days)
		}
	}
	if days == 0 {
		return nil
	}
	return []events.DaysCredit{{InvoiceID: period.InvoiceID, Days: days, Of: next.days(p, place)}}
}

// wholeDays counts the days of 24 hours that gaps have of a place; a part of one counts whole.
func wholeDays(gaps []Span, place Span) int {
	var sum time.Duration
	for _, g := range gaps {
		if part := clipped(g, place); part.From.Before(part.To) {
			sum += part.To.Sub(part.From)
		}
	}
	return int((sum + 2*halfDay - 1) / (2 * halfDay))
}

// paused remembers the days of pauses that were given back.
func (s Subscription) paused(credits []events.DaysCredit) Subscription {
	for _, c := range credits {
		if s.find(c.InvoiceID) >= 0 { // that of an upgrade has no period
			s = s.became(c.InvoiceID, 0, func(p *Period) { p.Paused += c.Days })
		}
	}
	return s
}

// daysLeft are the days that an end leaves unused of postpaid periods of weeks and months: who pays later pays up to
// yesterday. An hour or a day that has begun is paid. Source: docs/rules/subscribers.md#pause-and-end.
func (s Subscription) daysLeft(now time.Time) []events.DaysCredit {
	var list []events.DaysCredit
	end := s.servedUntil(now)
	for i, place := range s.Course().Places {
		p, left := s.Periods[i], Span{latest(end, place.From), place.To}
		if p.Mode != events.Postpaid || p.Unit.Short() || !end.Before(place.To) {
			continue
		}
		of := s.days(p, place)
		if days := min(of, s.daysIn(left)); days > 0 && p.State != PeriodCancelled {
			list = append(list, events.DaysCredit{InvoiceID: p.InvoiceID, Days: days, Of: of})
		}
		list = s.withUpgrades(list, i, left, s.daysIn)
	}
	return list
}
