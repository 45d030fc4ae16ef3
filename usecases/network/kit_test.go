package networkcases_test

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers/network/provisioning"
	"github.com/lastmile-isp/lastmile/processmanagers/network/rebooting"
	"github.com/lastmile-isp/lastmile/processmanagers/network/reconciling"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// routerPassword is the API password of the simulated router.
const routerPassword = "router-password"

// kit has a log and a vault with the use cases of routers, for one organization.
type kit struct {
	*coretest.Kit
	t       *testing.T
	machine *machine       // nil in a kit by another clock
	clock   *clock.Movable // of all parts, also of the router
	devices networkcases.Devices
	org     id.Organization

	mu        sync.Mutex
	polled    []id.Device // the calls of Soon, in order
	forgotten []id.Device // the calls of Forget, in order
}

// machine is the machine's clock, and a test may set it.
type machine struct{ by atomic.Int64 }

// Now implements clock.Clock.
func (m *machine) Now() time.Time { return clock.System().Now().Add(time.Duration(m.by.Load())) }

// newKit starts a kit in which no read model, process or job runs: all that happens is in the log.
func newKit(t *testing.T, models ...runner.Projection) *kit {
	t.Helper()
	set := &machine{}
	k := newKitBy(t, set, models...)
	k.machine = set
	return k
}

// newKitBy is newKit by another clock than the machine's.
func newKitBy(t *testing.T, base clock.Clock, models ...runner.Projection) *kit {
	t.Helper()
	now := clock.NewMovable(base, 0)
	k := &kit{
		Kit: coretest.NewWithVault(t, vault.Config{Clock: now}, models...), t: t, clock: now,
		org: id.New[id.Organization](),
	}
	bus.Register(k.Bus, network.Devices())
	bus.Register(k.Bus, network.Services())
	bus.Register(k.Bus, network.AddressPlans())
	bus.Register(k.Bus, network.Topologies())
	bus.Register(k.Bus, network.Runs())
	k.devices = networkcases.Devices{
		Bus: k.Bus, Secrets: k.Vault.Secrets, Limiter: k.Vault.Limits, ManagementAddresses: true,
		RevokeReports: func(ctx context.Context, device id.Device) error {
			return k.Vault.CallbackSecrets.Revoke(ctx, networkjobs.TokenBootstrap, device.UUID())
		},
		PerOrganization: 1000, Count: func(context.Context, id.Organization) (int, error) { return 0, nil },
		Script: func(context.Context, id.Device, commands.Meta) (string, id.Secret, error) {
			return "the script", id.Secret{}, nil
		},
		Soon: func(device id.Device, _ uint64) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.polled = append(k.polled, device)
		},
		Forget: func(device id.Device) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.forgotten = append(k.forgotten, device)
		},
	}
	return k
}

// asked is a new request of an administrator under a key; the same value again is a repeat.
func (k *kit) asked() usecases.Asked { return coretest.Keyed(k.org) }

// broken makes a try end before its main command, as a crash would: If-Match names a revision that does not exist.
func broken(a usecases.Asked) usecases.Asked {
	never := uint64(1 << 40)
	a.Meta.ExpectedRevision = &never
	return a
}

// input describes the simulated router, with spaces around its name.
func input() networkcases.RegisterInput {
	return networkcases.RegisterInput{
		Name: " tower ", IPAddress: "203.0.113.20", ManagementAddress: "10.99.200.2", RadiusSecret: "radius-secret",
		APIUsername: "admin", APIPassword: routerPassword,
	}
}

// register registers the simulated router.
func (k *kit) register() id.Device {
	k.t.Helper()
	device, _, err := k.devices.Register(k.t.Context(), k.asked(), input())
	if err != nil {
		k.t.Fatalf("register: %v", err)
	}
	return device
}

