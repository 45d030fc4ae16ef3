package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Shown is a session of a subscription that a router showed when it was looked at.
type Shown struct {
	OrgID          id.Organization
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	DeviceID       id.Device
	At             time.Time // of the look
}

// reportedSQL finds a session that ended after a look, or whose last report was so new then that it was open: a session
// that is lost, or that its router was asked for in vain, ends with its last report. Reports have whole seconds. A
// restart ends all sessions of a router, also those that were never reported. What is still to come is from when our
// clock was ahead, and so from before the look.
const reportedSQL = `
select exists (select from {schema}.sessions x where x.org_id = @org and x.subscriber_id = @subscriber
		and x.subscription_id = @subscription and x.device_id = @device and not x.address_only
		and x.ended_at <= @come and (x.ended_at >= @at
			or x.end_reason in ('` + ReasonLost + `', '` + ReasonGone + `') and x.ended_at > @heard))
	or exists (select from {schema}.routers r where r.org_id = @org and r.device_id = @device
		and r.restarted_at between @at and @come)`

// Reported reports whether a router's reports tell more than a look at it: a session was reported at that moment, or
// ended since until now. lostAfter is how long an open session may be silent.
func (s *Store) Reported(ctx context.Context, seen Shown, now time.Time, lostAfter time.Duration) (bool, error) {
	var is bool
	err := s.db.TenantRead(ctx, seen.OrgID.UUID(), func(r *postgres.Reads) {
		postgres.CollectOne(r, &is, pgx.RowTo[bool], s.text(reportedSQL), pgx.NamedArgs{
			"org": seen.OrgID.UUID(), "subscriber": seen.SubscriberID.UUID(),
			"subscription": seen.SubscriptionID.UUID(), "device": seen.DeviceID.UUID(),
			"at": seen.At.Truncate(time.Second), "heard": seen.At.Add(-lostAfter),
			"come": now.Add(leastSet),
		})
	})
	if err != nil {
		return false, fmt.Errorf("compare a look with reports: %w", err)
	}
	return is, nil
}
