package telemetry

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// lockSQL makes the programs of an installation write one after another: a group is folded in memory.
const lockSQL = `select pg_advisory_xact_lock($1)`

// columns are the fields of Session.
const columns = `x.id, x.org_id, x.device_id, x.source, x.session_key, x.username, x.calling, x.mac, x.called, x.port,
	x.service, x.nas_port, x.ip, x.ipv6, x.framed_prefix, x.delegated_prefix, x.subscriber_id,
	x.subscription_id, x.access, x.rate_down, x.rate_up, x.started_at, x.updated_at, x.ended_at,
	x.ended_by, x.end_reason, x.bytes_down, x.bytes_up, x.seconds, x.samples, x.stamp, x.held`

// mostNamed is how many sessions of one name namedSQL reads, its {most}.
const mostNamed = 4

// namedSQL reads the newest sessions that have the names of reports, of any user where a report has none.
// Where there are more, nearSQL reads older ones.
const namedSQL = `select ` + columns + `
	from (select distinct * from unnest($1::uuid[], $2::text[], $3::text[])) k (device, session, username)
	cross join lateral (select * from {schema}.sessions s where s.device_id = k.device and s.session_key = k.session
		and (s.username = k.username or k.username = '') order by s.started_at desc limit {most}) x`

// nearSQL reads the sessions of names that began next to instants, before them and after them.
const nearSQL = `select ` + columns + `
	from (select distinct * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[])) k (device, session,
		username, start)
	cross join lateral (
		(select * from {schema}.sessions s where s.device_id = k.device and s.session_key = k.session
			and s.username = k.username and s.started_at <= k.start order by s.started_at desc limit 4)
		union all
		(select * from {schema}.sessions s where s.device_id = k.device and s.session_key = k.session
			and s.username = k.username and s.started_at > k.start order by s.started_at limit 4)) x`

// newestSQL reads the newest session of each place that reports are about, unless namedSQL reads it already. One that
// began when our clock was ahead and is over hides none: it is from before.
const newestSQL = `select ` + columns + `
	from (select distinct * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])) k (device, session, username,
		calling)
	cross join lateral (select * from {schema}.sessions s where s.device_id = k.device and s.username = k.username
		and s.calling = k.calling and (s.started_at <= $5 or s.ended_at is null)
		order by s.started_at desc limit 1) x where x.session_key <> k.session`

// earlyAtSQL reads the open sessions of routers whose last report is from when our clock was ahead.
const earlyAtSQL = `select ` + columns + ` from {schema}.sessions x
	where x.device_id = any($1::uuid[]) and x.ended_at is null and x.updated_at > $2 limit $3`

// beginSQL writes sessions that the tables do not have.
const beginSQL = `insert into {schema}.sessions (id, org_id, device_id, source, session_key, username, calling,
		mac, called, port, service, nas_port, ip, ipv6, framed_prefix, delegated_prefix, subscriber_id, subscription_id,
		access, rate_down, rate_up, started_at, updated_at,
		ended_at, ended_by, end_reason, bytes_down, bytes_up, seconds, samples, stamp, held)
	select u.id, org, device, nullif(source, '')::inet, session, username, calling, mac, called, port, service,
		nas_port, nullif(ip, '')::inet, nullif(ipv6, '')::inet,
		nullif(framed, '')::cidr, nullif(delegated, '')::cidr,
		subscriber, subscription, access, rate_down, rate_up, started, updated,
		ended, ended_by, end_reason, down, up, seconds, samples, stamp, held
	from unnest(
		@id::uuid[], @org::uuid[], @device::uuid[], @source::text[], @session::text[], @username::text[],
		@calling::text[], @mac::text[], @called::text[], @port::text[], @service::text[], @nas_port::bigint[],
		@ip::text[], @ipv6::text[], @framed::text[], @delegated::text[], @subscriber::uuid[],
		@subscription::uuid[], @access::text[], @rate_down::bigint[], @rate_up::bigint[], @started::timestamptz[],
		@updated::timestamptz[], @ended::timestamptz[], @ended_by::smallint[], @end_reason::text[], @down::bigint[],
		@up::bigint[], @seconds::bigint[], @samples::bytea[], @stamp::text[], @held::text[]) u (
		id, org, device, source, session, username, calling, mac, called, port, service, nas_port, ip, ipv6, framed,
		delegated, subscriber, subscription,
		access, rate_down, rate_up, started, updated, ended, ended_by, end_reason, down, up, seconds, samples, stamp,
		held)`

