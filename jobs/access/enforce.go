package accessjobs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// How often all sessions are looked at, and how long after a look its work begins. What changes by time alone, such as
// the hours of a plan, and what was lost on another way, is late by both together at most. What an event has just
// changed is brought right meanwhile by the job of that event, which knows who caused it.
const (
	enforceEvery = 15 * time.Second
	sweepWait    = 3 * time.Second
)

// Waits: for another job's lock, and until a router that ended a session has reported that.
const (
	lockRetry   = 250 * time.Millisecond
	confirmWait = 3 * time.Second
	confirmMost = 5 * time.Minute
)

// Register makes the queue know the workers.
func (e *Enforcer) Register() {
	jobrunner.AddWorker(e.Queue, e.Enforce, jobrunner.Options{
		Queue: "access", MaxAttempts: 20, Backoff: jobrunner.Doubling(time.Second, time.Minute),
	})
	patient := jobrunner.Options{
		Queue: "access_routers", MaxAttempts: 1_000, Timeout: 2 * time.Minute,
		Backoff: jobrunner.Doubling(2*time.Second, 5*time.Minute),
	}
	jobrunner.AddWorker(e.Queue, e.EnforceRouter, patient)
	patient.MaxAttempts = leaveAttempts
	jobrunner.AddWorker(e.Queue, e.LeaveRouter, patient)
	jobrunner.OnDiscarded(e.Queue, onceMore[commands.LeaveRouter](e.Queue))
	jobrunner.AddWorker(e.Queue, e.EnforceLimit, jobrunner.Options{
		Queue: "access", MaxAttempts: 5, Backoff: jobrunner.Doubling(time.Second, enforceEvery),
	})
	jobrunner.AddWorker(e.Queue, e.TellServiceEnded, jobrunner.Options{
		Queue: "access", MaxAttempts: 20, Backoff: jobrunner.Doubling(time.Second, time.Minute),
	})
	jobrunner.OnDiscarded(e.Queue, onceMore[commands.TellServiceEnded](e.Queue))
	jobrunner.AddWorker(e.Queue, e.HandOver, jobrunner.Options{Queue: "access", MaxAttempts: 5})
	jobrunner.AddWorker(e.Queue, e.EnforceAll, jobrunner.Options{MaxAttempts: 1})
	jobrunner.Every(e.Queue, enforceEvery, commands.EnforceAll{})
}

// Enforce brings the sessions of a subscriber to the present entitlement. A router that does not answer becomes the
// work of a job of its own, of which there is one for each router. A session that rests is left to EnforceAll.
func (e *Enforcer) Enforce(ctx context.Context, args commands.EnforceAccess, cause jobs.Cause) error {
	if err := e.Entitled.Reached(ctx, args.Position); err != nil {
		return err
	}
	lock, got, err := e.Locks.TryLock(ctx, lockName(args.SubscriberID))
	switch {
	case err != nil:
		return err
	case !got:
		return jobrunner.Snooze(lockRetry)
	}
	defer lock.Unlock()
	list, err := e.Sessions.OpenOf(ctx, args.SubscriberID)
	if err != nil {
		return err
	}
	if len(list) > 0 { // all of one organization
		cause = e.causeOf(list[0].OrgID, args.SubscriberID, args.Position, cause)
	}
	leave, here, crowded := e.place(list)
	defer leave()
	done, err := e.bring(ctx, here, e.due, cause)
	if err != nil {
		return err
	}
	for _, device := range crowded {
		done.left[device] = errUnreachable // for now
	}
	if err := e.leaveToRouters(ctx, list, done.left, cause); err != nil {
		return err
	}
	if err := e.settle(ctx, args.Sessions, cause); err != nil {
		return err
	}
	if err := e.lookForLost(ctx, args.SubscriberID, cause); err != nil {
		return err
	}
	if done.wait > 0 {
		return jobrunner.Snooze(done.wait)
	}
	return nil
}

// brought tells what came of a try to bring sessions right.
type brought struct {
	wait    time.Duration       // until a look at what came of it, 0 = nothing was ended
	changed int                 // sessions that were changed or ended
	left    map[id.Device]error // routers with sessions that are not right: errUnreachable, errRefused
}

// wants gives the change that a session needs at an instant; false = none.
type wants func(s telemetry.Session, at time.Time) (change, bool)

// bring changes the sessions that have something else than they should. After a router's silence its other sessions are
// not tried, after a refusal they are. The caller holds the subscriber's lock.
func (e *Enforcer) bring(
	ctx context.Context, list []telemetry.Session, needs wants, cause jobs.Cause,
) (brought, error) {
	out := brought{left: map[id.Device]error{}}
	for _, s := range list {
		c, wrong := needs(s, e.Clock.Now())
		if !wrong || errors.Is(out.left[s.DeviceID], errUnreachable) {
			continue
		}
		done, err := e.act(ctx, s, c, cause)
		switch {
		case errors.Is(err, errUnreachable), errors.Is(err, errRefused):
			out.left[s.DeviceID] = err
		case err != nil:
			return brought{}, err
		default:
			out.changed++
			e.noteEnd(s, c, done)
			if !done.gone && c.door == nil && done.action == events.EndOnline {
				out.wait = max(out.wait, e.confirm(ctx, s))
			}
		}
	}
	return out, nil
}

// confirm is the time after which a session that was ended is looked at again. It grows while a router says that it has
// ended a session that goes on.
func (e *Enforcer) confirm(ctx context.Context, s telemetry.Session) time.Duration {
	state, _, err := bus.LoadUnchecked[access.Enforcement](ctx, e.Bus, s.ID)
	if err != nil {
		return confirmWait
	}
	return jobrunner.Doubling(confirmWait, confirmMost)(max(1, state.EndsOf(id.As[id.Online](s.ID))))
}

