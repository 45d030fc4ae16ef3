package networkjobs

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// How often Background tries to lead and purges history, and how many routers it polls at once on request.
const (
	leadEvery   = time.Second
	purgeEvery  = 10 * time.Minute
	soonWorkers = 4
	driftLook   = 15 * time.Second // between two searches for routers whose drift check is due, at most
)

// soon is a request to poll a router at once, when the read models have reached the position.
type soon struct {
	device   id.Device
	position uint64
}

// Soon requests a poll of a router, with its state at a position. It never blocks; when too many requests wait, the
// next fleet poll covers the router.
func (w *Workers) Soon(device id.Device, position uint64) {
	select {
	case w.soon <- soon{device, position}:
	default:
	}
}

// NoteBreaker queues a change of a breaker to be recorded. It never blocks; a change that finds the queue full is left
// to the next fleet poll.
func (w *Workers) NoteBreaker(s breaker.State) {
	if s.Kind != routeros.BreakerKind {
		return
	}
	select {
	case w.phases <- s:
	default: // the next poll sees the router's state
	}
}

// Background polls the fleet, enqueues drift checks, and records changes of breakers. One program leads the rounds;
// every program records its own breakers and polls the routers that its own requests have changed.
type Background struct {
	w     *Workers
	queue *jobrunner.Runner
	lead  bool // this program takes part in the election
	loops *loop.Group
}

// NewBackground makes a background; Start begins its work. With lead it takes part in the election of the leader.
func NewBackground(w *Workers, queue *jobrunner.Runner, lead bool) *Background {
	return &Background{w: w, queue: queue, lead: lead, loops: loop.New(w.cfg.Logger)}
}

// Start begins the loops (internal/loop has the contract).
func (b *Background) Start(ctx context.Context) error {
	return b.loops.Start(ctx, func(context.Context) error {
		b.loops.Go("router breakers", b.recordBreakers)
		for range soonWorkers {
			b.loops.Go("requested router polls", b.pollSoon)
		}
		if b.lead {
			b.loops.Go("router rounds", b.run)
		}
		return nil
	})
}

// Stop ends the loops and waits for polls and commands under way.
func (b *Background) Stop() { b.loops.Stop() }

// recordBreakers turns changes of breakers into events: a router is unreachable from the opening of its breaker to the
// probe that closes it.
func (b *Background) recordBreakers(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-b.w.phases:
			b.recordBreaker(ctx, s)
		}
	}
}

// recordBreaker records one change. A half-open breaker changes nothing: the router is still unreachable.
func (b *Background) recordBreaker(ctx context.Context, s breaker.State) {
	device, err := id.Parse[id.Device](s.Target)
	if err != nil {
		return
	}
	row, err := b.w.devices.Any(ctx, device)
	if err != nil || row == nil {
		return
	}
	switch s.State {
	case breaker.Open:
		b.w.note(ctx, row.OrgID, commands.MarkDeviceUnreachable{
			DeviceID: device, Error: routeros.Sentence(s.LastError),
		})
	case breaker.Closed:
		b.w.note(ctx, row.OrgID, commands.MarkDeviceRecovered{DeviceID: device})
	case breaker.HalfOpen:
	}
}

// pollSoon polls the routers that Soon was called for. Several goroutines do it.
func (b *Background) pollSoon(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-b.w.soon:
			if err := b.w.pollOne(ctx, b.w.cfg.Gate, s.device, s.position); err != nil && ctx.Err() == nil {
				b.w.cfg.Logger.WarnContext(ctx, "router was not polled", "device_id", s.device, "error", err)
			}
		}
	}
}

// run leads the rounds while this program holds the advisory lock, which is free as soon as its holder dies.
func (b *Background) run(ctx context.Context) {
	var lock *postgres.Lock
	defer func() {
		if lock != nil {
			lock.Unlock()
		}
	}()
	r := rounds{
		Background: b, pace: clock.Pace(b.w.cfg.Clock), overdue: map[id.Device]id.Any{},
		polls: loop.Within(ctx, b.w.cfg.Logger),
	}
	defer r.polls.Stop()
	_ = loop.Every(ctx, leadEvery, nil, func(ctx context.Context) error {
		if lock != nil && lock.Ping(ctx) != nil {
			lock.Unlock()
			lock = nil
		}
		if lock == nil {
			lock, _, _ = b.w.cfg.DB.TryLock(ctx, "network rounds") // tried again in the next round
		}
		if lock != nil {
			r.look(ctx)
		}
		return nil
	})
}

