package processrunner

import (
	"context"
	"fmt"
)

// idleSQL looks for commands that are not executed and for timers that are due. What has stopped does not count: only a
// person helps it.
const idleSQL = `
select not exists (select from {schema}.commands where stopped_at is null and not held)
	and not exists (select from {schema}.timers t where t.due_at <= $1 and not exists (
		select from {schema}.instances i where i.process = t.process and i.key = t.key and i.error <> ''))`

// Idle reports whether the processes of this program have taken all events that it has read, executed all commands, and
// acted on all timers that are due.
func (r *Runner) Idle(ctx context.Context) (bool, error) {
	for _, s := range r.Status() {
		if s.State == StateRunning && s.Position < s.Head {
			return false, nil
		}
	}
	var idle bool
	err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(idleSQL), r.cfg.Clock.Now()).Scan(&idle)
	if err != nil {
		return false, fmt.Errorf("look for work of processes: %w", err)
	}
	return idle, nil
}
