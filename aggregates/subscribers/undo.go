package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// decideUndoPeriod drops the last period that a billing run made. One before it stays, because the later one begins
// where it ends, also a postpaid one that was given back. Where time of a prepaid one was given, the next one takes its
// place. After the end no next one comes: what was used is due at once, as when the end had come after the undo.
// Source: docs/rules/billing.md#undo.
func decideUndoPeriod(s Subscription, c commands.UndoPeriod, now time.Time) ([]events.SubscriptionEvent, error) {
	at, err := s.wanted(c.InvoiceID)
	switch {
	case err != nil:
		return nil, err
	case at < 0:
		return nil, failure.NewConflict("period_not_there", "The subscription has no such period.")
	case s.Periods[at].Undone:
		return nil, nil
	case s.Periods[at].State == PeriodCancelled:
		return nil, commands.ErrTakenBackAlready()
	case slices.ContainsFunc(s.Periods[at+1:], Period.keepsPlace):
		return nil, commands.ErrLaterPeriod()
	case len(s.Periods[at].Upgrades) > 0: // the price of the new plan for its days is on an invoice of no run
		return nil, commands.ErrCorrectedSince()
	case s.Periods[at].Mode == events.Prepaid && s.Periods[at].Paused+s.Periods[at].Free+s.Periods[at].Of > 0:
		return nil, commands.ErrCorrectedSince()
	}
	event := events.PeriodCancelled{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, Ordinal: s.Periods[at].Ordinal,
		UndoneRun: c.RunID, At: now,
	}
	next := evolveSubscription(s, event)
	if s.newTerms(event.Ordinal, s.lastOrdinal()+1).Told() || !s.Planned.IsZero() {
		event.NextTerms = withoutAccess(next.nextTerms())
	}
	switch {
	case s.Periods[at].Mode == events.Postpaid:
		event.NextFrom = latest(next.StartsAt, next.afterPause(next.Course().End))
	case s.gave(at, now) || s.Periods[at].Retakes:
		event.NextFrom = now // any instant says that its place waits
		event.NextFrom = evolveSubscription(s, event).Course().End
	}
	event = s.dropped(event, now)
	if s.State != Ended {
		return []events.SubscriptionEvent{event}, nil
	}
	if used := evolveSubscription(s, event).usedUntilEnd(now); len(used) > 0 { // charges are on its invoice
		return append([]events.SubscriptionEvent{event}, used...), nil
	}
	return []events.SubscriptionEvent{s.withCharges(event)}, nil
}

// decidePeriodDue makes the next period due, also one that waits since an undo when money came in or a person asks for
// it. When that person asks before it is due, or while nothing becomes due, the wait ends all the same: the run that is
// asked for is always that of its date, and later ones are of the clock.
// Source: docs/rules/billing.md#undo.
func decidePeriodDue(s Subscription, c commands.MakePeriodDue, now time.Time) []events.SubscriptionEvent {
	if s.Undone.IsZero() || s.State == Ended || !c.Received && (!c.Again || c.RunID != s.Undone) {
		return s.periodDue(c, now)
	}
	over := events.UndoneWaitEnded{SubscriptionID: s.ID, SubscriberID: s.SubscriberID, RunID: s.Undone, At: now}
	made := evolveSubscription(s, over).periodDue(c, now)
	if len(made) == 0 && (c.Again || s.State == Paused) {
		return []events.SubscriptionEvent{over}
	}
	return made
}

// usedUntilEnd makes due, after the end, what the end would have made due if the undo had come before it. Days of a
// postpaid period after the end are given back.
func (s Subscription) usedUntilEnd(now time.Time) []events.SubscriptionEvent {
	if s.Terms.Mode != events.Postpaid {
		_, made := s.billUsed(now)
		return made
	}
	serving := s
	serving.State = Active
	_, made := serving.billUsed(s.servedUntil(now))
	for i, e := range made {
		if period, ok := e.(events.PeriodDue); ok {
			period.At = now
			s = evolveSubscription(s, period)
			period.Credits = withDays(period.Credits, s.daysLeft(now), period.InvoiceID)
			made[i] = period
		}
	}
	return made
}

// withDays adds to the days that are credited on an invoice those of a list: there is one note for all.
func withDays(credits, more []events.DaysCredit, invoice id.Invoice) []events.DaysCredit {
	for _, c := range more {
		switch {
		case c.InvoiceID != invoice:
		case len(credits) == 0:
			credits = append(credits, c)
		default:
			credits = slices.Clone(credits)
			credits[0].Days = min(credits[0].Days+c.Days, c.Of)
		}
	}
	return credits
}

// Undoing fails as the undo of a period would, without doing it: the decision itself is asked. done says that the
// period was undone before.
func (s Subscription) Undoing(c commands.UndoPeriod, now time.Time) (done bool, err error) {
	made, err := decideSubscription(s, c, now)
	return err == nil && len(made) == 0, err
}

// UndoBills reports whether the undo of a period makes another one due, since the subscription has ended.
func (s Subscription) UndoBills(c commands.UndoPeriod, now time.Time) bool {
	made, err := decideSubscription(s, c, now)
	return err == nil && slices.ContainsFunc(made, func(e events.SubscriptionEvent) bool {
		_, due := e.(events.PeriodDue)
		return due
	})
}

// gave reports whether time of the prepaid period at an index was given for money, which may have been taken back.
func (s Subscription) gave(at int, now time.Time) bool {
	switch s.Periods[at].State {
	case PeriodPaid:
		return s.Course().Places[at].From.Before(s.servedUntil(now))
	case PeriodWithdrawn:
		return !s.neverServed(at, now)
	case PeriodDue, PeriodCancelled:
	}
	return false
}

// waitsAt is where the first place begins that waits; zero = none does.
func (c Course) waitsAt() time.Time {
	if len(c.Waiting) == 0 {
		return time.Time{}
	}
	return c.End
}

// nextRetakes reports whether the next prepaid period takes the place of one whose given time an undo took back.
func (s Subscription) nextRetakes() bool { return len(s.Course().Waiting) > 0 }

// paidOnce reports whether the period at an index waits for money again: its payment was taken back, or it retakes the
// place of a paid one.
func (s Subscription) paidOnce(at int) bool {
	return s.Periods[at].withdrawn() || s.Periods[at].State == PeriodDue && s.Periods[at].Retakes
}

// owesTime reports whether time that was given waits to be paid again, by a period that is due or by the next one.
func (s Subscription) owesTime() bool {
	for at := range s.Periods {
		if s.paidOnce(at) {
			return true
		}
	}
	return s.nextRetakes()
}

// partFrom is where the next prepaid period begins that ends on a billing day: at its due instant, or in the place that
// it retakes. An end bills several such places at once: one lies behind those before it, whether they are paid or not.
func (s Subscription) partFrom(due time.Time) time.Time {
	if s.nextRetakes() {
		return s.paidBefore(len(s.Periods)).Course().End
	}
	return due
}
