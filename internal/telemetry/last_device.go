package telemetry

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// LastDevices gives the router of the newest session of each subscription of some customers. A subscription that never
// had a session is not in the map.
func (s *Store) LastDevices(
	ctx context.Context, org id.Organization, subscribers []id.Subscriber,
) (map[id.Subscription]id.Device, error) {
	type row struct {
		Subscription id.Subscription `db:"subscription_id"`
		Device       id.Device       `db:"device_id"`
	}
	ids := make([]uuid.UUID, len(subscribers))
	for i, k := range subscribers {
		ids[i] = k.UUID()
	}
	var rows []row
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[row], s.text(`
			select distinct on (x.subscription_id) x.subscription_id, x.device_id from {schema}.sessions x
			where x.org_id = $1 and x.subscriber_id = any($2) and x.subscription_id is not null
			order by x.subscription_id, x.started_at desc, x.id desc`), org.UUID(), ids)
	})
	if err != nil {
		return nil, fmt.Errorf("last routers of subscriptions: %w", err)
	}
	out := make(map[id.Subscription]id.Device, len(rows))
	for _, r := range rows {
		out[r.Subscription] = r.Device
	}
	return out, nil
}
