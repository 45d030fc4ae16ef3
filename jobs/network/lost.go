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
	_, err := w.report(ctx, cause, run.String()+" lost", commands.FinishReconcile{
		RunID: run, Outcome: events.ReconcileUnreachable, Message: message,
	})
	switch failure.KindOf(err) {
	case failure.NotFound, failure.Conflict:
		return nil
	case failure.Malformed, failure.Denied, failure.Invalid, failure.Internal, failure.Unauthenticated, failure.Stale,
		failure.TooLarge, failure.Limited, failure.Refused, failure.Unavailable:
	}
	return err
}
