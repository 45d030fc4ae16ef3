package processrunner

import (
	"context"
	"fmt"
	"time"
)

// passedSQL compares the checkpoints of some processes with a position, and looks for commands up to a number that are
// not executed yet. A process that has stopped, and a command that has stopped or waits behind one, do not count: only
// a person helps them.
const passedSQL = `
select (select count(*) from {schema}.processes where name = any($1) and (error <> '' or checkpoint >= $2))
		= cardinality($1::text[])
	and not exists (select from {schema}.commands c where c.process = any($1) and c.seq <= $3 and not exists (
		select from {schema}.commands s where s.process = c.process and s.key = c.key and s.seq <= c.seq
			and (s.stopped_at is not null or s.held)))`

// Passed reports whether processes, whichever program drives them, have taken all events up to a position, and
// executed the commands up to a number of LastCommand. It may be late by the time in which checkpoints are stored.
func (r *Runner) Passed(ctx context.Context, names []string, position uint64, command int64) (bool, error) {
	var passed bool
	err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(passedSQL), names, int64(position), command). //nolint:gosec // of the log
												Scan(&passed)
	if err != nil {
		return false, fmt.Errorf("look how far the processes are: %w", err)
	}
	return passed, nil
}

// LastCommand is the number of the newest command that waits; 0 = none does.
func (r *Runner) LastCommand(ctx context.Context) (int64, error) {
	var last int64
	err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(`select coalesce(max(seq), 0) from {schema}.commands`)).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("look for commands of processes: %w", err)
	}
	return last, nil
}

// armedSQL looks for timers of a process. Those of an instance that has stopped do not count: only a person helps it.
const armedSQL = `
select exists (select from {schema}.timers t where t.process = $1 and t.due_at <= $2 and not exists (
	select from {schema}.instances i where i.process = t.process and i.key = t.key and i.error <> ''))`

// Armed reports whether a timer of a process, whichever program drives it, comes due by an instant.
func (r *Runner) Armed(ctx context.Context, name string, by time.Time) (armed bool, err error) {
	if err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(armedSQL), name, by).Scan(&armed); err != nil {
		return false, fmt.Errorf("look for timers of %s: %w", name, err)
	}
	return armed, nil
}
