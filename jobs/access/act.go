package accessjobs

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/coa"
)

// patience bounds the record of an outcome when the job is being stopped: what a router did must not be lost.
const patience = 10 * time.Second

// result tells what came of one try.
type result struct {
	action events.EnforcementAction // which can be another one than was wanted
	via    events.EnforcementVia
	gone   bool // the router does not know the session
	found  bool // it had gone by itself, as far as is known
}

// deed is one try to change one session.
type deed struct {
	e     *Enforcer
	s     telemetry.Session
	c     change
	cause jobs.Cause
	state access.Enforcement
	// unverified says that the router acknowledged a speed that could not be read back.
	unverified bool
	// answered says that the router has answered a request about this session by RADIUS, now or before.
	answered bool
	// unanswered says that it was asked by RADIUS to end the session, and has not answered: when the session is not
	// there afterwards, it was ended.
	unanswered bool
}

// stream is the id under which it is recorded: the session's own or that of its place.
func (d *deed) stream() id.Online {
	if !d.c.place.IsZero() {
		return id.As[id.Online](d.c.place)
	}
	return id.As[id.Online](d.s.ID)
}

// subject names the stream in commands and events.
func (d *deed) subject() events.EnforcedSession {
	return events.EnforcedSession{
		SessionID: d.stream(), OrgID: d.s.OrgID, SubscriberID: d.s.SubscriberID, SubscriptionID: d.s.SubscriptionID,
		DeviceID: d.s.DeviceID,
	}
}

// act announces a change, has the router do it, and records the outcome. errUnreachable and errRefused say that it is
// not done, as far as is known: the announcement stays, and the same change is tried again. Fails, too: errIncomplete,
// and staysOff of a session that it would end, before anything is recorded.
func (e *Enforcer) act(ctx context.Context, s telemetry.Session, c change, cause jobs.Cause) (result, error) {
	if c.adopt {
		return result{}, e.Sessions.Regrant(ctx, s.ID, c.regrant)
	}
	d := &deed{e: e, s: s, c: c, cause: cause}
	if e.Entitled.Directory.Incomplete(s.OrgID) {
		return result{}, errIncomplete
	}
	if err := e.reachable(s); err != nil {
		return result{}, err
	}
	if err := d.resume(ctx); err != nil {
		return result{}, err
	}
	if err := d.mayEnd(ctx); err != nil {
		return result{}, err
	}
	if err := d.announce(ctx); err != nil {
		return result{}, err
	}
	e.step("announced")
	done, err := d.carryOut(ctx)
	if err != nil {
		return result{}, err
	}
	done.action, done.found = d.c.action, done.gone && !d.unanswered
	e.step("done")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := d.keep(ctx, done); err != nil {
		return result{}, err
	}
	e.step("kept")
	err = d.execute(ctx, commands.RecordSessionChange{
		Session: d.subject(), Via: done.via, Found: done.found,
	})
	e.step("recorded")
	return done, err
}

// reachable refuses work on a router whose both ways are known to be dead, before anything is recorded.
func (e *Enforcer) reachable(s telemetry.Session) error {
	device := s.DeviceID.String()
	if e.Breakers.Ready(BreakerKind, device) != nil && e.Breakers.Ready(routeros.BreakerKind, device) != nil {
		return errUnreachable
	}
	return nil
}

// resume goes on with the end of a session that was announced before: its rate could not be changed, or nobody knows
// whether it has ended.
func (d *deed) resume(ctx context.Context) error {
	state, _, err := bus.LoadUnchecked[access.Enforcement](ctx, d.e.Bus, d.stream())
	if err == nil && state.Pending != nil && state.Pending.Action == events.EndOnline {
		d.c.action = events.EndOnline
	}
	return err
}

// mayEnd fails where the session would be ended, and its customer could not sign in again. What the auditor ends by the
// router's own list it has compared itself.
func (d *deed) mayEnd(ctx context.Context) error {
	if d.c.action != events.EndOnline || d.c.anyway || d.c.listed {
		return nil
	}
	return d.e.comesBack(ctx, d.s)
}