// saveWholeSQL writes sessions again that the tables have; only columns that change.
const saveWholeSQL = beginSQL + `
	on conflict (id) do update set source = excluded.source, called = excluded.called, port = excluded.port,
		service = excluded.service, nas_port = excluded.nas_port, ip = excluded.ip,
		ipv6 = excluded.ipv6, held = excluded.held,
		framed_prefix = excluded.framed_prefix,
		delegated_prefix = excluded.delegated_prefix, subscriber_id = excluded.subscriber_id,
		subscription_id = excluded.subscription_id,
		access = excluded.access, rate_down = excluded.rate_down, rate_up = excluded.rate_up,
		started_at = excluded.started_at, updated_at = excluded.updated_at, ended_at = excluded.ended_at,
		ended_by = excluded.ended_by, end_reason = excluded.end_reason, bytes_down = excluded.bytes_down,
		bytes_up = excluded.bytes_up, seconds = excluded.seconds, samples = excluded.samples,
		stamp = excluded.stamp`

// saveCountsSQL writes what every report changes, of sessions whose facts are stored already.
const saveCountsSQL = `update {schema}.sessions s set updated_at = u.updated, ended_at = u.ended,
		ended_by = u.ended_by, end_reason = u.end_reason, bytes_down = u.down, bytes_up = u.up, seconds = u.seconds,
		samples = u.samples
	from unnest(@id::uuid[], @updated::timestamptz[], @ended::timestamptz[], @ended_by::smallint[],
		@end_reason::text[], @down::bigint[], @up::bigint[], @seconds::bigint[], @samples::bytea[]) u (
		id, updated, ended, ended_by, end_reason, down, up, seconds, samples)
	where s.id = u.id`

// Committed names what a commit has changed.
type Committed struct {
	Sessions []*Session              // as they are now; nobody changes them any more
	Restarts map[id.Device]time.Time // when routers restarted, which ended what they had before
	Used     []Used
	Odd      map[id.Device]int       // reports with a counter that was left out
	Crowded  map[id.Device]int       // reports that were dropped, because there are as many sessions as may be
	Thinned  map[id.Subscription]int // sessions that were deleted, because many of the subscription began in a day
}

// Commit folds reports into the tables, in one transaction, and returns what it has changed. To commit reports again
// changes nothing. An error that is postgres.ErrPassing or postgres.Away says nothing about the reports. Restarts of
// routers by which more than endSize sessions would end are refused.
func (s *Store) Commit(ctx context.Context, d Directory, reports []Report) (Committed, error) {
	clean := make([]Report, len(reports))
	for i, r := range reports {
		clean[i] = r.clean()
	}
	var done Committed
	var opened map[id.Device]int
	var now time.Time
	var today group
	var restarted []id.Organization
	err := postgres.Transaction(ctx, s.db.Owner, func(tx pgx.Tx) (err error) {
		b := newBook(d, s.crowds)
		now, today = b.now(), b.today
		b.comes(now, clean)
		s.crowds.turn(now)
		if opened, err = s.fold(ctx, tx, b, clean, &done.Used); err != nil {
			return err
		}
		done.Sessions, done.Restarts = b.touched, b.restartTimes()
		done.Crowded, done.Thinned, done.Odd = b.crowded, today.thinned, b.odd
		restarted = slices.Collect(maps.Values(b.restarts))
		return nil
	})
	if err != nil {
		if away(err) { // otherwise nothing is written, and the numbers are as before
			s.crowds.forget(clean)
		}
		return Committed{}, err
	}
	s.crowds.changed(opened)
	s.crowds.began(today, now)
	s.tellTurns(done.Sessions, restarted)
	return done, nil
}