// device is a router as the log has it; unchecked, because a decommissioned one is wanted, too.
func (k *kit) device(device id.Device) network.Device {
	k.t.Helper()
	state, _, err := bus.LoadUnchecked[network.Device](k.t.Context(), k.Bus, device)
	if err != nil {
		k.t.Fatal(err)
	}
	return state
}

// plan is the organization's address plan; unchecked, because it is empty before the first service.
func (k *kit) plan() network.Addressing {
	k.t.Helper()
	state, _, err := bus.LoadUnchecked[network.Addressing](k.t.Context(), k.Bus, k.org)
	if err != nil {
		k.t.Fatal(err)
	}
	return state
}

// secret reads a secret from the vault; has is false when there is none.
func (k *kit) secret(ref id.Secret) (plain string, has bool) {
	k.t.Helper()
	got, err := k.Vault.Secrets.Get(k.t.Context(), ref)
	if err != nil && failure.CodeOf(err) != "secret_not_found" {
		k.t.Fatal(err)
	}
	return string(got), err == nil
}

// actions are the names of the commands that made the events of a stream, in order.
func (k *kit) actions(category string, of id.Any) (names []string) {
	k.t.Helper()
	list, err := k.Store.Read(k.t.Context(), category+"-"+of.String(), 0)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Meta.Action)
	}
	return names
}

// told is the failure inside an error, the zero failure when there is none.
func told(err error) failure.Error {
	var f *failure.Error
	if !errors.As(err, &f) {
		return failure.Error{}
	}
	return *f
}

// plant is a kit with a simulated router behind the real gateway, and with the read models, processes and jobs that
// work on it.
type plant struct {
	*kit
	views    *runner.Views
	router   *router.Router
	device   id.Device // the simulated router, registered
	rows     networkviews.ServicesQuery
	services networkcases.Services
	runs     networkcases.Runs
	workers  *networkjobs.Workers
	breakers *breaker.Set
	wire     wire
}

// newPlant starts a plant; it stops with the test.
func newPlant(t *testing.T) *plant {
	t.Helper()
	return plantOf(newKit(t, networkviews.Devices{}, networkviews.Services{}, networkviews.History{}))
}

// newStillPlant is newPlant with a clock that stands still until the test moves it: what a rule counts in seconds does
// not depend on how busy the machine is.
func newStillPlant(t *testing.T) *plant {
	t.Helper()
	return plantOf(newKitBy(t, clock.NewManual(time.Now()), networkviews.Devices{}, networkviews.Services{},
		networkviews.History{}))
}

// plantOf starts the router and all that works on it.
func plantOf(k *kit) *plant {
	t := k.t
	t.Helper()
	p := &plant{kit: k}
	sim, err := router.New(router.Config{Clock: p.clock, Routers: []router.RouterConfig{{
		Name: "tower", Version: "7.16", Password: routerPassword, Tunnel: netip.MustParseAddr("10.99.200.2"),
	}}})
	if err == nil {
		err = sim.Start(context.Background())
	}
	if err != nil {
		t.Fatalf("start router: %v", err)
	}
	t.Cleanup(func() { _ = sim.Stop(context.Background()) })
	p.router = sim.Router("tower")
	p.clock.Advance(time.Minute) // what a router does at its boot is over
	if err := p.router.UseRADIUS(); err != nil {
		t.Fatal(err)
	}
	p.views = p.Show(t)
	workers := p.work(sim)
	p.workers = workers
	p.rows = networkviews.ServicesQuery{Views: p.views}
	p.services = networkcases.Services{Bus: p.Bus, Services: p.rows, Routers: workers}
	p.runs = networkcases.Runs{
		Bus: p.Bus, Devices: networkviews.DevicesQuery{Views: p.views},
		History: networkviews.HistoryQuery{Views: p.views}, Routers: workers,
	}
	device, done, err := p.devices.Register(t.Context(), p.asked(), input())
	if err != nil {
		t.Fatalf("register: %v", err)
	}
	p.device = device
	p.shows(networkviews.DevicesName, done)
	return p
}

