package accessjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// ahead is how long before a clock begins to run it is stopped, so that nobody is cut between two rounds.
const ahead = 10 * time.Minute

// settleAfter are the waits after which the end of a fault is made sure of: a job that stopped clocks may have been on
// its way when the fault ended.
var settleAfter = []time.Duration{10 * time.Minute, time.Hour, 24 * time.Hour}

// FollowFault stops or starts one part of the clocks, and enqueues the next part. Each fault stops each clock once,
// however often the job runs.
func (w Workers) FollowFault(ctx context.Context, args commands.FollowFault, cause jobs.Cause) error {
	if err := w.Views.WaitFor(ctx, accessviews.DunningName, args.Position); err != nil {
		return err
	}
	cause.OrgID = args.OrgID
	q, by := accessviews.DunningQuery{Views: w.Views}, args.Until
	if by.IsZero() {
		by = w.Clock.Now().Add(ahead)
	}
	running, err := q.Running(ctx, args.OrgID, by, args.Cause, args.After, followed)
	if err != nil {
		return err
	}
	stopped, err := q.Stopped(ctx, args.OrgID, args.Cause, args.After, followed)
	if err != nil {
		return err
	}
	last := id.Subscription{} // up to which both lists are complete
	for _, list := range [][]events.DunningSubject{running, stopped} {
		if len(list) == followed {
			if end := list[len(list)-1].SubscriptionID; last.IsZero() || end.String() < last.String() {
				last = end
			}
		}
	}
	if err := w.turnClocks(ctx, args, cause, upTo(running, last), upTo(stopped, last)); err != nil {
		return err
	}
	return w.nextFault(ctx, args, cause, last)
}

// upTo gives the subjects up to an id; all for a zero id.
func upTo(list []events.DunningSubject, last id.Subscription) []events.DunningSubject {
	if last.IsZero() {
		return list
	}
	for i, s := range list {
		if s.SubscriptionID.String() > last.String() {
			return list[:i]
		}
	}
	return list
}

// turnClocks stops the clocks of those whom the fault concerns, and starts those whom it concerns no more.
func (w Workers) turnClocks(
	ctx context.Context, args commands.FollowFault, cause jobs.Cause, running, stopped []events.DunningSubject,
) error {
	devices, err := w.devicesOf(ctx, args, running, stopped)
	if err != nil {
		return err
	}
	concerns := func(s events.DunningSubject) bool {
		return args.DeviceID.IsZero() || devices[s.SubscriptionID] == args.DeviceID
	}
	do := func(ctx context.Context, word string, c commands.DunningCommand, s events.DunningSubject) error {
		meta := cause.Meta(word)
		meta.CommandID = id.Derive[id.Command]("fault", args.Cause, word, s.SubscriptionID.String())
		_, err := w.Bus.Execute(ctx, c, meta)
		return err
	}
	err = each(ctx, running, func(ctx context.Context, s events.DunningSubject) error {
		if !concerns(s) {
			return nil
		}
		err := do(ctx, "stop", commands.StopClock{Subject: s, Cause: args.Cause, From: args.From}, s)
		if err != nil || args.Until.IsZero() {
			return err
		}
		return do(ctx, "start", commands.StartClock{Subject: s, Cause: args.Cause, Until: args.Until}, s)
	})
	if err != nil {
		return err
	}
	return each(ctx, stopped, func(ctx context.Context, s events.DunningSubject) error {
		until := args.Until
		if until.IsZero() {
			if concerns(s) {
				return nil
			}
			until = w.Clock.Now() // it has a line at another router by now
		}
		return do(ctx, "start", commands.StartClock{Subject: s, Cause: args.Cause, Until: until}, s)
	})
}

// devicesOf gives the routers of the newest sessions; nil for a fault that concerns all customers.
func (w Workers) devicesOf(
	ctx context.Context, args commands.FollowFault, lists ...[]events.DunningSubject,
) (map[id.Subscription]id.Device, error) {
	var subscribers []id.Subscriber
	for _, list := range lists {
		for _, s := range list {
			subscribers = append(subscribers, s.SubscriberID)
		}
	}
	if args.DeviceID.IsZero() || len(subscribers) == 0 {
		return nil, nil
	}
	return w.LastDevices(ctx, args.OrgID, subscribers)
}

// nextFault enqueues the part after an id, or after the last part of an end the round that makes sure of it.
func (w Workers) nextFault(
	ctx context.Context, args commands.FollowFault, cause jobs.Cause, last id.Subscription,
) error {
	var wait time.Duration
	switch {
	case !last.IsZero():
		args.After = last
	case args.Until.IsZero() || args.Round >= len(settleAfter):
		return nil
	default:
		wait = settleAfter[args.Round]
		args.After = id.Subscription{}
		args.Round++
	}
	next := id.Derive[id.Any]("follow fault", cause.JobID.String(), args.After.String())
	return w.Queue.Insert(ctx, args, next, jobs.Cause{
		OrgID: args.OrgID, Actor: cause.Actor, CorrelationID: cause.CorrelationID, CausationID: cause.CausationID,
	}, wait)
}
