package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

const (
	groupSize      = 2000             // reports in one transaction
	directSize     = 16               // reports of a group that is committed without the spool, at most
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
	SpoolLimit int64  // bytes, shared by the organizations as fair.Room does; 0 = 4 GiB
	// Used is told what usage has come to after each commit that changed it; nil = nobody. It must not block for long.
	// What a kill withholds comes again with the next report, since totals are told.
	Used func([]Used)
	// Heard is told each report when it is durable. At the start it is told again what the spool has, because a kill
	// can have lost what followed from it. nil = nobody. It must not block for long.
	Heard func(Report)
	// Began is told each start when its session is in the tables, which can be some time after it was acknowledged. nil
	// = nobody. Commits wait for it.
	Began  func(Report)
	Clock  clock.Clock  // by which reports have their instants; its jumps are noticed. nil = the system's, unnoticed
	Live   *Live        // is told which sessions have changed; nil = nobody
	Logger *slog.Logger // nil discards
}

// Recorder makes reports durable, in groups: in the database, or in the spool while the database is away or slower than
// the reports come. Groups, and what the database takes from the spool, are made of the reports of all organizations in
// turn, and none can have so many reports waiting, or in the spool, that no others can be taken. Reports of one
// organization are committed in order. Safe for concurrent use.
type Recorder struct {
	cfg   Config
	loops *loop.Group
	wake  chan struct{}
	drain chan struct{} // signalled when the spool has reports
	// answers has the group that is durable and waits for the answers to the one before.
	answers chan answers
	spool   *spool                                                                // nil before the start
	jumps   *clock.Jumps                                                          // of our clock; nil = nobody looks
	step    func(name string)                                                     // between two steps; tests stop there
	rest    func(ctx context.Context, more <-chan struct{}, d time.Duration) bool // until more comes; nil = d whole

	spoolPatience time.Duration // tests have less
	direct        int           // directSize; tests have less
	spoolFile     int64         // bytes of a segment of the spool; 0 = as usual; tests have less
	spoolGroup    int           // reports of the spool in the next transaction, at most groupSize; at least 1

	pace   clock.Clock // of our clock, so that waiting and pauses stay what they are when somebody sets the machine's
	seldom seldom      // for refusals
	unfit  seldom      // for reports that cannot be stored
	stuck  seldom      // for organizations whose reports the database refuses for another reason

	mu      sync.Mutex
	waiting fair.Rota[pending]
	room    fair.Room                // of reports that wait
	refused map[id.Organization]bool // of which a report was refused since somebody asked
	status  Status
	panics  seldom // of what reports lead to
	crowded seldom // for routers with too many sessions
	odd     seldom // for routers whose counters fall
	thinned seldom // for subscriptions with too many sessions

	rush atomic.Uint64 // groups so far that were too large to be committed at once
}

// Status is the condition of a recorder.
type Status struct {
	SpoolBytes int64         // of reports that wait for the database
	SpoolDisk  int64         // bytes that the spool has on the disk, with those that are taken and what it keeps free
	Behind     time.Duration // for which the oldest report of the spool waits
	Dropped    uint64        // reports since the start that the database refused for themselves
	Crowded    uint64        // reports since the start that were dropped, because there are as many sessions as may be
	Odd        uint64        // reports since the start with a counter that was lower without reason, and was left out
	Thinned    uint64        // sessions since the start that were deleted, because many of one customer began
	Refused    Refused
	Fault      string // why none of the latest reports is durable, so that routers repeat them; "" = some are
}

