// Package runs starts the billing run of each organization at the beginning of each of its days, and has it worked.
//
// Process "billing_days", one instance for each organization:
//
//	local midnight ─► timer "day" ─► RequestBillingRun ─► ... ─► finished ─► timer of the next midnight
//
// Days that were missed, because the program was away or a run was held, are caught up by the run of the present day,
// which makes all that has become due by then. Days follow each other: nothing is asked for while the run of an earlier
// day waits.
//
// Process "billing_runs", one instance for each run:
//
//	requested, released ─► MakeInvoicesDue (a job) ─► held: waits for a person
//	                              ▲                └► finished
//	                              └── timer "stalled": asked again, in case that the job was given up
package runs

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// day is the timer of the next run.
const day = "day"

// Days is the state of the instance of an organization.
type Days struct {
	OrgID    id.Organization `json:"orgId"`
	Timezone string          `json:"timezone"`
	Date     calendar.Date   `json:"date,omitzero"` // of the run that was asked for last
	Waits    bool            `json:"waits,omitempty"`
}

// DaysProcess asks for the run of each day.
func DaysProcess() processmanagers.Process[Days] {
	return processmanagers.Process[Days]{
		Name: "billing_days",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.OrganizationCreated) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.BillingSettingsAdopted) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.BillingRunFinished) string { return e.OrgID.String() }),
		},
		Decide: decideDays, Evolve: evolveDays,
	}
}

// zone is that of the organization's days; UTC for a name that is unknown here.
func (s Days) zone() *time.Location {
	return calendar.ZoneOrUTC(s.Timezone)
}

// evolveDays follows the time zone, and the newest run.
func evolveDays(s Days, in processmanagers.Input) Days {
	if in.Timeout != nil {
		if date := calendar.On(in.Timeout.Due, s.zone()); s.Date.Before(date) {
			s.Date, s.Waits = date, true
		}
		return s
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.OrganizationCreated:
		s.OrgID, s.Timezone = e.OrgID, e.Billing.Timezone
	case events.BillingSettingsAdopted:
		s.OrgID, s.Timezone = e.OrgID, e.Billing.Timezone
	case events.BillingRunFinished:
		s.Waits = s.Waits && e.Date != s.Date
	}
	return s
}

// decideDays asks for a run when its day begins, and sets the timer of the next one when nothing waits.
func decideDays(s Days, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	after := evolveDays(s, in)
	switch {
	case in.Timeout != nil && after.Date != s.Date:
		return processmanagers.Output{Commands: []commands.Command{commands.RequestBillingRun{
			RunID: commands.BillingRunOf(s.OrgID, after.Date), OrgID: s.OrgID, Date: after.Date,
		}}}, nil
	case in.Refusal != nil || after.Waits:
		return processmanagers.Output{}, nil
	}
	return after.next(now), nil
}

// next sets the timer to the beginning of the next day without a run: today, when days were missed.
func (s Days) next(now time.Time) processmanagers.Output {
	today := calendar.On(now, s.zone())
	date := s.Date.AddDays(1)
	switch {
	case s.Date.IsZero():
		date = today.AddDays(1)
	case date.Before(today):
		date = today
	}
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: day, At: date.Start(s.zone())}}}
}

// stalled is the timer after which the job of a run is asked for again, and patience how long it takes.
const (
	stalled  = "stalled"
	patience = time.Hour
)

// Run is the state of the instance of one run.
type Run struct {
	RunID id.BillingRun   `json:"runId"`
	OrgID id.Organization `json:"orgId"`
	Date  calendar.Date   `json:"date"`
	Again bool            `json:"again,omitempty"`
	Ended bool            `json:"ended,omitempty"`
}

// Process has each run worked.
func Process() processmanagers.Process[Run] {
	return processmanagers.Process[Run]{
		Name: "billing_runs",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.BillingRunRequested) string { return e.RunID.String() }),
			processmanagers.Follow(func(e events.BillingRunHeld) string { return e.RunID.String() }),
			processmanagers.On(func(e events.BillingRunReleased) string { return e.RunID.String() }),
			processmanagers.Follow(func(e events.BillingRunFinished) string { return e.RunID.String() }),
		},
		Decide: decideRun, Evolve: evolveRun,
		Ended: func(s Run) bool { return s.Ended },
	}
}

// evolveRun follows one run. A held one waits for an event, and keeps its date for it.
func evolveRun(s Run, in processmanagers.Input) Run {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.BillingRunRequested:
		return Run{RunID: e.RunID, OrgID: e.OrgID, Date: e.Date, Again: e.Again}
	case events.BillingRunFinished:
		s.Ended = true
	}
	return s
}

// decideRun asks for the job, once and again after each time of patience, until the run is held or has finished.
func decideRun(s Run, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	rests := processmanagers.Output{Timers: []processmanagers.Timer{{Name: stalled}}}
	after := evolveRun(s, in)
	if in.Event != nil {
		if _, held := in.Event.Event.(events.BillingRunHeld); held || after.Ended {
			return rests, nil
		}
	}
	if in.Refusal != nil || after.RunID.IsZero() {
		return rests, nil
	}
	return processmanagers.Output{
		Jobs: []commands.Job{commands.MakeInvoicesDue{
			RunID: after.RunID, OrgID: after.OrgID, Date: after.Date, Again: after.Again,
		}},
		Timers: []processmanagers.Timer{{Name: stalled, At: now.Add(patience)}},
	}, nil
}
