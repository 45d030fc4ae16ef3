package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Absence is a time in which no program could take money. The zero value is none.
type Absence struct {
	From, Until time.Time // of the machine's clock; equal ones say that it is recorded in the log
}

// Beat has what the database knows of the platform's presence. Its times, except those of Away, are of the database's
// clock, so they may be compared with each other alone.
type Beat struct {
	Now      time.Time // of the answer
	At       time.Time // the newest sign of life; zero = there never was one
	Away     Absence   // the one that is not settled yet
	Programs []ProgramBeat
}

// ProgramBeat is the newest sign of life of one program that takes money. Its times are of the database's clock.
type ProgramBeat struct {
	Program string
	At      time.Time
	Kept    int64     // callbacks on its disk
	Since   time.Time // of the first beat that told of callbacks there; zero = none is there
}

// Presence keeps when a program could take money last, so that the platform notices its own absence, and how many
// callbacks each program has on its disk (docs/rules/access-dunning.md#no-fault-grace). Safe for concurrent use.
type Presence struct{ core *core }

// Beating has the facts that a program tells of itself.
type Beating struct {
	Program string    // the same after a restart
	Kept    int64     // callbacks on its disk
	Now     time.Time // of the machine's clock: an absence that is noticed has ended then
}

// SQL of the presence. A beat after a gap notes the absence in the same statement, so that a kill afterwards forgets
// nothing. One that is not settled yet reaches to the newest beat after a gap. Gaps are measured by the database's
// clock alone, whatever those of the programs say; when it was put back, there was no gap.
const (
	beatProgramSQL = `
insert into {schema}.presence_programs as p (program, beat_at, kept, kept_since)
values (@program, now(), @kept::bigint, case when @kept::bigint > 0 then now() end)
on conflict (program) do update set beat_at = excluded.beat_at, kept = excluded.kept,
	kept_since = case when excluded.kept > 0 then coalesce(p.kept_since, excluded.kept_since) end`
	beatSQL = `
insert into {schema}.presence as p (beat_at) values (now())
on conflict (single) do update set beat_at = excluded.beat_at,
	away_from = case when now() - p.beat_at < @gap::interval then p.away_from
		else greatest(least(p.away_from, @at::timestamptz - (now() - p.beat_at)), @at - @most::interval) end,
	away_until = case when now() - p.beat_at < @gap::interval then p.away_until else @at end`
	readBeatSQL = `
select now(), p.beat_at, p.away_from, p.away_until from (select) as one left join {schema}.presence as p on true`
	readProgramsSQL = `
select program, beat_at, kept, kept_since from {schema}.presence_programs order by program`
	leaveSQL        = `delete from {schema}.presence_programs where program = $1`
	forgetSQL       = `delete from {schema}.presence_programs where program = $1 and beat_at = $2`
	recordedAwaySQL = `update {schema}.presence set away_from = away_until where away_until = $1`
	settledAwaySQL  = `update {schema}.presence set away_from = null, away_until = null where away_until = $1`
)

// Beat notes that a program can take money, and gives what is known then. A time of at least gap since the last beat of
// any program is an absence; of a longer one than most, its end counts.
func (p *Presence) Beat(ctx context.Context, b Beating, gap, most time.Duration) (Beat, error) {
	batch := &pgx.Batch{}
	batch.Queue(p.core.sql(beatProgramSQL), pgx.NamedArgs{"program": b.Program, "kept": b.Kept})
	batch.Queue(p.core.sql(beatSQL), pgx.NamedArgs{"at": b.Now.Truncate(time.Microsecond), "gap": gap, "most": most})
	return p.read(ctx, batch)
}

// Read gives what is known, for a program that takes no money itself.
func (p *Presence) Read(ctx context.Context) (Beat, error) { return p.read(ctx, &pgx.Batch{}) }

// read runs a batch, which is one transaction, and gives what is known after it.
func (p *Presence) read(ctx context.Context, batch *pgx.Batch) (Beat, error) {
	var b Beat
	batch.Queue(p.core.sql(readBeatSQL)).QueryRow(func(row pgx.Row) error {
		var at, from, until *time.Time
		err := row.Scan(&b.Now, &at, &from, &until)
		if at != nil {
			b.At = *at
		}
		if from != nil && until != nil {
			b.Away = Absence{*from, *until}
		}
		return err
	})
	batch.Queue(p.core.sql(readProgramsSQL)).Query(func(rows pgx.Rows) (err error) {
		b.Programs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ProgramBeat, error) {
			var one ProgramBeat
			var since *time.Time
			err := row.Scan(&one.Program, &one.At, &one.Kept, &since)
			if since != nil {
				one.Since = *since
			}
			return one, err
		})
		return err
	})
	if err := p.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return Beat{}, fmt.Errorf("presence of the platform: %w", err)
	}
	return b, nil
}

// Leave removes a program that has no callbacks on its disk and takes no more.
func (p *Presence) Leave(ctx context.Context, program string) error {
	return p.change(ctx, leaveSQL, program)
}

// Forget removes a program that has given no sign of life since a beat. One that has stays as it is.
func (p *Presence) Forget(ctx context.Context, b ProgramBeat) error {
	return p.change(ctx, forgetSQL, b.Program, b.At)
}

// Recorded notes that the log has an absence. One that has become longer meanwhile stays as it is.
func (p *Presence) Recorded(ctx context.Context, a Absence) error {
	return p.change(ctx, recordedAwaySQL, a.Until)
}

// Settled forgets an absence. One that has become longer meanwhile stays as it is.
func (p *Presence) Settled(ctx context.Context, a Absence) error {
	return p.change(ctx, settledAwaySQL, a.Until)
}

// change runs a statement that changes a row or none.
func (p *Presence) change(ctx context.Context, sql string, args ...any) error {
	if _, err := p.core.db.Owner.Exec(ctx, p.core.sql(sql), args...); err != nil {
		return fmt.Errorf("presence of the platform: %w", err)
	}
	return nil
}
