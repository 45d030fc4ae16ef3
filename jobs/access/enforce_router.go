package accessjobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// silencePause is the time until a router is asked again that fell silent after it had answered in the same pass.
const silencePause = 2 * time.Second

// mostFaults is how many sessions of one pass may fail for a reason that is not their router's. With more of them the
// fault is the program's or its database's, and the pass ends.
const mostFaults = 3

// EnforceRouter brings all sessions of a router to the present entitlement, until the router does not answer. A session
// that the router refuses to change rests for a while, and so does one that another job works on, or that was ended a
// moment ago: none of them holds up the others. A pass that needs more time than a job has goes on at once.
func (e *Enforcer) EnforceRouter(ctx context.Context, args commands.EnforceRouter, cause jobs.Cause) error {
	if err := e.Entitled.Reached(ctx, 0); err != nil {
		return err
	}
	list, err := e.Sessions.OpenOn(ctx, args.DeviceID)
	if err != nil {
		return err
	}
	p := pass{e: e, cause: cause}
	for _, s := range list {
		at := e.Clock.Now()
		if _, wrong := e.wanted(s, at); !wrong || e.pauses.rests(s.ID, at) {
			continue
		}
		if over := p.session(ctx, s); over != nil {
			return over
		}
	}
	if p.next > 0 {
		return jobrunner.Snooze(p.next)
	}
	return nil
}

// pass is one look at all sessions of a router.
type pass struct {
	e        *Enforcer
	cause    jobs.Cause
	next     time.Duration // until the first of the sessions that rest for a moment is looked at, 0 = none
	progress bool          // the router did what it was asked, for one session at least
	faults   int
}

// session brings one session right. Its error ends the pass, and is the outcome of the job.
func (p *pass) session(ctx context.Context, s telemetry.Session) error {
	wait, err := p.e.one(ctx, s, p.cause)
	at := p.e.Clock.Now()
	switch {
	case err == nil && wait > 0:
		p.progress = true
		p.e.pauses.rest(s.ID, at.Add(wait))
		if p.next == 0 || wait < p.next {
			p.next = wait
		}
	case err == nil:
		p.progress = true
	case ctx.Err() != nil && p.progress:
		return jobrunner.Snooze(0)
	case errors.Is(err, errRefused):
		p.e.pauses.refused(s.ID, at)
	case errors.Is(err, errUnreachable) && p.progress:
		return jobrunner.Snooze(silencePause)
	case errors.Is(err, errUnreachable):
		return routeros.ErrUnreachable(0, err)
	case ctx.Err() != nil || failure.KindOf(err) == failure.Unavailable || p.faults == mostFaults:
		return err
	default:
		p.faults++
		p.e.pauses.refused(s.ID, at)
		p.e.Logger.ErrorContext(ctx, "a session cannot be brought right", slog.String("session_id", s.ID.String()),
			slog.String("error", err.Error()))
	}
	return nil
}

// one brings one session right, under the lock of its subscriber. wait is the time until it has to be looked at again.
// Fails: errUnreachable, errRefused.
func (e *Enforcer) one(ctx context.Context, s telemetry.Session, cause jobs.Cause) (wait time.Duration, err error) {
	lock, got, err := e.Locks.TryLock(ctx, lockName(s.SubscriberID))
	if err != nil || !got {
		return lockRetry, err
	}
	defer lock.Unlock()
	now, err := e.Sessions.Get(ctx, s.OrgID, s.ID)
	if err != nil || now == nil {
		return 0, err
	}
	done, err := e.bring(ctx, []telemetry.Session{*now}, cause)
	if err == nil {
		err = done.left[s.DeviceID]
	}
	return done.wait, err
}
