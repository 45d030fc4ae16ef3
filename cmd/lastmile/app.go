package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/changes"
	"github.com/lastmile-isp/lastmile/httpapi/identity"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/parsing"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/jobs/webhooks"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases/reports"
)

// App is the running program. StartApp makes it, Stop ends it.
type App struct {
	cfg    Config
	roles  roles
	clock  clock.Clock
	gates  gates
	logger *slog.Logger
	life   *lifecycle

	storage  *storage
	engines  *engines
	breakers *breaker.Set
	metrics  *prometheus.Registry
	turns    *parsing.Turns // at parsers of what comes from outside
	provider string         // base address of the payment provider; "" = the usual one of PAYMENT_ENV
	// taxSimulator is the address of the demo's tax authority; "" outside the demo.
	taxSimulator string

	routers    atomic.Pointer[networkjobs.Workers] // nil until the area is wired
	rounds     *networkjobs.Background
	dialRouter routeros.DialFunc // nil = the machine's network
	polls      *networkjobs.Polls
	deliverer  *webhooksjobs.Deliverer // nil until the area is wired

	telemetry *telemetry.Store
	radius    *radiusParts         // nil in a program that does not answer routers
	customers *radiusParts         // who may sign in; nil until it is started
	kept      *paymentsjobs.Kept   // callbacks that wait for the database; nil without the role api
	presence  *accessjobs.Presence // nil without the role api, and before there is a database
	changes   *changesapi.Hub      // tells open pages what has changed
	keyUses   *identityapi.KeyUses // notes when API keys are used
	// reports are those of organizations that are being read now; whoever asks meanwhile shares them.
	reports  joined.Reads[id.Organization, reportscases.Report]
	gone     joined.Reads[id.Organization, reportscases.Gone] // routers that do not answer, in the same way
	gateways messageGateways                                  // nil before the areas are wired
	// unreachable has the routers whose breakers have opened, until the read model of devices changes.
	unreachable runner.Kept[id.Organization, []networkviews.DeviceHealth]
	// providerHosts are the targets of the breakers of the provider, by environment.
	providerHosts map[string]string

	startedAt time.Time
	mover     *mover // nil unless the clock can be moved

	betweenSteps func(name string) // of appOptions

	listener         *httpapi.Listener // nil without the role api
	redirect         *httpapi.Listener // nil without the role api or WALLED_GARDEN_ADDR
	metricsListener  *httpapi.Listener
	door, gardenDoor *door                   // nil as their listeners
	ran              bool                    // before, with this DATA_DIR and this platform key
	awaits           atomic.Pointer[awaited] // what the start waits for; nil = nothing
	line             *inLine                 // nil without STANDBY
	again            *awaited                // why the last start failed that this one repeats; nil = there was none
	steps            *startSteps             // of the start
	runtime          runtimeFile
}

// appOptions has settings that only tests and the demo change; the zero value is an installation's.
type appOptions struct {
	clock clock.Clock // nil = the machine's
	demo  bool        // demo data and credentials are allowed
	// dialRouter connects to routers; nil = the machine's network.
	dialRouter routeros.DialFunc
	// betweenSteps is called between two steps of work on customers' sessions; nil = nobody.
	betweenSteps func(name string)
	passwords    vault.Argon2 // cost of new hashes; zero = vault.DefaultArgon2
	// readPatience is the longest time that a reader waits for a read model; 0 = as usual.
	readPatience time.Duration
}

// StartApp starts all parts of the program, each after those that it depends on. On an error it stops again whatever it
// has started. A program that has run before begins again when what failed can pass by itself.
func StartApp(ctx context.Context, cfg Config, r roles, logger *slog.Logger, opts appOptions) (*App, error) {
	if err := r.check(cfg); err != nil {
		return nil, err
	}
	if opts.clock == nil {
		opts.clock = productClock(cfg)
	}
	logger.InfoContext(ctx, "starting",
		append([]any{"version", version(), "roles", strings.Join(r, ",")}, cfg.shown()...)...)
	pause := retrying()
	var again *awaited
	for {
		a := newApp(cfg, r, logger, opts)
		a.again = again
		err := a.enter(ctx, &pause)
		if err == nil {
			err = a.start(ctx, opts)
		}
		if err == nil {
			return a, nil
		}
		a.Stop()
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		if again = passing(err); again == nil || !a.ran && a.line == nil || opts.demo {
			return nil, err
		}
		logger.WarnContext(ctx, "the start is tried again", "error", err, "retry_in", pause.Pause())
	}
}

