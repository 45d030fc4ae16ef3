package networkjobs

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// How the background looks around.
const (
	leadEvery   = time.Second
	purgeEvery  = 10 * time.Minute
	soonWorkers = 4
)

// soon is a router to be polled at once.
type soon struct {
	device   id.Device
	position uint64
}

// Soon has a router polled at once, as the log has it at a position. It never blocks; what is too much is left to the
// next round.
func (w *Workers) Soon(device id.Device, position uint64) {
	select {
	case w.soon <- soon{device, position}:
	default:
	}
}

// NoteBreaker takes a change of a breaker to be recorded. It never blocks.
func (w *Workers) NoteBreaker(s breaker.State) {
	if s.Kind != routeros.BreakerKind {
		return
	}
	select {
	case w.phases <- s:
	default: // the next poll tells
	}
}

// Background polls the fleet, has drift checked, and records what breakers say. One program leads the rounds; every
// program records its own breakers and polls what its own requests have changed.
type Background struct {
	w     *Workers
	queue *jobrunner.Runner
	lead  bool // this program may lead
	loops *loop.Group
}

// NewBackground makes one that has not begun. With lead it takes part in the election of who does the rounds.
func NewBackground(w *Workers, queue *jobrunner.Runner, lead bool) *Background {
	return &Background{w: w, queue: queue, lead: lead, loops: loop.New(w.cfg.Logger)}
}

// Start begins (internal/loop has the contract).
func (b *Background) Start(ctx context.Context) error {
	return b.loops.Start(ctx, func(context.Context) error {
		b.loops.Go("router breakers", b.recordBreakers)
		for range soonWorkers {
			b.loops.Go("router polls asked for", b.pollSoon)
		}
		if b.lead {
			b.loops.Go("router rounds", b.run)
		}
		return nil
	})
}

// Stop ends it and waits for what is under way.
func (b *Background) Stop() { b.loops.Stop() }

// recordBreakers makes events of phases: a router is unreachable from the opening of its breaker to the check that
// closes it.
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

// recordBreaker records one change.
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
		b.w.note(ctx, row.OrgID, commands.MarkDeviceUnreachable{DeviceID: device, Error: s.LastError})
	case breaker.Closed:
		b.w.note(ctx, row.OrgID, commands.MarkDeviceRecovered{DeviceID: device})
	case breaker.HalfOpen:
	}
}

// pollSoon polls what was asked for.
func (b *Background) pollSoon(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-b.w.soon:
			if err := b.w.pollOne(ctx, s.device, s.position); err != nil && ctx.Err() == nil {
				b.w.cfg.Logger.WarnContext(ctx, "router was not polled", "device_id", s.device, "error", err)
			}
		}
	}
}

// run leads the rounds while this program holds the lock, which is free as soon as its holder dies.
func (b *Background) run(ctx context.Context) {
	var lock *postgres.Lock
	defer func() {
		if lock != nil {
			lock.Unlock()
		}
	}()
	r := rounds{Background: b, polls: loop.Within(ctx, b.w.cfg.Logger)}
	defer r.polls.Stop()
	_ = loop.Every(ctx, leadEvery, nil, func(ctx context.Context) error {
		if lock != nil && lock.Conn().Ping(ctx) != nil {
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

// rounds are what the leader has begun. It is used by one goroutine.
type rounds struct {
	*Background
	polled  time.Time
	purged  time.Time
	checked time.Time   // drift checks that were due until then are enqueued
	polling sync.Mutex  // held by the poll that is under way
	polls   *loop.Group // ends with the leadership
}

// look begins what is due.
func (r *rounds) look(ctx context.Context) {
	now := r.w.cfg.Clock.Now()
	if now.Sub(r.polled) >= r.w.cfg.PollEvery && r.polling.TryLock() {
		r.polled = now
		r.polls.Go("fleet poll", func(ctx context.Context) {
			defer r.polling.Unlock()
			err := loop.Try(func() error { return r.w.PollFleet(ctx) }) // once: the next round comes by itself
			if err != nil && ctx.Err() == nil {
				r.w.cfg.Logger.WarnContext(ctx, "fleet was not polled", "error", err)
			}
		})
	}
	if err := r.enqueueDrift(ctx, now); err != nil && ctx.Err() == nil {
		r.w.cfg.Logger.WarnContext(ctx, "drift checks are not enqueued", "error", err)
	}
	if now.Sub(r.purged) >= purgeEvery {
		r.purged = now
		if err := r.w.cfg.Polls.Purge(ctx, now.Add(-r.w.cfg.PollsKept)); err != nil && ctx.Err() == nil {
			r.w.cfg.Logger.WarnContext(ctx, "polls are not purged", "error", err)
		}
	}
}

// enqueueDrift enqueues the checks that became due since it was called last.
func (r *rounds) enqueueDrift(ctx context.Context, now time.Time) error {
	every := r.w.cfg.DriftEvery
	if r.checked.IsZero() || now.Sub(r.checked) > every {
		// a new leader makes up for one interval; a check that was enqueued already is not again
		r.checked = now.Add(-every)
	}
	rows, err := r.w.devices.Every(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		due := DriftDue(row.ID, now, every)
		if !due.After(r.checked) || due.Before(row.CreatedAt) || row.UnreachableSince != nil {
			continue
		}
		name := id.Derive[id.Any]("drift-check", row.ID.String(), due.UTC().Format(time.RFC3339Nano))
		if err := r.queue.Insert(ctx, commands.CheckDrift{DeviceID: row.ID}, name,
			jobs.Cause{OrgID: row.OrgID, Actor: platformActor}, 0); err != nil {
			return err
		}
	}
	r.checked = now
	return nil
}

// DriftDue is the newest instant, not after now, at which a router is to be checked: once in each interval, at a place
// in it that follows from the router's id, so that checks are spread evenly.
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
