package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/placename"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/accounting"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// radiusParts knows who may sign in, and answers routers; recorder, keeper and server are nil in a program that does
// not.
type radiusParts struct {
	directory *directory.Directory
	refusals  *directory.Refusals
	shows     *runner.Memory    // fills the directory from the log
	fresh     *runner.Fresh     // watches whether it does
	loader    *directory.Loader // brings passwords and secrets
	live      *telemetry.Live   // keeps the limit of sessions
	recorder  *telemetry.Recorder
	spool     string // the name of its disk among those of all programs
	meter     *accesscases.Meter
	caps      *runner.Memory    // fills the meter from the log
	teller    *telemetry.Teller // of what waits for the tables
	keeper    *telemetry.Keeper
	writer    *telemetry.RefusalWriter
	vouchers  *directory.VoucherRecorder
	notes     *directory.VoucherNotes // sign-ins with vouchers that the log does not have
	enforcer  *accessjobs.Enforcer
	begins    *accessjobs.Beginnings // looks at sessions that begin
	server    *radius.Server
	fail      func(error) // ends the program
	logger    *slog.Logger
	loops     *loop.Group
}

// startRadius fills the directory, which enforcement needs in every program, and starts to answer routers in a program
// that has the role and the addresses for it.
func (a *App) startRadius(ctx context.Context) error {
	p := &radiusParts{refusals: directory.NewRefusals(a.clock), logger: a.logger, loops: loop.New(a.logger)}
	p.fail = func(err error) { a.life.fail(a.cannotAnswer(err)) }
	p.live = a.newLive(p)
	p.directory = directory.New(directory.Config{
		ClassKey: a.storage.vault.Key(secrets.Classes), Sessions: p.live, Refusals: p.refusals,
		Development: !a.cfg.Production(), Vouchers: a.voucherCodes(), Guessing: a.warnOfGuessing,
		Clock: a.clock,
		SetNAS: func(list []*radius.NAS) {
			if p.server != nil {
				p.server.SetNAS(list)
			}
		},
	})
	p.shows = runner.NewMemory(p.directory, a.engines.reading)
	p.fresh = runner.NewFresh(p.shows, a.clock, a.logger)
	p.enforcer = a.newEnforcer(p)
	if err := a.newServer(ctx, p); err != nil {
		return err
	}
	p.loader = directory.NewLoader(p.directory, a.storage.vault.Secrets, a.logger)
	models := map[string]service{"access directory": p.shows}
	if p.server != nil {
		models["caps"] = p.caps
	}
	if err := a.life.startTogether(ctx, stopEngines, models); err != nil {
		return err
	}
	if p.server != nil {
		if err := a.life.startBeside(ctx, "vouchers", stopEngines, p.vouchers); err != nil {
			return err
		}
	}
	if err := a.life.startBeside(ctx, "radius", stopEngines, p); err != nil {
		return a.cannotAnswer(err)
	}
	if a.customers = p; p.server != nil {
		a.radius = p
	}
	return nil
}

// cannotAnswer names the setting for which the program cannot answer routers.
func (a *App) cannotAnswer(err error) error {
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, journal.ErrTaken) {
		return fmt.Errorf("DATA_DIR: another program that answers routers uses %s, and each needs a directory of its "+
			"own: %w", a.cfg.DataDir, err)
	}
	return fmt.Errorf("RADIUS_AUTH_ADDR, RADIUS_ACCT_ADDR: %w", err)
}

// newServer makes what answers routers and keeps what they report. A program that has the role and no address for it
// says so at its start: routers that ask it get no answer, and nobody there signs in.
func (a *App) newServer(ctx context.Context, p *radiusParts) error {
	if !a.answersRouters() {
		if a.roles.has(roleRadius) {
			a.logger.WarnContext(ctx, "no router is answered: this program has the role radius and no RADIUS_AUTH_ADDR")
		}
		return nil
	}
	p.begins = accessjobs.NewBeginnings(p.enforcer)
	p.meter = accesscases.NewMeter(accesscases.MeterConfig{
		Bus: a.engines.bus, Store: a.telemetry, Clock: a.clock, Logger: a.logger,
	})
	p.caps = runner.NewMemory(p.meter, a.engines.reading)
	p.recorder = a.newRecorder(p)
	folder := filepath.Join(a.cfg.DataDir, spoolFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("DATA_DIR: %w", err)
	}
	p.spool = placename.Of(folder, a.logger)
	p.keeper = a.newKeeper(p.recorder)
	p.teller = a.newTeller(p)
	p.writer = telemetry.NewRefusalWriter(a.telemetry, p.refusals, a.logger)
	p.vouchers = directory.NewVoucherRecorder(p.directory, a.recordVoucher, a.logger)
	p.notes = directory.NewVoucherNotes(p.directory, folder, a.logger)
	sink := accounting.Sink{Recorder: p.recorder}
	server, err := radius.New(radius.Config{
		AccessAddr: a.cfg.RadiusAuthAddr, AccountingAddr: a.cfg.RadiusAcctAddr, Directory: p.directory,
		Accounting: sink, Notices: p.directory.Notice, Clock: a.clock, Logger: a.logger, Metrics: a.metrics,
	})
	p.server = server
	return err
}

