package accessjobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// moneySteps are the steps from a callback to the review of a subscription, each of them by a process: the receipt, the
// account, the paid time, the review. One more counts the pauses.
const moneySteps = 5

// Times of settling.
const (
	passedSoon, passedRound = 10 * time.Millisecond, 200 * time.Millisecond // between looks at how far processes are
	countLimit              = 30 * time.Second                              // of one try to find everything counted
	lateEvery               = 10 * time.Second                              // between tries to tell of a late absence
	complainEvery           = 10 * time.Minute                              // between two lines about the same trouble
	warnEvery               = time.Minute
)

// goOn is the message for operators when patience is over.
const goOn = "cuts go on, although money of an outage may not be counted"

// doubt has the causes for which cuts wait, as they were when settling began.
type doubt struct {
	doubts   int
	absences []vault.Absence
	awaited  []vault.ProgramBeat
	gone     []vault.ProgramBeat
	ever     int64 // callbacks that had ever waited on this program's disk
}

// doubtful gives what cuts wait for. It reports false when they do not wait, and while the database is away.
func (a *Absence) doubtful() (doubt, bool) {
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	return doubt{
		doubts: a.doubts, absences: a.unrecorded(), awaited: a.awaited(), gone: a.gone(), ever: ever,
	}, !a.open && a.begun
}

// over reports whether cuts have waited long enough for what is left to be counted.
func (a *Absence) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	waited := a.countable - a.since
	if a.begun && !a.untaken {
		waited += a.steady.Now().Sub(a.looked)
	}
	return waited >= settlePatience
}

// settle records absences, and opens the gate when everything is counted or patience is over. Absences are waited for
// without end, unless only some organizations cannot be told.
func (a *Absence) settle(ctx context.Context) error {
	d, shut := a.doubtful()
	if !shut {
		return nil
	}
	for _, away := range d.absences {
		if err := a.record(ctx, away); err != nil {
			return err
		}
	}
	for _, p := range d.gone {
		a.forgets(ctx, p)
		if err := a.cfg.Presence.Forget(ctx, p); err != nil {
			return err
		}
	}
	if len(d.awaited) > 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, countLimit)
	defer cancel()
	counted, err := a.count(limited)
	if !counted {
		if ctx.Err() != nil || !a.over() {
			return err
		}
		a.cfg.Logger.ErrorContext(ctx, goOn, "error", err)
	}
	if err := a.look(ctx); err != nil { // at what has come meanwhile
		return err
	}
	a.opens(ctx, d, counted)
	return nil
}

// forgets logs that nobody waits any more for a program.
func (a *Absence) forgets(ctx context.Context, p vault.ProgramBeat) {
	if p.Kept == 0 && (p.Stopped || p.Served.IsZero()) {
		a.cfg.Logger.InfoContext(ctx, "cuts go on without a program that has stopped", "program", p.Program)
		return
	}
	a.cfg.Logger.ErrorContext(ctx, goOn, "program", p.Program, "kept", p.Kept, "silent_since", p.At)
}

// opens lets cuts go on, unless something has come meanwhile. Money that comes while cuts wait extends their patience
// only when the database was away again.
func (a *Absence) opens(ctx context.Context, d doubt, counted bool) {
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.doubts != d.doubts || a.untaken || counted && ever != d.ever || len(a.unrecorded()) > 0 ||
		len(a.awaited()) > 0 {
		return
	}
	a.open, a.counted = true, ever
	for _, p := range a.abandoned() {
		a.seldom(ctx, complainEvery, goOn,
			fmt.Errorf("%d callbacks are on the disk of %s since %s", p.Kept, p.Program, p.Since))
	}
}

// count reports whether no callback waits on this program's disk or in the inbox, and everything that followed from
// them and from an absence was done.
func (a *Absence) count(ctx context.Context) (bool, error) {
	if _, waiting := a.cfg.Kept(); waiting > 0 {
		return false, nil
	}
	a.mu.Lock()
	past := a.past
	a.mu.Unlock()
	if owed, err := a.cfg.Owed(ctx, past); err != nil || owed {
		return false, err
	}
	for range moneySteps {
		position, command, err := a.cfg.Position(ctx)
		if err != nil {
			return false, err
		}
		pause := loop.Backoff{Min: passedSoon, Max: passedRound}
		for {
			passed, err := a.cfg.Passed(ctx, position, command)
			if err != nil {
				return false, err
			}
			if passed {
				break
			}
			if !pause.Wait(ctx) {
				return false, fmt.Errorf("processes are at work: %w", ctx.Err())
			}
		}
	}
	return true, nil
}

