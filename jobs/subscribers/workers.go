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

	// An export is tried for five days: a database that is full on a Friday may be so until Monday.
	exportTimeout  = 30 * time.Minute
	exportAttempts = 720
	exportPause    = 10 * time.Minute // the longest between two of them
)

// Workers do the jobs of the area. Every field is required. Safe for concurrent use.
type Workers struct {
	// Part takes a part of an import in and records it.
	Part func(ctx context.Context, args commands.RunImportPart, meta commands.Meta) error
	// PartLost ends an import of which a part can never be taken in.
	PartLost func(ctx context.Context, args commands.RunImportPart, meta commands.Meta) error
	// Export makes a copy of all that an organization has and records it.
	Export func(ctx context.Context, args commands.RunExport, meta commands.Meta) error
	// ExportLost ends an export that could not be made, with the code of the last failure.
	ExportLost func(ctx context.Context, args commands.RunExport, code string, meta commands.Meta) error
	// Move moves a part of the customers of a plan and records it.
	Move  func(ctx context.Context, args commands.MovePlanPart, meta commands.Meta) error
	Queue *jobrunner.Runner
}

// Register makes the queue know the workers.
func (w Workers) Register() {
	jobrunner.AddWorker(w.Queue, w.part, jobrunner.Options{
		Queue: queue, Timeout: partTimeout, MaxAttempts: partAttempts,
	})
	jobrunner.OnDiscarded(w.Queue, w.partLost)
	jobrunner.AddWorker(w.Queue, w.export, jobrunner.Options{
		Queue: queue, Timeout: exportTimeout, MaxAttempts: exportAttempts,
		Backoff: jobrunner.Doubling(time.Second, exportPause),
	})
	jobrunner.OnDiscarded(w.Queue, w.exportLost)
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

// partLost ends the import.
func (w Workers) partLost(ctx context.Context, args commands.RunImportPart, cause jobs.Cause, _ string) error {
	cause.OrgID = args.OrgID
	return w.PartLost(ctx, args, cause.Meta(commands.LoseImportRows{}.CommandName()))
}

// exportLost ends the export.
func (w Workers) exportLost(ctx context.Context, args commands.RunExport, cause jobs.Cause, code string) error {
	cause.OrgID = args.OrgID
	return w.ExportLost(ctx, args, code, cause.Meta(commands.FailExport{}.CommandName()))
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