// rounds remembers when each kind of round began last. It is used by one goroutine.
type rounds struct {
	*Background
	pace    clock.Clock          // of the clock: pauses stay what they are when somebody puts the machine's back
	polled  time.Time            // by pace
	purged  time.Time            // by pace
	looked  time.Time            // by pace: the last search for routers whose drift check is due
	checked time.Time            // drift checks due up to this instant are enqueued
	overdue map[id.Device]id.Any // checks that still waited when the next one of their router was due
	polling sync.Mutex           // held by the poll that is under way
	polls   *loop.Group          // ends with the leadership
}

// look begins the rounds that are due: the fleet poll in a goroutine of its own, the others at once.
func (r *rounds) look(ctx context.Context) {
	now := r.pace.Now()
	if now.Sub(r.polled) >= r.w.cfg.PollEvery && r.polling.TryLock() {
		r.polled = now
		r.polls.Go("fleet poll", func(ctx context.Context) {
			defer r.polling.Unlock()
			err := loop.Try(func() error { return r.w.PollFleet(ctx) }) // a panic ends this round only
			if err != nil && ctx.Err() == nil {
				r.w.cfg.Logger.WarnContext(ctx, "fleet was not polled", "error", err)
			}
		})
	}
	if now.Sub(r.looked) >= min(driftLook, r.w.cfg.DriftEvery/20) { // a search reads all routers
		if err := r.enqueueDrift(ctx, r.w.cfg.Clock.Now()); err == nil {
			r.looked = now
		} else if ctx.Err() == nil {
			r.w.cfg.Logger.WarnContext(ctx, "drift checks were not enqueued", "error", err)
		}
	}
	if now.Sub(r.purged) >= purgeEvery {
		r.purged = now
		before := r.w.cfg.Clock.Now().Add(-r.w.cfg.PollsKept)
		if err := r.w.cfg.Polls.Purge(ctx, before); err != nil && ctx.Err() == nil {
			r.w.cfg.Logger.WarnContext(ctx, "polls were not purged", "error", err)
		}
	}
}

// A check that waits is told when a second one after it is due: one interval later at least, also when the clock was
// moved in between. overdueLeast bounds the wait from below where the interval is short.
const (
	overdueLeast   = time.Minute
	overdueMessage = "The router was not compared for a whole interval: its check still waits for its turn, because " +
		"checks of slow routers take too long."
)

// enqueueDrift enqueues the checks that became due since its last call. Unreachable routers are left out. So are those
// whose check waits still: more checks would pile up without end where routers need more time than the interval has.
// The one that waits keeps its turn, and that the router was not compared for an interval is told.
func (r *rounds) enqueueDrift(ctx context.Context, now time.Time) error {
	every := r.w.cfg.DriftEvery
	if r.checked.IsZero() || now.Sub(r.checked).Abs() > every {
		// A new leader goes back one interval, and so does one whose clock was set. A check that is enqueued already
		// is of the same period, so it is not repeated.
		r.checked = now.Add(-every)
	}
	rows, err := r.w.devices.Every(ctx)
	if err != nil {
		return err
	}
	waiting, err := jobrunner.Waiting[commands.CheckDrift](ctx, r.queue)
	if err != nil {
		return err
	}
	waits := map[id.Device]jobrunner.Waits[commands.CheckDrift]{}
	for _, check := range slices.Backward(waiting) { // the oldest of a router last
		waits[check.Args.DeviceID] = check
	}
	for _, row := range rows {
		due := DriftDue(row.ID, now, every)
		if !due.After(r.checked) || due.Before(row.CreatedAt) || row.UnreachableSince != nil {
			continue
		}
		if check, found := waits[row.ID]; found {
			if r.overdue[row.ID] == check.ID && now.Sub(check.Since) >= overdueLeast {
				r.w.tellUnchecked(ctx, row, overdueMessage)
			}
			r.overdue[row.ID] = check.ID
			continue
		}
		delete(r.overdue, row.ID)
		if err := r.queue.InsertInPeriod(ctx, commands.CheckDrift{DeviceID: row.ID}, "drift "+row.ID.String(), due,
			jobs.Cause{OrgID: row.OrgID, Actor: platformActor}); err != nil {
			return err
		}
	}
	r.checked = now
	return nil
}

// DriftDue gives the newest instant, not after now, at which a router is to be checked: once in each interval, at an
// offset that follows from the router's id, so that checks are spread evenly.
func DriftDue(device id.Device, now time.Time, every time.Duration) time.Time {
	h := fnv.New64a()
	u := device.UUID()
	_, _ = h.Write(u[:])
	offset := time.Duration(h.Sum64() % uint64(every)) //nolint:gosec // intervals are positive
	due := now.Truncate(every).Add(offset)
	if due.After(now) {
		due = due.Add(-every)
	}
	return due
}
