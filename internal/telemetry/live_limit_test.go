package telemetry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// told is a directory that knows the kit's customer at all routers.
func (c *liveKit) told() telemetry.Directory {
	d := c.directory()
	d.Resolve = func(telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: c.subscriber, Subscription: c.subscription, Access: "full"}
	}
	return d
}

// commitAll commits reports as one group and lets the Live know.
func (c *liveKit) commitAll(t *testing.T, reports ...telemetry.Report) {
	t.Helper()
	done, err := c.Commit(t.Context(), c.told(), reports)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(done)
}

// of is a report about a session of a router and a calling station. A MAC is "" where the station is none.
func (c *liveKit) of(device id.Device, key, mac, calling string) func(telemetry.Kind, time.Duration,
	time.Duration) telemetry.Report {
	return func(kind telemetry.Kind, started, after time.Duration) telemetry.Report {
		r := c.at(kind, after, 1, 1)
		r.Device, r.Session, r.MAC, r.Calling, r.At = device, key, mac, calling, noon.Add(started+after)
		return r
	}
}

// signIn is a sign-in of the first phone at a router.
func (c *liveKit) signIn(device id.Device, key string, after time.Duration, refuse bool) telemetry.SignIn {
	return telemetry.SignIn{
		Subscription: c.subscription, Device: device, SessionKey: key, MAC: phones[0], Calling: phones[0],
		At: noon.Add(after), Limit: 1, Refuse: refuse,
	}
}

func TestLive_ACopiedMACAtAnotherRouterEndsTheFormerSession(t *testing.T) {
	t.Parallel()
	for _, refuse := range []bool{false, true} {
		c := open(t).live(t)
		far := id.New[id.Device]()
		mine, friend := c.of(c.device, "mine", phones[0], phones[0]), c.of(far, "copy", phones[0], phones[0])
		c.Admit(c.signIn(c.device, "mine", 0, refuse))
		c.commitAll(t, mine(telemetry.Start, 0, 0))
		for range 2 { // a repeat of the request, and what renews the session
			if !c.Admit(c.signIn(c.device, "mine", time.Second, refuse)) {
				t.Error("a device is refused because of itself")
			}
		}
		c.want(t)
		if !c.Admit(c.signIn(far, "copy", time.Minute, refuse)) {
			t.Error("the same MAC is refused")
		}
		c.want(t, "mine")
		c.commitAll(t, friend(telemetry.Start, time.Minute, 0))
		c.commitAll(t, mine(telemetry.Interim, 0, 5*time.Minute))
		c.want(t, "mine")
		if !c.Admit(c.signIn(c.device, "mine2", 6*time.Minute, refuse)) {
			t.Error("the same MAC is refused")
		}
		c.want(t, "mine", "copy")
		c.wantWay(t)
	}
}

func TestLive_ACopiedMACAtTheSameRouterEndsTheFormerSession(t *testing.T) {
	t.Parallel()
	c := open(t).liveAt(t, noon.Add(30*time.Minute))
	mine, friend := c.of(c.device, "mine", phones[0], phones[0]), c.of(c.device, "copy", phones[0], phones[0])
	c.commitAll(t, mine(telemetry.Start, 0, 0))
	c.commitAll(t, friend(telemetry.Start, 10*time.Minute, 0)) // its sign-in was at another program
	c.want(t)                                                  // a device that dialed again
	c.commitAll(t, mine(telemetry.Interim, 0, 30*time.Minute))
	c.want(t, "mine")
	c.wantWay(t)
	c = open(t).live(t)
	c.commitAll(t, mine(telemetry.Start, 0, 0))
	c.Admit(c.signIn(c.device, "copy", time.Minute, false))
	c.want(t, "mine")
	c.wantWay(t)
}