// fold fills an empty book from the tables, applies reports and writes what they change. It gives by how many the open
// sessions of routers become more. What the server gave and cannot be read is no fault of the reports.
func (s *Store) fold(
	ctx context.Context, tx pgx.Tx, b *book, reports []Report, used *[]Used,
) (opened map[id.Device]int, err error) {
	if err := s.load(ctx, tx, b, reports); err != nil {
		err = fmt.Errorf("load sessions: %w", err)
		if postgres.Code(err) == "" {
			err = &ofTables{err}
		}
		return nil, err
	}
	var at id.Organization
	if err := loop.Try(func() error {
		for _, r := range reports {
			at = r.Org
			b.apply(r)
		}
		return nil
	}); err != nil {
		return nil, &foldPanic{at, err}
	}
	b.settle()
	opened = b.opened()
	if err := s.save(ctx, tx, b, used, opened); err != nil {
		return nil, fmt.Errorf("save sessions: %w", err)
	}
	return opened, nil
}

// restartTimes are the restarts that a group tells, or that were told before of the same routers.
func (b *book) restartTimes() map[id.Device]time.Time {
	at := make(map[id.Device]time.Time, len(b.restarts))
	for device := range b.restarts {
		at[device] = b.restarted[device]
	}
	return at
}

// load fills the book with what reports can touch, in one round trip.
func (s *Store) load(ctx context.Context, tx pgx.Tx, b *book, reports []Report) error {
	var devices []pgtype.UUID
	var sessions, users, stations []string
	for _, r := range reports {
		devices = append(devices, key(r.Device))
		sessions, users = append(sessions, r.Session), append(users, r.User)
		stations = append(stations, r.station())
	}
	batch := &pgx.Batch{}
	batch.Queue(s.sql.lock, s.db.Namespace.LockKey(part))
	reads := map[string][]any{
		s.sql.named:  {devices, sessions, users},
		s.sql.newest: {devices, sessions, users, stations, b.latest()},
	}
	restarted, at := restarting(reports)
	if len(restarted) > 0 {
		reads[s.text(earlyAtSQL)] = []any{restarted, b.latest(), mostEarly}
		s.queueEnded(batch, b, restarted, at)
	}
	for sql, args := range reads {
		batch.Queue(sql, args...).Query(b.read)
	}
	batch.Queue(s.sql.restarted, devices).Query(func(rows pgx.Rows) error {
		var device id.Device
		var at time.Time
		_, err := pgx.ForEachRow(rows, []any{&device, &at}, func() error {
			switch {
			case !b.early(at):
				b.restarted[device] = at
			case b.putBack():
				b.aheadOf = append(b.aheadOf, device)
			}
			return nil
		})
		return err
	})
	now := b.now()
	if list := s.crowds.uncounted(reports, now); len(list) > 0 {
		batch.Queue(s.sql.open, list).Query(func(rows pgx.Rows) error { return s.crowds.take(rows, now) })
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if len(b.ended) > s.endSize {
		return errManyEnd
	}
	return s.loadNear(ctx, tx, b, reports)
}

// read adds sessions of the tables.
func (b *book) read(rows pgx.Rows) error {
	list, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[Session])
	for _, session := range list {
		if session.window, err = decodeWindow(session.Samples); err != nil {
			return fmt.Errorf("session %s: %w", session.ID, err)
		}
		session.stored, session.kept = new(session.facts()), session.progress()
		b.know(session)
	}
	return err
}

// loadNear adds the sessions next to what reports tell whose name has more than namedSQL reads: a router begins its
// names again, or has one for all, and reports can come again long after they were written.
func (s *Store) loadNear(ctx context.Context, tx pgx.Tx, b *book, reports []Report) error {
	var devices []pgtype.UUID
	var sessions, users []string
	var starts []time.Time
	for _, r := range reports {
		if len(b.byName[nameKey{r.Device, r.Session, r.User}]) < mostNamed || r.restarts() {
			continue
		}
		for start := range r.starts() {
			devices, starts = append(devices, key(r.Device)), append(starts, start)
			sessions, users = append(sessions, r.Session), append(users, r.User)
		}
	}
	if len(devices) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, s.sql.near, devices, sessions, users, starts)
	if err != nil {
		return err
	}
	return b.read(rows)
}

