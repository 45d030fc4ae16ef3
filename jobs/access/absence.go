package accessjobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Times of the platform's presence, by the clocks of the machine and of the database
// (docs/rules/access-dunning.md#no-fault-grace).
const (
	beatEvery  = 10 * time.Second
	beatAgain  = time.Second // after a failure, while cuts wait, and while callbacks are on the disk
	beatLimit  = 5 * time.Second
	leaveLimit = 2 * time.Second // of the last statement of a program that stops
	// absentFor is the gap between two beats that is an absence. It is as long as an outage of the provider must be,
	// and no restart takes that long.
	absentFor = awayFor
	// staleAfter is the age of the newest beat from which on nobody is cut. It is shorter than absentFor, so that
	// nobody is between the end of an absence and its record.
	staleAfter = 3 * time.Minute
	// silentAfter is the age of a program's newest beat from which on nobody knows what is on its disk.
	silentAfter = 3 * beatEvery
	// settlePatience is how long cuts wait, after the database is back, for money that may come to be counted yet.
	settlePatience = 10 * time.Minute
)

// AbsenceConfig has what Absence needs. Every field is required, those about what it takes only where Takes is set.
type AbsenceConfig struct {
	// Takes says that this program takes money; otherwise it only reads what the others note.
	Takes bool
	// Program is the name of this program in the presence, the same after a restart.
	Program string
	// Kept is how many callbacks have ever waited on this program's disk since its start, and how many wait now. The
	// first number has grown before the second one does.
	Kept func() (ever, waiting int64)
	// Settles says that this program drives processes, so it records absences and finds out when they are settled.
	Settles  bool
	Workers  Workers // Bus, Views, Clock and Outage
	Presence *vault.Presence
	// Owed reports whether a genuine callback in the inbox waits to be handled.
	Owed func(ctx context.Context) (bool, error)
	// Position is the end of the log, and the number of the newest command of a process.
	Position func(ctx context.Context) (position uint64, command int64, err error)
	// Passed reports whether processes, and the jobs about money and faults, are done with everything up to there.
	Passed func(ctx context.Context, position uint64, command int64) (bool, error)
	Logger *slog.Logger
}

// Absence notices when no program of the platform could take money, records it as a time in which customers could not
// pay, and keeps reviews from cutting anybody until that, and the money of that time on the disks of all programs, is
// counted. Safe for concurrent use.
type Absence struct {
	cfg     AbsenceConfig
	base    clock.Clock
	loops   *loop.Group
	beats   chan struct{} // wakes the loop that looks
	settles chan struct{} // wakes the loop that settles

	mu      sync.Mutex
	seen    vault.Beat    // the newest one
	looked  time.Time     // of that, by the machine's clock; zero before the first
	ever    int64         // callbacks that had ever waited on this program's disk then
	waiting int64         // that waited there then
	shut    bool          // nobody is cut
	since   time.Time     // the database has been back since then; zero = it is not, as far as is known
	back    time.Time     // the same instant by the database's clock: each program must have given a sign of life since
	losses  int           // of the database, and whatever else makes the wait begin anew
	late    vault.Absence // for which cuts do not wait any more, although some organizations could not be told
	counted int64         // callbacks that were on this program's disk and are counted, or for which patience is over
}

// NewAbsence makes it; Start begins.
func NewAbsence(cfg AbsenceConfig) *Absence {
	if !cfg.Takes {
		cfg.Kept = func() (int64, int64) { return 0, 0 }
	}
	return &Absence{
		cfg: cfg, base: clock.Base(cfg.Workers.Clock), loops: loop.New(cfg.Logger),
		beats: make(chan struct{}, 1), settles: make(chan struct{}, 1),
	}
}

// Start notes the program's presence before it returns, so that processes that start afterwards cut nobody before
// StartSettling.
func (a *Absence) Start(ctx context.Context) error {
	return a.loops.Start(ctx, func(ctx context.Context) error {
		if err := a.look(ctx); err != nil {
			return err
		}
		a.loops.Go("presence", a.beat)
		return nil
	})
}

// StartSettling begins to find out when cuts may go on. It comes once, after the processes were started, whose tables
// are read for that.
func (a *Absence) StartSettling() {
	if a.cfg.Settles {
		a.loops.Go("absence", a.settleAll)
	}
}

