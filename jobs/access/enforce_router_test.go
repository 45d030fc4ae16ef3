package accessjobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// stubborn is the interface of a router that refuses to remove one session, and removes all others.
type stubborn struct {
	*menus
	mu    sync.Mutex
	key   string
	asked int
}

// EndSession implements accessjobs.Routers.
func (m *stubborn) EndSession(ctx context.Context, d id.Device, s accessjobs.OnlineSession) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Key == m.key {
		m.asked++
		return false, errors.New("not enough permissions (9)")
	}
	return m.menus.EndSession(ctx, d, s)
}

// another signs in another customer of the same plan and gives the recorded session.
func (k *kit) another(name string) telemetry.Session {
	k.t.Helper()
	subscription, subscriber := id.New[id.Subscription](), id.New[id.Subscriber]()
	k.apply(
		events.SubscriptionCreated{
			SubscriptionID: subscription, OrgID: k.org, SubscriberID: subscriber, StartsAt: noon, CreatedAt: noon,
			Username: personal.Of(name), PasswordRef: k.safe.put("pw"), Terms: events.PlanTerms{
				Name: "Home", Kind: "pppoe", Mode: events.Prepaid, Rates: events.Rates{Down: 10_000, Up: 1_000},
				Access: events.AccessTerms{Pool: "home", SessionLimit: 3, Schedule: []events.ScheduleWindow{{
					Days: []time.Weekday{time.Monday}, From: 20 * 60, To: 22 * 60,
					Speed: events.Speed{Down: 5_000, Up: 500},
				}}},
			},
		},
		events.SubscriptionExtended{
			SubscriptionID: subscription, SubscriberID: subscriber, PaidUntil: noon.AddDate(0, 0, 1),
		},
		events.SubscriptionActivated{SubscriptionID: subscription, SubscriberID: subscriber, At: noon},
	)
	customer := handset.Customer{Name: name, Password: "pw"}
	for {
		r, err := k.nas.SignIn(k.t.Context(), customer)
		if err != nil {
			k.t.Fatal(err)
		}
		if r.Outcome == handset.Accepted {
			break // the vault has given the password
		}
	}
	k.idle()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	for { // many starts at once may take the way over the disk
		list, err := k.store.OpenOf(ctx, subscriber)
		if err == nil && len(list) == 1 {
			return list[0]
		}
		if err != nil || !loop.Sleep(ctx, 10*time.Millisecond) {
			k.t.Fatalf("sessions %+v, %v", list, err)
		}
	}
}

// round runs the job of the router.
func (k *kit) round(ctx context.Context) error {
	return k.EnforceRouter(ctx, commands.EnforceRouter{DeviceID: k.device}, k.cause())
}

// TestEnforceRouter_OneSessionThatIsRefusedHoldsUpNoOther: the router answers, and refuses one session by RADIUS and by
// its own interface. It is tried again after a pause, and the sessions of other customers are ended meanwhile.
func TestEnforceRouter_OneSessionThatIsRefusedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	poison, behind := k.online(), k.another("brian")
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Refuse}); err != nil {
		t.Fatal(err)
	}
	own := &stubborn{menus: k.menus, key: poison.SessionKey}
	k.Routers = own
	k.apply(events.SubscriberBlocked{SubscriberID: poison.SubscriberID},
		events.SubscriberBlocked{SubscriberID: behind.SubscriberID})
	if err := k.enforce(); err != nil || own.asked != 1 || k.waiting() != 1 {
		t.Errorf("%v, asked %d times, %d routers wait", err, own.asked, k.waiting())
	}
	if err := k.round(t.Context()); err == nil || k.session(behind).EndedAt == nil || own.asked != 2 {
		t.Errorf("%v, asked %d times, %+v", err, own.asked, k.history(behind))
	}
	if err := k.round(t.Context()); err != nil || own.asked != 2 {
		t.Errorf("a session that rests: %v, asked %d times", err, own.asked)
	}
	k.clock.Advance(time.Minute)
	own.key = ""
	if err := k.round(t.Context()); err == nil || k.session(poison).EndedAt == nil {
		t.Errorf("after the pause: %v, %+v", err, k.history(poison))
	}
	if list := k.history(poison); len(list) != 3 { // announced, refused, changed
		t.Errorf("%+v", list)
	}
}

