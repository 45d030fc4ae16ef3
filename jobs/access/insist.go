package accessjobs

import (
	"context"
	"log/slog"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// insistPause is the time between attempts of a job that must be done.
const insistPause = enforceEvery

// insist has a job attempted until it is done, because nobody else makes up for it: an attempt that ended with err does
// not count. what and about tell the log.
func (e *Enforcer) insist(ctx context.Context, err error, what string, about slog.Attr) error {
	if err == nil || jobrunner.Snoozed(err) {
		return err
	}
	e.Logger.WarnContext(ctx, what, about, slog.String("error", err.Error()))
	return jobrunner.Snooze(insistPause)
}

// onceMore has a job done again that ended without success all the same: its program died in the last attempt, or the
// attempt panicked.
func onceMore[T commands.Job](queue *jobrunner.Runner) jobrunner.Discarded[T] {
	return jobrunner.OnceMore[T](queue, insistPause)
}