// newApp makes a program of which nothing runs.
func newApp(cfg Config, r roles, logger *slog.Logger, opts appOptions) *App {
	a := &App{
		cfg: cfg, roles: r, clock: opts.clock, logger: logger, life: newLifecycle(logger),
		metrics: prometheus.NewRegistry(), providerHosts: map[string]string{}, steps: newStartSteps(logger),
		turns: parsing.NewTurns(),
	}
	a.changes = changesapi.New(changesapi.Config{Clock: a.clock, Logger: logger, Serves: a.serves})
	if !opts.demo {
		a.line = waitsInLine(cfg, a.steps, a)
	}
	a.dialRouter, a.betweenSteps = opts.dialRouter, opts.betweenSteps
	a.breakers = breaker.New(breaker.Config{
		Clock: a.clock, OnChange: a.noteBreaker, Codes: map[string]string{
			routeros.BreakerKind: "device_unreachable", accessjobs.BreakerKind: "device_unreachable",
		},
	})
	return a
}

// enter takes the addresses of HTTP, so that a second program on them fails before it has an effect, and callbacks have
// an address. Requests are answered 503 until the last step of the start, except that callbacks that tell of money are
// kept on the disk, also in the pause before a start that is tried again.
func (a *App) enter(ctx context.Context, pause *loop.Backoff) (err error) {
	if a.again == nil {
		if err := a.refuseSecond(ctx); err != nil {
			return err
		}
	}
	if a.ran, err = ranBefore(a.cfg); err != nil {
		return err
	}
	if err := a.listen(ctx); err != nil || a.again == nil {
		return err
	}
	if !pause.Wait(ctx) {
		return errInterrupted
	}
	return nil
}

// start runs the steps after enter.
func (a *App) start(ctx context.Context, opts appOptions) error {
	defer a.steps.watch(ctx)()
	var err error
	if a.storage, err = openStorage(ctx, a.cfg, a.clock, a.life, a.storageMode(opts)); err != nil {
		return err
	}
	a.startedAt = a.clock.Now() // by the clock that follows what the data knows
	a.proveRan(ctx)
	a.steps.begin("postgres", "beginning to watch whether the database takes writes")
	if err := a.watchWrites(ctx); err != nil {
		return err
	}
	a.steps.watched(func() error { return a.probeWrites(ctx) })
	a.steps.begin("start", "preparing read models, processes and jobs")
	if a.engines, err = startEngines(ctx, a.storage, a.clock, a.life, a.roles, &a.gates.jobs); err != nil {
		return err
	}
	if !opts.demo {
		if err := refuseDemoData(ctx, a.engines.bus); err != nil {
			return err
		}
	}
	if err := a.startProvider(ctx, opts.demo); err != nil {
		return err
	}
	a.steps.begin("start", "filling the memory that answers requests and sign-ins")
	areas, err := a.wireAreas(ctx)
	if err != nil {
		return err
	}
	a.steps.begin("start", "starting jobs and processes")
	if err := a.startWork(ctx); err != nil {
		return err
	}
	if err := a.startRounds(ctx); err != nil {
		return err
	}
	if err := a.startDeliveries(ctx); err != nil {
		return err
	}
	if err := a.startHousekeeping(ctx); err != nil {
		return err
	}
	a.showMetrics(ctx)
	a.steps.begin("start", "waiting for read models that are behind")
	a.awaitReadModels(ctx)
	a.steps.begin("start", "opening the doors")
	a.openGarden(ctx)
	a.announce(ctx)
	if err := a.serve(ctx, areas); err != nil {
		return err
	}
	a.logger.InfoContext(ctx, "ready", a.addresses()...)
	if a.presence != nil {
		a.presence.Serve()
		a.life.started("presence of service", stopServing, func(context.Context) { a.presence.Withdraw() })
	}
	return nil
}

// startHousekeeping starts the deletion of what has become old, and the nightly look at the books.
func (a *App) startHousekeeping(ctx context.Context) error {
	if !a.roles.has(roleJobs) {
		return nil
	}
	err := a.life.startBeside(ctx, "housekeeping", stopEngines, newHousekeeping(a.storage, a.clock, a.logger))
	if err != nil {
		return err
	}
	return a.startNightlyBooks(ctx)
}

