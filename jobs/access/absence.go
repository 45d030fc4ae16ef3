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

// Times of the gate of cuts, by a clock that nobody sets (docs/rules/access-dunning.md#cuts-wait-for-money).
const (
	lookEvery = time.Second
	lookLimit = 5 * time.Second
	// staleAfter is the age of the newest sign that money can be taken from which on nobody is cut. It is shorter than
	// absentFor, so that nobody is between the end of an absence and its record.
	staleAfter = 3 * time.Minute
	// silentAfter is the age of a program's newest sign from which on nobody knows what is on its disk.
	silentAfter = 3 * beatEvery
	// settlePatience is how long cuts wait for one cause: a callback in the inbox, a program, or what an outage left to
	// be counted. Only time counts in which money could be counted.
	settlePatience = 10 * time.Minute
	stampEvery     = 10 * time.Second
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
	// Log fails while the event store does not answer.
	Log   func(ctx context.Context) error
	Views *runner.Views
	Clock clock.Clock
	// Record executes a command.
	Record func(ctx context.Context, c commands.RecordAbsence, meta commands.Meta) error
	// Owed reports whether a genuine callback waits to be handled that came into the inbox after an instant of the
	// database's clock.
	Owed func(ctx context.Context, after time.Time) (bool, error)
	// Untaken reports whether a genuine callback came into the inbox within a time, and nobody can handle it, or nobody
	// has tried for as long as untried.
	Untaken func(ctx context.Context, within, untried time.Duration) (bool, error)
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
	cfg    AbsenceConfig
	steady clock.Clock
	loops  *loop.Group
	wake   chan struct{}

	mu      sync.Mutex
	seen    vault.Seen    // the newest one
	looked  time.Time     // of that, by steady; zero before the first
	signAge time.Duration // of the newest sign that a program can take money, at that look
	open    bool
	shutAt  time.Time // by steady, when the gate is not open
	doubts  int       // how often somebody has told that it must be shut
	begun   bool      // there was a look since then, and none has failed
	untaken bool      // at the newest look nobody could handle the inbox
	// countable is for how long money could be counted until the newest look: the database and the event store were
	// there, and the inbox was handled. Patience is measured by it.
	countable time.Duration
	since     time.Duration // countable when the gate was shut, or after the newest doubt
	// signs has the newest sign of each program at that time: it must have given another one since.
	signs  map[string]time.Time
	awaits map[string]wait // by program
	stamps []stamp         // of the last settlePatience, the oldest first
	// past is an instant of the database's clock: nobody waits any more for what came into the inbox until then.
	past    time.Time
	counted int64 // callbacks that were on this program's disk and are counted, or for which patience is over
	// late has the ends of absences for which cuts do not wait any more, although some organizations cannot be told.
	late map[time.Time]bool

	told       map[time.Time]map[id.Organization]bool // who was told, by the end of the absence; only work uses it
	triedLate  time.Time                              // when the late ones were tried again; only work uses it
	complained map[string]time.Time                   // when a message was logged last; only work uses it
}

// stamp says what the database's clock was when money could be counted for a time.
type stamp struct {
	countable time.Duration
	at        time.Time
}

// NewAbsence makes it; Start begins.
func NewAbsence(cfg AbsenceConfig) *Absence {
	steady := clock.Steady(cfg.Clock)
	return &Absence{
		cfg: cfg, steady: steady, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1), shutAt: steady.Now(),
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
		return a.steady.Now().Sub(a.shutAt)
	case a.stale():
		return a.age() - staleAfter
	}
	return 0
}

// doubt shuts the gate of cuts. The time for which they wait begins with the next look. The lock is held.
func (a *Absence) doubt() {
	a.shut()
	a.begun = false
	a.doubts++
	loop.Wake(a.wake)
}

// shut shuts the gate of cuts. The lock is held.
func (a *Absence) shut() {
	if a.open {
		a.open, a.shutAt = false, a.steady.Now()
	}
}

// stale reports whether no program has told for long that it can take money. Before the first one ever nobody could
// pay. The lock is held.
func (a *Absence) stale() bool { return !a.seen.At.IsZero() && a.age() >= staleAfter }

// age is the time since the newest sign that a program can take money. The lock is held.
func (a *Absence) age() time.Duration { return a.signAge + a.steady.Now().Sub(a.looked) }

// work looks, and opens the gate when everything is counted, until ctx ends.
func (a *Absence) work(ctx context.Context) {
	for ctx.Err() == nil {
		if err := a.round(ctx); err != nil {
			loop.Sleep(ctx, lookEvery) // the failure itself may have woken it
			continue
		}
		loop.WaitFor(ctx, a.wake, lookEvery)
	}
}

// round looks once, and does what can be done now.
func (a *Absence) round(ctx context.Context) error {
	err := a.look(ctx)
	if err == nil {
		err = a.settle(ctx)
	}
	if err == nil {
		err = a.recordLate(ctx)
	}
	a.complain(ctx, err)
	return err
}

// errUnwritten says that the database answers and takes no writes.
var errUnwritten = errors.New("the database takes no writes")