// work starts jobs and processes.
func (p *plant) work(sim *router.Simulator) *networkjobs.Workers {
	t := p.t
	t.Helper()
	p.breakers = breaker.New(breaker.Config{Clock: p.clock})
	gateway, err := routeros.New(routeros.Config{
		Guard: p.breakers, Policy: routeros.Anywhere, Dial: p.wire.dialer(sim), Clock: p.clock,
	})
	if err != nil {
		t.Fatalf("gateway: %v", err)
	}
	t.Cleanup(gateway.Close)
	polls, err := networkjobs.OpenPolls(t.Context(), p.DB)
	if err != nil {
		t.Fatalf("open polls: %v", err)
	}
	workers := networkjobs.New(networkjobs.Config{
		Bus: p.Bus, Views: p.views, DB: p.DB, Secrets: p.Vault.Secrets, Tokens: p.Vault.CallbackSecrets,
		Limiter: p.Vault.Limits,
		Gateway: gateway, Breakers: p.breakers, Polls: polls, Clock: p.clock, Logger: storetest.Quiet(),
		Overrides: true, Script: networkjobs.ScriptSettings{RadiusHost: "10.99.0.1"},
		PollEvery: time.Minute, DriftEvery: 15 * time.Minute, PollsKept: time.Hour,
	})
	queue := jobrunner.New(jobrunner.Config{DB: p.DB, Sole: true})
	workers.Register(queue)
	coretest.Start(t, "jobs", queue)
	processes := processrunner.New(processrunner.Config{
		Feed: p.Feed(t), DB: p.DB, Clock: p.clock, Bus: p.Bus, Jobs: queue,
	})
	processes.Register(provisioning.Process(), reconciling.Process(), rebooting.Process())
	coretest.Start(t, "processes", processes)
	return workers
}

// shows waits until a read model shows the result of a command.
func (p *plant) shows(model string, done bus.Result) {
	p.t.Helper()
	coretest.WaitFor(p.t, p.views, done.Position, model)
}

// service is a service as the log has it; unchecked, because a removed one is wanted, too.
func (p *plant) service(service id.Service) network.Service {
	p.t.Helper()
	state, _, err := bus.LoadUnchecked[network.Service](p.t.Context(), p.Bus, service)
	if err != nil {
		p.t.Fatal(err)
	}
	return state
}

// pppoe describes a PPPoE service on an interface.
func (p *plant) pppoe(parent string) networkcases.CreateInput {
	return networkcases.CreateInput{Device: p.device, Type: events.ServicePPPoE, ParentInterface: parent}
}

// active makes a PPPoE service and waits until the router has it.
func (p *plant) active(parent string) id.Service {
	p.t.Helper()
	service, _, err := p.services.Create(p.t.Context(), p.asked(), p.pppoe(parent))
	if err != nil {
		p.t.Fatalf("create on %s: %v", parent, err)
	}
	p.settled(service)
	return service
}

// settled makes sure that a service is active and that no work on it is open, by a reconcile where needed.
func (p *plant) settled(service id.Service) {
	p.t.Helper()
	if state := p.service(service); state.Open == "" && state.Standing == network.StandingActive {
		return
	}
	row, err := p.services.Reconcile(p.t.Context(), p.asked(), service)
	if err != nil || row == nil || row.State != networkviews.StateActive {
		p.t.Fatalf("service is not active: %+v, %v", row, err)
	}
}

// connect brings customers online through a service, one for each username.
func (p *plant) connect(service id.Service, users ...string) {
	p.t.Helper()
	subnet := netip.MustParsePrefix(p.service(service).Addressing.Subnet)
	at := subnet.Addr().Next().Next()
	for _, user := range users {
		session := router.Session{
			Kind: "pppoe", User: user, Server: "pppoe-svc-" + service.String()[:8], Address: at.String(),
		}
		if _, err := p.router.Connect(session); err != nil {
			p.t.Fatal(err)
		}
		at = at.Next()
	}
}
