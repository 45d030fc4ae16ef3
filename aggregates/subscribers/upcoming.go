package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// Coming is a period that will become due.
type Coming struct {
	At  time.Time // when it becomes due, and its invoice is made
	Due events.PeriodDue
}

// Upcoming lists the next periods that become due after an instant, at most a number of them, when nothing changes and
// each prepaid one is paid on its due instant, those that wait now included. It asks the decisions themselves, so that
// it cannot differ from what they do. A subscription that is paused, cut off and not billed, or has ended has none.
func (s Subscription) Upcoming(now time.Time, most int) []Coming {
	var list []Coming
	for at := now; len(list) < most; {
		s = s.paidInTime(at)
		next, wanted := s.nextDue()
		if !wanted {
			break
		}
		at = latest(at, s.invoicedAt(next))
		made := decidePeriodDue(s, commands.MakePeriodDue{On: calendar.On(at, s.zone())}, at)
		if len(made) == 0 {
			break
		}
		for _, e := range made {
			if due, ok := e.(events.PeriodDue); ok {
				list = append(list, Coming{At: at, Due: due})
				s = evolveSubscription(s, due)
			}
		}
	}
	return list
}

// paidInTime pays every prepaid period that waits for money, on its due instant or at an instant when that is later.
func (s Subscription) paidInTime(at time.Time) Subscription {
	for _, invoice := range s.Open() {
		period, _ := s.Period(invoice)
		if period.Mode != events.Prepaid {
			continue
		}
		made, err := decideExtend(s, commands.ExtendSubscription{
			SubscriptionID: s.ID, InvoiceID: invoice, PaidAt: latest(at, s.PaidUntil(), s.StartsAt),
		}, at)
		if err != nil {
			return s
		}
		for _, e := range made {
			s = evolveSubscription(s, e)
		}
	}
	return s
}

// nextDue is when the next period becomes due: for postpaid when it begins, for prepaid some time before the paid time
// ends. It is false for a prepaid subscription of which no time is paid, and after its next period was dropped: then
// only money brings the next one. It is false, too, while what an undo took back waits for a person, and while a
// customer is cut off who is not billed.
func (s Subscription) nextDue() (time.Time, bool) {
	if !s.Undone.IsZero() || !s.Suspended.IsZero() {
		return time.Time{}, false
	}
	terms := s.nextTerms()
	if terms.Mode == events.Postpaid {
		return latest(s.StartsAt, s.afterPause(s.Course().End)), true
	}
	until := s.PaidUntil()
	if until.IsZero() {
		return time.Time{}, false
	}
	at := until.Add(-events.InvoicedAhead(terms.Period))
	return at, s.Dropped.IsZero() || at.After(s.Dropped)
}

// comes reports whether the next period becomes due by itself.
func (s Subscription) comes() bool {
	_, comes := s.nextDue()
	return comes
}

// invoicedAt is when the invoice of a period is made that becomes due at an instant: at the beginning of the local day,
// by the billing run, unless the period is an hour or a day.
func (s Subscription) invoicedAt(due time.Time) time.Time {
	if s.nextTerms().Period.Short() {
		return due
	}
	return calendar.On(due, s.zone()).Start(s.zone())
}

// dueOn reports whether the next period becomes due by the end of a day, or by now when that comes first: nothing is
// invoiced before its day. Of an hour or a day it must be due now.
func (s Subscription) dueOn(day calendar.Date, now time.Time) bool {
	next, wanted := s.nextDue()
	if !wanted {
		return false
	}
	return !day.Before(calendar.On(next, s.zone())) && !s.invoicedAt(next).After(now)
}
