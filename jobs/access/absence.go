package accessjobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// Times of the platform's presence, by the machine's clock (docs/rules/access-dunning.md#no-fault-grace).
const (
	beatEvery = time.Minute
	beatAgain = time.Second // after a failure, and while an absence is not settled
	beatLimit = 5 * time.Second
	// absentFor is the gap between two beats that is an absence. It is as long as an outage of the provider must be,
	// and no restart takes that long.
	absentFor = awayFor
	// staleAfter is the age of the newest beat from which on nobody is cut. It is shorter than absentFor, so that
	// nobody is between the end of an absence and its record.
	staleAfter = 3 * time.Minute
	// settlePatience is how long cuts wait, after the database is back, for money that may come to be counted yet.
	settlePatience = 10 * time.Minute
	// othersPatience is how long cuts wait at least for what other programs may have on their disks. They look at the
	// database every second while callbacks wait, and after several failures every few seconds.
	othersPatience = 10 * time.Second
	// moneySteps are the steps from a callback to the review of a subscription, each of them by a process: the receipt,
	// the account, the paid time, the review. One more counts the pauses.
	moneySteps = 5
)

// evidencePlatform is the evidence of our own absence.
const evidencePlatform = "platform_away"

// AbsenceConfig has what Absence needs. Every field but Kept is required.
type AbsenceConfig struct {
	// Takes says that this program takes money; otherwise it only reads what the others note.
	Takes bool
	// Settles says that this program drives processes, so it records absences and finds out when they are settled.
	Settles bool
	// Others says that other programs take money, too: what waits on their disks is not known here.
	Others   bool
	Workers  Workers // Bus, Views, Clock and Outage
	Presence *vault.Presence
	// Kept is how many callbacks have ever waited on this program's disk, and whether one waits now; nil = none.
	Kept func() (ever int64, waits bool)
	// Callbacks is how many callbacks in the inbox wait to be handled.
	Callbacks func(ctx context.Context) (int64, error)
	// Position is the end of the log, and the number of the newest command of a process.
	Position func(ctx context.Context) (position uint64, command int64, err error)
	// Passed reports whether processes, and the jobs about money and faults, are done with everything up to there.
	Passed func(ctx context.Context, position uint64, command int64) (bool, error)
	Logger *slog.Logger
}

// Absence notices when no program of the platform could take money, records it as a time in which customers could not
// pay, and keeps reviews from cutting anybody until that, and the money of that time, is counted. Safe for concurrent
// use.
type Absence struct {
	cfg   AbsenceConfig
	base  clock.Clock
	loops *loop.Group
	wake  chan struct{}

	mu       sync.Mutex
	beat     time.Time // the newest known one; zero before the first
	alone    bool      // no program has ever noted that it takes money, and this one does not
	settling bool      // nobody is cut
	since    time.Time // the database has been back since then; zero = it is not
	counted  int64     // callbacks that were on the disk and are counted, or for which patience is over
}

// NewAbsence makes it; Start begins.
func NewAbsence(cfg AbsenceConfig) *Absence {
	if cfg.Kept == nil {
		cfg.Kept = func() (int64, bool) { return 0, false }
	}
	return &Absence{
		cfg: cfg, base: clock.Base(cfg.Workers.Clock), loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1),
	}
}

// Start notes the program's presence before it returns, so that processes that start afterwards cut nobody too early.
func (a *Absence) Start(ctx context.Context) error {
	return a.loops.Start(ctx, func(ctx context.Context) error {
		if _, err := a.look(ctx); err != nil {
			return err
		}
		a.loops.Go("absence", a.work)
		return nil
	})
}

// Stop ends the work.
func (a *Absence) Stop() { a.loops.Stop() }

// MayCut reports whether reviews may cut customers now. It asks no database.
func (a *Absence) MayCut() bool {
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	if ever != a.counted && !a.settling {
		a.settling, a.since = true, a.base.Now()
		loop.Wake(a.wake)
	}
	return !a.settling && (a.alone || a.base.Now().Sub(a.beat) < staleAfter)
}

// Leads is called when this program begins to drive the processes, before they cut anybody. It does so after an outage
// of the database, however short, because its lock is lost then; other programs may have kept callbacks meanwhile.
func (a *Absence) Leads() {
	if !a.cfg.Others {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settling, a.since = true, a.base.Now()
	loop.Wake(a.wake)
}

// work beats, and settles what it finds, until ctx ends.
func (a *Absence) work(ctx context.Context) {
	for ctx.Err() == nil {
		away, err := a.look(ctx)
		pause := beatEvery
		if err != nil {
			pause = beatAgain
		} else if a.unsettled() {
			if a.cfg.Settles {
				err = a.settle(ctx, away)
			}
			pause = beatAgain
		}
		if err != nil && ctx.Err() == nil {
			a.cfg.Logger.WarnContext(ctx, "cuts wait", "error", err)
		}
		loop.WaitFor(ctx, a.wake, pause)
	}
}

// look notes or reads the presence, and gives the absence that is not settled.
func (a *Absence) look(ctx context.Context) (vault.Absence, error) {
	ctx, cancel := context.WithTimeout(ctx, beatLimit)
	defer cancel()
	var b vault.Beat
	var err error
	if a.cfg.Takes {
		b, err = a.cfg.Presence.Beat(ctx, a.base.Now(), absentFor)
	} else {
		b, err = a.cfg.Presence.Read(ctx)
	}
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.settling, a.since = true, time.Time{}
		return vault.Absence{}, err
	}
	a.beat, a.alone = b.At, b.At.IsZero()
	if b.Away != (vault.Absence{}) || ever != a.counted {
		a.settling = true
	}
	if a.settling && a.since.IsZero() {
		a.since = a.base.Now()
	}
	return b.Away, nil
}

