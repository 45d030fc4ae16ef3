package jobrunner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs"
)

// Options sets how often and how long a kind of job is tried. The zero value has usable defaults.
type Options struct {
	Queue string // "" = "default"
	// Timeout is the limit of one attempt; zero means 30 s. An attempt of a kind with a longer limit makes way when the
	// clock is moved: it is cancelled, and the job begins again afterwards with the same number of attempt.
	Timeout     time.Duration
	MaxAttempts int // zero means 10
	// Backoff gives the wait after the attempt of this number, from 1; nil = Doubling(1 s, 10 min).
	Backoff func(attempt int) time.Duration
	// Again has a request (commands.Asked) that comes while its job runs lead to one more run: what the job has looked
	// at by then may have changed before the request.
	Again bool
}

// Doubling makes a back-off that waits first after attempt 1, then twice as long each time, and never longer than most.
func Doubling(first, most time.Duration) func(attempt int) time.Duration {
	return func(attempt int) time.Duration {
		d := first
		for range attempt - 1 {
			if d >= most/2 {
				return most
			}
			d *= 2
		}
		return min(d, most)
	}
}

// Work makes one outside call. It may be called again with the same cause.JobID; its context ends with the attempt's
// time.
type Work[T commands.Job] func(ctx context.Context, args T, cause jobs.Cause) error

// AddWorker registers the worker of a kind of job. Call it before Start; a second worker of one kind makes Start fail.
func AddWorker[T commands.Job](r *Runner, work Work[T], opts Options) {
	var none T
	kind := none.Kind()
	if opts.Queue == "" {
		opts.Queue = river.QueueDefault
	}
	if opts.Timeout <= 0 {
		opts.Timeout = usualTimeout
	}
	if opts.MaxAttempts == 0 {
		opts.MaxAttempts = 10
	}
	if opts.Backoff == nil {
		opts.Backoff = Doubling(time.Second, 10*time.Minute)
	}
	r.kinds[kind] = opts
	if r.places[opts.Queue] == nil {
		r.places[opts.Queue] = newPlaces(r.cfg.Workers)
	}
	err := river.AddWorkerSafely(r.workers, &worker[T]{
		work: work, opts: opts, places: r.places[opts.Queue], clock: r.cfg.Clock, gate: r.cfg.Gate, ends: &r.ends,
		logger: r.logger.With("job", kind), freed: func(ctx context.Context) { r.lookAgain(ctx, opts.Queue) },
	})
	if err != nil {
		r.faults = append(r.faults, fmt.Errorf("register job %s: %w", kind, err))
	}
}

// Snooze is returned by a worker to be called again later without using up an attempt.
func Snooze(after time.Duration) error { return river.JobSnooze(max(after, 0)) }

// Snoozed reports whether an error is that of Snooze.
func Snoozed(err error) bool {
	var snooze *river.JobSnoozeError
	return errors.As(err, &snooze)
}

// GiveUp is returned by a worker when no further attempt can help. The job ends; err is logged.
func GiveUp(err error) error { return &givenUp{err} }

// givenUp marks an error as final, so that Work cancels the job instead of retrying it.
type givenUp struct{ error }

// Unwrap lets errors.As find the failure inside.
func (g *givenUp) Unwrap() error { return g.error }

// stored has the arguments as River keeps them. Only the id decides that two jobs are the same.
type stored[T commands.Job] struct {
	ID   id.Any `json:"id" river:"unique"`
	Args T      `json:"args"`
}

// Kind gives the kind of the job inside, which is River's key of the worker.
func (s stored[T]) Kind() string { return s.Args.Kind() }

// metadata is kept by River beside the arguments and has no part in uniqueness.
type metadata struct {
	Cause jobs.Cause `json:"cause"`
}

// worker adapts a Work to River's interface.
type worker[T commands.Job] struct {
	river.WorkerDefaults[stored[T]]
	work   Work[T]
	opts   Options
	places *places
	clock  clock.Clock
	gate   *clock.Gate
	ends   *ends
	logger *slog.Logger
	freed  func(context.Context) // called when a place was given back for which jobs may wait
}

// Timeout is the age at which River takes an attempt for one whose program was killed. An attempt that is alive ends
// before, at the limit of its kind: see attempt.
func (w *worker[T]) Timeout(*river.Job[stored[T]]) time.Duration {
	return w.opts.Timeout + rescueMargin
}

