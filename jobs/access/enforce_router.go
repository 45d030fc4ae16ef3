package accessjobs

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// silencePause is the time until a router is asked again that fell silent after it had answered in the same pass.
const silencePause = 2 * time.Second

// mostFaults is how many sessions of one pass may fail for a reason that is not their router's. With more of them the
// fault is the program's or its database's, and the pass ends.
const mostFaults = 3

// sessionsAtOnce is how many sessions of one router are brought right at the same time, once it has answered about one:
// a router that answers late has then time for all. Until then one is tried, so that a router which is silent is asked
// once, however many of its sessions wait.
const sessionsAtOnce = 8

// mostRounds is how often a pass looks for sessions that have become wrong meanwhile.
const mostRounds = 8

// EnforceRouter brings all sessions of a router to the present entitlement. Where the router does not answer about one,
// those that it reports from the same address are not tried. A session
// that the router refuses to change rests for a while, and so does one that another job works on, or that was ended a
// moment ago: none of them holds up the others. Sessions that become wrong meanwhile are found at the end. A pass that
// needs more time than a job has goes on at once.
func (e *Enforcer) EnforceRouter(ctx context.Context, args commands.EnforceRouter, cause jobs.Cause) error {
	if err := e.Entitled.Reached(ctx, 0); err != nil {
		return err
	}
	defer e.seats.take(args.DeviceID, e.paced())()
	return (&pass{e: e, needs: e.due, cause: cause}).run(ctx, args.DeviceID)
}

// pass is one look at all sessions of a router.
type pass struct {
	e     *Enforcer
	needs wants
	cause jobs.Cause

	mu       sync.Mutex    // guards all below while sessions are tried at the same time
	next     time.Duration // until the first of the sessions that rest for a moment is looked at, 0 = none
	progress bool          // the router did what it was asked, for one session at least
	answers  bool          // it did, or it refused
	// silent are the addresses at which the router did not answer, and how. A router that has moved has sessions which
	// it reports from different ones.
	silent map[netip.Addr]error
	faults int
	over   error // ends the pass, and is the outcome of the job; nil = it goes on
}

// run looks until nothing is left to be tried, and gives the outcome of the job.
func (p *pass) run(ctx context.Context, device id.Device) error {
	for range mostRounds {
		list, err := p.e.Sessions.OpenOn(ctx, device)
		if err != nil && p.progress && ctx.Err() != nil {
			return jobrunner.Snooze(0)
		}
		if err != nil {
			return err
		}
		if tried := p.round(ctx, list); tried == 0 || p.over != nil {
			break
		}
	}
	switch {
	case errors.Is(p.over, context.DeadlineExceeded) && (p.answers || len(p.silent) > 0): // it is too slow for all
		return p.unreachable(p.over)
	case p.over != nil:
		return p.over
	case len(p.silent) > 0 && p.progress:
		return jobrunner.Snooze(silencePause)
	case len(p.silent) > 0:
		return p.unreachable(nil)
	case p.next > 0:
		return jobrunner.Snooze(p.next)
	}
	return nil
}

// unreachable is the outcome when the router did not answer, or not in time.
func (p *pass) unreachable(late error) error {
	return routeros.ErrUnreachable(0, errors.Join(append(slices.Collect(maps.Values(p.silent)), late)...))
}

// round tries the sessions that are wrong and do not rest, and returns how many those were.
func (p *pass) round(ctx context.Context, list []telemetry.Session) (tried int) {
	var group errgroup.Group
	group.SetLimit(sessionsAtOnce)
	for _, s := range list {
		at := p.e.Clock.Now()
		if _, wrong := p.needs(s, at); !wrong || p.e.pauses.rests(s.ID, p.e.paced()) {
			continue
		}
		answers, left, over := p.stands(s)
		if over {
			break
		}
		if left {
			continue
		}
		tried++
		if !answers {
			p.session(ctx, s)
			continue
		}
		group.Go(func() error {
			return loop.Try(func() error {
				if _, left, over := p.stands(s); !left && !over { // it may have waited for its place
					p.session(ctx, s)
				}
				return nil
			})
		})
	}
	_ = group.Wait() // nothing fails: over has the outcome
	return tried
}

// stands reports whether the router has answered in this pass, whether a session is left alone because the router is
// silent where it is asked about it, and whether the pass is over.
func (p *pass) stands(s telemetry.Session) (answers, left, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers, p.silent[sourceOf(s)] != nil, p.over != nil
}

// sourceOf is the address from which the router reports a session; zero = not known.
func sourceOf(s telemetry.Session) netip.Addr {
	if s.Source == nil {
		return netip.Addr{}
	}
	return *s.Source
}

// session brings one session right, and notes what came of it.
func (p *pass) session(ctx context.Context, s telemetry.Session) {
	var wait time.Duration
	var did bool
	err := loop.Try(func() (err error) {
		wait, did, err = p.e.one(ctx, s, p.needs, p.cause)
		return err
	})
	at := p.e.paced()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progress = p.progress || did
	p.answers = p.answers || did || errors.Is(err, errRefused)
	switch {
	case err == nil && wait > 0:
		p.e.pauses.rest(s.ID, at.Add(wait))
		if p.next == 0 || wait < p.next {
			p.next = wait
		}
	case err == nil, p.over != nil: // the first reason counts
	case ctx.Err() != nil && p.progress:
		p.over = jobrunner.Snooze(0)
	case errors.Is(err, errRefused):
		p.e.pauses.refused(s.ID, at)
	case errors.Is(err, errUnreachable):
		if p.silent == nil {
			p.silent = map[netip.Addr]error{}
		}
		p.silent[sourceOf(s)] = err
	case ctx.Err() != nil || failure.KindOf(err) == failure.Unavailable || p.faults == mostFaults:
		p.over = err
	default:
		p.faults++
		p.e.pauses.failed(s.ID, at)
		p.e.Logger.ErrorContext(ctx, "a session cannot be brought right", slog.String("session_id", s.ID.String()),
			slog.String("error", err.Error()), slog.String("stack", loop.StackOf(err)))
	}
}

// one brings one session right, under the lock of its subscriber. wait is the time until it has to be looked at again;
// did reports that the router did something about it. Fails: errUnreachable, errRefused.
func (e *Enforcer) one(
	ctx context.Context, s telemetry.Session, needs wants, cause jobs.Cause,
) (wait time.Duration, did bool, err error) {
	lock, got, err := e.Locks.TryLock(ctx, lockName(s.SubscriberID))
	if err != nil || !got {
		return lockRetry, false, err
	}
	defer lock.Unlock()
	now, err := e.Sessions.Get(ctx, s.OrgID, s.ID)
	if err != nil || now == nil {
		return 0, false, err
	}
	done, err := e.bring(ctx, []telemetry.Session{*now}, needs, e.causeOf(s.OrgID, s.SubscriberID, 0, cause))
	if err == nil {
		err = done.left[s.DeviceID]
	}
	return done.wait, err == nil && done.changed > 0, err
}
