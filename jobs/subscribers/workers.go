// Package subscribersjobs has the jobs about customers: taking them in from files, and copying all that there is.
package subscribersjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// queue keeps large files from delaying other work.
const queue = "imports"

// Limits of a part. It is tried for months, at the pace of its back-off, because its process asks for it only once.
const (
	partTimeout  = 5 * time.Minute
	partAttempts = 30_000

	exportTimeout  = 30 * time.Minute
	exportAttempts = 100
)

// Workers do the jobs of the area. Every field is required. Safe for concurrent use.
type Workers struct {
	// Part takes a part of an import in and records it.
	Part func(ctx context.Context, args commands.RunImportPart, meta commands.Meta) error
	// Export makes a copy of all that an organization has and records it.
	Export func(ctx context.Context, args commands.RunExport, meta commands.Meta) error
	// Move moves a part of the customers of a plan and records it.
	Move  func(ctx context.Context, args commands.MovePlanPart, meta commands.Meta) error
	Queue *jobrunner.Runner
}

// Register makes the queue know the workers.
func (w Workers) Register() {
	jobrunner.AddWorker(w.Queue, w.part, jobrunner.Options{
		Queue: queue, Timeout: partTimeout, MaxAttempts: partAttempts,
	})
	jobrunner.AddWorker(w.Queue, w.export, jobrunner.Options{
		Queue: queue, Timeout: exportTimeout, MaxAttempts: exportAttempts,
	})
	jobrunner.AddWorker(w.Queue, w.move, jobrunner.Options{
		Queue: queue, Timeout: partTimeout, MaxAttempts: partAttempts,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	})
}

// part takes a part in. A file that is no longer kept can never be taken in.
func (w Workers) part(ctx context.Context, args commands.RunImportPart, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	err := w.Part(ctx, args, cause.Meta(commands.RecordImportPart{}.CommandName()))
	if failure.CodeOf(err) == "file_gone" {
		return jobrunner.GiveUp(err)
	}
	return err
}

// export makes a copy.
func (w Workers) export(ctx context.Context, args commands.RunExport, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	return w.Export(ctx, args, cause.Meta(commands.FinishExport{}.CommandName()))
}

// move moves a part of the customers of a plan.
func (w Workers) move(ctx context.Context, args commands.MovePlanPart, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	return w.Move(ctx, args, cause.Meta(commands.RecordPlanMovePart{}.CommandName()))
}
