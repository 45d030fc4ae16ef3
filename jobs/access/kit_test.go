package accessjobs_test

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/accounting"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// noon is the instant at which tests begin, a Monday.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// secret is that of the router.
const secret = "xyzzy5461"

// safe is a vault in memory.
type safe struct {
	mu  sync.Mutex
	has map[id.Secret][]byte
}

// GetAll implements directory.Vault.
func (s *safe) GetAll(_ context.Context, refs []id.Secret) (map[id.Secret][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[id.Secret][]byte{}
	for _, ref := range refs {
		if plain, has := s.has[ref]; has {
			found[ref] = plain
		}
	}
	return found, nil
}

// Delete implements accessjobs.Secrets.
func (s *safe) Delete(_ context.Context, ref id.Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.has, ref)
	return nil
}

// put adds a secret and gives its reference.
func (s *safe) put(plain string) id.Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref := id.New[id.Secret]()
	s.has[ref] = []byte(plain)
	return ref
}

// menus is the own interface of a router, which works on the sessions of the handset.
type menus struct {
	nas   *handset.NAS
	away  bool
	limit string // of the queue; "" = it shows none
	deaf  bool   // it asks nobody who may sign in
}

// SignIns implements accessjobs.Routers.
func (m *menus) SignIns(context.Context, id.Device) (routerplan.SignIns, error) {
	if m.away {
		return routerplan.SignIns{}, errors.New("away")
	}
	return routerplan.SignIns{PPP: !m.deaf, Hotspot: !m.deaf}, nil
}

// EndSession implements accessjobs.Routers.
func (m *menus) EndSession(_ context.Context, _ id.Device, s accessjobs.OnlineSession) (bool, error) {
	if m.away {
		return false, errors.New("away")
	}
	return m.nas.SignOut(s.Key, handset.AdminReset), nil
}

// SessionLimit implements accessjobs.Routers.
func (m *menus) SessionLimit(context.Context, id.Device, accessjobs.OnlineSession) (string, error) {
	return m.limit, nil
}

// kit is a RADIUS server with one router, whose customer amina has paid for a day of 10 Mbit/s, 5 at night.
type kit struct {
	*coretest.Kit
	*accessjobs.Enforcer

	t            *testing.T
	clock        *clock.Manual
	safe         *safe
	dir          *directory.Directory
	store        *telemetry.Store
	recorder     *telemetry.Recorder
	nas          *handset.NAS
	menus        *menus
	requests     atomic.Int64 // to change or to end sessions that have come to the router
	begins       atomic.Pointer[accessjobs.Beginnings]
	org          id.Organization
	device       id.Device
	subscriber   id.Subscriber
	subscription id.Subscription
	position     uint64
}

// newKit starts everything.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{
		t: t, clock: clock.NewManual(noon), safe: &safe{has: map[id.Secret][]byte{}},
		org: id.New[id.Organization](), device: id.New[id.Device](), subscriber: id.New[id.Subscriber](),
		subscription: id.New[id.Subscription](),
	}
	k.Kit = coretest.New(t, k.clock)
	bus.Register(k.Kit.Bus, access.Enforcements())
	bus.Register(k.Kit.Bus, network.Devices())
	var err error
	if k.store, err = telemetry.Open(t.Context(), k.DB); err != nil {
		t.Fatal(err)
	}
	k.serve()
	k.Enforcer = &accessjobs.Enforcer{
		Bus: k.Kit.Bus, Sessions: k.store, Radius: &coa.Client{Tries: 1, Pause: 10 * time.Second}, Routers: k.menus,
		Entitled: accessjobs.Entitled{
			Directory: k.dir, Reached: func(context.Context, uint64) error { return nil },
		},
		Breakers: breaker.New(breaker.Config{Clock: k.clock}), Locks: k.DB, Secrets: k.safe, Clock: k.clock,
		Queue:    jobrunner.New(jobrunner.Config{DB: k.DB, Clock: k.clock, InsertOnly: true}),
		Outcomes: accessjobs.NewOutcomes(nil), Logger: storetest.Quiet(), Anywhere: true,
	}
	k.Register()
	(&accessjobs.Auditor{Enforcer: k.Enforcer, Every: time.Hour}).Register()
	coretest.Start(t, "jobs", k.Queue)
	return k
}