// TestLive_ADeviceMakesWayWithAllItsSessions, whose MAC was copied.
func TestLive_ADeviceMakesWayWithAllItsSessions(t *testing.T) {
	t.Parallel()
	c := open(t).liveAt(t, noon.Add(30*time.Minute))
	far := id.New[id.Device]()
	c.commitAll(t,
		c.of(c.device, "mine", phones[0], phones[0])(telemetry.Start, 0, 0),
		c.of(far, "copy", phones[0], phones[0])(telemetry.Start, time.Minute, 0),
		c.of(c.device, "other", phones[1], phones[1])(telemetry.Start, 2*time.Minute, 0))
	c.want(t, "mine")
	c.wantWay(t)
	c.limit.Store(1)
	c.commitAll(t, c.of(c.device, "third", phones[2], phones[2])(telemetry.Start, 3*time.Minute, 0))
	c.want(t, "mine", "other", "copy")
	c.wantWay(t, "other", "copy")
}

func TestLive_SignInsWithoutAMACAreAwaited(t *testing.T) {
	t.Parallel()
	for name, tells := range map[string]func(*telemetry.SignIn, int){
		"key":     func(s *telemetry.SignIn, n int) { s.SessionKey = fmt.Sprint("s", n) },
		"station": func(s *telemetry.SignIn, n int) { s.Calling = fmt.Sprint("198.51.100.", n) },
		"nothing": func(*telemetry.SignIn, int) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t).live(t)
			c.limit.Store(1)
			sign := func(n int, refuse bool) bool {
				s := telemetry.SignIn{
					Subscription: c.subscription, Device: c.device, At: noon, Limit: 1, Refuse: refuse,
				}
				tells(&s, n)
				return c.Admit(s)
			}
			if !sign(0, true) || sign(1, true) != (name == "nothing") {
				t.Error("in beside a sign-in of the same second")
			}
			for n := range 5 {
				station := fmt.Sprint("198.51.100.", n)
				c.commitAll(t, c.of(c.device, fmt.Sprint("s", n), "", station)(telemetry.Start, 0, 0))
			}
			c.want(t, "s0", "s1", "s2", "s3")
		})
	}
}

func TestLive_SessionsThatWereReportedLateAreBroughtWithinTheLimit(t *testing.T) {
	t.Parallel()
	c := open(t).liveAt(t, noon.Add(time.Hour))
	c.limit.Store(1)
	var held []telemetry.Report // while the database is away
	for n, phone := range phones {
		at := time.Duration(n) * time.Minute // each is later than the one before is awaited
		c.enter(n, at, 1, false)
		held = append(held, c.of(c.device, fmt.Sprint("s", n), phone, phone)(telemetry.Start, at, 0))
	}
	c.want(t)
	c.commitAll(t, held...)
	c.want(t, "s0", "s1")
}

