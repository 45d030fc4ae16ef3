package accessjobs

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// BreakerKind is the kind of the breakers of requests to change or to end sessions. A router that answers by its own
// interface may be deaf for them, so they are no breakers of routers.
const BreakerKind = "coa"

// OnlineSession names one session to a router.
type OnlineSession struct {
	Hotspot bool // else PPP
	User    string
	Key     string // Acct-Session-Id
	Address string // "" = not known
	MAC     string // "" = not known
}

// Routers are asked through their own interface, behind its breaker.
type Routers interface {
	// EndSession removes a session from the active list, and reports whether it was there. After nil it is not there.
	EndSession(ctx context.Context, device id.Device, s OnlineSession) (bool, error)
	// SessionLimit reads the limit of the session's queue, upload and download; "" when the router shows none.
	SessionLimit(ctx context.Context, device id.Device, s OnlineSession) (string, error)
	// SignIns reads which sign-ins the router takes to the platform.
	SignIns(ctx context.Context, device id.Device) (routerplan.SignIns, error)
}

// Secrets are those of routers that were decommissioned. A vault.Secrets is one.
type Secrets interface {
	// GetAll gives those that exist.
	GetAll(ctx context.Context, refs []id.Secret) (map[id.Secret][]byte, error)
	// Delete deletes one for good. A missing one is no error.
	Delete(ctx context.Context, ref id.Secret) error
}

// Entitled knows what subscriptions are entitled to, and where routers take requests. A directory.Directory is one.
type Entitled struct {
	Directory *directory.Directory
	// Reached waits until the directory knows everything up to a position. It fails while the directory does not follow
	// the log, because a session must not be ended by what is no longer true.
	Reached func(ctx context.Context, position uint64) error
}

// Enforcer has the network do what customers are entitled to (docs/rules/access-enforcement.md#level). Fields without a
// remark are required. Safe for concurrent use.
type Enforcer struct {
	Bus      *bus.Bus
	Sessions *telemetry.Store
	Entitled Entitled
	Radius   *coa.Client
	Routers  Routers
	Breakers *breaker.Set
	Locks    *postgres.DB
	Secrets  Secrets
	Queue    *jobrunner.Runner
	Clock    clock.Clock
	Outcomes *prometheus.CounterVec // NewOutcomes; nil counts nothing
	Logger   *slog.Logger
	// ShownAt lists the routers that show a session of a subscriber which enforcement may not see; nil = none is known.
	ShownAt func(ctx context.Context, org id.Organization, subscriber id.Subscriber) ([]id.Device, error)
	// Anywhere allows requests to every address, such as simulated routers on this machine; for use outside production.
	Anywhere bool
	// Step is called between two steps; tests end the program there. nil = nobody.
	Step func(name string)

	pauses    pauses
	inVain    ends
	seats     seats
	comebacks comebacks
}

// NewOutcomes makes the counter of what was done with sessions.
func NewOutcomes(to prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lastmile_access_enforced_total",
		Help: "Requests to routers to change or to end a session, by action, way and outcome.",
	}, []string{"action", "via", "outcome"})
	for _, action := range []events.EnforcementAction{events.ChangeRate, events.EndOnline} {
		for _, via := range []events.EnforcementVia{events.ViaRadius, events.ViaRouter} {
			for _, outcome := range outcomes() {
				c.WithLabelValues(string(action), string(via), outcome)
			}
		}
	}
	if to != nil {
		to.MustRegister(c)
	}
	return c
}

// The outcomes that are counted.
const (
	outcomeDone     = "done"
	outcomeGone     = "gone" // the router does not know the session
	outcomeRefused  = "refused"
	outcomeNoAnswer = "no_answer"
	// outcomeUnverified is an acknowledged speed that could not be read back.
	outcomeUnverified = "unverified"
	// outcomeInVain is an end after which the next sign-in was given the same.
	outcomeInVain = "in_vain"
)

// outcomes has those that the counter shows from the start, so that none appears later without a past.
func outcomes() []string {
	return []string{outcomeDone, outcomeUnverified, outcomeGone, outcomeRefused, outcomeNoAnswer, outcomeInVain}
}

// count adds to the metric, if there is one.
func (e *Enforcer) count(action events.EnforcementAction, via events.EnforcementVia, outcome string) {
	if e.Outcomes != nil {
		e.Outcomes.WithLabelValues(string(action), string(via), outcome).Inc()
	}
}

// step marks the place between two steps.
func (e *Enforcer) step(name string) {
	if e.Step != nil {
		e.Step(name)
	}
}

// Why a session was not changed. After errUnreachable nobody knows what the router did, and its other sessions would
// get no answer either. After errRefused it has answered at least one request about this session, and others may be
// changed.
var (
	errUnreachable = errors.New("the router answers neither RADIUS nor by its own interface")
	errRefused     = errors.New("the router answers, and does not change the session")
)

// errIncomplete says that an event of the organization cannot be read. Its customers cannot sign in until then, so a
// session that were ended would not come back (docs/rules/access-radius.md#unreadable-events).
var errIncomplete = errors.New("an event of the organization cannot be read, so its sessions are left alone")

// onlineOf names a session to its router.
func onlineOf(s telemetry.Session) OnlineSession {
	out := OnlineSession{Hotspot: s.Service == "hotspot", User: s.Username, Key: s.SessionKey, MAC: s.MAC}
	if s.IP != nil {
		out.Address = s.IP.String()
	}
	return out
}

// grantOf takes the present access and speeds from the session's row.
func grantOf(s telemetry.Session) events.SessionGrant {
	return events.SessionGrant{Access: s.Access, Down: s.RateDown, Up: s.RateUp}
}

// lockName is the advisory lock under which the sessions of one subscriber are changed: a job that began with an older
// entitlement must not act after one with a newer.
func lockName(s id.Subscriber) string { return "access " + s.String() }
