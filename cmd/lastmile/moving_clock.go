package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/dev"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// movePatience bounds the wait for running requests and jobs before the clock is moved. It is longer than the longest
// request and the usual job. Jobs that may take longer, such as those on slow routers, make way.
const movePatience = 40 * time.Second

// gates keep work out while the clock is moved: requests first, because one that runs may wait for a job. Callbacks and
// commands of processes pass the gate of jobs, too.
type gates struct {
	requests, jobs clock.Gate
}

// errAhead refuses to serve data whose time is not the machine's.
func errAhead(ahead time.Duration) error {
	return fmt.Errorf("DEV_CLOCK: the clock of this data was moved in development, and differs from the machine's by "+
		"%s; it cannot be used in production", ahead)
}

// productClock gives the clock of a program on this machine. In development it follows the moves that the data knows.
func productClock(cfg Config) clock.Clock {
	if cfg.Production() {
		return clock.System()
	}
	return clock.NewMovable(clock.System(), 0)
}

// follow puts the clock as far ahead as the data's last program was. A clock that cannot be moved fails when that is
// needed.
func follow(ctx context.Context, c clock.Clock, kept *vault.ClockAhead) error {
	ahead, known, err := kept.Load(ctx)
	m, ok := c.(*clock.Movable)
	switch {
	case err != nil:
		return err
	case ok && !known && m.Ahead() < 0: // a first start in the past: a second one is not to begin earlier
		return kept.Keep(ctx, m.Ahead())
	case !known || !ok && ahead == 0:
		return nil
	case !ok:
		return errAhead(ahead)
	}
	m.Advance(ahead - m.Ahead())
	return nil
}

// mover moves the program's clock for /dev/clock. One move is made at a time.
type mover struct {
	app   *App
	clock *clock.Movable
	mu    sync.Mutex
}

// move moves the clock to an instant; one that is over moves nothing. Fails: clock_busy.
func (m *mover) move(ctx context.Context, to time.Time) error {
	return m.moveBy(ctx, func() time.Duration { return to.Sub(m.clock.Now()) })
}

// catchUp moves a clock that is behind the machine's exactly to it. Fails: clock_busy.
func (m *mover) catchUp(ctx context.Context) error {
	return m.moveBy(ctx, func() time.Duration { return -m.clock.Ahead() })
}

// moveBy waits for running requests and jobs, of which slow ones make way, keeps the new time, and then wakes
// everything that waits for an instant. The job queue rests meanwhile. by is asked when nothing runs any more.
func (m *mover) moveBy(ctx context.Context, by func() time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	quiet, cancel := context.WithTimeout(context.WithoutCancel(ctx), movePatience)
	defer cancel()
	resume := func(context.Context) {}
	defer func() { resume(context.WithoutCancel(ctx)) }() // after the gates have opened
	for _, gate := range []*clock.Gate{&m.app.gates.requests, &m.app.gates.jobs} {
		open, err := gate.Shut(quiet)
		if err != nil {
			return errBusy(err)
		}
		defer open()
	}
	if err := m.settle(quiet); err != nil {
		return err
	}
	var err error
	if resume, err = m.app.engines.jobs.Pause(quiet); err != nil {
		return errBusy(err)
	}
	d := max(by(), 0)
	if err := m.app.storage.vault.ClockAhead.Keep(quiet, m.clock.Ahead()+d); err != nil {
		return err
	}
	m.clock.Advance(d)
	m.app.logger.WarnContext(ctx, "clock moved", "by", d.String(), "now", m.clock.Now())
	return nil
}

// settle waits until the program has read all that running work has recorded, so that the processes take it before
// their timers.
func (m *mover) settle(ctx context.Context) error {
	head, err := m.app.storage.store.Head(ctx)
	if err != nil || head == 0 {
		return err
	}
	if err := m.app.engines.feed.Wait(ctx, head-1); err != nil {
		return errBusy(err)
	}
	return nil
}

// errBusy answers a move that running work has kept from being made.
func errBusy(cause error) error {
	return failure.NewUnavailable("clock_busy", "Running work does not end. Please try again.", time.Second, cause)
}

// devRoutes gives the endpoints of development, none unless they are switched on.
func (a *App) devRoutes() []httpapi.Route {
	m, ok := a.clock.(*clock.Movable)
	if !ok || !a.cfg.DevClock {
		return nil
	}
	a.mover = &mover{app: a, clock: m}
	return devapi.Clock{Now: m.Now, Move: a.mover.move}.Routes()
}

// throughGate lets requests pass while time goes on. The request that moves the clock cannot wait for itself, health
// checks need no time, and streams of changes do not end by themselves.
func (a *App) throughGate(next http.Handler) http.Handler {
	if !a.cfg.DevClock {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/dev/clock", "/healthz", "/readyz", "/events/stream":
			next.ServeHTTP(w, r)
			return
		}
		leave, err := a.gates.requests.Enter(r.Context())
		if err != nil {
			return // the caller has gone
		}
		defer leave()
		next.ServeHTTP(w, r)
	})
}