func TestSharedSubscriptions_AndWhoIsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	k := open(t)
	var all []telemetry.Report
	for n, phone := range append(phones, phones[0]) {
		r := k.at(telemetry.Start, 0, 0, 0)
		r.Session, r.MAC, r.Calling, r.At = fmt.Sprint("s", n), phone, phone, noon.Add(time.Duration(n)*time.Minute)
		if n == len(phones) {
			r.User = "amina@home" // else the older session of the MAC counts as replaced
		}
		all = append(all, r)
	}
	beyond := func(limit int, replaced ...telemetry.SessionID) (keys []string) {
		t.Helper()
		list, err := k.Beyond(t.Context(), telemetry.Limited{
			SubscriberID: k.subscriber, SubscriptionID: k.subscription, Limit: limit, Replaced: replaced,
			Now: noon.Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			keys = append(keys, s.SessionKey)
		}
		return keys
	}
	shared := func() []telemetry.SharedSubscription {
		t.Helper()
		list, err := k.SharedSubscriptions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	k.commit(t, all[0])
	first := k.openOne(t)
	if list := shared(); len(list) != 0 {
		t.Errorf("one session: %+v", list)
	}
	k.commit(t, all[1:3]...)
	want := telemetry.SharedSubscription{
		OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription, Sessions: 3,
	}
	if list := shared(); len(list) != 1 || list[0] != want {
		t.Errorf("%+v", list)
	}
	if got := fmt.Sprint(beyond(0), beyond(3), beyond(1), beyond(3, first.ID)); got != "[] [] [s1 s0] [s0]" {
		t.Error(got)
	}
	k.commit(t, all[3])
	want.Sessions, want.Copied = 4, true
	if list := shared(); len(list) != 1 || list[0] != want || fmt.Sprint(beyond(0), beyond(2)) != "[s0] [s1 s0]" {
		t.Errorf("a copied MAC: %+v, %v, %v", list, beyond(0), beyond(2))
	}
}

// TestLive_KnowsEverySessionOfTheLargestLimit, and some more: what is not known is not ended.
func TestLive_KnowsEverySessionOfTheLargestLimit(t *testing.T) {
	t.Parallel()
	live := telemetry.NewLive(telemetry.LiveConfig{
		Clock: clock.NewManual(noon), SilentAfter: time.Hour,
		Limit: func(id.Subscription) int { return commands.MaxSessions },
	})
	subscription, org, device := id.New[id.Subscription](), id.New[id.Organization](), id.New[id.Device]()
	const some = commands.MaxSessions + 8
	for n := range some {
		live.Observe(telemetry.Committed{Sessions: []*telemetry.Session{{
			ID: id.New[telemetry.SessionID](), OrgID: org, DeviceID: device, SubscriptionID: subscription,
			MAC: fmt.Sprintf("02:00:00:00:00:%02X", n), SessionKey: fmt.Sprint("s", n),
			StartedAt: noon, UpdatedAt: noon,
		}}})
	}
	if sessions, _ := live.Known(subscription); sessions != some {
		t.Errorf("%d sessions are known of %d", sessions, some)
	}
}

// TestLive_WhatARouterInventsHasABound: sessions and sign-ins without end, of one subscription.
func TestLive_WhatARouterInventsHasABound(t *testing.T) {
	t.Parallel()
	const invented = 5_000
	watch := clock.NewManual(noon)
	told, most := 0, 0
	live := telemetry.NewLive(telemetry.LiveConfig{
		Clock: watch, SilentAfter: time.Hour, Limit: func(id.Subscription) int { return 2 },
		End: func(r telemetry.Replaced) { told, most = told+1, max(most, len(r.Sessions)) },
	})
	subscription, org, device := id.New[id.Subscription](), id.New[id.Organization](), id.New[id.Device]()
	for n := range invented {
		at, mac := noon.Add(time.Duration(n)*time.Millisecond), fmt.Sprintf("02:00:00:00:%02X:%02X", n>>8, n&255)
		for _, refuse := range []bool{true, false} {
			live.Admit(telemetry.SignIn{
				Subscription: subscription, Device: device, SessionKey: fmt.Sprint("sign-in", n, refuse), MAC: mac,
				At: at, Limit: 2, Refuse: refuse,
			})
		}
		live.Observe(telemetry.Committed{Sessions: []*telemetry.Session{{
			ID: id.New[telemetry.SessionID](), OrgID: org, DeviceID: device, SubscriptionID: subscription, MAC: mac,
			SessionKey: fmt.Sprint("s", n), StartedAt: at, UpdatedAt: at,
		}}})
	}
	if sessions, awaited := live.Known(subscription); sessions > 24 || awaited > 3 {
		t.Errorf("%d sessions and %d sign-ins are known", sessions, awaited)
	}
	if told > 2*invented || most > 2 {
		t.Errorf("told %d times of up to %d sessions", told, most)
	}
	if !live.Has(subscription, fmt.Sprintf("02:00:00:00:%02X:%02X", (invented-1)>>8, (invented-1)&255)) {
		t.Error("the newest one is not known")
	}
	watch.Set(noon.Add(time.Hour))
	live.Observe(telemetry.Committed{Restarts: map[id.Device]time.Time{device: noon.Add(time.Hour)}})
	if !live.Admit(telemetry.SignIn{
		Subscription: subscription, Device: device, MAC: phones[0], At: noon.Add(time.Hour), Limit: 1, Refuse: true,
	}) {
		t.Error("sessions count from before their router restarted")
	}
}
