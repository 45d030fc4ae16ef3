// Package accessjobs has the jobs about who may use the network.
package accessjobs

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
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
	// AddTopUp adds what was paid.
	AddTopUp func(ctx context.Context, args commands.AddPaidTopUp, meta commands.Meta) error
	Clock    clock.Clock
	// Lines gives what sessions tell about the lines of some customers in a fault of a router, and the newest report or
	// sign-in of the router that proves a line; zero = none.
	Lines func(
		ctx context.Context, org id.Organization, subscribers []id.Subscriber, fault telemetry.Fault,
	) (map[id.Subscription]telemetry.Line, time.Time, error)
	// Looks gives the auditor's looks at the routers of an organization, and LookEvery the time between two of them.
	Looks     func(ctx context.Context, org id.Organization) (map[id.Device]telemetry.Look, error)
	LookEvery time.Duration // ACCESS_AUDIT_INTERVAL
	// PoliciesOf gives the names of the dunning policies in the plans of some subscriptions.
	PoliciesOf func(
		ctx context.Context, org id.Organization, of []events.DunningSubject,
	) (map[id.Subscription]string, error)
	// ProviderAway says since when an organization's provider of mobile money cannot be reached; zero = it can.
	ProviderAway func(ctx context.Context, org id.Organization) (time.Time, error)
	// Outage says since when customers of an organization cannot pay, as the log has it; zero = they can.
	Outage func(ctx context.Context, org id.Organization) (time.Time, error)
}

// followAttempts lets a job of which the process asks only once be tried for weeks, at the pace of its back-off: what a
// customer has paid for is not forgotten because the log was away for a night.
const followAttempts = 30_000

// Register makes the queue know the workers.
func (w Workers) Register() {
	patient := jobrunner.Options{
		MaxAttempts: followAttempts, Backoff: jobrunner.Doubling(time.Second, time.Minute),
	}
	jobrunner.AddWorker(w.Queue, w.FollowRules, patient)
	jobrunner.AddWorker(w.Queue, w.ForgetTelemetry, jobrunner.Options{})
	jobrunner.OnDiscarded(w.Queue, onceMore[commands.ForgetTelemetry](w.Queue))
	jobrunner.AddWorker(w.Queue, w.AddPaidTopUp, patient)
	jobrunner.AddWorker(w.Queue, w.FollowFault, patient)
	jobrunner.AddWorker(w.Queue, w.WatchPayments, jobrunner.Options{MaxAttempts: 1})
	jobrunner.Every(w.Queue, watchEvery, commands.WatchPayments{})
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

// AddPaidTopUp adds the bytes of an order once, however often it runs.
func (w Workers) AddPaidTopUp(ctx context.Context, args commands.AddPaidTopUp, cause jobs.Cause) error {
	cause.OrgID = args.Subject.OrgID
	return w.AddTopUp(ctx, args, cause.Meta("top-up"))
}

// followed is how many subscriptions one job asks for, so that it ends long before its limit.
const followed = 1000

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
	policies := map[id.Subscription]string{}
	if len(args.Unchanged) > 0 {
		if policies, err = w.PoliciesOf(ctx, args.OrgID, list); err != nil {
			return err
		}
	}
	if len(list) == followed { // first: one who cannot be asked for does not keep the others from it
		args.After = list[len(list)-1].SubscriptionID
		next := id.Derive[id.Any]("follow", cause.JobID.String(), args.After.String())
		if err := w.Queue.Insert(ctx, args, next, jobs.Cause{
			OrgID: args.OrgID, Actor: cause.Actor, CorrelationID: cause.CorrelationID, CausationID: cause.CausationID,
		}, 0); err != nil {
			return err
		}
	}
	return each(ctx, list, func(ctx context.Context, s events.DunningSubject) error {
		policy, known := policies[s.SubscriptionID]
		if known && slices.Contains(args.Unchanged, policy) {
			return nil
		}
		_, err := w.Bus.Execute(ctx, commands.AskDunningReview{Subject: s}, cause.Meta(s.SubscriptionID.String()))
		return err
	})
}
