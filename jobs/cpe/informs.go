// Package cpejobs keeps what the equipment in customers' homes reports all the time, and which is therefore no event.
package cpejobs

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// migrations holds the DDL of the tables informs and minutes.
//
//go:embed migrations
var migrations embed.FS

// Times of the writing: the pause after each, so that after a power cut one statement has the calls of very many; and
// what the last writing of a stopping program may take.
const (
	informsPause = time.Second
	informsFlush = time.Second
)

// Informs keeps when each CPE has called last, and counts those of an organization that have called since an instant.
// It is no read model: ten thousand CPEs call every five minutes, which the log does not have. Calls are written beside
// the answers, all that came in a second at once; those that are not written yet are lost with a program that is
// killed.
// Safe for concurrent use.
type Informs struct {
	db     *postgres.DB
	schema string
	clock  clock.Clock
	logger *slog.Logger
	loops  *loop.Group
	wake   chan struct{}
	// changes counts what this program has written.
	changes atomic.Uint64

	writing sync.Mutex // held while calls are written
	mu      sync.Mutex // guards waiting
	waiting map[id.CPE]Inform
}

// Inform is a call of a CPE.
type Inform struct {
	CpeID id.CPE
	OrgID id.Organization // that had it at that moment; zero = nobody
	At    time.Time
}

// OpenInforms migrates the tables to the newest version.
func OpenInforms(
	ctx context.Context, db *postgres.DB, c clock.Clock, logger *slog.Logger,
) (*Informs, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open informs: %w", err)
	}
	if err := db.Migrate(ctx, "cpe", files); err != nil {
		return nil, err
	}
	return &Informs{
		db: db, schema: db.Namespace.Schema("cpe"), clock: c, logger: logger, loops: loop.New(logger),
		wake: make(chan struct{}, 1), waiting: map[id.CPE]Inform{},
	}, nil
}

// sql replaces {schema} by the schema's name, which depends on the namespace.
func (i *Informs) sql(text string) string { return strings.ReplaceAll(text, "{schema}", i.schema) }

// Start begins to write; it never fails.
func (i *Informs) Start(ctx context.Context) error {
	return i.loops.Start(ctx, func(context.Context) error {
		i.loops.Go("calls of CPEs", func(ctx context.Context) {
			for loop.Wait(ctx, i.wake) {
				if err := i.write(ctx); err != nil && ctx.Err() == nil {
					i.logger.LogAttrs(ctx, slog.LevelWarn, "calls of cpes not written",
						slog.String("error", err.Error()))
					loop.Wake(i.wake)
				}
				loop.Sleep(ctx, informsPause)
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), informsFlush)
			defer cancel()
			_ = i.write(last) // what cannot be written now comes again with the next call
		})
		return nil
	})
}

// Stop writes the calls that wait, and ends.
func (i *Informs) Stop() { i.loops.Stop() }

// Heard notes that a CPE has called at this moment. It never blocks.
func (i *Informs) Heard(cpe id.CPE, org id.Organization) {
	i.mu.Lock()
	i.waiting[cpe] = Inform{CpeID: cpe, OrgID: org, At: i.clock.Now()}
	i.mu.Unlock()
	loop.Wake(i.wake)
}

// HeardAt notes a call that somebody else has heard, by a clock of its own: one of the future is of this moment. It
// never blocks.
func (i *Informs) HeardAt(cpe id.CPE, org id.Organization, at time.Time) {
	if now := i.clock.Now(); at.After(now) {
		at = now
	}
	i.mu.Lock()
	if waits, is := i.waiting[cpe]; !is || waits.At.Before(at) {
		i.waiting[cpe] = Inform{CpeID: cpe, OrgID: org, At: at}
	}
	i.mu.Unlock()
	loop.Wake(i.wake)
}

// Statements. A call that is much newer is from before the clock was put back. What was read about a CPE before it was
// claimed or released may be written after it, so that for a while the claim or the release decides whose it is. The
// lock makes the writers wait for each other: two that count the same minutes could otherwise wait in a circle.
const (
	lockInformsSQL = `lock table {schema}.minutes in share row exclusive mode`
	heardSQL       = `
insert into {schema}.informs as i (cpe_id, org_id, at, minute)
select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[])
on conflict (cpe_id) do update set at = excluded.at, minute = excluded.minute, org_id = case
	when i.moved_at is null or excluded.at > i.moved_at + interval '1 minute' then excluded.org_id else i.org_id end
where i.at <= excluded.at or i.at > excluded.at + interval '10 minutes'`
	// What was noted before belongs to who had the CPE then.
	movedSQL = `
with faulty as (
	update {schema}.faults set org_id = null where cpe_id = $1 and org_id is distinct from $2
), waiting as (
	update {schema}.callers set taken = $2::uuid is not null, at = greatest(at, $3)
	where cpe_id = $1 and taken <> ($2::uuid is not null)
)
update {schema}.informs set org_id = $2, moved_at = $3 where cpe_id = $1 and org_id is distinct from $2`
	latestSQL = `select cpe_id, at from {schema}.informs where cpe_id = any($1)`
	sinceSQL  = `select cpe_id from {schema}.informs where org_id = $1 and minute >= $2 and at >= $3`
	// Of the minute in which an instant lies, the CPEs themselves are counted.
	countSQL = `
select coalesce((select sum(cpes) from {schema}.minutes where org_id = $1 and minute > asked.minute), 0)::int
	+ (select count(*) from {schema}.informs where org_id = $1 and minute = asked.minute and at >= since)::int
from unnest($2::bigint[], $3::timestamptz[]) with ordinality asked (minute, since, n) order by n`
)

