package bookscases

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// subscription is the paid time of one subscription as its events told it, without computing where a period lies.
type subscription struct {
	state      subscribers.Subscription // as the program itself reads it, to be compared
	subscriber id.Subscriber
	periods    map[id.Invoice]*period
	paidUntil  time.Time // as the latest event told it
	carried    span      // the time here that the customer had paid elsewhere, as it was told; zero = nothing
	paused     time.Time // start of the present pause; zero = none
	ended      time.Time // zero = not ended
	since      time.Time // of the latest event
	gaps       []span    // pauses, and time that was not served for want of a payment
	grants     []subscribers.Grant
	// waiting are the given times of undone prepaid periods, the oldest first, each until another one is due in its
	// place.
	waiting []span
	// old is set by an event that was recorded before events told the place of every period. What it told cannot be
	// compared.
	old bool
}

// span is the half-open time [from, to).
type span struct{ from, to time.Time }

// period is one period of a subscription.
type period struct {
	state subscribers.PeriodState
	unit  calendar.Period
	byDay bool      // it ends on a fixed billing day, and gaps do not make it longer
	days  int       // of a part of a month; 0 = whole
	net   int64     // sum of its invoice's lines, without taxes on top
	place span      // as told; zero when it takes no time
	given span      // the latest place that is not zero: the time that it gave until its payment was taken back
	since time.Time // of the latest event about it
}

// takeSubscription enters an event of a subscription of the organization.
func (b *Books) takeSubscription(e events.Envelope, v events.SubscriptionEvent) {
	of := id.As[id.Subscription](e.Meta.AggregateID)
	if first, ok := v.(events.SubscriptionCreated); ok && first.OrgID == b.org && !b.org.IsZero() {
		if !b.part.has(id.As[id.Any](first.SubscriberID)) {
			return
		}
		b.subscriptions[of] = &subscription{subscriber: first.SubscriberID, periods: map[id.Invoice]*period{}}
	}
	s := b.subscriptions[of]
	if s == nil {
		return
	}
	s.state, _ = b.foldSubscription.next(s.state, e, v) // the claims note a stream that cannot be read
	s.since = e.Meta.At
	switch v := v.(type) {
	case events.PeriodDue:
		p := s.became(v.InvoiceID, v.Ordinal, subscribers.PeriodDue, e.Meta.At)
		p.unit, p.byDay, p.days, p.net = v.Terms.Period, v.Terms.AnchorDay > 0, v.Part.Days, v.Net().Minor
		if len(s.waiting) > 0 {
			p.given, s.waiting = s.waiting[0], s.waiting[1:]
		}
	case events.SubscriptionExtended:
		p := s.became(v.InvoiceID, v.Ordinal, subscribers.PeriodPaid, e.Meta.At)
		p.move(span{v.From, v.To})
		if !v.Part.IsZero() {
			p.days = v.Part.Days
		}
		s.gaps = append(s.gaps, span{v.UnservedFrom, v.UnservedTo})
		for _, off := range v.WithoutAccess {
			s.gaps = append(s.gaps, span{off.From, off.To})
		}
		s.tell(v.PaidUntil, v.Moved)
	case events.PaidTimeCarriedOver:
		s.carried, s.paidUntil = span{v.From, v.PaidUntil}, v.PaidUntil
	case events.PeriodWithdrawn:
		s.became(v.InvoiceID, v.Ordinal, subscribers.PeriodWithdrawn, e.Meta.At)
		s.tell(v.PaidUntil, v.Moved)
	case events.PeriodCancelled:
		p := s.became(v.InvoiceID, v.Ordinal, subscribers.PeriodCancelled, e.Meta.At)
		if !v.UndoneRun.IsZero() && !v.NextFrom.IsZero() { // the newest first: what waits lies after it
			s.waiting = slices.Insert(slices.Clone(s.waiting), 0, p.given)
		}
		s.tell(v.PaidUntil, v.Moved)
	case events.PeriodReissued:
		if p := s.periods[v.InvoiceID]; p != nil {
			delete(s.periods, v.InvoiceID)
			p.since, s.periods[v.CorrectedID] = e.Meta.At, p
		}
	default:
		s.stop(v)
	}
}