// look reads the presence of all programs, and what waits in the inbox. A failure is an outage.
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
		untaken, err = a.cfg.Untaken(ctx, settlePatience, silentAfter)
	}
	if err == nil {
		err = a.cfg.Log(ctx)
	}
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.shut()
		a.begun = false
		return err
	}
	a.note(seen, untaken)
	switch {
	case !a.begun && doubts == a.doubts:
		a.begun, a.awaits = true, nil // after an outage patience with each program begins anew
		a.begin()
	case a.open && (untaken || len(a.unrecorded()) > 0 || ever != a.counted):
		a.shut()
		a.begin()
	}
	a.await()
	if a.open && len(a.awaited()) > 0 {
		a.shut()
		a.begin()
		a.await()
	}
	if untaken {
		a.since = a.countable // patience begins when somebody handles the inbox again
	}
	return nil
}

// note takes over what a look has found. The lock is held.
func (a *Absence) note(seen vault.Seen, untaken bool) {
	now := a.steady.Now()
	if a.begun && !untaken && !a.untaken {
		a.countable += now.Sub(a.looked)
	}
	if seen.Now.Before(a.seen.Now) { // the database's clock was put back
		a.stamps, a.past = nil, time.Time{}
	}
	if n := len(a.stamps); n == 0 || a.countable-a.stamps[n-1].countable >= stampEvery {
		a.stamps = append(a.stamps, stamp{a.countable, seen.Now})
	}
	for a.countable-a.stamps[0].countable >= settlePatience {
		a.past, a.stamps = a.stamps[0].at, a.stamps[1:]
	}
	age := seen.Now.Sub(seen.At).Abs() // one from the future is as old as it is early
	if seen.At.Equal(a.seen.At) {
		age = min(age, a.age()) // a step of the database's clock makes it no older
	}
	a.signAge = age
	a.seen, a.looked, a.untaken = seen, now, untaken
}

// begin begins the time for which cuts wait. The lock is held.
func (a *Absence) begin() {
	a.since, a.signs = a.countable, map[string]time.Time{}
	for _, p := range a.seen.Programs {
		a.signs[p.Program] = p.At
	}
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

// wait is that of cuts for one program. One that comes and goes without taking money, as one whose start fails again
// and again, is waited for once; callbacks that come to be on its disk begin a new one.
type wait struct {
	since  time.Duration // countable at its beginning
	served time.Time     // when the program could take money last
	kept   bool          // callbacks are on its disk
}

// await notes the programs that cuts begin to wait for. The lock is held.
func (a *Absence) await() {
	waits := map[string]wait{}
	for _, p := range a.seen.Programs {
		now := wait{a.countable, p.Served, p.Kept > 0}
		before, known := a.awaits[p.Program]
		switch {
		case known && (now.kept && before.kept || !now.kept && now.served.Equal(before.served)):
			now.since = before.since
			waits[p.Program] = now
		case a.holds(p):
			waits[p.Program] = now
		}
	}
	a.awaits = waits
}

// holds reports whether another program keeps cuts waiting: callbacks are on its disk, or nobody knows whether any are,
// because it is missing. One that has not served yet, and tells of none, only tries to start; it takes none until an
// outage. The lock is held.
func (a *Absence) holds(p vault.ProgramBeat) bool {
	switch {
	case p.Program == a.cfg.Program: // it knows its own disk
		return false
	case p.Kept > 0:
		return true
	case p.Served.IsZero():
		return !p.Stopped && a.noSign(p)
	}
	return a.missing(p)
}

// missing reports whether nobody knows what is on the disk of another program: it has stopped and may be back without
// its database, or is silent, or has not been heard of since the gate was shut. The lock is held.
func (a *Absence) missing(p vault.ProgramBeat) bool {
	return p.Stopped || a.noSign(p) || a.seen.Now.Sub(p.At).Abs() > silentAfter
}

// noSign reports whether a program has given no sign of life since the gate was shut. The lock is held.
func (a *Absence) noSign(p vault.ProgramBeat) bool { return p.At.Equal(a.signs[p.Program]) }

// awaited gives the programs for which cuts wait. The lock is held.
func (a *Absence) awaited() (list []vault.ProgramBeat) {
	for _, p := range a.seen.Programs {
		if a.waits(p) {
			list = append(list, p)
		}
	}
	return list
}

// waits reports whether cuts wait for a program, and patience with it is not over. Half a minute is enough for one that
// has not served yet. The lock is held.
func (a *Absence) waits(p vault.ProgramBeat) bool {
	patience := settlePatience
	if p.Served.IsZero() && p.Kept == 0 {
		patience = silentAfter
	}
	return a.holds(p) && a.countable-a.awaits[p.Program].since < patience
}

// abandoned gives the other programs that live, and whose callbacks nobody waits for any more. The lock is held.
func (a *Absence) abandoned() (list []vault.ProgramBeat) {
	for _, p := range a.seen.Programs {
		if a.holds(p) && !a.missing(p) && !a.waits(p) {
			list = append(list, p)
		}
	}
	return list
}

// gone gives the other programs that are missing and that nobody waits for. The lock is held.
func (a *Absence) gone() (list []vault.ProgramBeat) {
	for _, p := range a.seen.Programs {
		if p.Program != a.cfg.Program && a.missing(p) && !a.waits(p) {
			list = append(list, p)
		}
	}
	return list
}
