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

// heardSQL asks for refusals that may be for a router's secret, for those that are for sure, and for sign-ins that are
// not proven, each with the beginning of the run that began last. Then for open sessions of PPP, and of hotspots: the
// newest report, and the beginning of the newest one that was let in here.
const heardSQL = `select r.*, x.* from (
	select max(r.at) filter (where r.code = 'wrong_secret') as refused,
		max(coalesce(r.run_at, r.first_at)) filter (where r.code = 'wrong_secret') as refused_began,
		max(r.at) filter (where r.code <> 'unproven') as doubted,
		max(coalesce(r.run_at, r.first_at)) filter (where r.code <> 'unproven') as doubted_began,
		max(r.at) filter (where r.code = 'unproven') as unproven,
		max(coalesce(r.run_at, r.first_at)) filter (where r.code = 'unproven') as unproven_began
	from {schema}.refusals r where r.device_id = $1 and r.at between $2 and $3
		and r.code in ('wrong_secret', 'secret_doubtful', 'unproven')) r,
	(select max(x.updated_at) filter (where not x.hotspot and x.updated_at <= $3) as ppp_reported,
		max(x.started_at) filter (where not x.hotspot and x.let_in and x.started_at <= $3) as ppp_let_in,
		max(x.updated_at) filter (where x.hotspot and x.updated_at <= $3) as hotspot_reported,
		max(x.started_at) filter (where x.hotspot and x.let_in and x.started_at <= $3) as hotspot_let_in
	from (select s.updated_at, s.started_at, s.service = 'hotspot' as hotspot,
			s.subscription_id is not null and s.stamp <> '' as let_in
		from {schema}.sessions s where s.device_id = $1 and s.ended_at is null) x) x`

const (
	// reportsWithin is how soon after a report of a router the next one comes, where its reports go on.
	reportsWithin = ReportEvery + time.Minute
	// signInsWithin is how soon after a sign-in at a router another one comes, where they are let in.
	signInsWithin = time.Hour
)

// RouterHeard tells when a router was heard last. PPP and hotspots can have RADIUS clients of their own with other
// secrets, so what is heard of one proves nothing about the other one. Refusals are of both: they tell no service.
type RouterHeard struct{ PPP, Hotspots Heard }

// Of gives what was heard of hotspots, or of PPP.
func (r RouterHeard) Of(hotspot bool) Heard {
	if hotspot {
		return r.Hotspots
	}
	return r.PPP
}

// Heard tells when a service of a router was heard last. Instants are nil where it was not.
type Heard struct {
	Refused  Run        // for another secret
	Doubted  Run        // likewise, and what may be for one: a customer who types what no person types causes it, too
	Unproven Run        // sign-ins that were dropped as not proven
	Reported *time.Time // the newest report of an open session
	LetIn    *time.Time // the newest open session that was let in here began
}

// Run has the beginning and the last one of refusals that come without a pause of some minutes.
type Run struct{ Began, Last *time.Time }

// beside reports whether refusals are of something else at the router's address: they go on beside what proves, as it
// came last, that its own are taken, and which comes again within a while.
func (r Run) beside(last time.Time, within time.Duration) bool {
	return r.Began.Before(last) && r.Last.Sub(last) < within
}

// since reports whether there was a refusal after an instant.
func (r Run) since(last time.Time) bool { return r.Last != nil && r.Last.After(last) }

// Silent gives the same for a session whose own reports do not come: each refusal counts that may be for a router's
// secret.
func (h Heard) Silent() Heard {
	h.Refused = h.Doubted
	return h
}

// Doubtful reports whether a router was refused, and nothing tells that it was not for its secret: no report since, and
// none that was let in since, nor at an instant.
func (h Heard) Doubtful(letIn time.Time) bool {
	switch {
	case !h.Refused.since(h.lastLetIn(letIn)):
		return false
	case h.Reported == nil:
		return true
	}
	return h.Refused.since(*h.Reported) && !h.Refused.beside(*h.Reported, reportsWithin)
}

// Dropped reports whether sign-ins of a router were dropped as not proven, and none was let in since, nor at an
// instant. Reports tell nothing about that: they need no Message-Authenticator.
func (h Heard) Dropped(letIn time.Time) bool {
	last := h.lastLetIn(letIn)
	return h.Unproven.since(last) && !h.Unproven.beside(last, signInsWithin)
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
	ctx context.Context, device id.Device, now time.Time, within time.Duration,
) (out RouterHeard, err error) {
	ppp, hotspots := &out.PPP, &out.Hotspots
	row := s.db.Owner.QueryRow(ctx, s.text(heardSQL), device.UUID(), now.Add(-within), now.Add(Slack))
	err = row.Scan(
		&ppp.Refused.Last, &ppp.Refused.Began, &ppp.Doubted.Last, &ppp.Doubted.Began, &ppp.Unproven.Last,
		&ppp.Unproven.Began, &ppp.Reported, &ppp.LetIn, &hotspots.Reported, &hotspots.LetIn,
	)
	if err != nil {
		return RouterHeard{}, fmt.Errorf("look when a router was heard: %w", err)
	}
	hotspots.Refused, hotspots.Doubted, hotspots.Unproven = ppp.Refused, ppp.Doubted, ppp.Unproven
	return out, nil
}
