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
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// checkpointRound is how often the checkpoint is stored. A late checkpoint is harmless: events that are read again are
// ignored.
const checkpointRound = 500 * time.Millisecond

// process is a registered process with its progress. Its state and fault are guarded by mu.
type process struct {
	r    *Runner
	name string
	want feed.Wanted
	def  processmanagers.Erased

	timers   chan struct{} // wakes the loop that fires timers
	indirect atomic.Int64  // until when its timers do not act directly, in microseconds of the steady clock
	rests    atomic.Int64  // until when that loop waits, in microseconds since 1970; an earlier timer wakes it
	retry    chan struct{} // wakes a process that has stopped
	asked    chan struct{} // wakes the goroutine that takes requests
	retrying atomic.Int64
	track    tracker
	unknown  atomic.Bool  // it has met an event that it does not know
	patience loop.Backoff // before it gives the leadership away at an event that it does not know

	mu    sync.Mutex
	state State
	fault string
	asks  map[string]bool // keys of instances to retry, "" = all; filled from the table requests
}

// poison is an error that stops an instance, or the process when the instance is not known, until a retry: repeating
// the input would fail again.
type poison struct {
	error
	stack string // of a panic, else ""
}

// Unwrap lets errors.Is see the reason.
func (p *poison) Unwrap() error { return p.error }

// Register adds processes. Call it before Start; Start fails when a name is registered twice.
func (r *Runner) Register(list ...processmanagers.Any) {
	for _, one := range list {
		def := one.Erase()
		p := &process{
			r: r, name: def.Name, want: feed.Want(def.Types).AndUnknown(), def: def, state: StateWaiting,
			timers: make(chan struct{}, 1), retry: make(chan struct{}, 1), asked: make(chan struct{}, 1),
			asks: map[string]bool{}, patience: loop.Backoff{Min: unknownPause, Max: unknownPauseMax},
		}
		r.processes = append(r.processes, p)
		r.byName[p.name] = p
	}
}

// step runs the pure functions of the process. An error or a panic in them is poison.
func (p *process) step(
	state *processmanagers.Stored, in processmanagers.Input, now time.Time,
) (next processmanagers.Stepped, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &poison{error: fmt.Errorf("panic: %v", v), stack: string(debug.Stack())}
		}
	}()
	if next, err = p.def.Step(state, in, now); err != nil {
		return next, &poison{error: err}
	}
	for i, t := range next.Output.Timers {
		next.Output.Timers[i].At = dueAt(t.At)
	}
	return next, nil
}

// dueAt is the first whole microsecond that is not before an instant: the table of timers keeps no less. Events have
// nanoseconds: cut off, a timer of five minutes after one would be due after a little less, and a process that compares
// would wait for the next one.
func dueAt(at time.Time) time.Time {
	if whole := at.Truncate(time.Microsecond); whole.Before(at) {
		return whole.Add(time.Microsecond)
	}
	return at
}

// stackOf returns the stack of the first panic in an error's chain, "" when there is none.
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

// drive runs the process during a term. An input that belongs to no known instance and cannot be taken stops it until a
// retry; after other failures it starts again in a second, and tells them once a minute while it does not run longer
// than that. Stopped instances are tried again once at the beginning.
func (p *process) drive(ctx context.Context, t *term) {
	machine := clock.Steady(clock.System())
	var away loop.Outage
	p.note("")
	for ctx.Err() == nil {
		var began time.Time
		err := p.run(ctx, t, func() { began = machine.Now() })
		if !began.IsZero() && machine.Now().Sub(began) > leadPause {
			away.Ended()
		}
		if errors.Is(err, errFenced) {
			t.end()
		}
		if ctx.Err() != nil {
			break
		}
		var bad *poison
		if !errors.As(err, &bad) {
			if tell, _ := away.Failed(); tell {
				p.r.logger.WarnContext(ctx, "process interrupted", "process", p.name, "error", err)
			}
			loop.Sleep(ctx, leadPause)
			continue
		}
		p.r.logger.ErrorContext(ctx, "process stopped", "process", p.name, "position", p.track.low(), "error", err,
			"stack", stackOf(err))
		_, _ = p.r.cfg.DB.Owner.Exec(ctx, p.r.sql(`update {schema}.processes set error = $2 where name = $1`), p.name,
			shown(err))
		p.show(StateStopped, err.Error()) // last, so that a reader who sees it here finds it in the table too
		if p.unknown.Store(errors.Is(err, errUnknown)); !p.unknown.Load() {
			loop.Wait(ctx, p.retry)
			continue
		}
		// A program that knows the type shall lead. If there is none, this one goes on with its other processes.
		loop.WaitFor(ctx, p.retry, p.patience.Next())
		t.end()
		return
	}
	if !p.unknown.Load() {
		p.show(StateWaiting, "")
	}
}

