package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// decideUndoPeriod drops the last period that a billing run made. One before it stays, because the later one begins
// where it ends. Source: docs/rules/billing.md#undo.
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
	}
	event := s.dropped(events.PeriodCancelled{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, InvoiceID: c.InvoiceID, Ordinal: s.Periods[at].Ordinal,
		UndoneRun: c.RunID, At: now,
	}, now)
	if s.State == Ended {
		event = s.withCharges(event)
	}
	if s.Periods[at].Mode == events.Postpaid {
		next := evolveSubscription(s, event)
		event.NextFrom = latest(next.StartsAt, next.afterPause(next.Course().End))
	}
	return []events.SubscriptionEvent{event}, nil
}

// Undoing fails as the undo of a period would, without doing it: the decision itself is asked. done says that the
// period was undone before.
func (s Subscription) Undoing(c commands.UndoPeriod, now time.Time) (done bool, err error) {
	made, err := decideSubscription(s, c, now)
	return err == nil && len(made) == 0, err
}