// unsettled reports whether cuts wait.
func (a *Absence) unsettled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.settling
}

// settle records an absence, and lets cuts go on when everything of it is counted or patience is over.
func (a *Absence) settle(ctx context.Context, away vault.Absence) error {
	a.mu.Lock()
	since := a.since
	waited := a.base.Now().Sub(a.since)
	a.mu.Unlock()
	if a.cfg.Others && waited < othersPatience {
		return nil
	}
	left := settlePatience - waited
	ever, _ := a.cfg.Kept()
	limited, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	counted, err := a.count(limited, away)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !counted && left > 0 && limited.Err() == nil:
		return err
	case !counted:
		a.cfg.Logger.ErrorContext(ctx, "cuts go on, although money of an outage may not be counted", "error", err)
	}
	if away != (vault.Absence{}) {
		if err := a.cfg.Presence.Settled(ctx, away); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.Equal(since) { // otherwise another outage has begun meanwhile
		a.settling, a.since, a.counted = false, time.Time{}, ever
	}
	return nil
}

// count reports whether an absence is recorded, no callback waits, and everything that followed from both was done.
func (a *Absence) count(ctx context.Context, away vault.Absence) (bool, error) {
	if away.From.Before(away.Until) {
		if err := a.record(ctx, away); err != nil {
			return false, err
		}
		if err := a.cfg.Presence.Recorded(ctx, away); err != nil {
			return false, err
		}
	}
	waiting, err := a.cfg.Callbacks(ctx)
	if _, waits := a.cfg.Kept(); err != nil || waiting > 0 || waits {
		return false, err
	}
	for range moneySteps {
		position, command, err := a.cfg.Position(ctx)
		if err != nil {
			return false, err
		}
		for {
			passed, err := a.cfg.Passed(ctx, position, command)
			if err != nil {
				return false, err
			}
			if passed {
				break
			}
			if !loop.Sleep(ctx, passedRound) {
				return false, ctx.Err()
			}
		}
	}
	return true, nil
}

// passedRound is the pause between two looks at how far the processes are.
const passedRound = 200 * time.Millisecond

// record tells the log of an absence, for every organization. A repeat acts once. Where customers could not pay before
// already, that outage goes on as it is.
func (a *Absence) record(ctx context.Context, away vault.Absence) error {
	ahead := a.cfg.Workers.Clock.Now().Sub(a.base.Now()) // of a clock that development has moved
	from, until := away.From.Add(ahead), away.Until.Add(ahead)
	a.cfg.Logger.WarnContext(ctx, "the platform was away: nobody could pay", "from", from, "until", until)
	var faults []error
	var after identityviews.OrganizationKey
	for {
		list, err := identityviews.OrganizationsQuery{Views: a.cfg.Workers.Views}.List(ctx, after, perPage)
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		for _, org := range list {
			if err := a.recordOne(ctx, org.ID, away, from, until); err != nil {
				faults = append(faults, fmt.Errorf("record the absence for %s: %w", org.ID, err))
			}
		}
		if len(list) < perPage {
			return errors.Join(faults...)
		}
		after = list[len(list)-1].Key()
	}
}

// recordOne tells the stream of one organization.
func (a *Absence) recordOne(
	ctx context.Context, org id.Organization, away vault.Absence, from, until time.Time,
) error {
	word := func(step string) commands.Meta {
		return commands.Meta{
			CommandID: id.Derive[id.Command]("absence", step, org.String(), away.Until.UTC().Format(time.RFC3339Nano)),
			OrgID:     org, Actor: events.Actor{Kind: events.ActorProcess, ID: "absence"},
		}
	}
	present, err := a.cfg.Workers.Outage(ctx, org)
	if err != nil || !present.IsZero() && present.Before(from.Add(-time.Second)) {
		return err
	}
	interrupt := commands.InterruptPayments{OrgID: org, Evidence: evidencePlatform, From: from}
	if _, err := a.cfg.Workers.Bus.Execute(ctx, interrupt, word("interrupt")); err != nil {
		return err
	}
	_, err = a.cfg.Workers.Bus.Execute(ctx, commands.ResumePayments{OrgID: org, Until: until}, word("resume"))
	return err
}
