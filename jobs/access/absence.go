package accessjobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Times of the gate of cuts, by the clocks of the machine and of the database
// (docs/rules/access-dunning.md#cuts-wait-for-money).
const (
	lookEvery = time.Second
	lookLimit = 5 * time.Second
	// staleAfter is the age of the newest sign that money can be taken from which on nobody is cut. It is shorter than
	// absentFor, so that nobody is between the end of an absence and its record.
	staleAfter = 3 * time.Minute
	// silentAfter is the age of a program's newest sign from which on nobody knows what is on its disk.
	silentAfter = 3 * beatEvery
	// settlePatience is how long cuts wait for money that may come to be counted yet: from the return of the database,
	// and from the moment at which a program fell silent.
	settlePatience = 10 * time.Minute
)

// AbsenceConfig has what Absence needs. Every field is required.
type AbsenceConfig struct {
	Presence *vault.Presence
	// Program is the name of this program in the presence; "" = it keeps no callbacks.
	Program string
	// Kept is how many callbacks have ever waited on this program's disk since its start, and how many wait now, both
	// with those that are being written.
	Kept func() (ever, waiting int64)
	// Written reports whether the database takes writes, as far as is known.
	Written func() bool
	Views   *runner.Views
	Clock   clock.Clock
	// Record executes a command.
	Record func(ctx context.Context, c commands.RecordAbsence, meta commands.Meta) error
	// Owed reports whether a genuine callback in the inbox waits to be handled.
	Owed func(ctx context.Context) (bool, error)
	// Untaken reports whether a genuine callback of a time is in the inbox and nobody could handle it.
	Untaken func(ctx context.Context, after, until time.Time) (bool, error)
	// Position is the end of the log, and the number of the newest command of a process.
	Position func(ctx context.Context) (position uint64, command int64, err error)
	// Passed reports whether processes, and the jobs about money and faults, are done with everything up to there.
	Passed func(ctx context.Context, position uint64, command int64) (bool, error)
	Logger *slog.Logger
}

// Absence is the gate of cuts of a program that drives processes. It records when no program of the platform could take
// money, and keeps reviews from cutting anybody until that, and the money that the provider has told to any program, is
// counted. The gate is shut at the beginning. Safe for concurrent use.
type Absence struct {
	cfg   AbsenceConfig
	base  clock.Clock
	loops *loop.Group
	wake  chan struct{}

	mu      sync.Mutex
	seen    vault.Seen // the newest one
	looked  time.Time  // of that, by the machine's clock; zero before the first
	open    bool
	shutAt  time.Time // by the machine's clock, when the gate is not open
	since   time.Time // the first look after it was shut, by the machine's clock; zero = there was none yet
	back    time.Time // the same instant by the database's clock: each program must have given a sign of life since
	doubts  int       // how often somebody has told that it must be shut
	counted int64     // callbacks that were on this program's disk and are counted, or for which patience is over
	// late has the ends of absences for which cuts do not wait any more, although some organizations cannot be told.
	late map[time.Time]bool

	told       map[time.Time]map[id.Organization]bool // who was told, by the end of the absence; only work uses it
	triedLate  time.Time                              // when the late ones were tried again; only work uses it
	complained map[string]time.Time                   // when a message was logged last; only work uses it
}

// NewAbsence makes it; Start begins.
func NewAbsence(cfg AbsenceConfig) *Absence {
	base := clock.Base(cfg.Clock)
	return &Absence{
		cfg: cfg, base: base, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1), shutAt: base.Now(),
		late: map[time.Time]bool{}, told: map[time.Time]map[id.Organization]bool{}, complained: map[string]time.Time{},
	}
}

// Start begins to look.
func (a *Absence) Start(ctx context.Context) error {
	return a.loops.Start(ctx, func(context.Context) error {
		a.loops.Go("absence", a.work)
		return nil
	})
}

// Stop ends the work.
func (a *Absence) Stop() { a.loops.Stop() }

// MayCut reports whether reviews may cut customers now. It asks no database.
func (a *Absence) MayCut() bool {
	ever, _ := a.cfg.Kept()
	written := a.cfg.Written()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open && (ever != a.counted || !written) {
		a.doubt()
	}
	return a.open && !a.stale()
}

// Lost is told that the processes begin to work, that this program had no database for a moment, or that it has lost
// the lead of the processes: somebody may have paid meanwhile, and his callback may wait on the disk of any program.
func (a *Absence) Lost() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.doubt()
}

// Waiting is for how long nobody has been cut; 0 = cuts go on.
func (a *Absence) Waiting() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.open:
		return a.base.Now().Sub(a.shutAt)
	case a.stale():
		return a.age() - staleAfter
	}
	return 0
}

