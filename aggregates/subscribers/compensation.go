package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Grant is a number of local days by which the paid period ends later in which an instant lies. Source:
// docs/rules/outages.md#days.
type Grant struct {
	At   time.Time
	Days int
}

// Compensated is a time for which the subscription was given something.
type Compensated struct {
	ID       id.Compensation
	From, To time.Time
	At       time.Time    // when it was given; zero = not known, as in openings of older programs
	GivenAt  time.Time    // of its grant; zero = it gave money
	Days     int          // of its grant
	Invoices []id.Invoice // that it credited
	// TakenBack says that it was undone: its time can be compensated again.
	TakenBack bool
}

// keptCompensated is how many compensated times are remembered. What lies before the end of one that is no longer
// remembered is never compensated again.
const keptCompensated = 100

// compensated records what was given.
func (s Subscription) compensated(e events.SubscriptionCompensated) Subscription {
	s = s.told(e.At)
	given := Compensated{ID: e.CompensationID, From: e.From, To: e.To, At: e.At, Days: e.Days}
	if e.Days > 0 {
		given.GivenAt = e.GivenAt
	}
	for _, c := range e.Credits {
		given.Invoices = append(given.Invoices, c.InvoiceID)
	}
	s.Compensated = append(slices.Clone(s.Compensated), given)
	if over := len(s.Compensated) - keptCompensated; over > 0 {
		for _, c := range s.Compensated[:over] {
			s.CompensatedUntil = latest(s.CompensatedUntil, c.To)
		}
		s.Compensated = slices.Clone(s.Compensated[over:])
	}
	if e.Days > 0 {
		s.Grants = append(slices.Clone(s.Grants), Grant{e.GivenAt, e.Days})
		slices.SortStableFunc(s.Grants, func(a, b Grant) int { return a.At.Compare(b.At) })
	}
	return s
}

// Compensation tells what a command would give at an instant, without giving it: the decision itself is asked, so that
// a preview cannot differ from what the command does. It fails as the command does.
func (s Subscription) Compensation(
	c commands.CompensateSubscription, now time.Time,
) (events.SubscriptionCompensated, error) {
	made, err := decideSubscription(s, c, now)
	for _, e := range made {
		if given, ok := e.(events.SubscriptionCompensated); ok {
			return given, nil
		}
	}
	return events.SubscriptionCompensated{}, err
}

// decideCompensate gives time to a prepaid anniversary whose paid time goes on, and money to all others.
func decideCompensate(
	s Subscription, c commands.CompensateSubscription, now time.Time,
) ([]events.SubscriptionEvent, error) {
	if slices.ContainsFunc(s.Compensated, func(k Compensated) bool { return k.ID == c.CompensationID }) {
		return nil, nil
	}
	from, to := c.From.UTC(), c.To.UTC()
	switch {
	case to.After(now):
		return nil, commands.ErrCompensationNotOver()
	case from.Before(s.CompensatedUntil):
		return nil, failure.NewConflict("compensation_too_old",
			"This time is too long ago: what was given for it before is no longer known.")
	case slices.ContainsFunc(s.Compensated, func(k Compensated) bool {
		return !k.TakenBack && from.Before(k.To) && k.From.Before(to)
	}):
		return nil, failure.NewConflict("already_compensated", "A part of this time was compensated before.")
	}
	lost := s.lost(Span{from, to})
	if len(lost) == 0 {
		return nil, failure.NewConflict("not_served_then",
			"The subscription was not to have service at any moment of this time.")
	}
	zone := s.zone()
	given := events.SubscriptionCompensated{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, CompensationID: c.CompensationID, From: from, To: to,
		FirstDay: calendar.On(from, zone), LastDay: calendar.On(to.Add(-1), zone), At: now,
	}
	if done, ok := s.givenTime(given, c.Give, lost, now); ok {
		if c.Only == commands.GiftMoney {
			return nil, commands.ErrCompensationChanged()
		}
		return []events.SubscriptionEvent{done}, nil
	}
	if given.Credits = s.givenMoney(c.Give, lost); len(given.Credits) == 0 {
		return nil, commands.ErrNothingToCompensate()
	}
	if c.Only == commands.GiftDays {
		return nil, commands.ErrCompensationChanged()
	}
	given.PaidUntil = s.PaidUntil()
	return []events.SubscriptionEvent{given}, nil
}

