package main

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/outages"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// undoAttempts lets a part of an undo be tried for weeks, because its process asks for it only once. Then it begins
// anew.
const undoAttempts = 30_000

// wireBatches registers the job that takes batches back, and makes the endpoints of batches. A further kind of batch is
// one more line in kinds.
func (a *App) wireBatches() []httpapi.Route {
	e := a.engines
	cases := billingcases.Batches{
		Bus: e.bus, Views: e.views, Clock: a.clock, Logger: a.logger, Kinds: []usecases.BatchKind{
			billingcases.UndoRuns{Bus: e.bus, Clock: a.clock},
			outagescases.UndoCompensations{Bus: e.bus, Clock: a.clock},
			subscriberscases.UndoImports{Bus: e.bus, Views: e.views, Clock: a.clock},
			subscriberscases.UndoPlanMoves{Bus: e.bus, Clock: a.clock},
		},
	}
	jobrunner.AddWorker(e.jobs, func(ctx context.Context, job commands.UndoBatchPart, cause jobs.Cause) error {
		cause.OrgID = job.OrgID
		err := cases.UndoPart(ctx, job, cause.Meta("part"))
		if errors.Is(err, billingcases.ErrRunBehind) {
			return jobrunner.Snooze(time.Second)
		}
		return err
	}, jobrunner.Options{
		Queue: "undos", Timeout: 5 * time.Minute, MaxAttempts: undoAttempts,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	})
	jobrunner.OnDiscarded(e.jobs, jobrunner.OnceMore[commands.UndoBatchPart](e.jobs, time.Minute))
	return billingapi.Batches{
		Cases: cases, Batches: billingviews.BatchesQuery{Views: e.views}, Due: billingviews.DueQuery{Views: e.views},
		Users: identityviews.UsersQuery{Views: e.views},
	}.Routes()
}
