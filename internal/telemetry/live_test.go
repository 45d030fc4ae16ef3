package telemetry_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// phones are the devices of a customer.
var phones = []string{"AA:BB:CC:00:11:22", "AA:BB:CC:00:11:33", "AA:BB:CC:00:11:44"}

// liveKit is a Live on a kit's tables, and what it has ended.
type liveKit struct {
	*kit
	*telemetry.Live
	watch *clock.Manual
	limit atomic.Int64 // of each subscription, as the plan tells it afterwards; 0 = not known

	mu    sync.Mutex
	ended []string // keys of sessions
	gave  []string // keys of those whose device another one has the place of
}

// live makes a Live that has read the tables, at noon.
func (k *kit) live(t *testing.T) *liveKit {
	t.Helper()
	return k.liveAt(t, noon)
}

// liveAt makes a Live that has read the tables, at an instant.
func (k *kit) liveAt(t *testing.T, now time.Time) *liveKit {
	t.Helper()
	c := &liveKit{kit: k, watch: clock.NewManual(now)}
	c.Live = telemetry.NewLive(telemetry.LiveConfig{
		Store: k.Store, Clock: c.watch, SilentAfter: 6 * time.Minute,
		Limit: func(id.Subscription) int { return int(c.limit.Load()) },
		End: func(r telemetry.Replaced) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, session := range r.Sessions {
				it, err := c.Get(context.WithoutCancel(t.Context()), r.OrgID, session)
				if err != nil || it == nil || it.SubscriptionID != r.SubscriptionID ||
					it.SubscriberID != r.SubscriberID || c.Has(r.SubscriptionID, "") {
					t.Errorf("%+v: %+v, %v", r, it, err)
					continue
				}
				c.ended = append(c.ended, it.SessionKey)
			}
			for _, session := range r.MadeWay {
				c.gave = append(c.gave, session.SessionKey)
			}
		},
	})
	if err := c.Live.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Live.Stop)
	return c
}

// tell commits a report of a phone's session and lets the Live know.
func (c *liveKit) tell(t *testing.T, phone int, key string, kind telemetry.Kind, started, after time.Duration) {
	t.Helper()
	r := c.at(kind, after, 1, 1)
	r.Session, r.MAC, r.Calling, r.At = key, phones[phone], phones[phone], noon.Add(started+after)
	done, err := c.Commit(t.Context(), c.directory(), []telemetry.Report{r})
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(done)
}

// enter lets a phone sign in at an instant after noon.
func (c *liveKit) enter(phone int, after time.Duration, limit int, refuse bool) bool {
	return c.Admit(telemetry.SignIn{
		Subscription: c.subscription, Device: c.device, MAC: phones[phone], At: noon.Add(after), Limit: limit,
		Refuse: refuse,
	})
}

// want compares the keys of the sessions that were ended so far.
func (c *liveKit) want(t *testing.T, ended ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.ended, ended) {
		t.Errorf("ended %q, want %q", c.ended, ended)
	}
}

// wantWay compares the keys of those that made way for another device.
func (c *liveKit) wantWay(t *testing.T, keys ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.gave, keys) {
		t.Errorf("made way %q, want %q", c.gave, keys)
	}
}

func TestLive_TheNewestSignInWins(t *testing.T) {
	t.Parallel()
	c := open(t).live(t)
	c.enter(0, 0, 1, false)
	c.tell(t, 0, "first", telemetry.Start, 0, 0)
	c.enter(0, time.Minute, 1, false) // the same device again
	c.tell(t, 0, "again", telemetry.Start, time.Minute, 0)
	c.want(t)
	c.enter(1, 2*time.Minute, 1, false)
	c.want(t, "again")
	c.tell(t, 0, "again", telemetry.Interim, time.Minute, 2*time.Minute) // it has not obeyed yet
	c.tell(t, 1, "second", telemetry.Start, 2*time.Minute, 0)
	c.want(t, "again")
	c.enter(2, 24*time.Hour, 1, false) // no report for a day changes nothing
	c.want(t, "again", "second")
	c.wantWay(t, "again", "second")
	if c.Ended() != 2 {
		t.Errorf("counted %d", c.Ended())
	}
}