// announce records what the router is going to be asked.
func (d *deed) announce(ctx context.Context) error {
	step := events.EnforcementStep{
		Action: d.c.action, Reason: d.c.reason, Before: grantOf(d.s), After: d.c.after, By: actorOf(d.cause),
		CorrelationID: d.cause.CorrelationID,
	}
	if session := id.As[id.Online](d.s.ID); session != d.stream() {
		step.Shown = session
	}
	return d.execute(ctx, commands.AnnounceSessionChange{Session: d.subject(), Step: step})
}

// execute executes a command about the session. The number of events makes its id, so that a change which has to be
// made twice is recorded twice, and one whose record was lost on the way is not.
func (d *deed) execute(ctx context.Context, c commands.Command) error {
	state, _, err := bus.LoadUnchecked[access.Enforcement](ctx, d.e.Bus, d.stream())
	if err != nil {
		return err
	}
	d.state = state
	meta := d.cause.Meta(fmt.Sprintf("%s %s %d", c.CommandName(), d.stream(), state.Events))
	meta.OrgID, meta.Actor = d.s.OrgID, actorOf(d.cause)
	if asked := d.c.asked; asked != nil {
		meta.IP, meta.RequestID, meta.Reason = asked.IP, asked.RequestID, asked.Reason
	}
	_, err = d.e.Bus.Execute(ctx, c, meta)
	return err
}

// platformActor is the actor of what no person and no event caused.
var platformActor = events.Actor{Kind: events.ActorProcess, ID: "enforcement"}

// actorOf is who caused a job.
func actorOf(cause jobs.Cause) events.Actor {
	if cause.Actor.Kind == "" {
		return platformActor
	}
	return cause.Actor
}

// keep writes into the session what its router has done. A session that was ended ends by the router's own report.
func (d *deed) keep(ctx context.Context, done result) error {
	switch {
	case done.gone, d.c.door != nil: // RADIUS does not hear the router any more, so no report of the end will come
		return d.e.Sessions.Gone(ctx, d.s.ID)
	case d.c.action == events.ChangeRate:
		return d.e.Sessions.Regrant(ctx, d.s.ID, d.c.regrant)
	}
	return nil
}

// acknowledgedTwice is how often a router may say that it ended a session, without effect, before it is asked in
// another way.
const acknowledgedTwice = 2

// carryOut asks the router: by RADIUS, and where that does not help by its own interface. A rate that cannot be changed
// is had by another sign-in, so the session is ended instead.
func (d *deed) carryOut(ctx context.Context) (result, error) {
	if d.c.listed {
		return d.byRouter(ctx)
	}
	got := silent
	d.answered = d.state.EndsOf(id.As[id.Online](d.s.ID)) >= acknowledgedTwice
	if !d.answered {
		var err error
		if got, err = d.byRadius(ctx); err != nil || got >= gone {
			return result{via: d.via(), gone: got == gone}, err
		}
	}
	if got == denied && d.c.action == events.EndOnline {
		return d.deny(ctx)
	}
	if d.c.action == events.ChangeRate {
		d.c.action = events.EndOnline
		if err := d.mayEnd(ctx); err != nil {
			return result{}, err
		}
		if err := d.announce(ctx); err != nil {
			return result{}, err
		}
		if got == refused {
			var err error
			if got, err = d.byRadius(ctx); err != nil || got >= gone {
				return result{via: d.via(), gone: got == gone}, err
			}
		}
		if got == denied {
			return d.deny(ctx)
		}
	}
	return d.byRouter(ctx)
}

// errDenied says that a router answers by RADIUS that it has no such session, which it has just reported, and that its
// own list could not be read.
var errDenied = fmt.Errorf("%w: it denies a session that it has just reported", errRefused)

// aliveFor is how long after its last report a session counts as reported: the next report is due by then.
const aliveFor = telemetry.ReportEvery + time.Minute

