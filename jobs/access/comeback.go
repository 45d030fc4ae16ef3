package accessjobs

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

const (
	// locksOutFor is how long a refusal of a router's secret counts when nothing else was heard of the router.
	locksOutFor = time.Hour
	// reportDue is when the next report of a session comes, with some room for one that is late.
	reportDue = telemetry.ReportEvery + settled
	// comebackFor is how long enforcement believes what it knows about a router's sign-ins.
	comebackFor = 10 * time.Second
	// comebackWait is how long a router may take to tell them to enforcement.
	comebackWait = 3 * time.Second
)

// What a person has to do where who is ended would stay off.
const (
	asksNobody = "The router does not ask this platform who may sign in, so the customer would not come back. Look " +
		"at its RADIUS clients, at use-radius of /ppp aaa and of the profiles of its hotspots, or repair its setup."
	refusesAll = "The router's sign-ins are refused, so the customer would not come back. "
	notHeard   = "Nothing was heard of this router since the reports of the session stopped, so the customer may not " +
		"come back. Look at its RADIUS client and secret, and at UDP ports 1812 and 1813 on the way."
)

// comeback tells what is known about whether who is ended at a router can sign in there again by the same service.
type comeback struct {
	at      time.Time
	signIns routerplan.SignIns
	heard   telemetry.Heard
	letIn   time.Time // when the platform let in the last session that the router shows; zero = not known
}

// offBecause says why who is ended could not sign in again, at a hotspot of some name or by PPP; "" = he can. silent is
// the last report of the session that is ended; zero = its reports come, or never came.
func (b comeback) offBecause(hotspot bool, server string, silent time.Time) string {
	switch due := silent.Add(reportDue); {
	case !b.signIns.Come(hotspot, server):
		return asksNobody
	case b.heard.Dropped(b.letIn):
		return refusesAll + blocked[directory.Code(radius.Unproven.String())]
	case b.heard.Doubtful(b.letIn):
		return refusesAll + otherSecret
	case !silent.IsZero() && !(reportsCome(b.heard, b.at) && b.heard.Since(due)) && !b.letIn.After(due):
		return notHeard
	}
	return ""
}

// reportsCome reports whether reports of a service come at an instant. Its RADIUS client leads to the platform then,
// whatever address it has; that of the other service may be another one.
func reportsCome(heard telemetry.Heard, at time.Time) bool { return heard.Since(at.Add(-reportDue)) }

// silentSince is the last report of a session whose next one is overdue, as it is of one that was lost; zero = its
// reports come. What is still to come is from when a clock was ahead, before a report of now puts it right.
func silentSince(s telemetry.Session, at time.Time) time.Time {
	if at.Sub(s.UpdatedAt).Abs() < reportDue {
		return time.Time{}
	}
	return s.UpdatedAt
}

// offBecause is that of comeback, of a session that the router shows; "" too where nobody has anything to come back to.
func (c *comparison) offBecause(s routerplan.ObservedSession, u *onlyShown) string {
	_, holder := c.k.Holder(s)
	if !c.owed(u.session.SubscriptionID, s, u) && (holder.IsZero() || !c.owed(holder, s, u)) {
		return ""
	}
	heard, last := c.k.Heard.Of(s.Hotspot), u.session.UpdatedAt
	if u.reports {
		last = silentSince(u.session, c.k.At)
	}
	if !u.reports || !last.IsZero() {
		heard = heard.Silent()
	}
	signIns, _ := c.reached(s.Hotspot)
	b := comeback{c.k.At, signIns, heard, c.letIn(s.Hotspot)}
	return b.offBecause(s.Hotspot, cmp.Or(s.Server, u.session.Called), last)
}

// staysIn is offBecause as it ends a sentence about a session that goes on therefore.
func (c *comparison) staysIn(s routerplan.ObservedSession, u *onlyShown) string {
	if why := c.offBecause(s, u); why != "" {
		return ", and is not ended. " + why
	}
	return ""
}

// reached gives which sign-ins of PPP, or of hotspots, come to the platform, and to it alone.
func (c *comparison) reached(hotspot bool) (routerplan.SignIns, routerplan.Asks) {
	if reportsCome(c.k.Heard.Of(hotspot), c.k.At) {
		return c.o.Reported.SignIns, c.o.Reported.Asks
	}
	return c.o.SignIns, c.o.Asks
}

// owed is owed of a session that the router shows.
func (c *comparison) owed(of id.Subscription, s routerplan.ObservedSession, u *onlyShown) bool {
	return owed(c.k.Present(of), shownAs(s), u.began)
}

