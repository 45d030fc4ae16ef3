package accessjobs

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
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
	if wrong := args.Until.Sub(w.Clock.Now()); wrong > 0 { // a clock was ahead: the length of the fault is right
		args.From, args.Until = args.From.Add(-wrong), args.Until.Add(-wrong)
	}
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
	running, stopped = upTo(running, last), upTo(stopped, last)
	f, err := w.faultOf(ctx, args, running, stopped)
	if err != nil {
		return err
	}
	args.Heard = f.Heard
	// One whose clock cannot be turned does not keep those of the next part from it.
	return errors.Join(w.turnClocks(ctx, f, cause, running, stopped), w.nextFault(ctx, args, cause, last))
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
	ctx context.Context, f fault, cause jobs.Cause, running, stopped []events.DunningSubject,
) error {
	do := func(ctx context.Context, word string, c commands.DunningCommand, s events.DunningSubject) error {
		meta := cause.Meta(word)
		meta.CommandID = id.Derive[id.Command]("fault", f.Cause, word, s.SubscriptionID.String())
		_, err := w.Bus.Execute(ctx, c, meta)
		return err
	}
	err := each(ctx, running, func(ctx context.Context, s events.DunningSubject) error {
		until, over := f.ends(s)
		if !f.concerns(s) || !f.Heard.IsZero() || over && !f.From.Before(until) {
			return nil
		}
		err := do(ctx, "stop", commands.StopClock{Subject: s, Cause: f.Cause, From: f.From}, s)
		if err != nil || !over {
			return err
		}
		return do(ctx, "start", commands.StartClock{Subject: s, Cause: f.Cause, Until: until}, s)
	})
	if err != nil {
		return err
	}
	return each(ctx, stopped, func(ctx context.Context, s events.DunningSubject) error {
		until, over := f.ends(s)
		if !over {
			return nil
		}
		return do(ctx, "start", commands.StartClock{Subject: s, Cause: f.Cause, Until: until}, s)
	})
}

// fault is one fault and what sessions tell about it.
type fault struct {
	commands.FollowFault
	now   time.Time
	lines map[id.Subscription]telemetry.Line // nil for a fault that concerns all customers
	seen  map[id.Subscription]bool           // that the auditor sees online at another router
}

// faultOf asks the sessions of some customers, and what the auditor sees elsewhere.
func (w Workers) faultOf(
	ctx context.Context, args commands.FollowFault, lists ...[]events.DunningSubject,
) (fault, error) {
	f := fault{FollowFault: args, now: w.Clock.Now()}
	var subscribers []id.Subscriber
	for _, list := range lists {
		for _, s := range list {
			subscribers = append(subscribers, s.SubscriberID)
		}
	}
	if args.DeviceID.IsZero() || len(subscribers) == 0 {
		return f, nil
	}
	asked := telemetry.Fault{Device: args.DeviceID, From: args.From, Until: args.Until, Now: f.now}
	if asked.Until.IsZero() {
		asked.Until = f.now
	}
	var heard time.Time
	var err error
	if f.lines, heard, err = w.Lines(ctx, args.OrgID, subscribers, asked); err != nil {
		return f, err
	}
	if heard.After(f.Heard) {
		f.Heard = heard
	}
	f.seen, err = w.seenElsewhere(ctx, f)
	return f, err
}

// seenElsewhere gives the subscriptions of a fault that the auditor sees online at another router: there is a
// difference about a session of theirs. One at a router that is not looked at is old.
func (w Workers) seenElsewhere(ctx context.Context, f fault) (map[id.Subscription]bool, error) {
	var of []id.Subscription
	for subscription, line := range f.lines {
		if line.Device == f.DeviceID {
			of = append(of, subscription)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	rows, err := accessviews.DifferencesQuery{Views: w.Views}.Elsewhere(ctx, f.OrgID, f.DeviceID, of)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	looks, err := w.Looks(ctx, f.OrgID)
	if err != nil {
		return nil, err
	}
	seen := map[id.Subscription]bool{}
	for _, row := range rows {
		if looks[row.DeviceID].Tells(f.now, w.LookEvery) {
			seen[row.SubscriptionID] = true
		}
	}
	return seen, nil
}

// concerns reports whether the newest session of a subscription is at the router that cannot be reached.
func (f fault) concerns(s events.DunningSubject) bool {
	return f.DeviceID.IsZero() || f.lines[s.SubscriptionID].Device == f.DeviceID && !f.seen[s.SubscriptionID]
}

// ends is the instant at which the fault ended for a subscription; false while it lasts. Who was online in it had a
// line from then on. A report or a sign-in of another customer of the same router ends a fault that lasts at its
// instant.
func (f fault) ends(s events.DunningSubject) (time.Time, bool) {
	switch since := f.lines[s.SubscriptionID].Since; {
	case !since.IsZero():
		return since, true
	case !f.Until.IsZero():
		return f.Until, true
	case !f.concerns(s):
		return f.now, true // it has a line at another router by now
	case !f.Heard.IsZero() && !f.Heard.After(f.now):
		return f.Heard, true
	}
	return time.Time{}, false
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
