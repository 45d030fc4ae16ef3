package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SQL of sessions that ended without a report of their router, so that they may go on there. More than four of one
// username are too old to be meant.
const (
	silentSQL = `select ` + columns + `
	from (select distinct * from unnest($2::text[])) k (username)
	cross join lateral (select * from {schema}.sessions s where s.device_id = $1 and s.username = k.username
		and s.ended_by = 2 and not s.address_only order by s.started_at desc limit 4) x`
	lostOfSQL = `select ` + columns + ` from {schema}.sessions x where x.org_id = $1 and x.subscriber_id = $2
		and x.ended_at >= $3 and x.end_reason = '` + ReasonLost + `' and not x.address_only
		and not exists (select from {schema}.sessions y where y.org_id = x.org_id and y.subscriber_id = x.subscriber_id
			and y.calling = x.calling and y.started_at > x.started_at)`
)

// servedSQL finds the sessions of a router's servers that it ended with them, or may not have told about yet.
const servedSQL = `select ` + columns + ` from {schema}.sessions x where x.device_id = $1 and x.called = any($2)
		and x.subscriber_id is not null and x.id in (
			select id from {schema}.sessions where device_id = $1 and ended_at is null and started_at <= $4
			union all select id from {schema}.sessions
				where ended_at >= $3 and ended_at <= $4 and device_id = $1 and end_reason = 'admin_reset')
		order by x.started_at, x.id`

// heardSQL asks for the newest refusal of some codes, and the newest report of an open session.
const heardSQL = `select (select max(r.at) from {schema}.refusals r
			where r.device_id = $1 and r.at >= $2 and r.code = any($3)) as refused, (select max(x.updated_at)
			from {schema}.sessions x where x.device_id = $1 and x.ended_at is null) as reported`

// Heard tells when a router was heard last. Instants are nil where it was not.
type Heard struct {
	Refused  *time.Time // it was refused with one of some codes
	Reported *time.Time // it reported an open session
}

// Doubtful reports whether a router was refused, and has reported nothing after that nor done so at an instant.
func (h Heard) Doubtful(at time.Time) bool {
	return h.Refused != nil && h.Refused.After(at) && (h.Reported == nil || h.Refused.After(*h.Reported))
}

// Since reports whether a router has reported an open session after an instant.
func (h Heard) Since(at time.Time) bool { return h.Reported != nil && h.Reported.After(at) }

// Silent lists the sessions of some usernames at a router that ended without a report of it, as lost ones did. The
// router may have them still.
func (s *Store) Silent(ctx context.Context, device id.Device, usernames []string) ([]Session, error) {
	return s.sessions(ctx, silentSQL, device.UUID(), usernames)
}

// LostOf lists a subscriber's sessions that were lost since an instant, where the same device has begun no other one.
func (s *Store) LostOf(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, since time.Time,
) ([]Session, error) {
	return s.sessions(ctx, lostOfSQL, org.UUID(), subscriber.UUID(), since)
}

// EndedBy lists the sessions of customers that a router ended between two instants because it removed servers of some
// names: those that it has reported as ended by it, and those of which nothing was heard yet.
func (s *Store) EndedBy(
	ctx context.Context, device id.Device, servers []string, since, until time.Time,
) ([]Session, error) {
	return s.sessions(ctx, servedSQL, device.UUID(), servers, since, until)
}

// sessions reads what one of the statements selects.
func (s *Store) sessions(ctx context.Context, sql string, args ...any) ([]Session, error) {
	rows, err := s.db.Owner.Query(ctx, s.text(sql), args...)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Session])
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return list, nil
}

// Heard tells when a router was heard last, among refusals since an instant.
func (s *Store) Heard(ctx context.Context, device id.Device, codes []string, since time.Time) (Heard, error) {
	var out Heard
	err := s.db.Owner.QueryRow(ctx, s.text(heardSQL), device.UUID(), since, codes).Scan(&out.Refused, &out.Reported)
	if err != nil {
		return Heard{}, fmt.Errorf("look when a router was heard: %w", err)
	}
	return out, nil
}
