package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// LastSign is where and when the device of a subscription was heard of last: by a report of a session, or by a sign-in
// that was refused.
type LastSign struct {
	SubscriptionID id.Subscription `db:"subscription_id"`
	DeviceID       id.Device       `db:"device_id"` // the router
	At             time.Time       `db:"at"`
}

// lastSignsSQL takes the end of a session for its last report: one that was lost ended with it. A line that dials all
// day leaves a hundred thousand sessions a year, so of each subscription only the last that began are read, and those
// that are open: of sessions that overlap, an earlier one can be the last that was heard of.
const lastSignsSQL = `select distinct on (h.subscription_id) h.subscription_id, h.device_id, h.at from (
		select s.subscription_id, s.device_id, coalesce(s.ended_at, s.updated_at) as at
		from unnest(@subscriptions::uuid[]) u (subscription_id) cross join lateral (
			select * from {schema}.sessions s
			where s.org_id = @org and s.subscriber_id = @subscriber and s.subscription_id = u.subscription_id
				and not s.address_only
			order by s.started_at desc, s.id desc limit 10
		) s
		union all
		select s.subscription_id, s.device_id, s.updated_at from {schema}.sessions s
		where s.org_id = @org and s.subscriber_id = @subscriber and s.ended_at is null and not s.address_only
		union all
		select r.subscription_id, r.device_id, r.at from {schema}.refusals r
		where r.org_id = @org and r.subscriber_id = @subscriber and r.device_id <> @nowhere
	) h where h.subscription_id = any(@subscriptions) order by h.subscription_id, h.at desc`

// LastSigns tells where subscriptions of a customer were heard of last. One that never was has no entry.
func (s *Store) LastSigns(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, of []id.Subscription,
) (list []LastSign, err error) {
	args := pgx.NamedArgs{"org": org, "subscriber": subscriber, "subscriptions": of, "nowhere": id.Device{}.UUID()}
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[LastSign], s.text(lastSignsSQL), args)
	})
	if err != nil {
		return nil, fmt.Errorf("last signs of a customer: %w", err)
	}
	return list, nil
}