// reported reports whether the router of a session has told lately that it goes on.
func (d *deed) reported() bool {
	return d.s.EndedAt == nil && d.e.Clock.Now().Sub(d.s.UpdatedAt) < aliveFor
}

// deny settles whether a session exists that its router denies by RADIUS: its own list tells, and what is there is
// removed. Without the list the session goes on as far as is known, until its next report is missing.
func (d *deed) deny(ctx context.Context) (result, error) {
	d.answered = true
	done, err := d.byRouter(ctx)
	switch {
	case err == nil && done.gone:
		d.e.count(d.c.action, events.ViaRadius, outcomeGone)
		return result{via: events.ViaRadius, gone: true}, nil
	case errors.Is(err, errRefused):
		words := coa.SessionNotFound.String() + ", but its reports go on"
		if err := d.refused(ctx, events.ViaRadius, words); err != nil {
			return result{}, err
		}
		return result{}, fmt.Errorf("%w: %w", errDenied, err)
	}
	return done, err
}

// reply orders the answers of a router to a request.
type reply int

// The answers; from gone on nothing is left to be done.
const (
	silent  reply = iota
	refused       // not, or without effect
	denied        // it says that it does not know the session, and has just reported it
	gone          // it does not know the session
	obeyed
)

// via is the way on which the router did what it was asked by RADIUS.
func (d *deed) via() events.EnforcementVia {
	if d.unverified {
		return events.ViaUnverified
	}
	return events.ViaRadius
}

// byRadius sends the request, and records a refusal.
func (d *deed) byRadius(ctx context.Context) (reply, error) {
	answer, err := d.e.ask(ctx, d.s, d.c)
	why := answer.Cause.String()
	switch {
	case ctx.Err() != nil:
		return silent, ctx.Err()
	case err != nil:
		d.e.count(d.c.action, events.ViaRadius, outcomeNoAnswer)
		d.unanswered = d.c.action == events.EndOnline && errors.Is(err, coa.ErrNoAnswer)
		return silent, nil
	case answer.Gone() && d.reported():
		return denied, nil
	case answer.Gone():
		d.e.count(d.c.action, events.ViaRadius, outcomeGone)
		return gone, nil
	case answer.Done && d.c.action == events.ChangeRate:
		applied, seen := d.applied(ctx)
		if applied {
			d.unverified = !seen
			d.e.count(d.c.action, events.ViaRadius, map[bool]string{true: outcomeDone, false: outcomeUnverified}[seen])
			return obeyed, nil
		}
		why = "acknowledged, but its queue has another limit"
	case answer.Done:
		d.e.count(d.c.action, events.ViaRadius, outcomeDone)
		return obeyed, nil
	}
	d.e.count(d.c.action, events.ViaRadius, outcomeRefused)
	d.answered = true
	return refused, d.refused(ctx, events.ViaRadius, why)
}

// refused records the words of a router.
func (d *deed) refused(ctx context.Context, via events.EnforcementVia, message string) error {
	return d.execute(ctx, commands.RecordSessionRefusal{Session: d.subject(), Via: via, Message: message})
}