// lostTime is how much of a period was without service.
type lostTime struct {
	at   int // index of the period; below zero = time that was paid in another system
	in   Span
	time time.Duration
}

// lost lists the periods that were to have service in a time, without pauses and other gaps, oldest first.
func (s Subscription) lost(in Span) (list []lostTime) {
	if !s.EndedAt.IsZero() {
		in.To = earliest(in.To, s.EndedAt)
	}
	in.To = earliest(in.To, s.running(in.To))
	if part := clipped(s.elsewhere(), in); part.From.Before(part.To) {
		if length := s.outsideGaps(part); length > 0 {
			list = append(list, lostTime{-1, part, length})
		}
	}
	for i, place := range s.Course().Places {
		p := s.Periods[i]
		part := clipped(place, in)
		if place.IsZero() || p.State == PeriodCancelled || !part.From.Before(part.To) {
			continue
		}
		if length := s.outsideGaps(part); length > 0 {
			list = append(list, lostTime{i, part, length})
		}
	}
	return list
}

// outsideGaps is the length of a span without the gaps in it.
func (s Subscription) outsideGaps(in Span) time.Duration {
	length := in.To.Sub(in.From)
	for _, g := range s.Gaps {
		if gap := clipped(g, in); gap.From.Before(gap.To) {
			length -= gap.To.Sub(gap.From)
		}
	}
	return length
}

// daysOf is a time in days: each 24 hours that have begun count as a day.
func daysOf(length time.Duration) int { return int((length + 24*time.Hour - 1) / (24 * time.Hour)) }

// givenTime completes the event when the paid time can end later; false when money has to be given.
func (s Subscription) givenTime(
	given events.SubscriptionCompensated, give events.CompensationGive, lost []lostTime, now time.Time,
) (events.SubscriptionCompensated, bool) {
	given.Days = give.Days
	if give.Proportional {
		var length time.Duration
		for _, l := range lost {
			length += l.time
		}
		given.Days = daysOf(length)
	}
	given.GivenAt = s.running(now)
	before := s.Course()
	later := s.Terms.Mode == events.Prepaid && s.Terms.AnchorDay == 0 && given.GivenAt.Before(before.PaidUntil) ||
		given.GivenAt.Before(s.elsewhere().To) // no invoice has that time
	goes := later && (s.State == Active || s.State == Paused)
	if given.Days == 0 || !goes {
		return given, false
	}
	after := evolveSubscription(s, given).Course()
	given.PaidUntil, given.Moved = after.PaidUntil, moved(s.Periods, before, after, -1)
	return given, after.PaidUntil.After(before.PaidUntil)
}

// givenMoney lists the credits: the days without service on the invoice of each period, or what was chosen on the
// newest one. None of them has all the days of its period, because a note over a whole invoice takes the period back.
// Time that was paid in another system has no invoice.
func (s Subscription) givenMoney(give events.CompensationGive, lost []lostTime) (list []events.DaysCredit) {
	if lost = slices.DeleteFunc(lost, func(l lostTime) bool { return l.at < 0 }); len(lost) == 0 {
		return nil
	}
	places := s.Course().Places
	credit := func(l lostTime, count func(Span) int) {
		p := s.Periods[l.at]
		of := s.days(p, places[l.at])
		if days := min(count(l.in), of-1); days > 0 {
			list = append(list, events.DaysCredit{InvoiceID: p.InvoiceID, Days: days, Of: of, KeepsPeriod: true})
		}
		list = s.withUpgrades(list, l.at, l.in, count)
	}
	newest := lost[len(lost)-1]
	switch {
	case !give.Money.IsZero():
		return []events.DaysCredit{{
			InvoiceID: s.Periods[newest.at].InvoiceID, Days: 1, Of: 1, Amount: give.Money, KeepsPeriod: true,
		}}
	case give.Proportional:
		for _, l := range lost {
			credit(l, func(in Span) int { return daysOf(s.outsideGaps(in)) })
		}
	default:
		credit(newest, func(Span) int { return give.Days })
	}
	return list
}