// round is one run of a process, from its start or restart to a failure or the end of the leadership.
type round struct {
	*process
	term     *term
	lanes    lanes
	outbox   outbox
	gather   gatherer
	flight   flight
	liveFrom uint64                  // outputs of events up to this position are suppressed
	caughtUp uint64                  // timers fire once all events up to this position are taken
	fail     context.CancelCauseFunc // ends the round; the first error counts
	loops    *loop.Group             // ends with the round
}

// run drives the process until a part fails or ctx ends, and stops all parts before it returns. It calls begins once
// it is loaded, which can take long and fail, too.
func (p *process) run(ctx context.Context, t *term, begins func()) error {
	from, err := p.load(ctx)
	if err != nil {
		return err
	}
	begins()
	checkpoint, liveFrom := from.checkpoint, from.liveFrom
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	p.track.reset(checkpoint, from.mark)
	d := &round{
		process: p, term: t, liveFrom: liveFrom, caughtUp: max(liveFrom, p.r.cfg.Feed.Head()), fail: fail,
		loops:  loop.Within(ctx, p.r.logger),
		flight: flight{keys: map[string]*flying{}, landed: make(chan struct{}, 1)},
	}
	d.outbox.init(d)
	d.gather.round = d
	p.show(StateRunning, "")
	if checkpoint < liveFrom {
		p.show(StateHistory, "")
	}
	d.part("route", func(ctx context.Context) error { return d.route(ctx, checkpoint) })
	d.part("schedule", d.schedule)
	d.part("requests", d.takeRequests)
	d.outbox.start()
	d.loops.Go("checkpoint", func(ctx context.Context) { d.keepCheckpoint(ctx, checkpoint) })
	<-ctx.Done()
	d.loops.Stop()
	return context.Cause(ctx)
}

// part runs a part of the round, whose end ends the round.
func (d *round) part(name string, run func(ctx context.Context) error) {
	d.loops.Go(name, func(ctx context.Context) { d.fail(guarded(func() error { return run(ctx) })) })
}

// guarded calls a part of a round and turns a panic into poison: continuing without the part, or repeating it in
// silence, could lose the input it was working on.
func guarded(part func() error) error {
	err := loop.Try(part)
	if stack := loop.StackOf(err); stack != "" {
		return &poison{error: err, stack: stack}
	}
	return err
}

// checkpointSQL stores the low-water mark and deletes ended instances whose last event lies before it. It changes
// nothing in a term that is over.
const checkpointSQL = `
with fence as (select from {schema}.leader where epoch = $3 for share),
moved as (update {schema}.processes set checkpoint = $2, mark = $4 from fence where name = $1 and checkpoint < $2)
delete from {schema}.instances using fence
where process = $1 and ended and error = '' and greatest(last_position, quiet) <= $2`

// keepCheckpoint stores the low-water mark every checkpointRound and once more at the end. It also ends StateHistory.
func (d *round) keepCheckpoint(ctx context.Context, saved uint64) {
	save := func(ctx context.Context) {
		low, at := d.track.checkpoint()
		if low > saved {
			//nolint:gosec // positions fit
			if _, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(checkpointSQL), d.name, int64(low), d.term.epoch,
				at); err == nil {
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
