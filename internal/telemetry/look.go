package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Look tells when the auditor saw a router last. Instants are UTC.
type Look struct {
	DeviceID    id.Device
	TriedAt     time.Time  // of the latest look, whether it compared or not; zero = none
	LookedAt    *time.Time // of the latest look that compared; nil = there was none
	UnseenSince *time.Time // from when on nothing could be compared; nil = the latest look compared
	Why         string     // the latest look did not compare; "" = it did
}

// Tells reports whether the latest look at a router tells what it shows at an instant: it compared, and the looks since
// are not missing. every is the time between two looks.
func (l Look) Tells(at time.Time, every time.Duration) bool {
	if l.LookedAt == nil || l.UnseenSince != nil {
		return false
	}
	age := at.Sub(*l.LookedAt) // below zero for one from when the clock was ahead
	return age >= -lookSlack && age <= 2*every+lookSlack
}

// SQL of looks. One that is newer by more than a look takes is from before the clock was put back. Of what it leaves
// nothing is later than the next one.
const (
	keepLookSQL = `
insert into {schema}.looks as l (device_id, org_id, tried_at, looked_at, unseen_since, why)
values (@device, @org, @at, case when @why = '' then @at::timestamptz end,
	case when @why <> '' then @at::timestamptz end, @why)
on conflict (device_id) do update set tried_at = excluded.tried_at, why = excluded.why,
	looked_at = coalesce(excluded.looked_at,
		case when l.looked_at is not null then least(l.looked_at, excluded.tried_at) end),
	unseen_since = case when excluded.why <> '' then least(l.unseen_since, excluded.unseen_since) end
where l.tried_at <= excluded.tried_at or l.tried_at > excluded.tried_at + @slack::interval`
	looksSQL      = `select device_id, tried_at, looked_at, unseen_since, why from {schema}.looks where org_id = $1`
	purgeLooksSQL = `delete from {schema}.looks where device_id in
		(select device_id from {schema}.looks where tried_at < @before order by tried_at limit @max)`
)

// KeepLook records that a router was looked at. why is "" when what it shows was compared, and otherwise says why not.
func (s *Store) KeepLook(ctx context.Context, org id.Organization, device id.Device, at time.Time, why string) error {
	_, err := s.db.Owner.Exec(ctx, s.text(keepLookSQL), pgx.NamedArgs{
		"device": device.UUID(), "org": org.UUID(), "at": at, "why": why, "slack": lookSlack,
	})
	if err != nil {
		return fmt.Errorf("keep look at a router: %w", err)
	}
	return nil
}

// Looks gives the looks at an organization's routers; one that was never tried is not in the map. Routers that were
// decommissioned stay for the retention of sessions.
func (s *Store) Looks(ctx context.Context, org id.Organization) (map[id.Device]Look, error) {
	var rows []Look
	if err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Look], s.text(looksSQL), org.UUID())
	}); err != nil {
		return nil, fmt.Errorf("read looks at routers: %w", err)
	}
	looks := make(map[id.Device]Look, len(rows))
	for _, row := range rows {
		looks[row.DeviceID] = row
	}
	return looks, nil
}
