package main

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/radius/coa"
)

// How often a router is asked to change or to end a session, and the first wait for its answer: 3.5 s in all.
const (
	enforceTries = 3
	enforcePause = 500 * time.Millisecond
)

// newEnforcer makes what has routers do what customers are entitled to.
func (a *App) newEnforcer(p *radiusParts) *accessjobs.Enforcer {
	return &accessjobs.Enforcer{
		Bus: a.engines.bus, Sessions: a.telemetry,
		Entitled: accessjobs.Entitled{Directory: p.directory, Reached: p.reached},
		Radius:   &coa.Client{Tries: enforceTries, Pause: enforcePause}, Routers: sessionRouters{a},
		Breakers: a.breakers, Locks: a.storage.db, Secrets: a.storage.vault.Secrets,
		Queue: a.engines.jobs, Clock: a.clock,
		Outcomes: accessjobs.NewOutcomes(a.metrics), Logger: a.logger, Anywhere: !a.cfg.Production(),
		Step: a.betweenSteps, ShownAt: accessviews.DifferencesQuery{Views: a.engines.views}.ShownAt,
	}
}

// reached waits until the directory of this program knows everything up to a position. It fails while the directory
// does not follow the log. That of another program, which answers routers, may be older
// (docs/rules/access-enforcement.md#ended-in-vain).
func (p *radiusParts) reached(ctx context.Context, position uint64) error {
	if err := p.fresh.Current(ctx); err != nil {
		return err
	}
	return p.shows.WaitFor(ctx, position)
}

// sessionRouters asks routers about sessions, through the gateway of the network area.
type sessionRouters struct{ app *App }

// EndSession implements accessjobs.Routers.
func (r sessionRouters) EndSession(ctx context.Context, device id.Device, s accessjobs.OnlineSession) (bool, error) {
	w := r.app.routers.Load()
	if w == nil {
		return false, routeros.ErrUnreachable(0, nil)
	}
	return w.EndSession(ctx, device, networkjobs.OnlineSession(s))
}

// SessionLimit implements accessjobs.Routers.
func (r sessionRouters) SessionLimit(
	ctx context.Context, device id.Device, s accessjobs.OnlineSession,
) (string, error) {
	w := r.app.routers.Load()
	if w == nil {
		return "", routeros.ErrUnreachable(0, nil)
	}
	return w.SessionLimit(ctx, device, networkjobs.OnlineSession(s))
}

// SignIns implements accessjobs.Routers.
func (r sessionRouters) SignIns(ctx context.Context, device id.Device) (routerplan.SignIns, error) {
	w := r.app.routers.Load()
	if w == nil {
		return routerplan.SignIns{}, routeros.ErrUnreachable(0, nil)
	}
	return w.SignIns(ctx, device)
}

// disconnects ends sessions for persons.
type disconnects struct{ enforcer *accessjobs.Enforcer }

// end implements accessapi.Disconnect.
func (d disconnects) end(
	ctx context.Context, session telemetry.SessionID, confirmed bool, meta commands.Meta,
) (accessapi.Disconnected, error) {
	done, err := d.enforcer.Disconnect(ctx, session, confirmed, meta)
	return accessapi.Disconnected{Ended: done.Ended, Via: string(done.Via), Error: done.Error}, err
}
