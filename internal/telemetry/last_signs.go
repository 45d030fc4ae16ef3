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

// lastSignsSQL takes the end of a session for its last report: one that was lost ended with it.
const lastSignsSQL = `select distinct on (h.subscription_id) h.subscription_id, h.device_id, h.at from (
		select s.subscription_id, s.device_id, coalesce(s.ended_at, s.updated_at) as at from {schema}.sessions s
		where s.org_id = $1 and s.subscriber_id = $2 and not s.address_only
		union all
		select r.subscription_id, r.device_id, r.at from {schema}.refusals r
		where r.org_id = $1 and r.subscriber_id = $2 and r.device_id <> $3
	) h order by h.subscription_id, h.at desc`

// LastSigns tells where each subscription of a customer was heard of last. One that never was has no entry.
func (s *Store) LastSigns(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) (list []LastSign, err error) {
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[LastSign], s.text(lastSignsSQL), org.UUID(), subscriber.UUID(),
			id.Device{}.UUID())
	})
	if err != nil {
		return nil, fmt.Errorf("last signs of a customer: %w", err)
	}
	return list, nil
}