// TestEnforceRouter_ASessionRestsNoLongerWhenTheMachinesClockIsPutBack: a blocked customer would stay online.
func TestEnforceRouter_ASessionRestsNoLongerWhenTheMachinesClockIsPutBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Refuse}); err != nil {
		t.Fatal(err)
	}
	own := &stubborn{menus: k.menus, key: s.SessionKey}
	k.Routers = own
	k.apply(events.SubscriberBlocked{SubscriberID: s.SubscriberID})
	if err := k.round(t.Context()); err != nil || own.asked != 1 {
		t.Errorf("%v, asked %d times", err, own.asked)
	}
	own.key = ""
	k.clock.Set(k.clock.Now().Add(-3 * time.Hour))
	if err := k.round(t.Context()); err != nil || own.asked != 1 {
		t.Errorf("at once: %v, asked %d times", err, own.asked)
	}
	k.clock.Advance(time.Minute)
	if err := k.round(t.Context()); k.session(s).EndedAt == nil {
		t.Errorf("after the pause: %v, asked %d times", err, own.asked)
	}
}

// cut is a router at which the time of the job is over after some sessions.
type cut struct {
	*menus
	mu   sync.Mutex
	left int
	end  context.CancelFunc
}

// SessionLimit implements accessjobs.Routers.
func (m *cut) SessionLimit(context.Context, id.Device, accessjobs.OnlineSession) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left == 0 {
		m.end()
	}
	return "", nil
}

// TestEnforceRouter_APassThatIsLongerThanAJobGoesOn: at 20:00 all sessions of a router get another speed, which may
// need more time than one job has. What is left is done by the next attempt, which is no failed one's.
func TestEnforceRouter_APassThatIsLongerThanAJobGoesOn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	list := []telemetry.Session{k.online(), k.another("brian"), k.another("carol")}
	k.clock.Advance(8 * time.Hour)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	k.Routers = &cut{menus: k.menus, left: 1, end: end}
	if err := k.round(ctx); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("an attempt that made progress: %v", err)
	}
	for _, s := range list[1:] {
		if got := k.session(s); got.RateDown != 10_000 {
			t.Errorf("after the end of the job: %+v", got)
		}
	}
	if err := k.round(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an attempt without progress: %v", err)
	}
	if err := k.round(t.Context()); err != nil {
		t.Error(err)
	}
	for _, s := range list {
		if got := k.session(s); got.RateDown != 5_000 || got.EndedAt != nil {
			t.Errorf("%+v", got)
		}
	}
}

// TestEnforceRouter_SessionsOfBeforeAnUpgrade: nobody knows what a session was granted that a former version of the
// program accepted. It is ended where the customer may have no access, and where there is only the walled garden.
// Others are taken to have what is true now, and follow what comes after.
func TestEnforceRouter_SessionsOfBeforeAnUpgrade(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	paid, garden, blocked := k.online(), k.another("brian"), k.another("carol")
	for _, s := range []telemetry.Session{paid, garden, blocked} {
		if err := k.store.Regrant(t.Context(), s.ID, telemetry.Given{
			Access: "none", Stamp: directory.UnknownStamp,
		}); err != nil {
			t.Fatal(err)
		}
	}
	k.apply(events.SubscriberBlocked{SubscriberID: blocked.SubscriberID},
		events.SubscriptionExtended{
			SubscriptionID: garden.SubscriptionID, SubscriberID: garden.SubscriberID, PaidUntil: noon.Add(-time.Hour),
		},
		events.WalledGardenEntered{DunningSubject: events.DunningSubject{SubscriptionID: garden.SubscriptionID}})
	if err := k.EnforceAll(t.Context(), commands.EnforceAll{}, k.cause()); err != nil || k.waiting() != 1 {
		t.Fatalf("%v, %d routers wait", err, k.waiting())
	}
	if err := k.round(t.Context()); err == nil {
		t.Error("nothing was ended")
	}
	for _, s := range []telemetry.Session{garden, blocked} {
		if got := k.session(s); got.EndedAt == nil {
			t.Errorf("goes on: %+v", got)
		}
	}
	got := k.session(paid)
	if got.EndedAt != nil || got.Stamp != paid.Stamp || got.RateDown != 10_000 || len(k.history(paid)) != 0 {
		t.Errorf("who has paid: %+v, %+v", got, k.history(paid))
	}
	k.clock.Advance(8 * time.Hour)
	if err := k.round(t.Context()); err != nil || k.session(paid).RateDown != 5_000 {
		t.Errorf("at night: %v, %+v", err, k.session(paid))
	}
}