// later asks for the job of a router. The job is about all its sessions, so it has no actor: who caused a change that
// was announced is told by the announcement.
func (e *Enforcer) later(ctx context.Context, device id.Device, org id.Organization, wait time.Duration) error {
	return e.Queue.Insert(ctx, commands.EnforceRouter{DeviceID: device}, id.New[id.Any](), jobs.Cause{OrgID: org}, wait)
}

// leaveToRouters leaves sessions to the jobs of their routers. What somebody asked for is announced before, so that the
// write has that name whenever it is made; a storm of cuts on a dead router announces nothing.
func (e *Enforcer) leaveToRouters(
	ctx context.Context, list []telemetry.Session, left map[id.Device]error, cause jobs.Cause,
) error {
	for _, s := range list {
		c, wrong := e.due(s, e.Clock.Now())
		if left[s.DeviceID] == nil || !wrong || c.adopt || !cause.Actor.Answers() {
			continue
		}
		d := &deed{e: e, s: s, c: c, cause: cause}
		if err := errors.Join(d.resume(ctx), d.announce(ctx)); err != nil {
			return err
		}
	}
	for device := range left {
		if err := e.later(ctx, device, cause.OrgID, 0); err != nil {
			return err
		}
	}
	return nil
}

// Sessions that were lost for so long do not go on. A look waits for a moment, so that one is enough for many customers
// of a router.
const (
	lostSince = 7 * 24 * time.Hour
	lookWait  = 5 * time.Second
)

// lookForLost has the auditor look at the routers that may have sessions of a subscriber whose reports do not come:
// lost ones that were granted something else, and those that were found before.
func (e *Enforcer) lookForLost(ctx context.Context, subscriber id.Subscriber, cause jobs.Cause) error {
	at := e.Clock.Now()
	lost, err := e.Sessions.LostOf(ctx, cause.OrgID, subscriber, at.Add(-lostSince))
	if err != nil {
		return err
	}
	var routers []id.Device
	if e.ShownAt != nil {
		if routers, err = e.ShownAt(ctx, cause.OrgID, subscriber); err != nil {
			return err
		}
	}
	for _, s := range lost {
		s.EndedAt = nil
		if _, wrong := e.wanted(s, at); wrong {
			routers = append(routers, s.DeviceID)
		}
	}
	slices.SortFunc(routers, func(a, b id.Device) int { return strings.Compare(a.String(), b.String()) })
	for _, device := range slices.Compact(routers) {
		err = errors.Join(err, e.Queue.Insert(ctx, commands.AuditRouter{DeviceID: device}, id.New[id.Any](),
			jobs.Cause{OrgID: cause.OrgID, Actor: auditActor}, lookWait))
	}
	return err
}

// settle records the outcomes of announcements that have none, as their program died, or their router did not answer or
// refused: a session that has ended, or that has what it should, needs no change any more. Others are being tried.
func (e *Enforcer) settle(ctx context.Context, list []id.Online, cause jobs.Cause) error {
	for _, online := range list {
		state, _, err := bus.LoadUnchecked[access.Enforcement](ctx, e.Bus, online)
		if err != nil {
			return err
		}
		if state.Pending == nil || e.Entitled.Directory.Incomplete(state.Session.OrgID) {
			continue
		}
		of := id.As[telemetry.SessionID](state.Pending.Of(state.Session))
		s, err := e.Sessions.Get(ctx, state.Session.OrgID, of)
		if err != nil {
			return err
		}
		if s != nil {
			if _, wrong := e.wanted(*s, e.Clock.Now()); wrong {
				continue
			}
		}
		d := &deed{e: e, s: telemetry.Session{ID: of, OrgID: state.Session.OrgID}, cause: cause}
		if id.As[id.Online](of) != online {
			d.c.place = id.As[id.Place](online)
		}
		if err := d.execute(ctx, commands.RecordSessionChange{
			Session: state.Session, Found: true, Lapsed: lapsed(s, *state.Pending),
		}); err != nil {
			return err
		}
	}
	return nil
}

// lapsed reports whether a change that was announced came to nothing as far as is known: the session is over, and its
// router has not ended it, or it goes on with something else than was announced, which it does not need any more.
func lapsed(s *telemetry.Session, step events.EnforcementStep) bool {
	switch {
	case s == nil:
		return true
	case s.EndedAt == nil:
		return step.Action == events.EndOnline || grantOf(*s) != step.After
	}
	return s.EndReason == telemetry.ReasonLost || s.EndReason == telemetry.ReasonReplaced ||
		s.EndReason == telemetry.ReasonRestarted
}

// EnforceAll asks for the job of each router that has a session with something else than it should, and of each
// subscription with sessions beyond its limit. There is one job for a router or a subscription, so neither routers that
// do not answer nor those that invent sessions can fill the queue. Sessions that rest (pauses, ends) ask for no job of
// their router.
func (e *Enforcer) EnforceAll(ctx context.Context, _ commands.EnforceAll, cause jobs.Cause) error {
	if err := e.Entitled.Reached(ctx, 0); err != nil {
		return err
	}
	routers := map[id.Device]id.Organization{}
	at := e.Clock.Now()
	e.pauses.tidy(e.paced())
	e.inVain.tidy(e.paced())
	err := e.Sessions.OpenAll(ctx, func(s telemetry.Session) {
		if _, wrong := e.due(s, at); wrong && !e.pauses.rests(s.ID, e.paced()) {
			routers[s.DeviceID] = s.OrgID
		}
	})
	for device, org := range routers {
		err = errors.Join(err, e.later(ctx, device, org, sweepWait))
	}
	return errors.Join(err, e.enforceLimits(ctx, cause))
}
