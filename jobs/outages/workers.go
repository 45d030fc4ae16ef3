// Package outagesjobs has the jobs about outages of the network and about what customers get for them.
package outagesjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// Workers do the jobs of the area. Every field is required. Safe for concurrent use.
type Workers struct {
	// Begin begins an outage of routers that do not answer, or none.
	Begin func(ctx context.Context, args commands.BeginDetectedOutage, meta commands.Meta) error
	// Watch brings an outage up to a sight of routers that do not answer.
	Watch func(ctx context.Context, args commands.WatchOutage, meta func(name string) commands.Meta) error
	// Give gives one part of a compensation, however often it runs.
	Give func(ctx context.Context, args commands.GiveCompensationPart, meta commands.Meta) error
	// Tell lists the messages of one part of the customers; more is set when others follow after the last one.
	Tell func(
		ctx context.Context, args commands.TellOutage,
	) (list []commands.SendMessage, last id.Subscriber, err error)
	Queue *jobrunner.Runner
}

// attempts lets a job be tried for weeks, at the pace of its back-off, because its process asks for it only once. Then
// what is given begins anew.
const attempts = 30_000

// giving is a queue of its own: a large compensation holds nothing else up.
const giving = "compensations"

// Register makes the queue know the workers.
func (w Workers) Register() {
	patient := jobrunner.Options{MaxAttempts: attempts, Backoff: jobrunner.Doubling(time.Second, time.Minute)}
	jobrunner.AddWorker(w.Queue, w.begin, patient)
	jobrunner.AddWorker(w.Queue, w.watch, patient)
	jobrunner.AddWorker(w.Queue, w.tell, patient)
	patient.Queue = giving
	jobrunner.AddWorker(w.Queue, w.give, patient)
	jobrunner.OnDiscarded(w.Queue, jobrunner.OnceMore[commands.GiveCompensationPart](w.Queue, time.Minute))
}

// begin acts once, however often it runs.
func (w Workers) begin(ctx context.Context, args commands.BeginDetectedOutage, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	return w.Begin(ctx, args, cause.Meta("begin"))
}

// watch acts once, however often it runs.
func (w Workers) watch(ctx context.Context, args commands.WatchOutage, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	return w.Watch(ctx, args, cause.Meta)
}

// give goes on where a part was left.
func (w Workers) give(ctx context.Context, args commands.GiveCompensationPart, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	return w.Give(ctx, args, cause.Meta("done"))
}

// tell enqueues the messages of a part of the customers, and the next part. A repeat enqueues none twice.
func (w Workers) tell(ctx context.Context, args commands.TellOutage, cause jobs.Cause) error {
	list, last, err := w.Tell(ctx, args)
	if err != nil {
		return err
	}
	follow := map[string]commands.Job{}
	for _, message := range list {
		follow[message.SubscriptionID.String()] = message
	}
	if !last.IsZero() {
		args.After = last
		follow["the next part"] = args
	}
	cause.OrgID = args.OrgID
	return w.Queue.Follow(ctx, cause, follow)
}