// minuteOf is the minute in which an instant lies, since 1970.
func minuteOf(at time.Time) int64 { return at.Unix() / int64(time.Minute/time.Second) }

// write writes the calls that wait; after a failure they wait on.
func (i *Informs) write(ctx context.Context) error {
	i.writing.Lock()
	defer i.writing.Unlock()
	i.mu.Lock()
	taken := i.waiting
	i.waiting = map[id.CPE]Inform{}
	i.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	list := slices.Collect(maps.Values(taken))
	cpes, orgs := make([]id.CPE, len(list)), make([]id.Organization, len(list))
	at, minutes := make([]time.Time, len(list)), make([]int64, len(list))
	for n, one := range list {
		cpes[n], orgs[n], at[n], minutes[n] = one.CpeID, one.OrgID, one.At, minuteOf(one.At)
	}
	err := i.change(ctx, heardSQL, cpes, orgs, at, minutes)
	if err != nil {
		i.mu.Lock()
		for cpe, one := range taken {
			if _, newer := i.waiting[cpe]; !newer {
				i.waiting[cpe] = one
			}
		}
		i.mu.Unlock()
	}
	return err
}

// change runs a statement that changes calls.
func (i *Informs) change(ctx context.Context, sql string, args ...any) error {
	defer i.changes.Add(1) // also when it is not known what came of it
	return postgres.Transaction(ctx, i.db.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, i.sql(lockInformsSQL)); err != nil {
			return fmt.Errorf("lock informs: %w", err)
		}
		if _, err := tx.Exec(ctx, i.sql(sql), args...); err != nil {
			return fmt.Errorf("write informs: %w", err)
		}
		return nil
	})
}

// Move counts a CPE among those of another organization from now on; zero = of nobody. The one that it is counted among
// already is no change. The faults of the CPE are not shown to the organization.
func (i *Informs) Move(ctx context.Context, cpe id.CPE, org id.Organization) error {
	if err := i.write(ctx); err != nil {
		return err
	}
	return i.change(ctx, movedSQL, cpe, org, i.clock.Now())
}

// Latest tells when some CPEs have called last; one that never has is left out.
func (i *Informs) Latest(ctx context.Context, cpes []id.CPE) (map[id.CPE]time.Time, error) {
	rows, err := i.db.Owner.Query(ctx, i.sql(latestSQL), cpes)
	if err != nil {
		return nil, fmt.Errorf("read informs: %w", err)
	}
	found := make(map[id.CPE]time.Time, len(cpes))
	var cpe id.CPE
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&cpe, &at}, func() error { found[cpe] = at; return nil }); err != nil {
		return nil, fmt.Errorf("read informs: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, of := range cpes {
		if one, waits := i.waiting[of]; waits {
			found[of] = one.At
		}
	}
	return found, nil
}

// Since lists the CPEs of an organization that have called at an instant or later.
func (i *Informs) Since(ctx context.Context, org id.Organization, at time.Time) ([]id.CPE, error) {
	rows, err := i.db.Owner.Query(ctx, i.sql(sinceSQL), org, minuteOf(at), at)
	if err != nil {
		return nil, fmt.Errorf("read informs: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[id.CPE])
	if err != nil {
		return nil, fmt.Errorf("read informs: %w", err)
	}
	return append([]id.CPE{}, list...), nil
}

// CountSince counts, for each of some instants, the CPEs of an organization that have called then or later, in the same
// time however many they are.
func (i *Informs) CountSince(ctx context.Context, org id.Organization, at ...time.Time) ([]int, error) {
	minutes := make([]int64, len(at))
	for n, one := range at {
		minutes[n] = minuteOf(one)
	}
	rows, err := i.db.Owner.Query(ctx, i.sql(countSQL), org, minutes, at)
	if err != nil {
		return nil, fmt.Errorf("count informs: %w", err)
	}
	counts, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil, fmt.Errorf("count informs: %w", err)
	}
	return counts, nil
}
