package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Absence is a time in which no program could take money. The zero value is none.
type Absence struct {
	From, Until time.Time // of the machine's clock; equal ones say that it is recorded in the log
}

// Beat has what the database knows of the platform's presence.
type Beat struct {
	At   time.Time // the newest sign of life, by the machine's clock; zero = there never was one
	Away Absence   // the one that is not settled yet
}

// Presence keeps when a program could take money last, so that the platform notices its own absence
// (docs/rules/access-dunning.md#no-fault-grace). All programs together have one row. Safe for concurrent use.
type Presence struct{ core *core }

// SQL of the row. A beat after a gap notes the absence in the same statement, so that a kill afterwards forgets
// nothing. One that is not settled yet reaches to the newest beat after a gap.
const (
	beatSQL = `
insert into {schema}.presence as p (beat_at) values ($1)
on conflict (single) do update set beat_at = greatest(p.beat_at, excluded.beat_at),
	away_from = case when $1 - p.beat_at >= $2::interval then coalesce(p.away_from, p.beat_at) else p.away_from end,
	away_until = case when $1 - p.beat_at >= $2::interval then $1 else p.away_until end
returning beat_at, away_from, away_until`
	readBeatSQL     = `select beat_at, away_from, away_until from {schema}.presence`
	recordedAwaySQL = `update {schema}.presence set away_from = away_until where away_until = $1`
	settledAwaySQL  = `update {schema}.presence set away_from = null, away_until = null where away_until = $1`
)

// Beat notes that a program can take money at an instant of the machine's clock, and gives the row as it is then. A gap
// of that length since the last beat of any program is an absence.
func (p *Presence) Beat(ctx context.Context, now time.Time, gap time.Duration) (Beat, error) {
	rows, _ := p.core.db.Owner.Query(ctx, p.core.sql(beatSQL), now.Truncate(time.Microsecond), gap)
	return collectBeat(rows)
}

// Read gives what is known, for a program that takes no money itself.
func (p *Presence) Read(ctx context.Context) (Beat, error) {
	rows, _ := p.core.db.Owner.Query(ctx, p.core.sql(readBeatSQL))
	b, err := collectBeat(rows)
	if errors.Is(err, pgx.ErrNoRows) {
		return Beat{}, nil
	}
	return b, err
}

// collectBeat fails with pgx.ErrNoRows before the first beat.
func collectBeat(rows pgx.Rows) (Beat, error) {
	b, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (Beat, error) {
		var b Beat
		var from, until *time.Time
		err := row.Scan(&b.At, &from, &until)
		if err == nil && from != nil && until != nil {
			b.Away = Absence{*from, *until}
		}
		return b, err
	})
	if err != nil {
		return Beat{}, fmt.Errorf("presence of the platform: %w", err)
	}
	return b, nil
}

// Recorded notes that the log has an absence. One that has become longer meanwhile stays as it is.
func (p *Presence) Recorded(ctx context.Context, a Absence) error {
	return p.change(ctx, recordedAwaySQL, a)
}

// Settled forgets an absence. One that has become longer meanwhile stays as it is.
func (p *Presence) Settled(ctx context.Context, a Absence) error {
	return p.change(ctx, settledAwaySQL, a)
}

// change runs a statement on the row of an absence.
func (p *Presence) change(ctx context.Context, sql string, a Absence) error {
	if _, err := p.core.db.Owner.Exec(ctx, p.core.sql(sql), a.Until); err != nil {
		return fmt.Errorf("presence of the platform: %w", err)
	}
	return nil
}
