package processrunner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// checkpointRound is how often the checkpoint is stored. It may lag: what is read again is ignored.
const checkpointRound = 500 * time.Millisecond

// process is a registered process.
type process struct {
	r    *Runner
	name string
	want feed.Wanted
	def  processmanagers.Erased

	timers   chan struct{} // wakes the scheduler
	retry    chan struct{} // wakes a process that stopped
	retrying atomic.Int64
	track    tracker

	mu    sync.Mutex
	state State
	fault string
}

// poison marks an input that a process cannot take.
type poison struct {
	error
	stack string // of a panic
}

// Unwrap gives the cause.
func (p *poison) Unwrap() error { return p.error }

// Register adds processes; before Start only.
func (r *Runner) Register(list ...processmanagers.Any) {
	for _, one := range list {
		def := one.Erase()
		p := &process{
			r: r, name: def.Name, want: feed.Want(def.Types), def: def, state: StateWaiting,
			timers: make(chan struct{}, 1), retry: make(chan struct{}, 1),
		}
		r.processes = append(r.processes, p)
		r.byName[p.name] = p
	}
}

// step runs the pure functions of the process. A panic or an error of theirs is poison.
func (p *process) step(
	state []byte, in processmanagers.Input, now time.Time,
) (next processmanagers.Stepped, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &poison{error: fmt.Errorf("panic: %v", v), stack: string(debug.Stack())}
		}
	}()
	if next, err = p.def.Step(state, in, now); err != nil {
		return next, &poison{error: err}
	}
	return next, nil
}

// stackOf is the stack of the panic in an error's chain, "" without one.
func stackOf(err error) string {
	for err != nil {
		var bad *poison
		if !errors.As(err, &bad) {
			return ""
		}
		if bad.stack != "" {
			return bad.stack
		}
		err = bad.error
	}
	return ""
}

// drive runs the process while this program leads. A poisonous input stops it until a retry.
func (p *process) drive(ctx context.Context) {
	for ctx.Err() == nil {
		err := p.run(ctx)
		if ctx.Err() != nil {
			break
		}
		var bad *poison
		if !errors.As(err, &bad) {
			p.r.logger.WarnContext(ctx, "process interrupted", "process", p.name, "error", err)
			loop.Sleep(ctx, time.Second)
			continue
		}
		p.r.logger.ErrorContext(ctx, "process stopped", "process", p.name, "position", p.track.low(), "error", err,
			"stack", stackOf(err))
		p.show(StateStopped, err.Error())
		_, _ = p.r.cfg.DB.Owner.Exec(ctx, p.r.sql(`update {schema}.processes set error = $2 where name = $1`), p.name,
			err.Error())
		loop.Wait(ctx, p.retry)
	}
	p.show(StateWaiting, "")
}

// round is one run of a process, from its start to its stop.
type round struct {
	*process
	lanes    lanes
	outbox   outbox
	liveFrom uint64 // outputs of events up to here are suppressed
	caughtUp uint64 // timers fire from here on
	fail     context.CancelCauseFunc
	loops    *loop.Group // ends with the round
}

// run drives the process until something fails.
func (p *process) run(ctx context.Context) error {
	var checkpoint, liveFrom uint64
	err := p.r.cfg.DB.Owner.QueryRow(ctx,
		p.r.sql(`update {schema}.processes set error = '' where name = $1 returning checkpoint, live_from`), p.name).
		Scan(&checkpoint, &liveFrom)
	if err != nil {
		return fmt.Errorf("load process %s: %w", p.name, err)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	p.track.reset(checkpoint)
	d := &round{
		process: p, liveFrom: liveFrom, caughtUp: max(liveFrom, p.r.cfg.Feed.Head()), fail: fail,
		loops: loop.Within(ctx, p.r.logger),
	}
	d.outbox.init(d)
	p.show(StateRunning, "")
	if checkpoint < liveFrom {
		p.show(StateHistory, "")
	}
	d.loops.Go("route", func(ctx context.Context) {
		d.fail(guarded(func() error { return d.route(ctx, checkpoint) }))
	})
	d.loops.Go("schedule", func(ctx context.Context) {
		d.fail(guarded(func() error { return d.schedule(ctx) }))
	})
	d.loops.Go("outbox", d.outbox.sweep)
	d.loops.Go("checkpoint", func(ctx context.Context) { d.keepCheckpoint(ctx, checkpoint) })
	<-ctx.Done()
	d.loops.Stop()
	return context.Cause(ctx)
}

// guarded calls a part of a round. A panic of it is poison: going on without the part, or repeating it unseen, could
// lose what it had at hand.
func guarded(part func() error) error {
	err := loop.Try(part)
	if stack := loop.StackOf(err); stack != "" {
		return &poison{error: err, stack: stack}
	}
	return err
}

// checkpointSQL stores the low-water mark and forgets ended instances that it has passed.
const checkpointSQL = `
with moved as (update {schema}.processes set checkpoint = $2 where name = $1 and checkpoint < $2)
delete from {schema}.instances where process = $1 and ended and last_position <= $2`

// keepCheckpoint stores the low-water mark from time to time and at the end.
func (d *round) keepCheckpoint(ctx context.Context, saved uint64) {
	save := func(ctx context.Context) {
		low := d.track.low()
		if low > saved {
			//nolint:gosec // positions fit
			if _, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(checkpointSQL), d.name, int64(low)); err == nil {
				saved = low
			}
		}
		if low >= d.liveFrom {
			d.mu.Lock()
			if d.state == StateHistory {
				d.state = StateRunning
			}
			d.mu.Unlock()
		}
	}
	for loop.Sleep(ctx, checkpointRound) {
		save(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	save(last)
}