// serve starts server and router.
func (k *kit) serve() {
	t := k.t
	t.Helper()
	var server *radius.Server
	k.dir = directory.New(directory.Config{
		ClassKey: []byte("key"), Clock: k.clock, SetNAS: func(list []*radius.NAS) { server.SetNAS(list) },
	})
	k.recorder = telemetry.NewRecorder(telemetry.Config{
		Store: k.store, SpoolDir: t.TempDir(), Directory: telemetry.Directory{Resolve: k.resolve, Zone: k.dir.Zone},
		Began: k.began, Clock: k.clock,
	})
	var err error
	server, err = radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: k.dir, Clock: k.clock,
		Accounting: accounting.Sink{Recorder: k.recorder}, Sockets: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	loader := directory.NewLoader(k.dir, k.safe, storetest.Quiet())
	coretest.Start(t, "recorder", k.recorder)
	coretest.Start(t, "server", server)
	k.nas, err = handset.New(handset.Config{
		Server: server.AccessAddr(), Accounting: server.AccountingAddr(), Secret: []byte(secret), Clock: k.clock,
		Seed: 1, Hears: func() bool { k.requests.Add(1); return true },
		Pools: map[string]netip.Prefix{"home": netip.MustParsePrefix("100.64.0.0/22")},
	})
	if err != nil {
		t.Fatal(err)
	}
	coretest.Start(t, "router", k.nas)
	k.menus = &menus{nas: k.nas}
	k.apply(
		events.OrganizationCreated{OrgID: k.org, Billing: events.BillingSettings{Timezone: "UTC"}},
		events.DeviceRegistered{
			DeviceID: k.device, OrgID: k.org, TunnelAddress: "127.0.0.1", RadiusRef: k.safe.put(secret),
			Details: events.DeviceDetails{Name: "tower", CoAPort: int(k.nas.CoAAddr().Port())},
		},
		events.SubscriptionCreated{
			SubscriptionID: k.subscription, OrgID: k.org, SubscriberID: k.subscriber, StartsAt: noon, CreatedAt: noon,
			Username: personal.Of("amina"), PasswordRef: k.safe.put("pw"), Terms: events.PlanTerms{
				Name: "Home", Kind: "pppoe", Mode: events.Prepaid, Rates: events.Rates{Down: 10_000, Up: 1_000},
				Access: events.AccessTerms{Pool: "home", SessionLimit: 3, Schedule: []events.ScheduleWindow{{
					Days: []time.Weekday{time.Monday}, From: 20 * 60, To: 22 * 60,
					Speed: events.Speed{Down: 5_000, Up: 500},
				}}},
			},
		},
	)
	k.pay(noon.Add(24 * time.Hour))
	k.apply(events.SubscriptionActivated{SubscriptionID: k.subscription, SubscriberID: k.subscriber, At: noon})
	coretest.Start(t, "loader", loader)
}

// resolve tells telemetry what the Class tells.
func (k *kit) resolve(r telemetry.Report) telemetry.Given {
	h, ok := k.dir.Holder(r.Org, r.Class, r.User, r.At)
	if !ok {
		return telemetry.Given{}
	}
	given := telemetry.Given{
		Subscriber: h.SubscriberID, Subscription: h.SubscriptionID, Access: h.Grant.Access.String(),
		RateDown: h.Grant.Down, RateUp: h.Grant.Up,
	}
	if h.Told {
		given.Stamp = h.Grant.Stamp()
	}
	return given
}

// began hands starts over to Beginnings once there is one.
func (k *kit) began(r telemetry.Report) {
	if b := k.begins.Load(); b != nil {
		b.Began(r)
	}
}

// apply tells the directory events.
func (k *kit) apply(list ...events.Event) {
	for _, e := range list {
		k.position++
		k.dir.Apply(events.Envelope{
			ID: id.New[id.Event](), Position: k.position, Type: e.EventType(), Event: e,
			Meta: events.Metadata{At: k.clock.Now()},
		})
	}
}

