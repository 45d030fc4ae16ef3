package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// engines has the parts that run on the storage and serve every area.
type engines struct {
	feed        *feed.Feed
	bus         *bus.Bus
	projections *runner.Runner
	views       *runner.Views
	reading     runner.Config       // of those who follow the log
	settings    usecases.SettingsOf // that queries need
	directory   *identityviews.Directory
	shows       *runner.Memory // fills the directory from the log
	fresh       *runner.Fresh  // watches whether it does
	access      *identityviews.Access
	index       *cpeviews.Index
	indexed     *runner.Memory // fills the index from the log
	current     *runner.Fresh  // watches whether it does
	jobs        *jobrunner.Runner
	processes   *processrunner.Runner
	absence     atomic.Pointer[accessjobs.Absence] // nil until just before the processes start
}

// openBus makes the bus and registers the aggregates of all areas.
func openBus(s *storage, c clock.Clock, logger *slog.Logger) *bus.Bus {
	b := bus.New(bus.Config{Store: s.store, Claims: s.vault.ClaimKey, Clock: c, Logger: logger})
	registerAggregates(b)
	return b
}

// startFeed starts the one subscription to the log that projections and processes share. The program ends when the log
// is replaced by another one: all that it has in memory would be wrong.
func startFeed(ctx context.Context, s *storage, l *lifecycle) (*feed.Feed, error) {
	f := feed.New(feed.FromStore(s.store), l.logger)
	l.failsWith("log replaced", f.Lost())
	return f, l.start(ctx, "feed", stopStorage, f)
}

// reading is the configuration of those who follow the log. With followOnly they fill no tables and only read.
func reading(s *storage, f *feed.Feed, c clock.Clock, logger *slog.Logger, followOnly bool) runner.Config {
	return runner.Config{Feed: f, DB: s.db, Clock: c, Logger: logger, FollowOnly: followOnly, Patience: s.readPatience}
}

// newProjections makes the runner with the read models of all areas. With followOnly it fills none and only reads.
func newProjections(s *storage, f *feed.Feed, c clock.Clock, logger *slog.Logger, followOnly bool) *runner.Runner {
	r := runner.New(reading(s, f, c, logger, followOnly))
	r.Register(readModels()...)
	return r
}

// startEngines starts the readers of the log and makes the runners of jobs and processes; startWork starts those.
// gate keeps their work out while the clock is moved.
func startEngines(
	ctx context.Context, s *storage, c clock.Clock, l *lifecycle, roles roles, gate *clock.Gate,
) (*engines, error) {
	e := &engines{directory: identityviews.NewDirectory(), index: cpeviews.NewIndex()}
	var err error
	if e.feed, err = startFeed(ctx, s, l); err != nil {
		return nil, err
	}
	e.bus = openBus(s, c, l.logger)
	e.projections = newProjections(s, e.feed, c, l.logger, !roles.has(roleProjections))
	if err := l.start(ctx, "projections", stopEngines, e.projections); err != nil {
		return nil, fmt.Errorf("start projections: %w", err)
	}
	e.views = e.projections.Views()
	e.settings = usecases.ShownSettings(e.views, e.bus)
	e.reading = reading(s, e.feed, c, l.logger, !roles.has(roleProjections))
	e.shows = runner.NewMemory(e.directory, e.reading)
	e.indexed = runner.NewMemory(e.index, e.reading)
	models := map[string]service{"directory": e.shows, "index of cpes": e.indexed}
	if err := l.startTogether(ctx, stopEngines, models); err != nil {
		return nil, err
	}
	e.access, e.fresh = identityviews.NewAccess(e.shows), runner.NewFresh(e.shows, c, l.logger)
	e.access.Watch(e.fresh.Stuck)
	e.current = runner.NewFresh(e.indexed, c, l.logger)
	ages := map[string]service{"age of the directory": e.fresh, "age of the index of cpes": e.current}
	if err := l.startTogether(ctx, stopEngines, ages); err != nil {
		return nil, err
	}
	e.jobs = jobrunner.New(jobrunner.Config{
		DB: s.db, Clock: c, Gate: gate, Logger: l.logger, InsertOnly: !roles.has(roleJobs), Sole: s.sole(roles),
	})
	lost := func() {
		if absence := e.absence.Load(); absence != nil {
			absence.Lost()
		}
	}
	e.processes = processrunner.New(processrunner.Config{
		Feed: e.feed, DB: s.db, Clock: c, Gate: gate, Logger: l.logger, Jobs: e.jobs,
		Bus: accesscases.WaitingCuts{
			ProcessBus: accesscases.NewReviews(billingcases.PeriodInvoices{Bus: e.bus}, e.bus, c),
			MayCut: func() bool {
				absence := e.absence.Load()
				return absence != nil && absence.MayCut()
			},
			Lost: lost, Clock: c,
			Fuse: usecases.NewFuse(events.FuseCuts, e.bus, billingviews.FusesQuery{Views: e.views}.Days, c),
		},
		Settled: e.bus.Settled, Lost: lost,
	})
	return e, nil
}

// WaitFor waits until a read model, or the directory, shows a position (httpapi.Visibility). What is told of CPEs is in
// memory besides: without it the log answers, so it is waited for only while it is filled.
func (e *engines) WaitFor(ctx context.Context, projection string, position uint64) error {
	switch projection {
	case identityviews.DirectoryName:
		return e.shows.WaitFor(ctx, position)
	case cpeviews.CPEsName:
		if err := e.indexed.WaitFor(ctx, position); err != nil && e.indexed.Fault() == "" {
			return err
		}
	}
	return e.views.WaitFor(ctx, projection, position)
}

// shown gives the state of all read models, also of those in memory.
func (e *engines) shown() []runner.Status {
	return append(e.projections.Status(), e.shows.Status(), e.indexed.Status())
}

// indexAge is the age from which on the index of CPEs is not asked any more: it is below ten seconds while all is well.
const indexAge = 15 * time.Second

// told gives what is known of a CPE in memory; false when the log has to be asked.
func (e *engines) told(cpe id.CPE) (cpeviews.Told, bool) {
	if e.indexed.Fault() != "" || e.current.Age() > indexAge {
		return cpeviews.Told{}, false
	}
	return e.index.Told(cpe)
}
