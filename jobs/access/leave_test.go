package accessjobs_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
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
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// decommission records the router's life in the log, tells the directory the end, and gives the job that follows.
func (k *kit) decommission() commands.LeaveRouter {
	k.t.Helper()
	meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: k.org, Actor: k.cause().Actor}
	k.Run(k.t, meta, commands.RegisterDevice{
		DeviceID: k.device, OrgID: k.org, TunnelAddress: "10.99.0.2", TunnelUser: "nas-tower",
		RadiusRef: k.safe.put(secret), TunnelRef: id.New[id.Secret](), ReportRef: id.New[id.Secret](),
		Details: events.DeviceDetails{
			Name: "tower", IPAddress: "127.0.0.1", CoAPort: int(k.nas.CoAAddr().Port()), APIPort: 80,
			ManagementAddress: "127.0.0.1",
		},
	})
	meta.CommandID = id.New[id.Command]()
	k.Run(k.t, meta, commands.DecommissionDevice{DeviceID: k.device})
	k.apply(events.DeviceDecommissioned{DeviceID: k.device, OrgID: k.org})
	if _, known := k.dir.Door(k.device); known {
		k.t.Fatal("the router is still known")
	}
	return commands.LeaveRouter{DeviceID: k.device, OrgID: k.org}
}

// leave runs the job.
func (k *kit) leave(args commands.LeaveRouter) error {
	return k.LeaveRouter(k.t.Context(), args, k.cause())
}

// has reports whether an event of a type is recorded about a session.
func (k *kit) has(s telemetry.Session, of events.Event) bool {
	return slices.ContainsFunc(k.history(s), func(e events.Event) bool { return e.EventType() == of.EventType() })
}

// kept counts the secrets that are in the vault.
func (k *kit) kept() int {
	k.safe.mu.Lock()
	defer k.safe.mu.Unlock()
	return len(k.safe.has)
}

// stray has a session asked for at another address of the router, where it is silent.
func (k *kit) stray(s telemetry.Session) {
	k.t.Helper()
	at := netip.MustParseAddr("127.0.0.9")
	silent, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, k.nas.CoAAddr().Port())))
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = silent.Close() })
	schema := k.DB.Namespace.Schema("telemetry")
	if _, err := k.DB.Owner.Exec(k.t.Context(), fmt.Sprintf("update %s.sessions set source = $2 where id = $1", schema),
		s.ID.UUID(), at); err != nil {
		k.t.Fatal(err)
	}
}

// TestLeaveRouter_EndsHundredsOfSessionsThoughTheRouterIsSilentAboutOne: a router that has moved is silent where it is
// asked about its oldest session. All others end at once, that one when the router can be asked; then the secret goes.
func TestLeaveRouter_EndsHundredsOfSessionsThoughTheRouterIsSilentAboutOne(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	list := []telemetry.Session{k.online()}
	for i := range 299 {
		list = append(list, k.another(fmt.Sprintf("guest%03d", i)))
	}
	k.stray(list[0])
	own := &stubborn{menus: k.menus, key: list[0].SessionKey}
	k.Radius, k.Routers = &coa.Client{Tries: 1, Pause: 200 * time.Millisecond}, own
	args := k.decommission()
	before := k.kept()

	if err := k.leave(args); !jobrunner.Snoozed(err) {
		t.Errorf("an attempt that made progress: %v", err)
	}
	if own.asked != 1 {
		t.Errorf("the silent one is asked for %d times while the others end", own.asked)
	}
	left, err := k.store.OpenOn(t.Context(), k.device)
	if err != nil || len(left) != 1 || left[0].ID != list[0].ID || len(k.nas.Sessions()) != 1 {
		t.Errorf("%d sessions are known, %d are there: %v", len(left), len(k.nas.Sessions()), err)
	}
	if done := k.changed(list[7]); done.Reason != "device_removed" || done.By.ID != "clerk" {
		t.Errorf("%+v", done)
	}
	if err := k.leave(args); failure.CodeOf(err) != "device_unreachable" || k.kept() != before {
		t.Errorf("a silent router: %v, %d secrets of %d", err, k.kept(), before)
	}
	own.key = ""
	for range 2 { // a repeat finds nothing to do
		if err := k.leave(args); err != nil || len(k.nas.Sessions()) != 0 || k.kept() != before-1 {
			t.Errorf("%v, %d sessions, %d secrets of %d", err, len(k.nas.Sessions()), k.kept(), before)
		}
	}
}

