package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// decideUndoPeriod drops the last period that a billing run made. One before it stays, because the later one begins
// where it ends. Where time of a prepaid one was given, the next one takes its place.
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
	case slices.ContainsFunc(s.Periods[at+1:], func(p Period) bool { return p.State != PeriodCancelled }):
		return nil, commands.ErrLaterPeriod()
	case len(s.Periods[at].Upgrades) > 0: // the price of the new plan for its days is on an invoice of no run
		return nil, commands.ErrCorrectedSince()
	}
	event := events.PeriodCancelled{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, Ordinal: s.Periods[at].Ordinal,
		UndoneRun: c.RunID, At: now,
	}
	next := evolveSubscription(s, event)
	if s.newTerms(event.Ordinal, s.lastOrdinal()+1).Told() {
		event.NextTerms = withoutAccess(next.nextTerms())
	}
	switch {
	case s.Periods[at].Mode == events.Postpaid:
		event.NextFrom = latest(next.StartsAt, next.afterPause(next.Course().End))
	case s.gave(at, now) || s.retakes(at):
		event.NextFrom = next.Course().End
	}
	event = s.dropped(event, now)
	if s.State == Ended {
		event = s.withCharges(event)
	}
	return []events.SubscriptionEvent{event}, nil
}

// Undoing fails as the undo of a period would, without doing it: the decision itself is asked. done says that the
// period was undone before.
func (s Subscription) Undoing(c commands.UndoPeriod, now time.Time) (done bool, err error) {
	made, err := decideSubscription(s, c, now)
	return err == nil && len(made) == 0, err
}

// gave reports whether time of the prepaid period at an index was given for money, which may have been taken back.
func (s Subscription) gave(at int, now time.Time) bool {
	switch s.Periods[at].State {
	case PeriodPaid:
		return s.Course().Places[at].From.Before(s.running(now))
	case PeriodWithdrawn:
		return !s.neverServed(at, now)
	case PeriodDue, PeriodCancelled:
	}
	return false
}

// retakes reports whether the prepaid period at an index takes the place of one whose given time an undo took back,
// also when others that were undone lie between them. Behind the last index it tells that of the next period.
func (s Subscription) retakes(at int) bool {
	for i := at - 1; i >= 0 && s.Periods[i].Undone; i-- {
		if s.Periods[i].Used {
			return true
		}
	}
	return false
}

// paidOnce reports whether the period at an index waits for money again: its payment was taken back, or it retakes the
// place of a paid one.
func (s Subscription) paidOnce(at int) bool {
	return s.Periods[at].withdrawn() || s.Periods[at].State == PeriodDue && s.retakes(at)
}

// owesTime reports whether time that was given waits to be paid again, by a period that is due or by the next one.
func (s Subscription) owesTime() bool {
	for at := range s.Periods {
		if s.paidOnce(at) {
			return true
		}
	}
	return s.retakes(len(s.Periods))
}

// partFrom is where the next prepaid period begins that ends on a billing day: at its due instant, or in the place that
// it retakes.
func (s Subscription) partFrom(due time.Time) time.Time {
	if s.retakes(len(s.Periods)) {
		return s.Course().End
	}
	return due
}