func TestLive_ALimitOfTwoKeepsTheNewestTwo(t *testing.T) {
	t.Parallel()
	c := open(t).live(t)
	for phone := range phones {
		c.enter(phone, time.Duration(phone)*time.Minute, 2, false)
		c.tell(t, phone, fmt.Sprint("s", phone), telemetry.Start, time.Duration(phone)*time.Minute, 0)
	}
	c.want(t, "s0")
	if c.enter(0, 3*time.Minute, 2, true) || !c.enter(1, 3*time.Minute, 2, true) {
		t.Error("the limit is not kept")
	}
}

func TestLive_SignInsAtTheSameInstantSeeEachOther(t *testing.T) {
	t.Parallel()
	c := open(t).live(t)
	c.limit.Store(1)
	c.enter(0, 0, 1, false)
	c.enter(1, time.Second, 1, false)
	c.want(t)
	c.tell(t, 1, "newest", telemetry.Start, time.Second, 0)
	c.want(t)
	c.tell(t, 0, "older", telemetry.Start, 0, 0)
	c.want(t, "older")
	c.wantWay(t, "older")
	if c.enter(2, 10*time.Second, 1, true) {
		t.Error("one more than the limit")
	}
	c = open(t).live(t)
	if !c.enter(0, 0, 1, true) || c.enter(1, 0, 1, true) {
		t.Error("both are in")
	}
	if !c.enter(1, 31*time.Second, 1, true) {
		t.Error("a sign-in without a session keeps others out")
	}
}

func TestLive_ALostStopKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	c := open(t).live(t)
	c.tell(t, 0, "lost", telemetry.Start, 0, 0)
	if c.enter(1, 6*time.Minute, 1, true) {
		t.Error("in beside a live session")
	}
	if !c.enter(0, 6*time.Minute, 1, true) {
		t.Error("the device itself is refused")
	}
	if !c.enter(1, 7*time.Minute, 1, true) {
		t.Error("out because of a session that nobody heard of")
	}
	c.want(t)
}

func TestLive_EndsAreForgotten(t *testing.T) {
	t.Parallel()
	c := open(t).live(t)
	c.tell(t, 0, "stopped", telemetry.Start, 0, 0)
	c.tell(t, 0, "stopped", telemetry.Stop, 0, time.Minute)
	if !c.enter(1, time.Minute, 1, true) {
		t.Error("a session that has stopped counts")
	}
	c = open(t).live(t)
	c.tell(t, 0, "before", telemetry.Start, 0, 0)
	c.tell(t, 0, "", telemetry.On, time.Minute, 0)
	c.watch.Set(noon.Add(time.Minute))
	if !c.enter(1, time.Minute, 1, true) {
		t.Error("a session counts from before its router restarted")
	}
}

func TestLive_IsFilledFromTheTablesAndByOtherPrograms(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	c := k.live(t)
	c.enter(1, time.Minute, 1, false)
	c.want(t, "81000001")
	if !c.enter(1, time.Minute, 1, true) || c.enter(2, time.Minute, 1, true) {
		t.Error("the sign-in is forgotten")
	}
	later := k.at(telemetry.Start, 0, 0, 0) // recorded by another program
	later.Session, later.MAC, later.Calling, later.At = "elsewhere", phones[2], phones[2], noon.Add(time.Hour)
	k.commit(t, later)
	for end := time.Now().Add(waittest.Limit); c.enter(0, time.Hour, 1, true); {
		c.watch.Advance(time.Minute)
		if time.Now().After(end) {
			t.Fatal("not read again")
		}
	}
	c.want(t, "81000001")
}
