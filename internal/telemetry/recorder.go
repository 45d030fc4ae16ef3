package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

const (
	groupSize      = 2000             // reports in one transaction
	mostPending    = 200_000          // reports that wait for their group
	commitPatience = 3 * time.Second  // after which the database counts as away for reports that have just come
	spoolPatience  = 30 * time.Second // the same for reports of the spool, for which no router waits
	usualSpool     = 4 << 30          // bytes
)

// Config has the parts and settings of a recorder.
type Config struct {
	Store      *Store
	Directory  Directory
	SpoolDir   string // where reports are kept while the database is away; one program at a time has it
	SpoolLimit int64  // bytes, after which reports are refused; 0 = 4 GiB
	// Used is told what usage has come to after each commit that changed it; nil = nobody. It must not block for long.
	// What a kill withholds comes again with the next report, since totals are told.
	Used func([]Used)
	// Heard is told each report when it is durable. At the start it is told again what the spool has, because a kill
	// can have lost what followed from it. nil = nobody. It must not block for long.
	Heard  func(Report)
	Clock  clock.Clock  // by which reports have their instants; its jumps are noticed. nil = it never jumps
	Live   *Live        // is told which sessions have changed; nil = nobody
	Logger *slog.Logger // nil discards
}

// Recorder makes reports durable, in groups: in the database, or in the spool while the database is away. Reports of
// the spool are committed in order, and before newer ones. Safe for concurrent use.
type Recorder struct {
	cfg    Config
	loops  *loop.Group
	wake   chan struct{}
	behind chan struct{}     // signalled when the spool has reports
	spool  *spool            // nil before the start
	jumps  *clock.Jumps      // of our clock; nil = nobody looks
	step   func(name string) // between two steps; tests stop there

	spoolPatience time.Duration // tests have less
	spoolGroup    int           // reports of the spool in the next transaction, at most groupSize; at least 1

	mu      sync.Mutex
	waiting []pending
	status  Status
}

// Status is the condition of a recorder.
type Status struct {
	SpoolBytes int64  // on the disk, waiting for the database
	Dropped    uint64 // reports since the start that the database refused for themselves
	Fault      string // why the latest reports are not durable, so that routers repeat them; "" = they are
}

// pending is a report and who waits for it.
type pending struct {
	report Report
	done   func(durable bool)
}

// NewRecorder makes a recorder without starting it.
func NewRecorder(cfg Config) *Recorder {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.SpoolLimit == 0 {
		cfg.SpoolLimit = usualSpool
	}
	if cfg.Heard == nil {
		cfg.Heard = func(Report) {}
	}
	var jumps *clock.Jumps
	if cfg.Clock != nil {
		jumps = clock.NewJumps(cfg.Clock)
		cfg.Directory.Jumps = jumps.Sums
	}
	return &Recorder{
		jumps: jumps, cfg: cfg, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1),
		behind: make(chan struct{}, 1), step: func(string) {}, spoolPatience: spoolPatience, spoolGroup: groupSize,
	}
}

// Start opens the spool and begins to commit, what the spool has first. It fails when the spool cannot be opened.
func (r *Recorder) Start(ctx context.Context) error {
	return r.loops.Start(ctx, func(ctx context.Context) error {
		spool, err := r.openSpool(ctx)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.spool = spool
		r.mu.Unlock()
		loop.Wake(r.behind)
		r.loops.Go("accounting", func(ctx context.Context) {
			for loop.Wait(ctx, r.wake) {
				for group := r.next(); len(group) > 0; group = r.next() {
					r.record(ctx, group)
				}
			}
		})
		r.loops.Go("accounting spool", func(ctx context.Context) {
			for loop.Wait(ctx, r.behind) {
				r.catchUp(ctx)
			}
		})
		return nil
	})
}

// openSpool takes the file of the spool for this recorder, and has its reports told to Heard.
func (r *Recorder) openSpool(ctx context.Context) (*spool, error) {
	s := &spool{limit: r.cfg.SpoolLimit, logger: r.cfg.Logger, step: r.step, heard: r.cfg.Heard}
	return s, s.open(ctx, r.cfg.SpoolDir)
}

// Stop ends the commits. Reports that still wait are refused: their routers repeat them.
func (r *Recorder) Stop() {
	r.loops.Stop()
	r.mu.Lock()
	rest := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	finish(rest, false)
	if r.spool != nil {
		r.spool.close()
	}
}

// Spooled reports whether reports wait on the disk for the database.
func (r *Recorder) Spooled() bool { return !r.spool.empty() }

// Status gives the present condition.
func (r *Recorder) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	status := r.status
	if r.spool != nil {
		status.SpoolBytes = r.spool.bytes()
	}
	return status
}

// note changes the condition.
func (r *Recorder) note(change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}

