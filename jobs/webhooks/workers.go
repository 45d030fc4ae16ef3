package webhooksjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// attempts lets the deletion of a secret be tried for months, because its process asks for it only once.
const attempts = 30_000

// Workers do the jobs of the area. Every field is required. Safe for concurrent use.
type Workers struct {
	// Drop deletes a secret; one that is deleted already is no failure.
	Drop  func(ctx context.Context, ref id.Secret) error
	Queue *jobrunner.Runner
}

// Register makes the queue know the workers.
func (w Workers) Register() {
	jobrunner.AddWorker(w.Queue, w.drop, jobrunner.Options{MaxAttempts: attempts})
}

// drop deletes secrets that sign nothing any more.
func (w Workers) drop(ctx context.Context, args commands.DropWebhookSecrets, _ jobs.Cause) error {
	for _, ref := range args.Refs {
		if err := w.Drop(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}
