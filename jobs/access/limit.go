package accessjobs

import (
	"context"
	"errors"
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// EnforceLimit ends the sessions of a subscription beyond its limit as it is now, whatever the subscription is entitled
// to, and those that the job names. A session that its router does not end rests for a while, without a job: what is
// still beyond then is found by the next look at all sessions. So a job holds up no later one of its subscription.
func (e *Enforcer) EnforceLimit(ctx context.Context, args commands.EnforceLimit, cause jobs.Cause) error {
	if err := e.Entitled.Reached(ctx, 0); err != nil {
		return err
	}
	if e.Entitled.Directory.Incomplete(args.OrgID) {
		return jobrunner.GiveUp(errIncomplete)
	}
	lock, got, err := e.Locks.TryLock(ctx, lockName(args.SubscriberID))
	switch {
	case err != nil:
		return err
	case !got:
		return jobrunner.Snooze(lockRetry)
	}
	defer lock.Unlock()
	var replaced []telemetry.SessionID
	for _, s := range args.Sessions {
		replaced = append(replaced, id.As[telemetry.SessionID](s))
	}
	now := e.Clock.Now()
	list, err := e.Sessions.Beyond(ctx, telemetry.Limited{
		SubscriberID: args.SubscriberID, SubscriptionID: args.SubscriptionID,
		Limit: e.Entitled.Directory.SessionLimit(args.SubscriptionID, now), Replaced: replaced, Now: now,
	})
	if err != nil {
		return err
	}
	return e.endAll(ctx, list, cause)
}

// HandOver does a job of an earlier version of the program, which ended one session beyond the limit: the job that does
// it now takes the session over. A session that has ended, or that belongs to nobody, needs none.
func (e *Enforcer) HandOver(ctx context.Context, args commands.EndOnlineSession, cause jobs.Cause) error {
	s, err := e.Sessions.Get(ctx, args.OrgID, id.As[telemetry.SessionID](args.SessionID))
	if err != nil || s == nil || s.EndedAt != nil || s.SubscriptionID.IsZero() {
		return err
	}
	return e.Queue.Insert(ctx, commands.EnforceLimit{
		OrgID: s.OrgID, SubscriberID: s.SubscriberID, SubscriptionID: s.SubscriptionID,
		Sessions: []id.Online{args.SessionID},
	}, id.New[id.Any](), jobs.Cause{
		OrgID: s.OrgID, Actor: cause.Actor, CorrelationID: cause.CorrelationID, CausationID: cause.CausationID,
	}, 0)
}

// endAll ends sessions of one subscription that do not rest, and asks to be called again until it was seen that they
// have ended. After a router's silence its other sessions are not tried. The caller holds the subscriber's lock.
func (e *Enforcer) endAll(ctx context.Context, list []telemetry.Session, cause jobs.Cause) error {
	silent, ended := map[id.Device]bool{}, false
	for _, s := range list {
		at := e.paced()
		if silent[s.DeviceID] || e.pauses.rests(s.ID, at) {
			continue
		}
		done, err := e.act(ctx, s, ending(s, ReasonSessionLimit), cause)
		switch {
		case errors.Is(err, errUnreachable), errors.Is(err, errRefused):
			silent[s.DeviceID] = errors.Is(err, errUnreachable)
			e.pauses.refused(s.ID, at)
		case err != nil && ctx.Err() != nil && ended: // so many that a job has no time for all
			return jobrunner.Snooze(0)
		case err != nil:
			return err
		default:
			ended = true
			if !done.gone {
				e.pauses.rest(s.ID, at.Add(e.confirm(ctx, s)))
			}
		}
	}
	if ended {
		return jobrunner.Snooze(confirmWait)
	}
	return nil
}

// mostLimits is how many jobs one look at all sessions asks for, so that it ends long before its time is over.
const mostLimits = 2_000

// enforceLimits asks for the jobs of the subscriptions with sessions beyond their limit: those that another program has
// let in, that were reported late, or that a lower limit leaves over, and those that still report after their end was
// asked for.
func (e *Enforcer) enforceLimits(ctx context.Context, cause jobs.Cause) error {
	shared, err := e.Sessions.SharedSubscriptions(ctx)
	at := e.Clock.Now()
	for _, c := range inTurn(slices.DeleteFunc(shared, func(c telemetry.SharedSubscription) bool {
		limit := e.Entitled.Directory.SessionLimit(c.SubscriptionID, at)
		return e.Entitled.Directory.Incomplete(c.OrgID) || !c.Copied && (limit == 0 || c.Sessions <= int64(limit))
	})) {
		cause.OrgID = c.OrgID
		err = errors.Join(err, e.Queue.Insert(ctx, commands.EnforceLimit{
			OrgID: c.OrgID, SubscriberID: c.SubscriberID, SubscriptionID: c.SubscriptionID,
		}, id.New[id.Any](), cause, 0))
	}
	return err
}

// inTurn takes at most mostLimits subscriptions, one of each organization after the other: whoever has very many makes
// nobody else's wait for the next look.
func inTurn(list []telemetry.SharedSubscription) (taken []telemetry.SharedSubscription) {
	var waiting fair.Rota[telemetry.SharedSubscription]
	for _, c := range list {
		waiting.Add(c.OrgID, c)
	}
	for !waiting.Empty() && len(taken) < mostLimits {
		_, c, _ := waiting.Next(nil)
		taken = append(taken, c)
	}
	return taken
}