// Record takes a report and returns at once. Later it calls done, from any goroutine, once: with true when the report
// is durable, with false when it will not be.
func (r *Recorder) Record(report Report, done func(durable bool)) {
	r.mu.Lock()
	full := len(r.waiting) >= mostPending
	if !full {
		r.waiting = append(r.waiting, pending{report, done})
	}
	r.mu.Unlock()
	if full {
		done(false)
		return
	}
	loop.Wake(r.wake)
}

// next takes the oldest reports that wait, as many as fit into a group.
func (r *Recorder) next() []pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.waiting), groupSize)
	group := r.waiting[:n:n]
	if r.waiting = r.waiting[n:]; len(r.waiting) == 0 {
		r.waiting = nil
	}
	return group
}

// record makes one group durable and answers it. Behind older reports in the spool it goes there, too.
func (r *Recorder) record(ctx context.Context, group []pending) {
	finished := false
	defer func() {
		if !finished { // a panic
			finish(group, false)
		}
	}()
	reports := withoutWaiters(group)
	durable, fault := r.spool.empty() && r.commit(ctx, reports, commitPatience) == nil, ""
	if !durable {
		if err := r.spool.append(reports); err != nil {
			fault = err.Error()
			r.cfg.Logger.Error("accounting is not durable, routers will repeat it", slog.String("error", err.Error()),
				slog.Int("reports", len(group)))
		} else {
			durable = true
			loop.Wake(r.behind)
		}
	}
	r.note(func(s *Status) { s.Fault = fault })
	r.step("durable")
	if durable {
		for _, report := range reports {
			r.cfg.Heard(report)
		}
	}
	finished = true
	finish(group, durable)
}

// commit writes reports to the database, and fails when it is away or does not answer within the patience. A report
// that cannot be stored is dropped: repeats of it would end in the same way.
func (r *Recorder) commit(ctx context.Context, reports []Report, patience time.Duration) error {
	r.step("before commit")
	err := r.try(ctx, reports, patience)
	r.step("committed")
	switch {
	case err == nil:
		return nil
	case away(err):
		r.cfg.Logger.Warn("accounting waits for the database", slog.String("error", err.Error()),
			slog.Int("reports", len(reports)))
		return err
	case len(reports) == 1:
		r.note(func(s *Status) { s.Dropped++ })
		r.cfg.Logger.Error("accounting report dropped", slog.String("error", err.Error()),
			slog.String("device_id", reports[0].Device.String()))
		return nil
	}
	half := len(reports) / 2
	if err := r.commit(ctx, reports[:half], patience); err != nil {
		return err
	}
	return r.commit(ctx, reports[half:], patience)
}

// catchUp takes the reports of the spool, the oldest first, until there are none.
func (r *Recorder) catchUp(ctx context.Context) {
	pause := loop.Backoff{Min: 200 * time.Millisecond, Max: 5 * time.Second}
	for !r.spool.empty() && ctx.Err() == nil {
		if err := r.takeGroup(ctx); err == nil {
			pause.Reset()
		} else if !pause.Wait(ctx) {
			return
		}
	}
}

// takeGroup commits the oldest reports of the spool and forgets them. A database can be too slow for a group: after a
// time-out the next group has half of the reports, and after a success an eighth more.
func (r *Recorder) takeGroup(ctx context.Context) error {
	reports, behind, err := r.spool.next(r.spoolGroup)
	if err == nil && len(reports) > 0 {
		if err := r.commit(ctx, reports, r.spoolPatience); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				r.spoolGroup = max(len(reports)/2, 1)
			}
			return err
		}
		r.spoolGroup = min(r.spoolGroup+r.spoolGroup/8+1, groupSize)
	}
	if err == nil {
		r.step("caught up")
		err = r.spool.taken(behind)
	}
	if err != nil {
		r.cfg.Logger.Error("accounting spool", slog.String("error", err.Error()))
		return err
	}
	r.step("taken")
	return nil
}

// try commits reports within the patience.
func (r *Recorder) try(ctx context.Context, reports []Report, patience time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r.jumps != nil {
		r.jumps.Look()
	}
	done, err := r.cfg.Store.Commit(limited, r.cfg.Directory, reports)
	if err != nil {
		if cause := limited.Err(); cause != nil && !errors.Is(err, cause) { // the connection was closed by it
			err = errors.Join(err, cause)
		}
		return err
	}
	if r.cfg.Live != nil {
		r.cfg.Live.Observe(done)
	}
	if len(done.Used) > 0 && r.cfg.Used != nil {
		r.cfg.Used(done.Used)
	}
	return nil
}

// away reports whether a failed commit says nothing about its reports.
func away(err error) bool {
	return errors.Is(err, postgres.ErrPassing) || postgres.Away(err) || errors.Is(err, context.DeadlineExceeded)
}

// withoutWaiters drops who waits for the reports.
func withoutWaiters(group []pending) []Report {
	list := make([]Report, len(group))
	for i, p := range group {
		list[i] = p.report
	}
	return list
}

// finish tells those who wait.
func finish(group []pending, durable bool) {
	for _, p := range group {
		p.done(durable)
	}
}
