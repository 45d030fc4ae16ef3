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
		and s.` + concludedSQL + ` and not s.address_only order by s.started_at desc limit 4) x`
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

// heardSQL asks for refusals of some codes, and of sign-ins that are not proven, then for open sessions: the newest
// report, and the beginning of the newest one that was let in here.
const heardSQL = `select r.refused, r.began, r.unproven, r.unproven_began, x.reported, x.let_in
	from (select max(r.at) filter (where r.code = any($3)) as refused,
			min(r.first_at) filter (where r.code = any($3)) as began,
			max(r.at) filter (where r.code = 'unproven') as unproven,
			min(r.first_at) filter (where r.code = 'unproven') as unproven_began
		from {schema}.refusals r where r.device_id = $1 and r.at between $2 and $4) r,
		(select max(x.updated_at) filter (where x.updated_at <= $4) as reported,
			max(x.started_at) filter (where x.started_at <= $4 and x.subscription_id is not null and x.stamp <> '')
				as let_in
		from {schema}.sessions x where x.device_id = $1 and x.ended_at is null) x`

const (
	// reportsWithin is how soon after a report of a router the next one comes, where its reports go on.
	reportsWithin = 6 * time.Minute
	// signInsWithin is how soon after a sign-in at a router another one comes, where they are let in.
	signInsWithin = time.Hour
)

// Heard tells when a router was heard last. Instants are nil where it was not.
type Heard struct {
	Refused       *time.Time // the newest refusal with one of some codes
	Began         *time.Time // the first one of those of the same days; nil = Refused
	Unproven      *time.Time // the newest sign-in that was dropped as not proven
	UnprovenBegan *time.Time // the first one of those of the same days; nil = Unproven
	Reported      *time.Time // the newest report of an open session
	LetIn         *time.Time // the newest open session that was let in here began
}

// Doubtful reports whether a router was refused, and nothing tells that it was not for its secret: no report since, and
// none that was let in since, nor at an instant. Refusals from before the newest report that go on beside reports are
// of something else with another secret at the router's address.
func (h Heard) Doubtful(letIn time.Time) bool {
	switch {
	case h.Refused == nil || !h.Refused.After(h.lastLetIn(letIn)):
		return false
	case h.Reported == nil:
		return true
	case h.Began != nil && h.Began.Before(*h.Reported) && h.Refused.Sub(*h.Reported) < reportsWithin:
		return false
	}
	return h.Refused.After(*h.Reported)
}

// Dropped reports whether sign-ins of a router were dropped as not proven, and none was let in since, nor at an
// instant. Reports tell nothing about that: they need no Message-Authenticator. Packets from before the newest sign-in
// that was let in, which go on beside sign-ins, are of something else at the router's address.
func (h Heard) Dropped(letIn time.Time) bool {
	last := h.lastLetIn(letIn)
	if h.Unproven == nil || !h.Unproven.After(last) {
		return false
	}
	return h.UnprovenBegan == nil || !h.UnprovenBegan.Before(last) || h.Unproven.Sub(last) >= signInsWithin
}

// lastLetIn is the later one of an instant and the beginning of the newest session that was let in here.
func (h Heard) lastLetIn(at time.Time) time.Time {
	if h.LetIn != nil && h.LetIn.After(at) {
		return *h.LetIn
	}
	return at
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

// Heard tells when a router was heard last, among refusals within a while until now. What has later instants is from
// when a clock was ahead.
func (s *Store) Heard(
	ctx context.Context, device id.Device, codes []string, now time.Time, within time.Duration,
) (Heard, error) {
	var out Heard
	row := s.db.Owner.QueryRow(ctx, s.text(heardSQL), device.UUID(), now.Add(-within), codes, now.Add(Slack))
	err := row.Scan(
		&out.Refused, &out.Began, &out.Unproven, &out.UnprovenBegan, &out.Reported, &out.LetIn,
	)
	if err != nil {
		return Heard{}, fmt.Errorf("look when a router was heard: %w", err)
	}
	return out, nil
}