// Stop ends the work. It comes after the last callback was taken: a program that leaves none on its disk tells the
// others that nobody has to wait for it.
func (a *Absence) Stop() {
	a.loops.Stop()
	a.mu.Lock()
	begun := !a.looked.IsZero()
	a.mu.Unlock()
	if _, waiting := a.cfg.Kept(); !a.cfg.Takes || !begun || waiting > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	if err := a.cfg.Presence.Leave(ctx, a.cfg.Program); err != nil {
		a.cfg.Logger.WarnContext(ctx, "cuts may wait for this program, which has stopped", "error", err)
	}
}

// MayCut reports whether reviews may cut customers now. It asks no database.
func (a *Absence) MayCut() bool {
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	if ever != a.counted && !a.shut {
		a.shutAgain()
	}
	return !a.shut && !a.looked.IsZero() && (a.seen.At.IsZero() || a.age() < staleAfter)
}

// Lost is told that this program had no database or no event store for a moment, or has lost the lead of the processes:
// somebody may have paid meanwhile, and his callback may wait in the inbox or on the disk of any program.
func (a *Absence) Lost() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shutAgain()
}

// shutAgain shuts the gate of cuts. The time for which they wait begins with the next look. The lock is held.
func (a *Absence) shutAgain() {
	a.shut, a.since, a.back = true, time.Time{}, time.Time{}
	a.losses++
	loop.Wake(a.beats)
}

// age is the time since the newest sign of life of any program. One from the future, as there is after the database's
// clock was put back, is as old as it is early. The lock is held.
func (a *Absence) age() time.Duration {
	return a.seen.Now.Sub(a.seen.At).Abs() + a.base.Now().Sub(a.looked)
}

// beat looks until ctx ends.
func (a *Absence) beat(ctx context.Context) {
	for ctx.Err() == nil {
		pause := beatEvery
		err := a.look(ctx)
		if err != nil || a.restless() {
			pause = beatAgain
		}
		if err != nil && ctx.Err() == nil {
			a.cfg.Logger.WarnContext(ctx, "presence of the platform is not known", "error", err)
		}
		loop.WaitFor(ctx, a.beats, pause)
	}
}

// restless reports whether others wait for what this program tells, or it waits for theirs.
func (a *Absence) restless() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting > 0 || a.shut && a.cfg.Settles
}

// look notes or reads the presence.
func (a *Absence) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatLimit)
	defer cancel()
	var b vault.Beat
	var err error
	a.mu.Lock()
	losses := a.losses
	a.mu.Unlock()
	ever, waiting := a.cfg.Kept()
	if a.cfg.Takes {
		own := vault.Beating{Program: a.cfg.Program, Kept: waiting, Now: a.base.Now()}
		b, err = a.cfg.Presence.Beat(ctx, own, absentFor, longest)
	} else {
		b, err = a.cfg.Presence.Read(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.shut, a.since, a.back = true, time.Time{}, time.Time{}
		return err
	}
	first := a.looked.IsZero()
	a.seen, a.looked, a.ever, a.waiting = b, a.base.Now(), ever, waiting
	unsettled := b.Away != (vault.Absence{}) && !b.Away.Until.Equal(a.late.Until)
	if unsettled || ever != a.counted || len(a.awaited()) > 0 || first && a.cfg.Settles {
		a.shut = true // at the start, too: callbacks may wait from before it, in the inbox or on other disks
	}
	if a.shut && a.since.IsZero() && losses == a.losses {
		a.since, a.back = a.looked, b.Now
		loop.Wake(a.settles)
	}
	return nil
}

// awaited gives the programs for which cuts wait: callbacks are on their disks, or nobody knows whether any are. For
// callbacks that stay there, as under a key that the program was not given, nobody waits longer than settlePatience.
// The lock is held.
func (a *Absence) awaited() []vault.ProgramBeat {
	var list []vault.ProgramBeat
	for _, p := range a.seen.Programs {
		if a.silent(p) || p.Kept > 0 && a.seen.Now.Sub(p.Since) < settlePatience {
			list = append(list, p)
		}
	}
	return list
}

// silent reports whether nobody knows what is on a program's disk, as in age. The lock is held.
func (a *Absence) silent(p vault.ProgramBeat) bool {
	return p.At.Before(a.back) || a.seen.Now.Sub(p.At).Abs() > silentAfter
}
