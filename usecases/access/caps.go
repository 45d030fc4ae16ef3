package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Caps shows how far customers are in their caps. Safe for concurrent use.
type Caps struct {
	Subscriptions subscribersviews.SubscriptionsQuery
	Usage         accessviews.UsageQuery
	Store         *telemetry.Store
	Clock         clock.Clock
}

// CapStand is how far one subscription is in the present period of its cap, in bytes of both directions.
type CapStand struct {
	Subscription id.Subscription
	Allowed      int64 // by the plan and the top-ups of the period
	Used         int64
	ResetsAt     time.Time // UTC
}

// Of gives the cap of which the greatest part is used, among those of the customer's subscriptions that have not ended;
// nil without a cap. zone is the organization's.
func (u Caps) Of(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, zone *time.Location,
) (*CapStand, error) {
	owned, _, err := u.Subscriptions.OfSubscriber(ctx, org, subscriber)
	if err != nil {
		return nil, err
	}
	var capped []subscribersviews.SubscriptionRow
	var ids []id.Subscription
	for _, s := range owned {
		if s.Terms.Access.Cap.Bytes > 0 {
			capped, ids = append(capped, s), append(ids, s.ID)
		}
	}
	if len(capped) == 0 {
		return nil, nil
	}
	now := u.Clock.Now()
	added, err := u.Usage.Added(ctx, org, ids, now)
	if err != nil {
		return nil, err
	}
	var most *CapStand
	for _, s := range capped {
		cap := s.Terms.Access.Cap
		period := cap.PeriodAt(now, zone)
		subject := events.UsageSubject{SubscriptionID: s.ID, OrgID: org, SubscriberID: subscriber}
		_, used, err := usedIn(ctx, u.Store, subject, period)
		if err != nil {
			return nil, err
		}
		stand := &CapStand{
			Subscription: s.ID, Used: used, ResetsAt: period.ResetsAt,
			Allowed: cap.Bytes + added[accessviews.Topped{Subscription: s.ID, Period: cap.Period}],
		}
		if most == nil || stand.part() > most.part() {
			most = stand
		}
	}
	return most, nil
}

// part is the part of the cap that is used; 1 = all of it.
func (s CapStand) part() float64 { return float64(s.Used) / float64(s.Allowed) }