// NextRetry adds the back-off, at least 20 ms, to the time, which River's is too. For a time in the past River would
// apply its own policy.
func (w *worker[T]) NextRetry(job *river.Job[stored[T]]) time.Time {
	return w.clock.Now().Add(max(w.opts.Backoff(job.Attempt), 20*time.Millisecond))
}

// Work makes one attempt. The details of an error go to the log; River's row, which is kept for days, gets the failure
// code only.
func (w *worker[T]) Work(ctx context.Context, job *river.Job[stored[T]]) error {
	w.ends.forget(job.ID)
	var m metadata
	if err := json.Unmarshal(job.Metadata, &m); err != nil {
		return river.JobCancel(fmt.Errorf("metadata: %w", err))
	}
	cause := m.Cause
	cause.JobID, cause.Attempt, cause.Last = job.Args.ID, job.Attempt, job.Attempt >= job.MaxAttempts
	err := w.seated(ctx, job.Args.Args, cause)
	var final *givenUp
	var snooze *river.JobSnoozeError
	switch {
	case err == nil:
		w.ends.note(job.ID, time.Time{})
		return nil
	case errors.As(err, &snooze):
		w.ends.note(job.ID, w.clock.Now().Add(snooze.Duration))
		return err
	case errors.As(err, &final):
		w.logger.ErrorContext(ctx, "job given up", "job_id", cause.JobID, "attempt", cause.Attempt, "error", err)
		return river.JobCancel(errors.New(codeOf(err)))
	}
	w.logger.WarnContext(ctx, "job attempt failed", "job_id", cause.JobID, "attempt", cause.Attempt, "last", cause.Last,
		"error", err)
	return errors.New(codeOf(err))
}

// seated makes the attempt when the queue has a place for the organization and the device of the job, and snoozes
// otherwise; jobs of an organization that has its share are not even taken (turnsExecutor). Jobs that wait come back at
// different instants. While the clock is moved no job has a place.
func (w *worker[T]) seated(ctx context.Context, args T, cause jobs.Cause) error {
	leave, ok := w.gate.TryEnter()
	if !ok {
		return Snooze(shutPause)
	}
	defer leave()
	var device id.Device
	if about, ok := any(args).(commands.OnDevice); ok {
		device = about.Device()
	}
	s, spread := w.places.enter(cause.OrgID, device)
	if spread > 0 {
		return Snooze(busyPause + spread*time.Duration(cause.JobID.UUID()[15])/256)
	}
	machine := clock.Steady(clock.System())
	began := machine.Now()
	err := w.makingWay(ctx, args, cause)
	took := machine.Now().Sub(began)
	if w.places.leave(s, !Snoozed(err) || took > slow, err == nil && took <= slow) {
		w.freed(ctx)
	}
	return err
}

// makeWayAfter is how long an attempt that can make way may go on after the gate was shut. Most end by themselves in
// it.
const makeWayAfter = time.Second

// errMadeWay is the reason for which the context of an attempt ended that made way.
var errMadeWay = errors.New("the clock is moved")

// makingWay is attempt, which ends soon after the gate was shut if its kind may take longer than a move of the clock
// can wait. The job comes again when the gate is open, unless the attempt has succeeded or was given up.
func (w *worker[T]) makingWay(ctx context.Context, args T, cause jobs.Cause) error {
	if w.gate == nil || w.opts.Timeout <= usualTimeout {
		return w.attempt(ctx, args, cause)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		if loop.Wait(ctx, w.gate.Closing()) && loop.Sleep(ctx, makeWayAfter) {
			cancel(errMadeWay)
		}
	})
	err := w.attempt(ctx, args, cause)
	var final *givenUp
	if err != nil && !errors.As(err, &final) && errors.Is(context.Cause(ctx), errMadeWay) {
		return Snooze(shutPause)
	}
	return err
}

// attempt calls the work within the limit of its kind. A panic becomes the failure job_panicked; its stack goes to the
// log.
func (w *worker[T]) attempt(ctx context.Context, args T, cause jobs.Cause) (err error) {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			w.logger.ErrorContext(ctx, "job panicked", "job_id", cause.JobID, "panic", fmt.Sprint(v), "stack",
				string(debug.Stack()))
			err = failure.New(failure.Internal, "job_panicked", "The job stopped unexpectedly.")
		}
	}()
	return w.work(ctx, args, cause)
}

// codeOf gives the text for River's row: the failure's code, or "timeout", "cancelled" or "internal".
func codeOf(err error) string {
	switch code := failure.CodeOf(err); {
	case code != "":
		return code
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return "internal"
}