// TestLeaveRouter_ARouterThatStaysSilentKeepsItsSessions: after the last attempt nobody needs the secret any more.
func TestLeaveRouter_ARouterThatStaysSilentKeepsItsSessions(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.deaf()
	k.menus.away = true
	args := k.decommission()
	before := k.kept()
	if err := k.leave(args); failure.CodeOf(err) != "device_unreachable" || k.kept() != before {
		t.Errorf("%v, %d secrets of %d", err, k.kept(), before)
	}
	last := k.cause()
	last.Last = true
	if err := k.LeaveRouter(t.Context(), args, last); err != nil || k.kept() != before-1 {
		t.Errorf("the last attempt: %v, %d secrets of %d", err, k.kept(), before)
	}
	if got := k.session(s); got.EndedAt != nil {
		t.Errorf("%+v", got)
	}
	// Until the session counts as lost, nobody knows what came of it; then nothing waits for an outcome any more.
	k.block(true)
	_ = k.enforce(s)
	if _, is := k.history(s)[0].(events.SessionChangeAnnounced); !is || k.has(s, events.SessionChanged{}) {
		t.Errorf("recorded %+v", k.history(s))
	}
	silent := telemetry.Silence{Since: k.clock.Now().Add(time.Hour)}
	if n, err := k.store.CloseLost(t.Context(), silent); n != 1 || err != nil {
		t.Fatalf("%d sessions are lost, %v", n, err)
	}
	if err := k.enforce(s); err != nil || !k.changed(s).Found {
		t.Errorf("%v, recorded %+v", err, k.history(s))
	}
}

// TestLeaveRouter_GoesOnAfterTheLastAttemptWhenNotTheRouterFails: nobody else ends the sessions and deletes the secret.
func TestLeaveRouter_GoesOnAfterTheLastAttemptWhenNotTheRouterFails(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.online()
	args := k.decommission()
	before, reached := k.kept(), k.Entitled.Reached
	last := k.cause()
	last.Last = true
	k.Entitled.Reached = func(context.Context, uint64) error { return errors.New("the log does not answer") }
	if err := k.LeaveRouter(t.Context(), args, last); !jobrunner.Snoozed(err) || k.kept() != before {
		t.Errorf("before RADIUS knows that the router has gone: %v, %d secrets of %d", err, k.kept(), before)
	}
	k.Entitled.Reached = reached
	if err := k.LeaveRouter(t.Context(), args, last); err != nil || k.kept() != before-1 || len(k.nas.Sessions()) != 0 {
		t.Errorf("%v, %d secrets of %d, %d sessions", err, k.kept(), before, len(k.nas.Sessions()))
	}
}

// logs makes a log that answers reads, and takes no event about sessions while refusal gives an error.
func (k *kit) logs(refusal func() error) *bus.Bus {
	d := access.Enforcements()
	whole := d.Decide
	d.Decide = func(
		s access.Enforcement, c commands.EnforcementCommand, now time.Time,
	) ([]events.EnforcementEvent, error) {
		if err := refusal(); err != nil {
			return nil, err
		}
		return whole(s, c, now)
	}
	away := bus.New(bus.Config{Store: k.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet()})
	bus.Register(away, d)
	bus.Register(away, network.Devices())
	bus.Register(away, network.Services())
	return away
}

// TestLeaveRouter_AnAttemptInWhichTheLogTakesNoEventDoesNotCount: the router answers all the time, so it is not given
// up, however the log fails: as a cluster without a leader, or by a mistake about each session.
func TestLeaveRouter_AnAttemptInWhichTheLogTakesNoEventDoesNotCount(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.online()
	args := k.decommission()
	before, whole := k.kept(), k.Enforcer.Bus
	last := k.cause()
	last.Last = true
	for _, failed := range []error{
		failure.NewUnavailable("eventstore_unavailable", "no leader", time.Second, nil), errors.New("a mistake"),
	} {
		k.Enforcer.Bus = k.logs(func() error { return failed })
		for range 2 { // after a mistake the session rests, and nobody asks the router
			if err := k.LeaveRouter(t.Context(), args, last); !jobrunner.Snoozed(err) || k.kept() != before {
				t.Errorf("%v: %v, %d secrets of %d", failed, err, k.kept(), before)
			}
		}
	}
	if err := k.leave(args); !jobrunner.Snoozed(err) {
		t.Errorf("an attempt that is not the last one: %v", err)
	}
	k.Enforcer.Bus = whole
	k.clock.Advance(time.Hour)
	if err := k.LeaveRouter(t.Context(), args, last); err != nil || len(k.nas.Sessions()) != 0 || k.kept() != before-1 {
		t.Errorf("%v, %d sessions, %d secrets of %d", err, len(k.nas.Sessions()), k.kept(), before)
	}
}

