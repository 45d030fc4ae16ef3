package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Suspension is the time since which a customer is cut off and not billed. The zero value is none.
type Suspension struct {
	At time.Time
	By events.SuspendedBilling
}

// IsZero reports whether billing goes on.
func (s Suspension) IsZero() bool { return s.At.IsZero() }

// stops reports whether the time of the present period does not run.
func (s Suspension) stops() bool { return s.By == events.BillUsedDays }

// decideSuspendBilling stops what is billed under the present terms from the cut on. Periods that began before it are
// due, also where the billing run of their day is late.
func decideSuspendBilling(s Subscription, c commands.SuspendBilling) []events.SubscriptionEvent {
	by := s.Terms.BillWhileSuspended.WithDefault()
	if s.State != Active || s.Terms.Mode != events.Postpaid || by == events.BillAll || !s.Suspended.IsZero() {
		return nil
	}
	_, made := s.begun(commands.MakePeriodDue{}, c.At)
	return append(made, events.BillingSuspended{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, By: by, At: c.At,
	})
}

// begun makes the postpaid periods due that have begun before an instant, where their billing run is late, held or
// taken back; asked tells what the last of these needs. It gives the subscription afterwards. Whatever counts the days
// of the present period needs it first.
func (s Subscription) begun(
	asked commands.MakePeriodDue, at time.Time,
) (next Subscription, made []events.SubscriptionEvent) {
	if s.Terms.Mode != events.Postpaid || s.State != Active {
		return s, nil
	}
	for next = s; ; {
		due := decidePeriodDue(next, asked, at)
		if len(due) == 0 {
			return next, made
		}
		for _, e := range due {
			next = evolveSubscription(next, e)
		}
		made = append(made, due...)
	}
}

// caughtUp is begun for a change that a person asks for. It fails while a period that has begun waits for its run to be
// asked for again: whoever took that back is to say under which price it is billed. Fails: period_undone.
func (s Subscription) caughtUp(now time.Time) (Subscription, []events.SubscriptionEvent, error) {
	if _, waits := s.begun(commands.MakePeriodDue{Received: true}, now); !s.Undone.IsZero() && len(waits) > 0 {
		return s, nil, errPeriodUndone()
	}
	next, made := s.begun(commands.MakePeriodDue{}, now)
	return next, made, nil
}

// errPeriodUndone refuses what counts the days of a period that an undo took back, until it is made again.
func errPeriodUndone() error {
	return failure.NewConflict("period_undone",
		"The invoice of the present period was taken back with its billing run. Ask for that run again first.")
}

// billingResumed ends the suspension of billing; there is no event without one. The time since the cut is a gap under
// terms that bill used days, and that since the end of the present period under those that bill nothing: it is never
// made up. A period that an undo took back counts as made again.
// Source: docs/rules/subscribers.md#suspended-billing.
func (s Subscription) billingResumed(at time.Time) []events.SubscriptionEvent {
	if s.Suspended.IsZero() || s.State == Ended {
		return nil
	}
	before := s.Course()
	at = latest(at, s.Suspended.At)
	resumed := events.BillingResumed{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, From: s.Suspended.At, At: at,
	}
	if !s.Suspended.stops() {
		billed, _ := s.asBegun(at)
		resumed.From = earliest(at, latest(s.Suspended.At, billed.Course().End))
	}
	next := evolveSubscription(s, resumed)
	after := next.Course()
	resumed.PaidUntil, resumed.Moved = after.PaidUntil, moved(s.Periods, before, after, -1)
	resumed.NextFrom = latest(s.StartsAt, next.afterPause(after.End))
	if s.Suspended.stops() {
		resumed.Credits = s.pausedDays(Span{resumed.From, at})
	}
	return []events.SubscriptionEvent{resumed}
}

// suspended applies an event about what is billed.
func (s Subscription) suspended(e events.SubscriptionEvent) Subscription {
	switch e := e.(type) {
	case events.BillingSuspended:
		s = s.told(e.At)
		s.Suspended = Suspension{At: e.At, By: e.By}
	case events.BillingResumed:
		s = s.told(e.At).paused(e.Credits)
		s.Gaps = withGap(s.Gaps, Span{e.From, e.At})
		s.Suspended, s.Dropped = Suspension{}, time.Time{}
	case events.UndoneWaitEnded:
		s = s.told(e.At)
		s.Undone, s.Dropped = id.BillingRun{}, time.Time{}
	default: // the other events change nothing of it
	}
	return s
}
