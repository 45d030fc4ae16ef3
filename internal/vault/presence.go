package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Absence is a time in which no program could take money, by the database's clock.
type Absence struct{ From, Until time.Time }

// Seen has what the database knows of the platform's presence. All its times are of the database's clock, so they may
// be compared with each other alone.
type Seen struct {
	Now      time.Time // of the answer
	At       time.Time // when a program could take money last; zero = there never was one
	Absences []Absence // those that not every organization's log has, the oldest first
	Programs []ProgramBeat
}

// ProgramBeat is the newest sign of life of one program that keeps callbacks on a disk. Its times are of the database's
// clock.
type ProgramBeat struct {
	Program string
	At      time.Time
	Kept    int64     // callbacks on its disk
	Since   time.Time // of the first sign of life that told of callbacks there; zero = none is there
	Stopped bool      // it has begun to stop, with nothing on its disk
	Served  time.Time // when it could take money last; zero = never
}

// Presence keeps when a program could take money last, so that the platform notices its own absence, and how many
// callbacks each program has on its disk (docs/rules/access-dunning.md#no-fault-grace). Safe for concurrent use.
type Presence struct{ core *core }

// Sign is a sign of life of a program.
type Sign struct {
	Program string // the same after a restart
	Kept    int64  // callbacks on its disk
	Serves  bool   // it can take money; one that starts, or stops, only tells of its disk
	Stops   bool   // it stops, and takes no money any more
	// Last is the time since its last sign that it can take money, by a clock that nobody sets; 0 = it gave none yet.
	Last time.Duration
}

// SQL of the presence. Gaps are measured by the database's clock; when it was put back, there was no gap. One that was
// put ahead makes none while a program goes on to give signs: no program was missing for longer than that one was. An
// absence is noted in the transaction of the sign that ends it, so that a kill afterwards forgets nothing, and under
// the lock of the row of the last one, so that two programs note it once. Programs of the version before the table of
// absences note theirs in the row of the presence.
const (
	signProgramSQL = `
insert into {schema}.presence_programs as p (program, beat_at, kept, kept_since, stopped, served_at)
values (@program, now(), @kept::bigint, case when @kept::bigint > 0 then now() end, @stopped,
	case when @serves::boolean then now() end)
on conflict (program) do update set beat_at = excluded.beat_at, kept = excluded.kept, stopped = excluded.stopped,
	served_at = coalesce(excluded.served_at, p.served_at),
	kept_since = case when excluded.kept > 0 then coalesce(p.kept_since, excluded.kept_since) end`
	noteAbsenceSQL = `
insert into {schema}.absences (away_until, away_from)
select now(), now() - least(away, @most::interval)
from (select least(now() - beat_at, @last::interval) as away from {schema}.presence for update) p
where away >= @gap::interval
on conflict (away_until) do update set away_from = least(absences.away_from, excluded.away_from)`
	signSQL = `
insert into {schema}.presence (beat_at) values (now()) on conflict (single) do update set beat_at = excluded.beat_at`
	readSignSQL = `
select now(), p.beat_at from (select) as one left join {schema}.presence as p on true`
	readAbsencesSQL = `
select away_from, away_until from {schema}.absences
union select away_from, away_until from {schema}.presence where away_from < away_until order by away_until`
	readProgramsSQL = `
select program, beat_at, kept, kept_since, stopped, served_at from {schema}.presence_programs order by program`
	leaveSQL   = `delete from {schema}.presence_programs where program = $1`
	forgetSQL  = `delete from {schema}.presence_programs where program = $1 and beat_at = $2`
	settledSQL = `
with older as (update {schema}.presence set away_from = null, away_until = null where away_until = $1)
delete from {schema}.absences where away_until = $1`
)

// Beat notes a sign of life. When no program could take money for at least gap, that is an absence; of a longer one
// than most, its end counts.
func (p *Presence) Beat(ctx context.Context, s Sign, gap, most time.Duration) error {
	batch := &pgx.Batch{}
	batch.Queue(p.core.sql(signProgramSQL), pgx.NamedArgs{
		"program": s.Program, "kept": s.Kept, "stopped": s.Stops && s.Kept == 0, "serves": s.Serves,
	})
	if s.Serves {
		last := pgtype.Interval{Microseconds: s.Last.Microseconds(), Valid: s.Last > 0}
		batch.Queue(p.core.sql(noteAbsenceSQL), pgx.NamedArgs{"gap": gap, "most": most, "last": last})
		batch.Queue(p.core.sql(signSQL))
	}
	if err := p.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("presence of the platform: %w", err)
	}
	return nil
}

// Read gives what is known. Who sees a sign of life in it sees the absence that the sign has ended.
func (p *Presence) Read(ctx context.Context) (Seen, error) {
	var s Seen
	batch := &pgx.Batch{}
	batch.Queue(p.core.sql(readSignSQL)).QueryRow(func(row pgx.Row) error { // first: each statement sees what is newer
		var at *time.Time
		err := row.Scan(&s.Now, &at)
		if at != nil {
			s.At = *at
		}
		return err
	})
	batch.Queue(p.core.sql(readAbsencesSQL)).Query(func(rows pgx.Rows) (err error) {
		s.Absences, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Absence, err error) {
			return a, row.Scan(&a.From, &a.Until)
		})
		return err
	})
	batch.Queue(p.core.sql(readProgramsSQL)).Query(func(rows pgx.Rows) (err error) {
		s.Programs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (one ProgramBeat, err error) {
			var since, served *time.Time
			err = row.Scan(&one.Program, &one.At, &one.Kept, &since, &one.Stopped, &served)
			if since != nil {
				one.Since = *since
			}
			if served != nil {
				one.Served = *served
			}
			return one, err
		})
		return err
	})
	if err := p.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return Seen{}, fmt.Errorf("presence of the platform: %w", err)
	}
	return s, nil
}

// Leave removes a program whose disk has no callbacks any more, because another one has taken them over.
func (p *Presence) Leave(ctx context.Context, program string) error {
	return p.change(ctx, leaveSQL, program)
}

// Forget removes a program that has given no sign of life since one. A program that has stays as it is.
func (p *Presence) Forget(ctx context.Context, b ProgramBeat) error {
	return p.change(ctx, forgetSQL, b.Program, b.At)
}

// Settled forgets an absence that every organization's log has.
func (p *Presence) Settled(ctx context.Context, a Absence) error {
	return p.change(ctx, settledSQL, a.Until)
}

// change runs a statement that changes a row or none.
func (p *Presence) change(ctx context.Context, sql string, args ...any) error {
	if _, err := p.core.db.Owner.Exec(ctx, p.core.sql(sql), args...); err != nil {
		return fmt.Errorf("presence of the platform: %w", err)
	}
	return nil
}