// TestLeaveRouter_AJobWhoseProgramDiedInItsLastAttemptRunsOnceMore: so does one that tells the end of a service.
func TestLeaveRouter_AJobWhoseProgramDiedInItsLastAttemptRunsOnceMore(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	args := k.decommission()
	told := commands.TellServiceEnded{ServiceID: id.New[id.Service](), DeviceID: k.device, At: k.clock.Now()}
	for _, job := range []commands.Job{args, told} {
		if err := k.Queue.Insert(t.Context(), job, id.New[id.Any](), k.cause(), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	table := k.DB.Namespace.Schema("river") + ".river_job"
	if _, err := k.DB.Owner.Exec(t.Context(), "update "+table+" set state = 'discarded', attempt = max_attempts, "+
		"finalized_at = now() where kind in ($1, $2)", args.Kind(), told.Kind()); err != nil {
		t.Fatal(err)
	}
	k.Queue = jobrunner.New(jobrunner.Config{DB: k.DB, Clock: k.clock})
	k.Register()
	coretest.Start(t, "queue", k.Queue)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for left, ends := 1, 0; left > 0 || ends == 0; {
		k.clock.Advance(time.Second)
		if !loop.Sleep(ctx, 20*time.Millisecond) {
			t.Fatalf("%d sessions, %d jobs that tell", left, ends)
		}
		left = len(k.nas.Sessions())
		if err := k.DB.Owner.QueryRow(t.Context(), "select count(*) from "+table+" where kind = $1 and state = $2",
			told.Kind(), "completed").Scan(&ends); err != nil {
			t.Fatal(err)
		}
	}
	for !k.has(s, events.SessionChanged{}) {
		if !loop.Sleep(ctx, 20*time.Millisecond) {
			t.Fatal("nothing is recorded")
		}
	}
	if done := k.changed(s); done.By.ID != "clerk" {
		t.Errorf("%+v", done)
	}
}

// TestTellServiceEnded_GoesOnWhileTheLogTakesNoEvent: else the customers' timelines would never say why they were off.
func TestTellServiceEnded_GoesOnWhileTheLogTakesNoEvent(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	args := commands.TellServiceEnded{ServiceID: id.New[id.Service](), DeviceID: k.device, At: k.clock.Now()}
	if _, err := k.DB.Owner.Exec(t.Context(), fmt.Sprintf("update %s.sessions set called = $2 where id = $1",
		k.DB.Namespace.Schema("telemetry")), s.ID.UUID(), routerplan.ServerNames(args.ServiceID)[0]); err != nil {
		t.Fatal(err)
	}
	away := true
	k.Enforcer.Bus = k.logs(func() error {
		if away {
			return failure.NewUnavailable("eventstore_unavailable", "no leader", time.Second, nil)
		}
		return nil
	})
	last := k.cause()
	last.Last = true
	if err := k.TellServiceEnded(t.Context(), args, last); !jobrunner.Snoozed(err) {
		t.Errorf("the last attempt: %v", err)
	}
	away = false
	if err := k.TellServiceEnded(t.Context(), args, last); err != nil || k.changed(s).Reason != "service" {
		t.Errorf("%v, recorded %+v", err, k.history(s))
	}
}

// hanging is a router's interface that does not answer the first request, and nothing before the attempt is over after
// that.
type hanging struct {
	*menus
	asked atomic.Int64
	over  func()
}

// EndSession implements accessjobs.Routers.
func (h *hanging) EndSession(ctx context.Context, _ id.Device, _ accessjobs.OnlineSession) (bool, error) {
	if h.asked.Add(1) > 1 {
		h.over()
		<-ctx.Done()
	}
	return false, errors.New("no answer")
}

// timed is a context whose time is over when it is told so.
type timed struct {
	context.Context
	done chan struct{}
}

// Done implements context.Context.
func (c timed) Done() <-chan struct{} { return c.done }

// Err implements context.Context.
func (c timed) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestEnforceRouter_ARouterThatIsTooSlowForAnAttemptCountsAsSilent: it reports its sessions from more addresses than it
// can be asked at in the time of an attempt.
func TestEnforceRouter_ARouterThatIsTooSlowForAnAttemptCountsAsSilent(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	list := k.crowd(2)
	k.stray(list[0])
	k.deaf()
	ctx := timed{t.Context(), make(chan struct{})}
	k.Routers = &hanging{menus: k.menus, over: sync.OnceFunc(func() { close(ctx.done) })}
	err := k.EnforceRouter(ctx, commands.EnforceRouter{DeviceID: k.device}, k.cause())
	if failure.CodeOf(err) != "device_unreachable" {
		t.Errorf("it ends with %v", err)
	}
}

// TestLeaveRouter_ASessionThatIsRefusedIsAskedForAgain: one that rests since the router refused it is not forgotten
// either, and the secret stays as long as it is needed.
func TestLeaveRouter_ASessionThatIsRefusedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.online()
	k.menus.away = true
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Refuse}); err != nil {
		t.Fatal(err)
	}
	args := k.decommission()
	before := k.kept()
	for range 2 { // refused, then it rests
		if err := k.leave(args); err == nil || jobrunner.Snoozed(err) || k.kept() != before {
			t.Errorf("%v, %d secrets of %d", err, k.kept(), before)
		}
	}
	if err := k.nas.SetFaults(handset.Faults{}); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(time.Hour)
	if err := k.leave(args); err != nil || len(k.nas.Sessions()) != 0 || k.kept() != before-1 {
		t.Errorf("%v, %d sessions, %d secrets of %d", err, len(k.nas.Sessions()), k.kept(), before)
	}
}