// pay pays the subscription until an instant.
func (k *kit) pay(until time.Time) {
	k.apply(events.SubscriptionExtended{
		SubscriptionID: k.subscription, SubscriberID: k.subscriber, PaidUntil: until,
	})
}

// block blocks the customer, or takes the block back.
func (k *kit) block(on bool) {
	if on {
		k.apply(events.SubscriberBlocked{SubscriberID: k.subscriber})
	} else {
		k.apply(events.SubscriberUnblocked{SubscriberID: k.subscriber})
	}
}

// online signs the customer in and gives the recorded session.
func (k *kit) online() telemetry.Session {
	k.t.Helper()
	r, err := k.nas.SignIn(k.t.Context(), handset.Customer{
		Name: "amina", Password: "pw", MAC: "AA:BB:CC:00:11:22",
	})
	if err != nil || r.Outcome != handset.Accepted {
		k.t.Fatalf("sign in: %+v, %v", r, err)
	}
	k.idle()
	list, err := k.store.OpenOf(k.t.Context(), k.subscriber)
	if err != nil || len(list) == 0 {
		k.t.Fatalf("sessions %+v, %v", list, err)
	}
	return list[0]
}

// idle waits until the router has been answered in everything.
func (k *kit) idle() {
	k.t.Helper()
	if err := k.nas.Idle(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// session reads a recorded session.
func (k *kit) session(s telemetry.Session) telemetry.Session {
	k.t.Helper()
	k.idle()
	now, err := k.store.Get(k.t.Context(), k.org, s.ID)
	if err != nil || now == nil {
		k.t.Fatalf("session %v, %v", now, err)
	}
	return *now
}

// cause is the cause of the jobs, a clerk's act.
func (k *kit) cause() jobs.Cause {
	return jobs.Cause{
		OrgID: k.org, Actor: events.Actor{Kind: events.ActorUser, ID: "clerk"}, CorrelationID: "act",
		JobID: id.New[id.Any](),
	}
}

// enforce runs the job of the subscriber and gives its error, which is a wish to run again later where it is not nil.
func (k *kit) enforce(unsettled ...telemetry.Session) error {
	args := commands.EnforceAccess{SubscriberID: k.subscriber}
	for _, s := range unsettled {
		args.Sessions = append(args.Sessions, id.As[id.Online](s.ID))
	}
	return k.Enforce(k.t.Context(), args, k.cause())
}

// history lists what is recorded about a session.
func (k *kit) history(s telemetry.Session) []events.Event {
	k.t.Helper()
	list, err := k.Store.Read(k.t.Context(), "enforcement-"+s.ID.String(), 0)
	if err != nil {
		return nil
	}
	out := make([]events.Event, len(list))
	for i, e := range list {
		out[i] = e.Event
	}
	return out
}

// changed is the last recorded outcome of a session.
func (k *kit) changed(s telemetry.Session) events.SessionChanged {
	k.t.Helper()
	list := k.history(s)
	if len(list) == 0 {
		k.t.Fatal("nothing is recorded")
	}
	last, ok := list[len(list)-1].(events.SessionChanged)
	if !ok {
		k.t.Fatalf("the last event is %T", list[len(list)-1])
	}
	return last
}

// waiting counts the jobs of routers that wait.
func (k *kit) waiting() int {
	k.t.Helper()
	list, err := jobrunner.Waiting[commands.EnforceRouter](k.t.Context(), k.Queue)
	if err != nil {
		k.t.Fatal(err)
	}
	return len(list)
}

// deaf makes the router silent for requests, and asks it only once and shortly.
func (k *kit) deaf() {
	k.t.Helper()
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Silent}); err != nil {
		k.t.Fatal(err)
	}
	k.Radius = &coa.Client{Tries: 1, Pause: 50 * time.Millisecond}
}

// texts marks plain strings as personal.
func texts(list ...string) (out []personal.Text) {
	for _, text := range list {
		out = append(out, personal.Of(text))
	}
	return out
}