// startWork starts jobs and processes, after all areas have registered theirs. Processes enqueue jobs, so jobs come
// first.
func (a *App) startWork(ctx context.Context) error {
	if err := a.life.startBeside(ctx, "jobs", stopEngines, a.engines.jobs); err != nil {
		return err
	}
	if !a.roles.has(roleProcesses) {
		return nil
	}
	return a.startProcesses(ctx)
}

// storageMode says how this program opens the storage. One that has run with its DATA_DIR before waits for the
// database, and takes money meanwhile; every program waits for the event store of another machine.
func (a *App) storageMode(opts appOptions) storageMode {
	return storageMode{
		node: a.roles.has(roleEventStore), patient: !opts.demo, awaits: a.ran || a.line != nil, line: a.line,
		awaitsStore: !opts.demo, awaiting: a.await, steps: a.steps, opened: a.startPresence, passwords: opts.passwords,
		readPatience: opts.readPatience,
	}
}

// await notes what the start waits for, for /readyz.
func (a *App) await(what *awaited) { a.awaits.Store(what) }

// catchUpPatience is how long the start waits for read models that are behind. After it they are served as they are.
const catchUpPatience = 10 * time.Second

// awaitReadModels waits until the read models show every event from before the start, or catchUpPatience is over.
func (a *App) awaitReadModels(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, catchUpPatience)
	defer cancel()
	head := a.engines.feed.Head()
	for _, s := range a.engines.projections.Status() {
		for ctx.Err() == nil && a.engines.views.WaitFor(ctx, s.Name, head) != nil {
			if state := a.projectionState(s.Name); state == runner.StateStopped || state == runner.StateBuilding ||
				state == runner.StateOutdated {
				break // /readyz shows it
			}
		}
	}
	if ctx.Err() != nil {
		a.logger.WarnContext(ctx, "read models are behind", "head", head)
	}
}

// projectionState gives the state of a read model.
func (a *App) projectionState(name string) runner.State {
	for _, s := range a.engines.projections.Status() {
		if s.Name == name {
			return s.State
		}
	}
	return runner.StateStopped
}

// refuseSecond fails when another program serves the same data directory.
func (a *App) refuseSecond(ctx context.Context) error {
	r := findRunning(ctx, a.cfg)
	if r.PID == 0 || r.PID == os.Getpid() || a.cfg.EventStoreURL != "" || !a.roles.has(roleEventStore) ||
		!answers(ctx, r.HTTP) {
		return nil
	}
	return fmt.Errorf("another lastmile (process %d, http://%s) serves this data: stop it first. A second program "+
		"beside it needs a DATA_DIR of its own, DATABASE_URL, and EVENTSTORE_URL with the user, password and "+
		"certificate that the first one was given: see Several replicas in docs/operations.md", r.PID, r.HTTP)
}

// answers reports whether a program accepts TCP connections at an address.
func answers(ctx context.Context, addr string) bool {
	if addr == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, attachPatience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	_ = conn.Close() // the connection alone is the answer
	return true
}

// announce writes the runtime file: before the program is ready, so that whoever saw that finds the file.
func (a *App) announce(ctx context.Context) {
	a.runtime = runtimeFile{PID: os.Getpid(), EventStore: a.storage.nodeURL, Installation: installation(a.cfg)}
	a.storage.guard.note(&a.runtime)
	if a.listener != nil {
		a.runtime.HTTP = a.listener.Addr()
	}
	if a.storage.cluster != nil {
		a.runtime.Database = a.storage.cluster.URL()
	}
	a.runtime.show(ctx, a.cfg.DataDir, a.life)
}

// addresses are those of the program, for the log.
func (a *App) addresses() []any {
	attrs := []any{"event_store", a.storage.nodeURL}
	if a.listener != nil {
		attrs = append(attrs, "http", "http://"+a.listener.Addr())
	}
	return attrs
}

// run waits until the program is told to stop or a part fails for good, and stops it. Both are in the log, so that a
// reader of it knows that the program did not die.
func (a *App) run(ctx context.Context) error {
	err := a.Wait(ctx)
	began := a.clock.Now()
	if err == nil {
		a.logger.Info("stopping", "why", "signal")
	} else {
		a.logger.Error("stopping", "why", err.Error())
	}
	a.Stop()
	a.logger.Info("stopped", "took", a.clock.Now().Sub(began).String())
	return err
}

