package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// spoolFolder is where reports wait for the database, in DATA_DIR.
const spoolFolder = "accounting"

// lostAfter is how long a session may be silent: three reports of it did not come.
const lostAfter = 3 * telemetry.ReportEvery

// silentAfter is how long a session without a new report keeps another one out: its next report is late.
const silentAfter = telemetry.ReportEvery + time.Minute

// newLive makes the memory of live sessions, and has those ended that have to end.
func (a *App) newLive(p *radiusParts) *telemetry.Live {
	return telemetry.NewLive(telemetry.LiveConfig{
		Store: a.telemetry, Clock: a.clock, SilentAfter: silentAfter, Logger: a.logger,
		Limit: func(s id.Subscription) int { return p.directory.SessionLimit(s, a.clock.Now()) },
		End:   func(r telemetry.Replaced) { p.begins.End(r) },
	})
}

// newRecorder makes the recorder of what routers report about the customers that the directory knows. It tells what
// they used in all and which sessions began, and the directory hears of sign-ins with vouchers.
func (a *App) newRecorder(p *radiusParts) *telemetry.Recorder {
	return telemetry.NewRecorder(telemetry.Config{
		Clock: a.clock, Live: p.live, Store: a.telemetry, Directory: telemetry.Directory{
			Resolve: holders{p.directory}.resolve, Zone: p.directory.Zone,
		},
		SpoolDir: filepath.Join(a.cfg.DataDir, spoolFolder), Used: p.meter.Take,
		Heard: p.directory.Heard, Began: p.begins.Began,
		Logger: a.logger,
	})
}

// newTeller makes what tells other programs which reports wait on the disk of this one.
func (a *App) newTeller(p *radiusParts) *telemetry.Teller {
	return telemetry.NewTeller(telemetry.TellerConfig{
		Store: a.telemetry, Program: p.spool, Dir: filepath.Join(a.cfg.DataDir, spoolFolder), Clock: a.clock,
		Logger: a.logger, Waits: p.recorder.Waits,
		Hears: func() time.Duration { return p.keeper.HeardFor(id.Organization{}) },
	})
}

// newKeeper makes the keeper of the tables. recorder is nil in a program that does not hear the routers.
func (a *App) newKeeper(recorder *telemetry.Recorder) *telemetry.Keeper {
	return telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: a.telemetry, Recorder: recorder, Clock: a.clock, LostAfter: lostAfter, Logger: a.logger,
		Keep: telemetry.Retention{
			Sessions: a.cfg.SessionsKept, Addresses: a.cfg.AddressesKept, Days: a.cfg.UsageKept,
		},
	})
}

// holders tells telemetry whose sessions are.
type holders struct{ directory *directory.Directory }

// resolve finds the holder of a report from memory. Speeds of both sides are in kbit/s. The instants of reports are
// whole seconds, so what a customer was entitled to counts at the end of that second: the payment may be in it.
func (h holders) resolve(r telemetry.Report) telemetry.Given {
	holder, known := h.directory.Holder(r.Org, r.Class, r.User, r.At.Add(time.Second-1))
	if !known {
		return telemetry.Given{}
	}
	given := telemetry.Given{
		Subscriber: holder.SubscriberID, Subscription: holder.SubscriptionID, Access: holder.Grant.Access.String(),
		RateDown: holder.Grant.Down, RateUp: holder.Grant.Up, Forgotten: holder.Forgotten,
		IP: holder.IP, Link: holder.Link, Network: holder.Network,
	}
	if holder.Told {
		given.Stamp = holder.Grant.Stamp()
	}
	return given
}

// wireSessions opens the tables of telemetry and makes the endpoints that read them, which every program with the role
// api serves. A program without the RADIUS server deletes what is over, if it has the role jobs.
func (a *App) wireSessions(ctx context.Context) ([][]httpapi.Route, error) {
	var err error
	if a.telemetry, err = telemetry.Open(ctx, a.storage.db); err != nil {
		return nil, err
	}
	a.telemetry.Watch(a.tellSessions)
	if a.roles.has(roleJobs) && !a.answersRouters() {
		if err := a.life.startBeside(ctx, "telemetry keeper", stopEngines, a.newKeeper(nil)); err != nil {
			return nil, err
		}
	}
	return [][]httpapi.Route{
		accessapi.Sessions{
			Store: a.telemetry, Lookups: accesscases.Lookups{Bus: a.engines.bus}, Clock: a.clock, Zone: a.zoneOf,
			Names: networkviews.DevicesQuery{Views: a.engines.views}.Names,
		}.Routes(),
		accessapi.Usage{
			Store: a.telemetry, Clock: a.clock,
			Known: a.subscriberKnown,
			Zone:  a.zoneOf,
			Cap: accesscases.Caps{
				Subscriptions: subscribersviews.SubscriptionsQuery{Views: a.engines.views},
				Usage:         accessviews.UsageQuery{Views: a.engines.views}, Store: a.telemetry, Clock: a.clock,
			}.Of,
		}.Routes(),
		accessapi.TopUps{
			Cases: accesscases.TopUps{Bus: a.engines.bus, Store: a.telemetry, Clock: a.clock},
			Usage: accessviews.UsageQuery{Views: a.engines.views},
		}.Routes(),
	}, nil
}

// zoneOf is the zone in which the dates of an organization are.
func (a *App) zoneOf(ctx context.Context, org id.Organization) (*time.Location, error) {
	return a.engines.settings.Zone(ctx, org)
}

// subscriberKnown reports whether an organization has a subscriber.
func (a *App) subscriberKnown(ctx context.Context, org id.Organization, of id.Subscriber) (bool, error) {
	row, err := subscribersviews.SubscribersQuery{Views: a.engines.views}.Get(ctx, org, of)
	return row != nil, err
}
