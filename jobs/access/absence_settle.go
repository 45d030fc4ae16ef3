package accessjobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// moneySteps are the steps from a callback to the review of a subscription, each of them by a process: the receipt, the
// account, the paid time, the review. One more counts the pauses.
const moneySteps = 5

// passedRound is the pause between two looks at how far the processes are.
const passedRound = 200 * time.Millisecond

// evidencePlatform is the evidence of our own absence.
const evidencePlatform = "platform_away"

// doubt has the causes for which cuts wait, as they were when settling began.
type doubt struct {
	since   time.Time     // the database has been back since then, by the machine's clock
	away    vault.Absence // to be recorded
	awaited []vault.ProgramBeat
	silent  []vault.ProgramBeat
	ever    int64 // callbacks that had ever waited on this program's disk
}

// settleAll settles what there is until ctx ends.
func (a *Absence) settleAll(ctx context.Context) {
	for ctx.Err() == nil {
		pause := beatEvery
		if d, open := a.doubt(); open {
			pause = beatAgain
			if err := a.settle(ctx, d); err != nil && ctx.Err() == nil {
				a.cfg.Logger.WarnContext(ctx, "cuts wait", "error", err)
			}
		} else if err := a.recordLate(ctx); err != nil && ctx.Err() == nil {
			a.cfg.Logger.ErrorContext(ctx, "cuts go on, although an absence is not recorded", "error", err)
		}
		loop.WaitFor(ctx, a.settles, pause)
	}
}

// doubt gives what cuts wait for. It reports false when they do not wait, and while the database is away.
func (a *Absence) doubt() (doubt, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.shut || a.since.IsZero() {
		return doubt{}, false
	}
	d := doubt{since: a.since, away: a.seen.Away, awaited: a.awaited(), ever: a.ever}
	for _, p := range d.awaited {
		if a.silent(p) {
			d.silent = append(d.silent, p)
		}
	}
	return d, true
}

// settle records an absence, and lets cuts go on when everything of it is counted or patience is over. Before the
// absence is recorded they wait without end, unless it is for some organizations only.
func (a *Absence) settle(ctx context.Context, d doubt) error {
	left := settlePatience - a.base.Now().Sub(d.since)
	missing, err := a.record(ctx, d.away)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	counted, err := a.count(limited, d)
	counted, err = counted && missing == nil, errors.Join(missing, err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !counted && left > 0 && limited.Err() == nil:
		return err
	case !counted:
		a.cfg.Logger.ErrorContext(ctx, "cuts go on, although money of an outage may not be counted", "programs",
			d.awaited, "error", err)
		for _, p := range d.silent {
			if err := a.cfg.Presence.Forget(ctx, p); err != nil {
				return err
			}
		}
	}
	if missing != nil {
		a.mu.Lock()
		a.late = d.away
		a.mu.Unlock()
	} else if err := a.settled(ctx, d.away); err != nil {
		return err
	}
	a.open(d, counted)
	return nil
}

// settled forgets an absence that every organization has.
func (a *Absence) settled(ctx context.Context, away vault.Absence) error {
	if away == (vault.Absence{}) {
		return nil
	}
	return a.cfg.Presence.Settled(ctx, away)
}

// open lets cuts go on, unless something has come meanwhile. What comes while cuts wait extends their patience only
// when the database was away again.
func (a *Absence) open(d doubt, counted bool) {
	ever, _ := a.cfg.Kept()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.since.Equal(d.since) || counted && (ever != d.ever || len(a.awaited()) > 0) {
		return
	}
	a.shut, a.since, a.back, a.counted = false, time.Time{}, time.Time{}, ever
}

// recordLate tries again to tell of an absence those organizations that could not be told within patience.
func (a *Absence) recordLate(ctx context.Context) error {
	a.mu.Lock()
	away := a.late
	a.mu.Unlock()
	if away == (vault.Absence{}) {
		return nil
	}
	missing, err := a.record(ctx, away)
	if err = errors.Join(missing, err); err == nil {
		err = a.settled(ctx, away)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.late = vault.Absence{}
	return nil
}

// count reports whether no callback waits anywhere, and everything that followed from them and from an absence was
// done.
func (a *Absence) count(ctx context.Context, d doubt) (bool, error) {
	if len(d.awaited) > 0 {
		return false, nil
	}
	if owed, err := a.cfg.Owed(ctx); err != nil || owed {
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

// record tells the log of an absence, for every organization, unless that is done. A repeat acts once. Where customers
// could not pay before already, that outage goes on as it is. missing says why some organizations, but not all, could
// not be told; after an error perhaps none was.
func (a *Absence) record(ctx context.Context, away vault.Absence) (missing, err error) {
	if !away.From.Before(away.Until) {
		return nil, nil
	}
	ahead := a.cfg.Workers.Clock.Now().Sub(a.base.Now()) // of a clock that development has moved
	from, until := away.From.Add(ahead), away.Until.Add(ahead)
	a.cfg.Logger.WarnContext(ctx, "the platform was away: nobody could pay", "from", from, "until", until)
	var faults []error
	told := 0
	var after identityviews.OrganizationKey
	for {
		list, err := identityviews.OrganizationsQuery{Views: a.cfg.Workers.Views}.List(ctx, after, perPage)
		if err != nil {
			return nil, errors.Join(append(faults, err)...)
		}
		for _, org := range list {
			if err := a.recordOne(ctx, org.ID, away, from, until); err != nil {
				faults = append(faults, fmt.Errorf("record the absence for %s: %w", org.ID, err))
			} else {
				told++
			}
		}
		if len(list) < perPage {
			break
		}
		after = list[len(list)-1].Key()
	}
	switch missing = errors.Join(faults...); {
	case missing == nil:
		return nil, a.cfg.Presence.Recorded(ctx, away)
	case told == 0:
		return nil, missing
	}
	return missing, nil
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
