package runs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/runs"
)

// The organization of these tests is in Nairobi, where a day begins at 21:00 UTC.
var (
	now     = time.Date(2026, 3, 13, 9, 0, 0, 0, time.UTC)
	org     = id.Derive[id.Organization]("test", "org")
	founded = events.OrganizationCreated{OrgID: org, Billing: events.BillingSettings{Timezone: "Africa/Nairobi"}}
)

// march is a day of March 2026.
func march(n int) calendar.Date { return calendar.Date{Year: 2026, Month: 3, Day: n} }

// midnight is its beginning in Nairobi.
func midnight(n int) time.Time { return time.Date(2026, 3, n-1, 21, 0, 0, 0, time.UTC) }

// arms sets the timer of a day.
func arms(at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "day", At: at}}}
}

// requests asks for the run of a day of March.
func requests(n int) processmanagers.Output {
	return processmanagers.Output{Commands: []commands.Command{commands.RequestBillingRun{
		RunID: commands.BillingRunOf(org, march(n)), OrgID: org, Date: march(n),
	}}}
}

// finished is the end of the run of a day of March.
func finished(n int) events.Event {
	return events.BillingRunFinished{RunID: commands.BillingRunOf(org, march(n)), OrgID: org, Date: march(n)}
}

func TestDays_EachBeginsWithARunInTheOrganizationsZone(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, runs.DaysProcess(), now).When(founded).Then(arms(midnight(14)))
	s = s.WhenDue("day", midnight(14)).Then(requests(14))
	s.When(finished(13)).ThenNothing() // of a date that somebody asked for
	s.When(finished(14)).Then(arms(midnight(15)))
}

func TestDays_MissedOnesAreCaughtUpByTheRunOfThePresentOne(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, runs.DaysProcess(), now).Given(founded).WhenDue("day", midnight(2)).Then(requests(2))
	// A run that is held holds up those after it.
	s.When(events.BillingSettingsAdopted{OrgID: org, Billing: founded.Billing}).ThenNothing()
	s = s.When(finished(2)).Then(arms(midnight(13))) // it has passed, so it comes due at once
	s.WhenDue("day", midnight(13)).Then(requests(13)).When(finished(13)).Then(arms(midnight(14)))
}

func TestDays_AnotherZoneMovesTheNextDay(t *testing.T) {
	t.Parallel()
	moved := events.BillingSettingsAdopted{OrgID: org, Billing: events.BillingSettings{Timezone: "Asia/Tokyo"}}
	s := processtest.For(t, runs.DaysProcess(), now).Given(founded)
	s.When(moved).Then(arms(time.Date(2026, 3, 13, 15, 0, 0, 0, time.UTC)))
	// A day that had its run before the zone moved to the west gets no second one.
	west := s.WhenDue("day", midnight(14)).When(finished(14)).When(events.BillingSettingsAdopted{
		OrgID: org, Billing: events.BillingSettings{Timezone: "America/New_York"},
	}).Then(arms(time.Date(2026, 3, 15, 4, 0, 0, 0, time.UTC)))
	west.WhenDue("day", midnight(15)).Then(arms(time.Date(2026, 3, 15, 4, 0, 0, 0, time.UTC)))
}

func TestRun_IsWorkedUntilItIsHeldOrHasFinished(t *testing.T) {
	t.Parallel()
	run := commands.BillingRunOf(org, march(14))
	asked := events.BillingRunRequested{RunID: run, OrgID: org, Date: march(14)}
	works := processmanagers.Output{
		Jobs:   []commands.Job{commands.MakeInvoicesDue{RunID: run, OrgID: org, Date: march(14)}},
		Timers: []processmanagers.Timer{{Name: "stalled", At: now.Add(time.Hour)}},
	}
	rests := processmanagers.Output{Timers: []processmanagers.Timer{{Name: "stalled"}}}
	s := processtest.For(t, runs.Process(), now).When(asked).Then(works)
	s.WhenDue("stalled", now).Then(works)
	held := s.When(events.BillingRunHeld{RunID: run}).Then(rests)
	held.When(events.BillingRunReleased{RunID: run}).Then(works).When(finished(14)).Then(rests).ThenEnded()
	held.When(asked).Then(works)
}

func TestRuns_EveryHandledEventHasAnInstance(t *testing.T) {
	t.Parallel()
	run := commands.BillingRunOf(org, march(14))
	processtest.CheckKeys(t, runs.Process(), run.String(), events.BillingRunRequested{RunID: run},
		events.BillingRunHeld{RunID: run}, events.BillingRunReleased{RunID: run},
		events.BillingRunFinished{RunID: run})
	processtest.CheckKeys(t, runs.DaysProcess(), org.String(), founded, events.BillingSettingsAdopted{OrgID: org},
		events.BillingRunFinished{OrgID: org})
}
