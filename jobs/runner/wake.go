package jobrunner

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// wakeSQL makes jobs due that have run and wait to run again. One that has never run waits for its own instant.
const wakeSQL = `
update {schema}.river_job set scheduled_at = coalesce($1::timestamptz, now()), state = 'available'
where state in ('scheduled', 'retryable') and queue = $2 and kind = $3 and attempted_at is not null
	and scheduled_at > coalesce($1::timestamptz, now()) and ` + orgSQL + ` = $4`

// Wake has the jobs of a kind that wait for something in an organization look again.
func Wake[T commands.Job](ctx context.Context, r *Runner, org id.Organization) error {
	var none T
	_, err := r.cfg.DB.Owner.Exec(ctx, r.sql(wakeSQL), r.riverNow(), r.kinds[none.Kind()].Queue, none.Kind(),
		org.String())
	if err != nil {
		return fmt.Errorf("wake %s: %w", none.Kind(), err)
	}
	return nil
}
