package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Runs defines the billing runs: one short stream for each organization and date.
func Runs() aggregates.Definition[Run, commands.BillingRunCommand, events.BillingRunEvent] {
	return aggregates.Definition[Run, commands.BillingRunCommand, events.BillingRunEvent]{
		Category: commands.BillingRunCategory, Missing: commands.ErrNoBillingRun, Evolve: evolveRun, Decide: decideRun,
		Owner: func(s Run) id.Organization { return s.Org },
		Commands: []commands.BillingRunCommand{
			commands.RequestBillingRun{}, commands.BeginBillingRun{}, commands.ReleaseBillingRun{},
			commands.FinishBillingRun{},
		},
	}
}

// RunState says how far a billing run is. Source: docs/rules/billing.md#billing-runs.
type RunState uint8

// The states.
const (
	RunNone RunState = iota
	RunRequested
	RunHeld
	RunBegan
	RunFinished
)

// Run is the state of one billing run. The zero value is "does not exist".
type Run struct {
	ID       id.BillingRun
	Org      id.Organization
	Date     calendar.Date
	State    RunState
	Released bool // a person has looked at it: it is not held again
}

// The fuse: a run that would make so many times the usual number is held. Organizations with few customers have days
// with many times their usual number, which everybody can look through.
const (
	fuseTimes = 3
	fuseLeast = 90 // so many are never held
)

// Blows reports whether so many invoices in one run are so far above the usual that a person has to look first.
func Blows(due, usual int) bool { return due > FuseLimit(usual) }

// evolveRun applies one recorded event.
func evolveRun(s Run, e events.BillingRunEvent) Run {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.BillingRunRequested:
		s.ID, s.Org, s.Date, s.State = e.RunID, e.OrgID, e.Date, RunRequested
	case events.BillingRunHeld:
		s.State = RunHeld
	case events.BillingRunReleased:
		s.State, s.Released = RunRequested, true
	case events.BillingRunBegan:
		s.State = RunBegan
	case events.BillingRunFinished:
		s.State = RunFinished
	}
	return s
}

// decideRun dispatches; every command but the request needs a run that exists.
func decideRun(s Run, c commands.BillingRunCommand, now time.Time) ([]events.BillingRunEvent, error) {
	if c, ok := c.(commands.RequestBillingRun); ok {
		return decideRequestRun(s, c, now), nil
	}
	if s.State == RunNone {
		return nil, commands.ErrNoBillingRun()
	}
	switch c := c.(type) {
	case commands.RequestBillingRun:
	case commands.BeginBillingRun:
		return decideBeginRun(s, c, now), nil
	case commands.ReleaseBillingRun:
		return decideReleaseRun(s, c, now)
	case commands.FinishBillingRun:
		return decideFinishRun(s, c, now), nil
	}
	return nil, nil
}

// decideRequestRun begins a run, looks again at one that is held, or repeats one that has finished.
func decideRequestRun(s Run, c commands.RequestBillingRun, now time.Time) []events.BillingRunEvent {
	if s.State == RunRequested || s.State == RunBegan {
		return nil
	}
	return []events.BillingRunEvent{
		events.BillingRunRequested{RunID: c.RunID, OrgID: c.OrgID, Date: c.Date, Again: c.Again, At: now},
	}
}

// decideBeginRun holds a run of which far more becomes due than usual, and begins any other.
func decideBeginRun(s Run, c commands.BeginBillingRun, now time.Time) []events.BillingRunEvent {
	switch {
	case s.State != RunRequested:
		return nil
	case !s.Released && Blows(c.Due, c.Usual):
		return []events.BillingRunEvent{
			events.BillingRunHeld{RunID: s.ID, OrgID: s.Org, Due: c.Due, Usual: c.Usual, At: now},
		}
	}
	return []events.BillingRunEvent{
		events.BillingRunBegan{RunID: s.ID, OrgID: s.Org, Due: c.Due, Usual: c.Usual, At: now},
	}
}

// decideReleaseRun lets a held run go on; of one that was released already nothing changes.
func decideReleaseRun(s Run, c commands.ReleaseBillingRun, now time.Time) ([]events.BillingRunEvent, error) {
	switch {
	case s.State == RunHeld:
		return []events.BillingRunEvent{
			events.BillingRunReleased{RunID: s.ID, OrgID: s.Org, Reason: c.Reason, At: now},
		}, nil
	case s.Released:
		return nil, nil
	}
	return nil, failure.NewConflict("billing_run_not_held", "The billing run is not held. Nothing has to be released.")
}

// decideFinishRun ends a run that has begun.
func decideFinishRun(s Run, c commands.FinishBillingRun, now time.Time) []events.BillingRunEvent {
	if s.State != RunBegan {
		return nil
	}
	return []events.BillingRunEvent{events.BillingRunFinished{
		RunID: s.ID, OrgID: s.Org, Date: s.Date, Failed: c.Failed, Failures: c.Failures, At: now,
	}}
}
