package networkcases_test

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
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
	t       *testing.T
	store   *storetest.Kit
	bus     *bus.Bus
	vault   *vault.Vault
	devices networkcases.Devices
	org     id.Organization

	mu        sync.Mutex
	polled    []id.Device // the calls of Soon, in order
	forgotten []id.Device // the calls of Forget, in order
}

// newKit starts a kit without read models, processes and jobs: all that happens is in the log.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{t: t, store: storetest.New(t), org: id.New[id.Organization]()}
	ring, err := secrets.New(bytes.Repeat([]byte{7}, secrets.KeySize))
	if err == nil {
		k.vault, err = vault.Open(t.Context(), vault.Config{DB: k.store.DB, Keyring: ring, Clock: clock.System()})
	}
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	k.bus = bus.New(bus.Config{
		Store: k.store.Store, Claims: storetest.ClaimKey, Clock: clock.System(), Logger: storetest.Quiet(),
	})
	bus.Register(k.bus, network.Devices())
	bus.Register(k.bus, network.Services())
	bus.Register(k.bus, network.AddressPlans())
	bus.Register(k.bus, network.Runs())
	k.devices = networkcases.Devices{
		Bus: k.bus, Secrets: k.vault.Secrets, ManagementAddresses: true,
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
func (k *kit) asked() usecases.Asked { return askedBy(k.org) }

// askedBy is a new request under a key of an administrator of any organization.
func askedBy(org id.Organization) usecases.Asked {
	return usecases.Asked{Keyed: true, Meta: commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org,
		Actor: events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleAdmin)},
	}}
}

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
	state, _, err := bus.LoadUnchecked[network.Device](k.t.Context(), k.bus, device)
	if err != nil {
		k.t.Fatal(err)
	}
	return state
}

// plan is the organization's address plan; unchecked, because it is empty before the first service.
func (k *kit) plan() network.Addressing {
	k.t.Helper()
	state, _, err := bus.LoadUnchecked[network.Addressing](k.t.Context(), k.bus, k.org)
	if err != nil {
		k.t.Fatal(err)
	}
	return state
}

// secret reads a secret from the vault; has is false when there is none.
func (k *kit) secret(ref id.Secret) (plain string, has bool) {
	k.t.Helper()
	got, err := k.vault.Secrets.Get(k.t.Context(), ref)
	if err != nil && failure.CodeOf(err) != "secret_not_found" {
		k.t.Fatal(err)
	}
	return string(got), err == nil
}

// actions are the names of the commands that made the events of a stream, in order.
func (k *kit) actions(category string, of id.Any) (names []string) {
	k.t.Helper()
	list, err := k.store.Store.Read(k.t.Context(), category+"-"+of.String(), 0)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Meta.Action)
	}
	return names
}

// fails reports an error unless the failure has the code.
func fails(t *testing.T, what string, err error, code string) {
	t.Helper()
	if failure.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
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
}

// newPlant starts a plant; it stops with the test.
func newPlant(t *testing.T) *plant {
	t.Helper()
	p := &plant{kit: newKit(t)}
	sim, err := router.New(router.Config{Routers: []router.RouterConfig{{
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
	f := feed.New(feed.FromStore(p.store.Store), storetest.Quiet())
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	shows := runner.New(runner.Config{Feed: f, DB: p.store.DB, Clock: clock.System()})
	shows.Register(networkviews.Devices{}, networkviews.Services{}, networkviews.History{})
	if err := shows.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(shows.Stop)
	p.views = shows.Views()
	workers := p.work(f, sim)
	p.rows = networkviews.ServicesQuery{Views: p.views}
	p.services = networkcases.Services{Bus: p.bus, Services: p.rows, Routers: workers}
	p.runs = networkcases.Runs{
		Bus: p.bus, Devices: networkviews.DevicesQuery{Views: p.views},
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
func (p *plant) work(f *feed.Feed, sim *router.Simulator) *networkjobs.Workers {
	t := p.t
	t.Helper()
	breakers := breaker.New(breaker.Config{Clock: clock.System()})
	gateway, err := routeros.New(routeros.Config{
		Guard: breakers, Policy: routeros.Anywhere, Dial: sim.Dial, Clock: clock.System(),
	})
	if err != nil {
		t.Fatalf("gateway: %v", err)
	}
	t.Cleanup(gateway.Close)
	polls, err := networkjobs.OpenPolls(t.Context(), p.store.DB)
	if err != nil {
		t.Fatalf("open polls: %v", err)
	}
	workers := networkjobs.New(networkjobs.Config{
		Bus: p.bus, Views: p.views, DB: p.store.DB, Secrets: p.vault.Secrets, Tokens: p.vault.CallbackSecrets,
		Gateway: gateway, Breakers: breakers, Polls: polls, Clock: clock.System(), Logger: storetest.Quiet(),
		Overrides: true,
	})
	queue := jobrunner.New(jobrunner.Config{DB: p.store.DB, Sole: true})
	workers.Register(queue)
	if err := queue.Start(t.Context()); err != nil {
		t.Fatalf("start jobs: %v", err)
	}
	t.Cleanup(queue.Stop)
	processes := processrunner.New(processrunner.Config{
		Feed: f, DB: p.store.DB, Clock: clock.System(), Bus: p.bus, Jobs: queue,
	})
	processes.Register(provisioning.Process(), reconciling.Process(), rebooting.Process())
	if err := processes.Start(t.Context()); err != nil {
		t.Fatalf("start processes: %v", err)
	}
	t.Cleanup(processes.Stop)
	return workers
}

// shows waits until a read model shows the result of a command.
func (p *plant) shows(model string, done bus.Result) {
	p.t.Helper()
	if err := p.views.WaitFor(p.t.Context(), model, done.Position); err != nil {
		p.t.Fatal(err)
	}
}

// service is a service as the log has it; unchecked, because a removed one is wanted, too.
func (p *plant) service(service id.Service) network.Service {
	p.t.Helper()
	state, _, err := bus.LoadUnchecked[network.Service](p.t.Context(), p.bus, service)
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
