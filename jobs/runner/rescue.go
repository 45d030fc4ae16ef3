package jobrunner

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// River's rescuer, which gives the running jobs of a dead program to others, and its cleaner, which deletes jobs that
// ended long ago, reckon by the machine's time, also when River has a clock of ours. The instants in its table are the
// product's. So their statements are translated while the clock can be moved. In both directions nothing is rescued
// too early: while the clock is moved no job runs (Pause).

// runsSinceNowSQL has the jobs run since now that run since an instant still to come: the clock was put back since, and
// those of a dead program would look young until that instant. One that is being worked counts as young, as it should.
const runsSinceNowSQL = `
update {schema}.river_job set attempted_at = coalesce($1::timestamptz, now())
where state = 'running' and attempted_at > coalesce($1::timestamptz, now())`

// JobGetStuck gives the jobs that began before a horizon, with the instants that a machine clock would have given them.
func (e turnsExecutor) JobGetStuck(
	ctx context.Context, p *riverdriver.JobGetStuckParams,
) ([]*rivertype.JobRow, error) {
	if _, err := e.runner.cfg.DB.Owner.Exec(ctx, e.runner.sql(runsSinceNowSQL), e.runner.riverNow()); err != nil {
		return nil, fmt.Errorf("look for jobs that began later than now: %w", err)
	}
	ahead := e.runner.ahead()
	translated := *p
	translated.StuckHorizon = p.StuckHorizon.Add(ahead)
	list, err := e.Executor.JobGetStuck(ctx, &translated)
	for _, job := range list {
		if job.AttemptedAt != nil {
			began := job.AttemptedAt.Add(-ahead)
			job.AttemptedAt = &began
		}
	}
	return list, err
}

// JobRescueMany rescues those of the jobs that still run since before a horizon.
func (e turnsExecutor) JobRescueMany(
	ctx context.Context, p *riverdriver.JobRescueManyParams,
) (*struct{}, error) {
	translated := *p
	translated.StuckHorizon = p.StuckHorizon.Add(e.runner.ahead())
	return e.Executor.JobRescueMany(ctx, &translated)
}

// JobDeleteBefore deletes jobs that ended before a horizon, and what is remembered of periods long ago.
func (e turnsExecutor) JobDeleteBefore(ctx context.Context, p *riverdriver.JobDeleteBeforeParams) (int, error) {
	if _, err := e.runner.cfg.DB.Owner.Exec(ctx, e.runner.sql(forgetPeriodsSQL)); err != nil {
		return 0, fmt.Errorf("forget periods: %w", err)
	}
	ahead, translated := e.runner.ahead(), *p
	translated.CancelledFinalizedAtHorizon = p.CancelledFinalizedAtHorizon.Add(ahead)
	translated.CompletedFinalizedAtHorizon = p.CompletedFinalizedAtHorizon.Add(ahead)
	translated.DiscardedFinalizedAtHorizon = p.DiscardedFinalizedAtHorizon.Add(ahead)
	return e.Executor.JobDeleteBefore(ctx, &translated)
}

// ahead is the product's time less the machine's: 0 when the clock cannot be moved, and negative while the demo makes
// its past.
func (r *Runner) ahead() time.Duration {
	if !jumps(r.cfg.Clock) {
		return 0
	}
	return r.cfg.Clock.Now().Sub(clock.System().Now())
}
