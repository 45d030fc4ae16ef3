package processrunner

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// rebuildSQL are the statements of a rebuild. Events that an instance had taken were acted on, so their outputs stay
// suppressed, also beyond the checkpoint. Held events were not, so their rows stay.
var rebuildSQL = []string{
	`update {schema}.instances set state = null, ended = true, error = '', stopped_at = null,
		quiet = greatest(quiet, last_position), last_position = 0 where process = $1`,
	`delete from {schema}.timers where process = $1`,
	`update {schema}.processes set live_from = greatest(live_from, checkpoint), checkpoint = 0, error = '',
		mark = null, log_end = null, log_has = null
	where name = $1`,
}

// Rebuild deletes the states and timers of a process, so that the next start derives them from the log. Outputs of
// events that were taken before are suppressed. It fails while a program drives the processes.
func (r *Runner) Rebuild(ctx context.Context, name string) error {
	if r.byName[name] == nil {
		return fmt.Errorf("there is no process %q", name)
	}
	lock, ok, err := r.cfg.DB.TryLock(ctx, leaderLock)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("rebuild process %s: another program drives the processes; stop it first", name)
	}
	defer lock.Unlock()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		for _, sql := range rebuildSQL {
			if _, err := tx.Exec(ctx, r.sql(sql), name); err != nil {
				return fmt.Errorf("rebuild process %s: %w", name, err)
			}
		}
		return nil
	})
}
