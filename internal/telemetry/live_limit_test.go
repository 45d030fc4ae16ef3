package telemetry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// told is a directory that knows the kit's customer at all routers.
func (c *crowd) told() telemetry.Directory {
	d := c.directory()
	d.Resolve = func(telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: c.subscriber, Subscription: c.subscription, Access: "full"}
	}
	return d
}

// commitAll commits reports as one group and lets the Live know.
func (c *crowd) commitAll(t *testing.T, reports ...telemetry.Report) {
	t.Helper()
	done, err := c.Commit(t.Context(), c.told(), reports)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(done)
}

// of is a report about a session of a router and a calling station. A MAC is "" where the station is none.
func (c *crowd) of(device id.Device, key, mac, calling string) func(telemetry.Kind, time.Duration,
	time.Duration) telemetry.Report {
	return func(kind telemetry.Kind, started, after time.Duration) telemetry.Report {
		r := c.at(kind, after, 1, 1)
		r.Device, r.Session, r.MAC, r.Calling, r.At = device, key, mac, calling, noon.Add(started+after)
		return r
	}
}

// signIn is a sign-in of the first phone at a router.
func (c *crowd) signIn(device id.Device, key string, after time.Duration, refuse bool) telemetry.SignIn {
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
		c.want(t, "mine session_limit")
		c.commitAll(t, friend(telemetry.Start, time.Minute, 0))
		c.commitAll(t, mine(telemetry.Interim, 0, 5*time.Minute))
		c.want(t, "mine session_limit")
		if !c.Admit(c.signIn(c.device, "mine2", 6*time.Minute, refuse)) {
			t.Error("the same MAC is refused")
		}
		c.want(t, "mine session_limit", "copy session_limit")
	}
}

func TestLive_ACopiedMACAtTheSameRouterEndsTheFormerSession(t *testing.T) {
	t.Parallel()
	c := open(t).live(t)
	mine, friend := c.of(c.device, "mine", phones[0], phones[0]), c.of(c.device, "copy", phones[0], phones[0])
	c.commitAll(t, mine(telemetry.Start, 0, 0))
	c.commitAll(t, friend(telemetry.Start, 10*time.Minute, 0)) // its sign-in was at another program
	c.want(t)                                                  // a device that dialed again
	c.commitAll(t, mine(telemetry.Interim, 0, 30*time.Minute))
	c.want(t, "mine session_limit")
	c = open(t).live(t)
	c.commitAll(t, mine(telemetry.Start, 0, 0))
	c.Admit(c.signIn(c.device, "copy", time.Minute, false))
	c.want(t, "mine session_limit")
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
			for n := range 5 {
				sign(n, false)
			}
			if name != "nothing" && sign(5, true) {
				t.Error("in beside a sign-in of the same second")
			}
			for n := range 5 {
				station := fmt.Sprint("198.51.100.", n)
				c.commitAll(t, c.of(c.device, fmt.Sprint("s", n), "", station)(telemetry.Start, 0, 0))
			}
			c.want(t, "s0 session_limit", "s1 session_limit", "s2 session_limit", "s3 session_limit")
		})
	}
}

func TestLive_SessionsThatWereReportedLateAreBroughtWithinTheLimit(t *testing.T) {
	t.Parallel()
	c := open(t).live(t)
	c.limit.Store(1)
	var held []telemetry.Report // while the database is away
	for n, phone := range phones {
		at := time.Duration(n) * time.Minute // each is later than the one before is awaited
		c.enter(n, at, 1, false)
		held = append(held, c.of(c.device, fmt.Sprint("s", n), phone, phone)(telemetry.Start, at, 0))
	}
	c.want(t)
	c.commitAll(t, held...)
	c.want(t, "s0 session_limit", "s1 session_limit")
}

func TestLive_AProgramThatReadsTheTablesBringsThemWithinTheLimit(t *testing.T) {
	t.Parallel()
	k := open(t)
	for n, phone := range phones {
		r := k.at(telemetry.Start, 0, 0, 0)
		r.Session, r.MAC, r.Calling, r.At = fmt.Sprint("s", n), phone, phone, noon.Add(time.Duration(n)*time.Minute)
		k.commit(t, r)
	}
	c := k.live(t)
	c.want(t) // the limit is not known yet
	c.limit.Store(2)
	c.awaitEnded(t, 1)
	c.want(t, "s0 session_limit")
	r := k.at(telemetry.Interim, c.watch.Now().Sub(noon)+10*time.Minute, 1, 1)
	r.Session = "s0"
	k.commit(t, r) // who was told has given up
	c.awaitEnded(t, 2)
	c.want(t, "s0 session_limit", "s0 session_limit")
	if c.Ended() != 1 {
		t.Errorf("counted %d", c.Ended())
	}
}

// awaitEnded lets minutes pass until so many ends were asked for.
func (c *crowd) awaitEnded(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(patience); ; c.watch.Advance(time.Minute) {
		c.mu.Lock()
		now := len(c.ended)
		c.mu.Unlock()
		if now >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d ends were asked for, want %d", now, n)
		}
	}
}