// doubt shuts the gate of cuts. The time for which they wait begins with the next look. The lock is held.
func (a *Absence) doubt() {
	a.shut()
	a.since, a.back = time.Time{}, time.Time{}
	a.doubts++
	loop.Wake(a.wake)
}

// shut shuts the gate of cuts. The lock is held.
func (a *Absence) shut() {
	if a.open {
		a.open, a.shutAt = false, a.base.Now()
	}
}

// stale reports whether no program has told for long that it can take money. Before the first one ever nobody could
// pay. The lock is held.
func (a *Absence) stale() bool { return !a.seen.At.IsZero() && a.age() >= staleAfter }

// age is the time since the newest sign that a program can take money. One from the future, which there is after the
// database's clock was put back, is as old as it is early. The lock is held.
func (a *Absence) age() time.Duration {
	return a.seen.Now.Sub(a.seen.At).Abs() + a.base.Now().Sub(a.looked)
}

// work looks, and opens the gate when everything is counted, until ctx ends.
func (a *Absence) work(ctx context.Context) {
	for ctx.Err() == nil {
		a.round(ctx)
		loop.WaitFor(ctx, a.wake, lookEvery)
	}
}

// round looks once, and does what can be done now.
func (a *Absence) round(ctx context.Context) {
	err := a.look(ctx)
	if err == nil {
		err = a.settle(ctx)
	}
	if err == nil {
		err = a.recordLate(ctx)
	}
	a.complain(ctx, err)
}

// errUnwritten says that the database answers and takes no writes.
var errUnwritten = errors.New("the database takes no writes")

// look reads the presence of all programs.
func (a *Absence) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	a.mu.Lock()
	doubts := a.doubts
	a.mu.Unlock()
	seen, err := a.cfg.Presence.Read(ctx)
	if err == nil && !a.cfg.Written() {
		err = errUnwritten
	}
	untaken := false
	if err == nil {
		now := a.cfg.Clock.Now()
		untaken, err = a.cfg.Untaken(ctx, now.Add(-settlePatience), now.Add(-silentAfter))
	}
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.shut()
		a.since, a.back = time.Time{}, time.Time{}
		return err
	}
	a.seen, a.looked = seen, a.base.Now()
	begins := a.since.IsZero() && doubts == a.doubts
	if a.open && (untaken || len(a.unrecorded()) > 0 || len(a.awaited()) > 0 || ever != a.counted) {
		a.shut()
		begins = true
	}
	if begins {
		a.since, a.back = a.looked, seen.Now
	}
	if untaken && !a.since.IsZero() {
		a.since = a.looked // patience begins when somebody handles the inbox again
	}
	return nil
}

// unrecorded gives the absences for which cuts wait. The lock is held.
func (a *Absence) unrecorded() (list []vault.Absence) {
	for _, away := range a.seen.Absences {
		if !a.late[away.Until] {
			list = append(list, away)
		}
	}
	return list
}

// awaited gives the programs for which cuts wait: callbacks are on their disks, or nobody knows whether any are. The
// lock is held.
func (a *Absence) awaited() (list []vault.ProgramBeat) {
	for _, p := range a.seen.Programs {
		from, missing := a.missing(p)
		if !missing {
			from = p.Since
		}
		if (missing || a.elsewhere(p) && p.Kept > 0) && !a.over(from) {
			list = append(list, p)
		}
	}
	return list
}

// gone gives the programs that have been missing for so long that nobody waits for them. The lock is held.
func (a *Absence) gone() (list []vault.ProgramBeat) {
	for _, p := range a.seen.Programs {
		if from, missing := a.missing(p); missing && a.over(from) {
			list = append(list, p)
		}
	}
	return list
}

// missing reports whether nobody knows what is on the disk of another program, and since when: it is silent, or has
// stopped and may be back without its database. One that stopped before it could take money has only tried to start.
// The lock is held.
func (a *Absence) missing(p vault.ProgramBeat) (since time.Time, missing bool) {
	if p.Stopped {
		return p.Served, a.elsewhere(p)
	}
	silent := p.At.Before(a.back) || a.seen.Now.Sub(p.At).Abs() > silentAfter
	return p.At, silent && a.elsewhere(p)
}

// elsewhere reports whether a program is not this one, which knows its own disk.
func (a *Absence) elsewhere(p vault.ProgramBeat) bool { return p.Program != a.cfg.Program }

// over reports whether cuts have waited long enough for what goes on since an instant of the database's clock. The lock
// is held.
func (a *Absence) over(from time.Time) bool {
	return !a.since.IsZero() && a.looked.Sub(a.since) >= settlePatience && a.seen.Now.Sub(from).Abs() >= settlePatience
}