// stop notes times without service, and what was given for them.
func (s *subscription) stop(e events.SubscriptionEvent) {
	switch v := e.(type) {
	case events.SubscriptionEnded:
		s.ended = v.At
	case events.SubscriptionPaused:
		s.paused = v.At
	case events.SubscriptionResumed:
		s.gaps = append(s.gaps, span{s.paused, v.At})
		s.paused = time.Time{}
		s.tell(v.PaidUntil, v.Moved)
	case events.BillingResumed:
		s.gaps = append(s.gaps, span{v.From, v.At})
		s.tell(v.PaidUntil, v.Moved)
	case events.CompensationTakenBack:
		if at := slices.Index(s.grants, subscribers.Grant{At: v.GivenAt, Days: v.Days}); at >= 0 {
			s.grants = slices.Delete(s.grants, at, at+1)
		}
		s.tell(v.PaidUntil, v.Moved)
	case events.SubscriptionCompensated:
		s.grant(v)
		s.tell(v.PaidUntil, v.Moved)
	default: // the other events say nothing about this
	}
}

// grant notes days that were given: the period in which they lie is longer by them.
func (s *subscription) grant(e events.SubscriptionCompensated) {
	if e.Days > 0 {
		s.grants = append(s.grants, subscribers.Grant{At: e.GivenAt, Days: e.Days})
	}
}

// carriedEnd is where the time ends that was paid elsewhere: later by the gaps and the given days in it, unless it was
// told without its beginning.
func (s *subscription) carriedEnd() time.Time {
	end := s.carried.to
	if s.carried.from.IsZero() {
		return end
	}
	for { // each round can bring more of them into the time
		next := s.carried.to.Add(s.unpaid(span{s.carried.from, end}))
		for _, g := range s.grants {
			if !g.At.Before(s.carried.from) && g.At.Before(end) {
				next = next.In(calendar.ZoneOrUTC(s.state.Timezone)).AddDate(0, 0, g.Days).UTC()
			}
		}
		if next.Equal(end) {
			return end
		}
		end = next
	}
}

// granted is the length of the days that were given in a period.
func (s *subscription) granted(in span) (sum time.Duration) {
	zone := calendar.ZoneOrUTC(s.state.Timezone)
	for _, g := range s.grants {
		if !g.At.Before(in.from) && g.At.Before(in.to) {
			end := in.to.Add(-sum)
			sum += end.Sub(end.In(zone).AddDate(0, 0, -g.Days))
		}
	}
	return sum
}

// became notes the new state of a period.
func (s *subscription) became(of id.Invoice, ordinal int, state subscribers.PeriodState, at time.Time) *period {
	p := s.periods[of]
	if p == nil {
		p = &period{}
		s.periods[of] = p
	}
	p.state, p.since = state, at
	s.old = s.old || ordinal == 0
	return p
}

// tell notes the paid time and the new places of periods.
func (s *subscription) tell(paidUntil time.Time, moved []events.PeriodPlace) {
	s.paidUntil = paidUntil
	for _, m := range moved {
		if p := s.periods[m.InvoiceID]; p != nil {
			p.move(span{m.From, m.To})
		}
	}
}

// move notes the new place of a period.
func (p *period) move(to span) {
	if p.place = to; !to.from.IsZero() {
		p.given = to
	}
}

// paid lists the paid periods by the place that was told for them.
func (s *subscription) paid() []*period {
	var list []*period
	for _, p := range s.periods {
		if p.state == subscribers.PeriodPaid {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *period) int { return a.place.from.Compare(b.place.from) })
	return list
}

// unpaid is the length of the gaps inside a period. Gaps that lie over each other count once.
func (s *subscription) unpaid(in span) time.Duration {
	gaps := slices.Clone(s.gaps)
	slices.SortFunc(gaps, func(a, b span) int { return a.from.Compare(b.from) })
	sum, reached := time.Duration(0), in.from
	for _, g := range gaps {
		from, to := g.from, g.to
		if from.Before(reached) {
			from = reached
		}
		if to.After(in.to) {
			to = in.to
		}
		if from.Before(to) {
			sum, reached = sum+to.Sub(from), to
		}
	}
	return sum
}

// lengths are the shortest and the longest time that a period can have by the calendar: a day may have a change of the
// clock in it, months differ, and with a billing day the first day need not be whole. An unknown unit counts as a
// month.
func (p *period) lengths() (shortest, longest time.Duration) {
	const day, change = 24 * time.Hour, 2 * time.Hour
	switch {
	case p.days > 0:
		whole := time.Duration(p.days) * day
		return whole - day - change, whole + change
	case p.byDay:
		return 27*day - change, 31*day + change
	}
	switch p.unit {
	case calendar.Hour:
		return time.Hour, time.Hour
	case calendar.Day:
		return day - change, day + change
	case calendar.Week:
		return 7*day - change, 7*day + change
	}
	// 28 to 31 days each, and never all of them short or long
	if n := p.unit.Months(); n == 1 {
		return 28*day - change, 31*day + change
	} else if n == 3 {
		return 89*day - change, 92*day + change
	}
	return 365*day - change, 366*day + change
}
