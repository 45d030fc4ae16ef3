package networkjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// RunLost ends a run whose job ended without success, so that nobody waits for it. The process of the run has stopped
// asking for the job long before. A run that has ended, or that never began, is left as it is.
func (w *Workers) RunLost(ctx context.Context, run id.Run, cause jobs.Cause, code string) error {
	message := "The work on the router ended without success."
	if code != "" {
		message += " (" + code + ")"
	}
	return w.end(ctx, cause, commands.FinishReconcile{
		RunID: run, Outcome: events.ReconcileUnreachable, Message: message,
	})
}

// idle ends the run of a job that has no work left, when a program died between the beginning and the end of the run.
// done says that the work was done, and not taken over by another request. The router is not called.
func (w *Workers) idle(ctx context.Context, run id.Run, cause jobs.Cause, done bool) error {
	if !done {
		return w.RunLost(ctx, run, cause, "")
	}
	return w.end(ctx, cause, commands.FinishReconcile{RunID: run, Outcome: events.ReconcileDone})
}

// end ends a run without its router. A run that has ended, or that never began, is left as it is.
func (w *Workers) end(ctx context.Context, cause jobs.Cause, done commands.FinishReconcile) error {
	_, err := w.report(ctx, cause, done.RunID.String()+" lost", done)
	switch failure.KindOf(err) {
	case failure.NotFound, failure.Conflict:
		return nil
	case failure.Malformed, failure.Denied, failure.Invalid, failure.Internal, failure.Unauthenticated, failure.Stale,
		failure.TooLarge, failure.Limited, failure.Refused, failure.Unavailable:
	}
	return err
}