// Stop ends the program's parts within 5 s, in reverse order. A repetition does nothing.
func (a *App) Stop() { a.life.stop() }

// Wait returns nil when ctx ends, or the error of a part that has failed for good.
func (a *App) Wait(ctx context.Context) error { return a.life.wait(ctx) }

// Addr gives the address of the HTTP listener as host:port, with the port that is really in use.
func (a *App) Addr() string { return a.listener.Addr() }

// DB gives the open database. Only tests use it.
func (a *App) DB() *postgres.DB { return a.storage.db }

// listen takes all addresses of HTTP, so that a program that cannot have one of them fails before it has an effect.
// Until the doors are opened requests are answered 503, and callbacks that tell of money wait on the disk.
func (a *App) listen(ctx context.Context) (err error) {
	if a.cfg.MetricsAddr != "" {
		metrics := http.NewServeMux()
		metrics.Handle("GET /metrics", httpapi.MetricsHandler(a.metrics))
		if a.metricsListener, err = a.listenAt(ctx, "METRICS_ADDR", a.cfg.MetricsAddr, metrics); err != nil {
			return err
		}
	}
	if !a.roles.has(roleAPI) {
		return nil
	}
	if a.cfg.WalledGardenAddr != "" {
		a.gardenDoor = &door{starting: a.unlessInLine(http.HandlerFunc(a.gardenNotReady))}
		a.redirect, err = a.listenAt(ctx, "WALLED_GARDEN_ADDR", a.cfg.WalledGardenAddr, a.gardenDoor)
		if err != nil {
			return err
		}
	}
	starting, err := a.keepEarly(ctx)
	if err != nil {
		return err
	}
	a.door = &door{starting: a.unlessInLine(starting)}
	a.listener, err = a.listenAt(ctx, "HTTP_ADDR", a.cfg.HTTPAddr, a.door)
	return err
}

// listenAt takes an address, which a setting names, and serves there until the end of the program.
func (a *App) listenAt(
	ctx context.Context, setting, address string, handler http.Handler,
) (*httpapi.Listener, error) {
	l, err := httpapi.Listen(ctx, address, handler, a.logger)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return l, a.life.start(ctx, "listener of "+setting, stopServing, l)
}

// showMetrics gives Prometheus all metrics at METRICS_ADDR, which must not be reachable from outside.
func (a *App) showMetrics(ctx context.Context) {
	a.metrics.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), alarms{a})
	if l := a.metricsListener; l != nil {
		a.life.started("metrics", stopServing, func(context.Context) { l.Stop() }) // before what they show is stopped
		a.logger.InfoContext(ctx, "metrics", "address", "http://"+l.Addr()+"/metrics")
	}
}

// door is the handler of the HTTP listener. It is closed while the program starts.
type door struct {
	starting http.Handler // while it is closed
	inside   atomic.Pointer[http.Handler]
}

// open passes all further requests to h.
func (d *door) open(h http.Handler) { d.inside.Store(&h) }

// ServeHTTP passes a request to the program, or while the door is closed to what serves the start.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := d.inside.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	d.starting.ServeHTTP(w, r)
}

// opensPage reports whether people open a page at the address of a request: the dashboard and the customers'
// portal, the way to them, or where customers pay.
func opensPage(r *http.Request) bool {
	switch first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); first {
	case "app", "portal":
		return true
	default: // a page without others below it
		return r.URL.Path == "/" || r.URL.Path == "/pay"
	}
}

// gardenNotReady answers phones in the walled garden, which are led to the page for paying from every address.
func (a *App) gardenNotReady(w http.ResponseWriter, r *http.Request) {
	if !httpapi.SendStarting(w, r) {
		a.notReady(w, r)
	}
}

// notReady answers 503 with Retry-After, and /readyz with what the start waits for: what it knows that it waits for, a
// step that takes long, or why it is tried again. A browser gets a page that opens by itself when the service is ready.
func (a *App) notReady(w http.ResponseWriter, r *http.Request) {
	if what := cmp.Or(a.awaits.Load(), a.steps.slow(), a.again); what != nil && r.URL.Path == "/readyz" {
		httpapi.SendAwaited(w, r, what.part, what.why)
		return
	}
	if opensPage(r) && httpapi.SendStarting(w, r) {
		return
	}
	httpapi.SendFailure(r.Context(), w, failure.NewUnavailable("not_ready",
		"The service is starting. Please try again.", time.Second, nil))
}