// Refused counts the reports since the start that were not made durable, so that routers repeat them.
type Refused struct {
	Waiting uint64 // as many reports of the organization wait as may
	Spool   uint64 // the organization has its share of the spool
	Disk    uint64 // the spool could not be written
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
	if cfg.Began == nil {
		cfg.Began = func(Report) {}
	}
	var jumps *clock.Jumps
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	} else {
		jumps = clock.NewJumps(cfg.Clock)
		cfg.Directory.Jumps = jumps.Sums
	}
	cfg.Directory.Now = cfg.Clock.Now
	return &Recorder{
		refused: map[id.Organization]bool{},
		pace:    clock.Pace(cfg.Clock), room: fair.Room{Capacity: mostPending}, jumps: jumps, cfg: cfg,
		loops: loop.New(cfg.Logger),
		wake:  make(chan struct{}, 1),
		drain: make(chan struct{}, 1), answers: make(chan answers, 1), step: func(string) {},
		rest:          loop.WaitFor,
		spoolPatience: spoolPatience,
		spoolGroup:    groupSize,
		direct:        directSize,
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
		loop.Wake(r.drain)
		r.loops.Go("accounting", func(ctx context.Context) {
			for loop.Wait(ctx, r.wake) {
				for group := r.next(); len(group) > 0; group = r.next() {
					r.record(ctx, group)
				}
			}
		})
		r.loops.Go("accounting answers", func(ctx context.Context) {
			for {
				select {
				case group := <-r.answers:
					r.answer(group)
				case <-ctx.Done():
					return
				}
			}
		})
		r.loops.Go("accounting spool", func(ctx context.Context) {
			for loop.Wait(ctx, r.drain) {
				r.catchUp(ctx)
			}
		})
		return nil
	})
}

// openSpool takes the spool for this recorder, and has its reports told to Heard.
func (r *Recorder) openSpool(ctx context.Context) (*spool, error) {
	s := &spool{
		limit: r.cfg.SpoolLimit, segment: r.spoolFile, logger: r.cfg.Logger, step: r.step, pace: r.pace,
		heard: func(one Report) { r.guard(one.Org, func() { r.cfg.Heard(one) }) },
	}
	return s, s.open(ctx, r.cfg.SpoolDir)
}

// Stop ends the commits. Reports that still wait are refused: their routers repeat them.
func (r *Recorder) Stop() {
	r.loops.Stop()
	select {
	case group := <-r.answers:
		r.answer(group)
	default:
	}
	for rest := r.next(); len(rest) > 0; rest = r.next() {
		refuse(rest)
	}
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
		status.SpoolBytes, status.Behind = r.spool.bytes(), r.behind()
		status.SpoolDisk = r.spool.journal.Disk()
	}
	return status
}

// behind is for how long the oldest report of the spool waits.
func (r *Recorder) behind() time.Duration {
	since := r.spool.behind()
	if since.IsZero() {
		return 0
	}
	return r.pace.Now().Sub(since)
}

// Waits gives for how long the oldest report of each organization waits in the spool; who is not in it has none there.
func (r *Recorder) Waits() map[id.Organization]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	waits := map[id.Organization]time.Duration{}
	if r.spool != nil {
		now := r.pace.Now()
		for org, since := range r.spool.waits() {
			waits[org] = now.Sub(since)
		}
	}
	return waits
}

// TurnedAway gives the organizations of which a report was refused since the call before. The keeper asks.
func (r *Recorder) TurnedAway() map[id.Organization]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.refused
	r.refused = map[id.Organization]bool{}
	return list
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
	taken := r.room.Take(report.Org, 1)
	if taken {
		r.waiting.Add(report.Org, pending{report, done})
	} else {
		r.status.Refused.Waiting++
		r.refused[report.Org] = true
	}
	r.mu.Unlock()
	if !taken {
		done(false)
		return
	}
	loop.Wake(r.wake)
}

// next takes reports that wait, by organizations in turn, as many as fit into a group. Those of one organization are
// behind each other.
func (r *Recorder) next() []pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	var group []pending
	for len(group) < groupSize {
		org, p, ok := r.waiting.Next(nil)
		if !ok {
			break
		}
		r.room.Give(org, 1)
		group = append(group, p)
	}
	slices.SortStableFunc(group, func(a, b pending) int {
		return slices.Compare(a.report.Org[:], b.report.Org[:])
	})
	return group
}

// atOnce commits reports that have just come, and reports whether they are stored.
func (r *Recorder) atOnce(ctx context.Context, reports []Report) bool {
	began := r.pace.Now()
	if r.commit(ctx, reports, commitPatience) != nil {
		return false
	}
	r.spool.used(false, r.pace.Now().Sub(began))
	return true
}