// save writes what the book has changed, in one round trip. It takes from opened what restarts have ended.
func (s *Store) save(ctx context.Context, tx pgx.Tx, b *book, used *[]Used, opened map[id.Device]int) error {
	batch := &pgx.Batch{}
	changes := b.changed()
	if len(changes.begun) > 0 {
		batch.Queue(s.sql.begun, arrays(changes.begun))
	}
	if len(changes.whole) > 0 {
		batch.Queue(s.sql.whole, arrays(changes.whole))
	}
	if len(changes.counted) > 0 {
		batch.Queue(s.sql.counts, countArrays(changes.counted))
	}
	s.queueHeld(batch, changes)
	if len(b.aheadOf) > 0 {
		batch.Queue(s.text(forgetRestartsSQL), b.aheadOf, b.come)
	}
	s.queueRestarts(batch, b, opened)
	s.queueThin(batch, b)
	s.queueUsage(batch, b, used)
	s.queueHeard(batch, b)
	return tx.SendBatch(ctx, batch).Close()
}

// countArrays are the arguments of saveCountsSQL.
func countArrays(list []*Session) pgx.NamedArgs {
	return pgx.NamedArgs{
		"id":         column(list, func(s *Session) pgtype.UUID { return key(s.ID) }),
		"updated":    column(list, func(s *Session) time.Time { return s.UpdatedAt }),
		"ended":      column(list, func(s *Session) *time.Time { return s.EndedAt }),
		"ended_by":   column(list, func(s *Session) int16 { return s.EndedBy }),
		"end_reason": column(list, func(s *Session) string { return s.EndReason }),
		"down":       column(list, func(s *Session) int64 { return s.BytesDown }),
		"up":         column(list, func(s *Session) int64 { return s.BytesUp }),
		"seconds":    column(list, func(s *Session) int64 { return s.Seconds }),
		"samples":    column(list, func(s *Session) []byte { return s.Samples }),
	}
}

// arrays are the arguments of beginSQL and saveWholeSQL.
func arrays(list []*Session) pgx.NamedArgs {
	args := countArrays(list)
	maps.Copy(args, pgx.NamedArgs{
		"org":          column(list, func(s *Session) pgtype.UUID { return key(s.OrgID) }),
		"device":       column(list, func(s *Session) pgtype.UUID { return key(s.DeviceID) }),
		"source":       column(list, func(s *Session) string { return textOf(s.Source) }),
		"session":      column(list, func(s *Session) string { return s.SessionKey }),
		"username":     column(list, func(s *Session) string { return s.Username }),
		"calling":      column(list, func(s *Session) string { return s.Calling }),
		"mac":          column(list, func(s *Session) string { return s.MAC }),
		"called":       column(list, func(s *Session) string { return s.Called }),
		"port":         column(list, func(s *Session) string { return s.Port }),
		"service":      column(list, func(s *Session) string { return s.Service }),
		"ip":           column(list, (*Session).address),
		"ipv6":         column(list, func(s *Session) string { return textOf(s.IPv6) }),
		"held":         column(list, func(s *Session) string { return s.Held }),
		"nas_port":     column(list, func(s *Session) int64 { return s.NASPort }),
		"framed":       column(list, func(s *Session) string { return textOf(s.FramedPrefix) }),
		"delegated":    column(list, func(s *Session) string { return textOf(s.DelegatedPrefix) }),
		"subscriber":   column(list, func(s *Session) pgtype.UUID { return key(s.SubscriberID) }),
		"subscription": column(list, func(s *Session) pgtype.UUID { return key(s.SubscriptionID) }),
		"access":       column(list, func(s *Session) string { return s.Access }),
		"rate_down":    column(list, func(s *Session) int64 { return s.RateDown }),
		"rate_up":      column(list, func(s *Session) int64 { return s.RateUp }),
		"started":      column(list, func(s *Session) time.Time { return s.StartedAt }),
		"stamp":        column(list, func(s *Session) string { return s.Stamp }),
	})
	return args
}

// key is an id in the form that pgx encodes in arrays without a detour through text; the zero id is null.
func key[I ~[16]byte](i I) pgtype.UUID { return pgtype.UUID{Bytes: i, Valid: i != I{}} }

// address is "" when no report told one.
func (s *Session) address() string {
	if s.IP == nil {
		return ""
	}
	return s.IP.String()
}

// textOf is "" when no report told a prefix.
func textOf[T netip.Prefix | netip.Addr](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

// column is one field of all sessions.
func column[T any](list []*Session, of func(*Session) T) []T {
	out := make([]T, len(list))
	for i, s := range list {
		out[i] = of(s)
	}
	return out
}