// record tells the log of every organization of an absence, and forgets it then. A repeat acts once. Without an error
// cuts need not wait for it: all have been told, or those who have not refuse to be, for longer than settlePatience.
func (a *Absence) record(ctx context.Context, away vault.Absence) error {
	c := a.placed(away)
	told := a.told[away.Until]
	if told == nil {
		told = map[id.Organization]bool{}
		a.told[away.Until] = told
		a.cfg.Logger.WarnContext(ctx, "the platform was away: nobody could pay", "from", c.From, "until", c.Until)
	}
	refusals, err := a.tellAll(ctx, c, away, told)
	if err != nil {
		return err
	}
	if refusals == nil {
		if err := a.cfg.Presence.Settled(ctx, away); err != nil {
			return err
		}
		delete(a.told, away.Until)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case refusals == nil:
		delete(a.late, away.Until)
		a.seen.Absences = without(a.seen.Absences, away)
		return nil
	case a.seen.Now.Sub(away.Until).Abs() < settlePatience:
		return refusals
	}
	a.late[away.Until] = true
	a.seldom(ctx, complainEvery, "cuts go on, although some organizations cannot be told of an absence", refusals)
	return nil
}

// without gives the absences but one.
func without(list []vault.Absence, one vault.Absence) (rest []vault.Absence) {
	for _, away := range list {
		if !away.Until.Equal(one.Until) {
			rest = append(rest, away)
		}
	}
	return rest
}

// placed says when an absence was by the program's clock, which development may have moved.
func (a *Absence) placed(away vault.Absence) commands.RecordAbsence {
	a.mu.Lock()
	defer a.mu.Unlock()
	ago := a.seen.Now.Sub(away.Until) + a.steady.Now().Sub(a.looked)
	until := a.cfg.Clock.Now().Add(-ago).UTC()
	return commands.RecordAbsence{From: until.Add(away.From.Sub(away.Until)), Until: until}
}

// tellAll tells the stream of each organization that was not told yet. refusals says why some could not be told; an
// error, that a repeat may tell more of them.
func (a *Absence) tellAll(
	ctx context.Context, c commands.RecordAbsence, away vault.Absence, told map[id.Organization]bool,
) (refusals, err error) {
	var passing []error
	var refused []error
	var after identityviews.OrganizationKey
	for {
		list, err := identityviews.OrganizationsQuery{Views: a.cfg.Views}.List(ctx, identityviews.OrganizationFilter{},
			after, perPage)
		if err != nil {
			return nil, err
		}
		for _, org := range list {
			if told[org.ID] {
				continue
			}
			c.OrgID = org.ID
			err := a.cfg.Record(ctx, c, commands.Meta{
				CommandID: id.Derive[id.Command]("absence", org.ID.String(), away.Until.UTC().Format(time.RFC3339Nano)),
				OrgID:     org.ID, Actor: events.Actor{Kind: events.ActorProcess, ID: "absence"},
			})
			switch wrapped := fmt.Errorf("record the absence for %s: %w", org.ID, err); {
			case err == nil:
				told[org.ID] = true
			case passes(err):
				passing = append(passing, wrapped)
			default:
				refused = append(refused, wrapped)
			}
		}
		if len(list) < perPage {
			return errors.Join(refused...), errors.Join(passing...)
		}
		after = list[len(list)-1].Key()
	}
}

// passes reports whether a failure passes by itself: the log or the database is away, or somebody else was faster.
func passes(err error) bool {
	kind := failure.KindOf(err)
	return kind == failure.Unavailable || kind == failure.Limited || kind == failure.Conflict || postgres.Away(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// recordLate tries again, once in a while, to tell of absences for which cuts do not wait any more.
func (a *Absence) recordLate(ctx context.Context) error {
	a.mu.Lock()
	var list []vault.Absence
	for _, away := range a.seen.Absences {
		if a.late[away.Until] {
			list = append(list, away)
		}
	}
	a.mu.Unlock()
	if len(list) == 0 || a.steady.Now().Sub(a.triedLate) < lateEvery {
		return nil
	}
	a.triedLate = a.steady.Now()
	for _, away := range list {
		if err := a.record(ctx, away); err != nil {
			return err
		}
	}
	return nil
}

// complain logs, once in a while, why cuts wait.
func (a *Absence) complain(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if waiting := a.Waiting(); waiting >= settlePatience {
		a.mu.Lock()
		programs := a.awaited()
		a.mu.Unlock()
		if err == nil && len(programs) > 0 {
			err = fmt.Errorf("callbacks may be on the disks of %v", programs)
		}
		a.seldom(ctx, complainEvery, "nobody is cut: it is not known whether everybody's money is counted", err)
	} else if err != nil && a.steady.Now().Sub(a.complained[""]) >= warnEvery {
		a.complained[""] = a.steady.Now()
		a.cfg.Logger.WarnContext(ctx, "cuts wait", "error", err)
	}
}

// seldom logs an error at most once in a while.
func (a *Absence) seldom(ctx context.Context, every time.Duration, message string, err error) {
	if now := a.steady.Now(); now.Sub(a.complained[message]) >= every {
		a.complained[message] = now
		a.cfg.Logger.ErrorContext(ctx, message, "error", err)
	}
}