// byRouter removes the session from the router's active list.
func (d *deed) byRouter(ctx context.Context) (result, error) {
	d.e.putOff(d.s, d.c)
	was, err := d.e.Routers.EndSession(ctx, d.s.DeviceID, onlineOf(d.s))
	switch {
	case err == nil && was:
		d.e.count(d.c.action, events.ViaRouter, outcomeDone)
		return result{via: events.ViaRouter}, nil
	case err == nil:
		d.e.count(d.c.action, events.ViaRouter, outcomeGone)
		if d.unanswered {
			return result{via: events.ViaRadius, gone: true}, nil
		}
		return result{via: events.ViaRouter, gone: true}, nil
	case ctx.Err() != nil:
		return result{}, ctx.Err()
	}
	if k := failure.KindOf(err); k == failure.Refused || k == failure.Denied {
		d.e.count(d.c.action, events.ViaRouter, outcomeRefused)
		if err := d.refused(ctx, events.ViaRouter, wordsOf(err)); err != nil {
			return result{}, err
		}
		d.answered = true
	} else {
		d.e.count(d.c.action, events.ViaRouter, outcomeNoAnswer)
	}
	if d.answered {
		return result{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	return result{}, fmt.Errorf("%w: %w", errUnreachable, err)
}

// putOff lets the device of a session that is about to be ended come back by its MAC, unless it makes way for another
// one of its customer.
func (e *Enforcer) putOff(s telemetry.Session, c change) {
	if c.reason != ReasonSessionLimit {
		e.Entitled.Directory.PutOff(s)
	}
}

// mikrotikRateLimit is the number of the attribute Mikrotik-Rate-Limit.
const mikrotikRateLimit = 8

// errNotAsked says that no request was sent, since it is not known where the router takes one, or may not.
var errNotAsked = errors.New("the router cannot be asked by RADIUS")

// ask sends a request to the router of a session, behind the breaker, with each secret that it may have. A refusal is
// an answer.
func (e *Enforcer) ask(ctx context.Context, s telemetry.Session, c change) (coa.Answer, error) {
	door, known := e.Entitled.Directory.Door(s.DeviceID)
	if c.door != nil {
		door, known = *c.door, true
	}
	address, ok := e.dialled(door.Address, s.Source)
	if !known || !ok || len(door.Secrets) == 0 {
		return coa.Answer{}, errNotAsked
	}
	session := coa.Session{UserName: s.Username, SessionID: s.SessionKey}
	if s.IP != nil {
		session.FramedIP = *s.IP
	}
	var answer coa.Answer
	err := e.Breakers.Do(ctx, BreakerKind, s.DeviceID.String(), func(ctx context.Context) error {
		err := coa.ErrNoAnswer
		for _, secret := range door.Secrets {
			router := coa.Router{
				Org:     s.OrgID,
				Address: netip.AddrPortFrom(address, uint16(door.Port)), //nolint:gosec // commands check the range
				Secret:  secret, Late: func() { e.Breakers.Alive(BreakerKind, s.DeviceID.String()) },
			}
			if c.action == events.ChangeRate {
				changes := radius.Attributes{}.MikroTik(mikrotikRateLimit, c.limit)
				answer, err = e.Radius.Change(ctx, router, session, changes)
			} else {
				e.putOff(s, c)
				answer, err = e.Radius.Disconnect(ctx, router, session)
			}
			if !errors.Is(err, coa.ErrNoAnswer) {
				break
			}
		}
		unsure := errors.Is(err, coa.ErrNoAnswer) || answer.Gone()
		if unsure && c.action == events.EndOnline && e.stopped(ctx, s) {
			answer, err = coa.Answer{Done: true}, nil
		}
		return err
	})
	return answer, err
}

// stopped reports whether the router has reported the end of a session that was open when it was asked to end it. That
// is its answer, too, where the other one comes too late, or was lost so that it was asked again.
func (e *Enforcer) stopped(ctx context.Context, s telemetry.Session) bool {
	now, err := e.Sessions.Get(ctx, s.OrgID, s.ID)
	if err != nil || now == nil || now.EndedAt == nil {
		return false
	}
	return now.EndReason != telemetry.ReasonLost && now.EndReason != telemetry.ReasonReplaced &&
		now.EndReason != telemetry.ReasonGone
}

// applied reads the limit of the session's queue back. A router that cannot be read, or that shows no queue, is
// believed; then seen is false.
func (d *deed) applied(ctx context.Context) (applied, seen bool) {
	if d.e.Breakers.Ready(routeros.BreakerKind, d.s.DeviceID.String()) != nil {
		return true, false
	}
	limit, err := d.e.Routers.SessionLimit(ctx, d.s.DeviceID, onlineOf(d.s))
	if err != nil || limit == "" {
		return true, false
	}
	up, down, _ := strings.Cut(limit, "/")
	return sameSpeed(up, d.c.after.Up) && sameSpeed(down, d.c.after.Down), true
}