// owed reports whether who has a session has to be able to come back: the subscription is entitled to more than the
// walled garden, and he may use it still, by his device and his login.
func owed(p directory.Present, s directory.Shown, began time.Time) bool {
	return p.Grant.Access >= entitlement.Throttled && p.Admits(s, began)
}

// letIn is when the platform let in the last session of PPP, or of hotspots, that the router shows.
func (c *comparison) letIn(hotspot bool) (last time.Time) {
	signIns, _ := c.reached(hotspot)
	for _, s := range c.o.Sessions {
		began := c.k.At.Add(-s.Uptime)
		if s.Hotspot == hotspot && s.Radius && s.Uptime > 0 && signIns.Come(hotspot, s.Server) && began.After(last) {
			last = began
		}
	}
	return last
}

// staysOff says that a session is left alone because its customer could not sign in again, and why.
type staysOff struct{ why string }

// Error implements error.
func (s *staysOff) Error() string { return s.why }

// Unwrap makes it a refusal of the router: other sessions of it may be changed.
func (s *staysOff) Unwrap() error { return errRefused }

// comesBack fails before a session is ended whose customer is entitled to more than the walled garden, and could not
// sign in again: also where the session's reports have stopped, as while no program runs that answers routers. A router
// whose own interface does not answer is believed. Fails: staysOff.
func (e *Enforcer) comesBack(ctx context.Context, s telemetry.Session) error {
	at := e.Clock.Now()
	if !e.owed(s, at) {
		return nil
	}
	known, err := e.comeback(ctx, s.DeviceID, at)
	if err != nil {
		return err
	}
	hotspot, silent := s.Service == "hotspot", silentSince(s, at)
	b := comeback{at: at, signIns: known.signIns, heard: known.heard.Of(hotspot)}
	if !silent.IsZero() {
		b.heard = b.heard.Silent()
	}
	if why := b.offBecause(hotspot, s.Called, silent); why != "" {
		return &staysOff{why}
	}
	return nil
}

// owed is owed of the customer of a session, or of who has its login now.
func (e *Enforcer) owed(s telemetry.Session, at time.Time) bool {
	entitled := e.Entitled.Directory
	shown := reportedAs(s)
	_, holder := entitled.Named(s.OrgID, shown, at)
	return owed(entitled.Present(s.SubscriptionID, at), shown, s.StartedAt) ||
		owed(entitled.Present(holder, at), shown, s.StartedAt)
}

// comebacks remembers for a moment what was asked of routers, so that many sessions of one are one question. The zero
// value has none. Safe for concurrent use.
type comebacks struct {
	mu sync.Mutex
	of map[id.Device]knownComeback
}

// knownComeback has an instant, and all that was known then about a router. Sign-ins are those of one whose reports
// come: where they do not nobody is known to come back, whatever it is set to.
type knownComeback struct {
	at      time.Time
	signIns routerplan.SignIns
	heard   telemetry.RouterHeard
}

// comeback asks about the sign-ins of a router.
func (e *Enforcer) comeback(ctx context.Context, device id.Device, at time.Time) (knownComeback, error) {
	e.comebacks.mu.Lock()
	known, has := e.comebacks.of[device]
	e.comebacks.mu.Unlock()
	if has && at.Sub(known.at).Abs() < comebackFor {
		return known, nil
	}
	b := knownComeback{at: at, signIns: routerplan.SignIns{PPP: true, Hotspot: true}}
	if e.Breakers.Ready(routeros.BreakerKind, device.String()) == nil {
		if shown, err := e.signIns(ctx, device); err == nil {
			b.signIns = shown
		}
	}
	var err error
	if b.heard, err = e.Sessions.Heard(ctx, device, at, locksOutFor); err != nil {
		return knownComeback{}, err
	}
	e.comebacks.mu.Lock()
	defer e.comebacks.mu.Unlock()
	if e.comebacks.of == nil {
		e.comebacks.of = map[id.Device]knownComeback{}
	}
	e.comebacks.of[device] = b
	return b, nil
}

// signIns asks a router which sign-ins it takes to the platform. Who gives up waiting cancels the question: a deadline
// would count as a failure of the router, which may take longer for an answer and lives
// (docs/rules/engine.md#breaker).
func (e *Enforcer) signIns(ctx context.Context, device id.Device) (routerplan.SignIns, error) {
	asked, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(comebackWait, cancel).Stop()
	return e.Routers.SignIns(asked, device)
}
