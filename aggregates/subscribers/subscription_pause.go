package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// decidePause pauses an active subscription; a paused one gives no event. The pause takes the place of a suspension of
// billing. Periods that have begun are due, so that their days in the pause are given back.
func decidePause(s Subscription, c commands.PauseSubscription, now time.Time) ([]events.SubscriptionEvent, error) {
	switch s.State {
	case Paused:
		return nil, nil
	case Active:
		next, made, err := s.caughtUp(now)
		if err != nil {
			return nil, err
		}
		made = append(made, next.billingResumed(now)...)
		return append(made, events.SubscriptionPaused{
			SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Reason: personal.Of(c.Reason), At: now,
		}), nil
	}
	return nil, failure.NewConflict("subscription_not_active", "Only an active subscription can be paused.")
}

// decideResume ends the pause, which becomes a gap: the periods around it end later by its length, and it is not
// billed.
func decideResume(s Subscription, c commands.ResumeSubscription, now time.Time) ([]events.SubscriptionEvent, error) {
	switch s.State {
	case Active:
		return nil, nil
	case Paused:
		resumed := events.SubscriptionResumed{
			SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Reason: personal.Of(c.Reason), At: now,
		}
		next, before := evolveSubscription(s, resumed), s.Course()
		after := next.Course()
		resumed.PaidUntil, resumed.Moved = after.PaidUntil, moved(s.Periods, before, after, -1)
		resumed.Credits = s.pausedDays(Span{s.PausedAt, now})
		if s.Terms.Mode == events.Postpaid {
			resumed.NextFrom = latest(s.StartsAt, next.afterPause(after.End))
		}
		return []events.SubscriptionEvent{resumed}, nil
	}
	return nil, failure.NewConflict("subscription_not_paused", "Only a paused subscription can be resumed.")
}