// answersRouters reports whether this program has RADIUS.
func (a *App) answersRouters() bool { return a.roles.has(roleRadius) && a.cfg.RadiusAuthAddr != "" }

// incompletePause is how often a directory that has stopped at an event is looked at.
const incompletePause = time.Second

// Start opens the ports when the directory knows everybody and their passwords. A directory that has stopped at an
// event before it was complete would refuse customers who have paid. So routers get no answer until it goes on, which
// leaves the sessions that they have alone, and the rest of the program starts without it.
func (p *radiusParts) Start(ctx context.Context) error {
	return p.loops.Start(ctx, func(ctx context.Context) error {
		if p.shows.Status().CaughtUp {
			return p.open(ctx)
		}
		p.logger.ErrorContext(ctx, "routers are not answered", "error", p.shows.Fault())
		p.loops.Go("radius waits for its directory", func(ctx context.Context) {
			p.openLater(ctx, func() bool { return p.shows.Status().CaughtUp }, p.open)
		})
		return nil
	})
}

// openLater opens the ports when the directory is complete. When that fails the program ends, as it does at a start
// where it fails at once, and is started again by what watches over it: its parts cannot be started a second time.
func (p *radiusParts) openLater(ctx context.Context, complete func() bool, open func(context.Context) error) {
	for !complete() {
		if !loop.Sleep(ctx, incompletePause) {
			return
		}
	}
	if err := open(ctx); err != nil && ctx.Err() == nil {
		p.fail(err)
	}
}

// open fetches the passwords, opens the spool of accounting, and then the ports.
func (p *radiusParts) open(ctx context.Context) error {
	for i, s := range p.parts() {
		if err := s.Start(ctx); err != nil {
			for _, started := range slices.Backward(p.parts()[:i]) {
				started.Stop()
			}
			return err
		}
	}
	if p.server == nil {
		return nil
	}
	p.logger.InfoContext(ctx, "radius", "access", p.server.AccessAddr().String(), "accounting",
		p.server.AccountingAddr().String())
	return nil
}

// parts lists what runs, in the order of starts: who a report is about is known before the spool is read, and what is
// read from the ports can be made durable. At the stop the teller comes after the recorder, and knows what it has left.
func (p *radiusParts) parts() []service {
	if p.server == nil {
		return []service{p.loader, p.fresh}
	}
	return []service{
		p.loader, p.fresh, p.begins, p.live, p.meter, p.teller, p.recorder, p.keeper, p.writer, p.notes, p.server,
	}
}

// Stop closes the ports, and then ends what has taken from them.
func (p *radiusParts) Stop() {
	p.loops.Stop()
	for _, s := range slices.Backward(p.parts()) {
		s.Stop()
	}
	p.enforcer.Radius.Close()
}

// radiusChecks is the readiness of sign-ins and of accounting. A directory that has stopped at an event, or that the
// log does not reach, answers from what it knew before. Accounting is down while reports can be kept neither in the
// database nor on the disk.
func (a *App) radiusChecks() []httpapi.Check {
	if !a.answersRouters() {
		return nil
	}
	probe := func(fault func(context.Context, *radiusParts) string) func(context.Context) error {
		return func(ctx context.Context) error {
			if a.radius == nil {
				return down("not started")
			}
			return down(fault(ctx, a.radius))
		}
	}
	return []httpapi.Check{
		{Name: directory.Name, WaitsFor: asksLog, Probe: probe(func(ctx context.Context, p *radiusParts) string {
			return cmp.Or(p.shows.Fault(), strings.Join(p.shows.Left(), "; "), old(ctx, p.fresh))
		})},
		{Name: "access_meter", WaitsFor: asksLog, Probe: probe(func(_ context.Context, p *radiusParts) string {
			return cmp.Or(p.caps.Fault(), strings.Join(p.caps.Left(), "; "))
		})},
		{Name: "accounting", Probe: probe(func(_ context.Context, p *radiusParts) string {
			return p.recorder.Status().Fault
		})},
	}
}

// old says why a directory is not known to have what the log has; "" = it has.
func old(ctx context.Context, directory *runner.Fresh) string {
	if err := directory.Current(ctx); err != nil {
		return err.Error()
	}
	return ""
}
