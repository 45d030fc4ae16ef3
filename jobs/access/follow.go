// Package accessjobs has the jobs about who may use the network.
package accessjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Workers do the jobs of the area. Every field is required. Safe for concurrent use.
type Workers struct {
	Bus   *bus.Bus
	Views *runner.Views
	Queue *jobrunner.Runner
	// Telemetry has the sessions and the use of customers.
	Telemetry interface {
		Forget(ctx context.Context, org id.Organization, subscriber id.Subscriber) error
	}
	// Leave ends the sessions of a person, as long as it is known which they are.
	Leave func(ctx context.Context, args commands.EnforceAccess, cause jobs.Cause) error
}

// Register makes the queue know the workers.
func (w Workers) Register() {
	jobrunner.AddWorker(w.Queue, w.FollowRules, jobrunner.Options{})
	jobrunner.AddWorker(w.Queue, w.ForgetTelemetry, jobrunner.Options{})
}

// ForgetTelemetry ends the sessions of a person, and deletes them and the use. What a router does not answer in all
// attempts is deleted all the same.
func (w Workers) ForgetTelemetry(ctx context.Context, args commands.ForgetTelemetry, cause jobs.Cause) error {
	leave := commands.EnforceAccess{SubscriberID: args.SubscriberID, Position: args.Position}
	if err := w.Leave(ctx, leave, cause); err != nil && !cause.Last {
		return err
	}
	return w.Telemetry.Forget(ctx, args.OrgID, args.SubscriberID)
}

// followed is how many subscriptions one job asks for, so that it ends long before its limit.
const followed = 200

// FollowRules asks for the reviews of one part of the subscriptions, and enqueues the next part. A repeat asks again
// for none that was asked before.
func (w Workers) FollowRules(ctx context.Context, args commands.FollowDunningRules, cause jobs.Cause) error {
	if err := w.Views.WaitFor(ctx, accessviews.DunningName, args.Position); err != nil {
		return err
	}
	list, err := accessviews.DunningQuery{Views: w.Views}.Owing(ctx, args.OrgID, args.After, followed)
	if err != nil {
		return err
	}
	cause.OrgID = args.OrgID
	for _, s := range list {
		_, err := w.Bus.Execute(ctx, commands.AskDunningReview{Subject: s}, cause.Meta(s.SubscriptionID.String()))
		if err != nil {
			return err
		}
	}
	if len(list) < followed {
		return nil
	}
	args.After = list[len(list)-1].SubscriptionID
	next := id.Derive[id.Any]("follow", cause.JobID.String(), args.After.String())
	return w.Queue.Insert(ctx, args, next, jobs.Cause{
		OrgID: args.OrgID, Actor: cause.Actor, CorrelationID: cause.CorrelationID, CausationID: cause.CausationID,
	}, 0)
}
