package accessjobs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/radius/coa"
)

// crowd signs in so many customers and blocks them all.
func (k *kit) crowd(n int) (list []telemetry.Session) {
	k.t.Helper()
	for i := range n {
		list = append(list, k.another(fmt.Sprintf("guest%02d", i)))
	}
	for _, s := range list {
		k.apply(events.SubscriberBlocked{SubscriberID: s.SubscriberID})
	}
	return list
}

// ends waits until the tables have the end of a session; many stops at once may take the way over the disk.
func (k *kit) ends(s telemetry.Session) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	for k.session(s).EndedAt == nil {
		if !loop.Sleep(ctx, 10*time.Millisecond) {
			k.t.Fatalf("goes on: %+v", k.history(s))
		}
	}
}

// slowly is the interface of a router that answers nobody until enough ask, or until it is told to.
type slowly struct {
	*menus
	enough int
	open   chan struct{} // closed when all are answered
	came   chan struct{} // has an element for each who asked

	mu    sync.Mutex
	now   int // who wait
	most  int // who waited at the same time
	asked int
}

// slow makes one that answers when so many wait.
func slow(m *menus, enough int) *slowly {
	return &slowly{menus: m, enough: enough, open: make(chan struct{}), came: make(chan struct{}, 1_000)}
}

// EndSession implements accessjobs.Routers. The first is answered at once.
func (m *slowly) EndSession(ctx context.Context, d id.Device, s accessjobs.OnlineSession) (bool, error) {
	m.mu.Lock()
	m.asked++
	first := m.asked == 1
	if !first {
		m.now++
		m.most = max(m.most, m.now)
		if m.now == m.enough {
			close(m.open)
		}
	}
	m.mu.Unlock()
	m.came <- struct{}{}
	if first {
		return m.menus.EndSession(ctx, d, s)
	}
	select {
	case <-m.open:
	case <-ctx.Done():
	}
	m.mu.Lock()
	m.now--
	m.mu.Unlock()
	return m.menus.EndSession(ctx, d, s)
}

// TestEnforceRouter_ALateRouterIsAskedAboutEightSessionsAtOnce: after its first answer, and never about more.
func TestEnforceRouter_ALateRouterIsAskedAboutEightSessionsAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	list := k.crowd(30)
	k.deaf()
	k.Radius = &coa.Client{Tries: 1, Pause: time.Millisecond}
	own := slow(k.menus, 8)
	k.Routers = own
	if err := k.round(t.Context()); err == nil {
		t.Error("nobody looks whether they are gone")
	}
	for _, s := range list {
		k.ends(s)
	}
	if n := k.requests.Load(); n > 5+8 { // until the breaker opens, and what is on its way then
		t.Errorf("%d requests by RADIUS, which nobody answers", n)
	}
	if own.most != 8 || own.asked != len(list) {
		t.Errorf("%d at once, %d in all", own.most, own.asked)
	}
}

// TestEnforceRouter_ASilentRouterIsAskedOnce: neither way answers. One session is tried, and the next attempt waits.
func TestEnforceRouter_ASilentRouterIsAskedOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	list := k.crowd(20)
	k.deaf()
	k.menus.away = true
	for attempt := range 3 {
		if err := k.round(t.Context()); failure.KindOf(err) != failure.Unavailable {
			t.Errorf("attempt %d: %v", attempt, err)
		}
	}
	if n := k.requests.Load(); n > 3 {
		t.Errorf("%d requests in three attempts", n)
	}
	announced := 0
	for _, s := range list {
		announced += len(k.history(s))
	}
	if announced != 1 {
		t.Errorf("%d announcements", announced)
	}
}

// TestEnforceRouter_SessionsThatBecomeWrongMeanwhileAreFound: a job that waits for the same router is not enqueued
// while one runs, so the one that runs looks again at the end.
func TestEnforceRouter_SessionsThatBecomeWrongMeanwhileAreFound(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	first, second := k.online(), k.another("brian")
	k.block(true)
	var once sync.Once
	k.Step = func(name string) {
		if name == "done" {
			once.Do(func() { k.apply(events.SubscriberBlocked{SubscriberID: second.SubscriberID}) })
		}
	}
	if err := k.round(t.Context()); err == nil {
		t.Error("nobody looks whether they are gone")
	}
	for _, s := range []telemetry.Session{first, second} {
		k.ends(s)
	}
}

// TestEnforce_ALateRouterKeepsFewPlaces: two jobs of customers wait for a router that answers late. The third one does
// not wait: it announces what a clerk asked for, and leaves the session to the router's own job.
func TestEnforce_ALateRouterKeepsFewPlaces(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	list := k.crowd(4)
	k.deaf()
	k.Radius = &coa.Client{Tries: 1, Pause: time.Millisecond}
	own := slow(k.menus, 100)
	k.Routers = own
	enforce := func(s telemetry.Session) error {
		return k.Enforce(t.Context(), commands.EnforceAccess{SubscriberID: s.SubscriberID}, k.cause())
	}
	if err := enforce(list[0]); err == nil { // the first is answered
		t.Error("nobody looks whether it is gone")
	}
	<-own.came
	var group sync.WaitGroup
	for _, s := range list[1:3] {
		group.Go(func() { _ = enforce(s) })
		<-own.came
	}
	k.clock.Advance(2 * time.Second)
	if err := enforce(list[3]); err != nil || k.waiting() != 1 || len(k.history(list[3])) != 1 {
		t.Errorf("%v, %d routers wait, %v", err, k.waiting(), k.history(list[3]))
	}
	close(own.open)
	group.Wait()
	if err := k.round(t.Context()); err == nil {
		t.Error("nobody looks whether it is gone")
	}
	k.ends(list[3])
}
