// Package campaigning has each deployment of firmware looked after, until it has ended:
//
//	started, continued ──► job AdvanceCpeCampaign, again and again: within its hours each half minute
//	stopped ──► seldom: its deadline may pass
//	halted, finished ──► nothing more
//
// The job finds out itself what is to be done, so that one which is lost is made up for by the next. Source:
// docs/rules/cpe.md#campaigns.
package campaigning

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerLook is when the next job is asked for.
const timerLook = "look"

// Pauses between two jobs.
const (
	shortPause = 30 * time.Second
	longPause  = 10 * time.Minute // outside the hours, and while it is stopped
)

// State is one campaign. The zero value is none.
type State struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
	Hours      *calendar.Hours `json:"hours,omitempty"`
	Timezone   string          `json:"timezone"`
	Stopped    bool            `json:"stopped,omitempty"`
}

// Process has an instance for each campaign; the instance ends with it.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_campaigning",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeCampaignStarted) string { return e.CampaignID.String() }),
			processmanagers.Follow(func(e events.CpeCampaignStopped) string { return e.CampaignID.String() }),
			processmanagers.Follow(func(e events.CpeCampaignContinued) string { return e.CampaignID.String() }),
			processmanagers.Follow(func(e events.CpeCampaignHalted) string { return e.CampaignID.String() }),
			processmanagers.Follow(func(e events.CpeCampaignFinished) string { return e.CampaignID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.CampaignID.IsZero() },
	}
}

// evolve follows the campaign to its end.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.CpeCampaignStarted:
		return State{CampaignID: e.CampaignID, OrgID: e.OrgID, Hours: e.Terms.Hours, Timezone: e.Terms.Timezone}
	case events.CpeCampaignStopped:
		s.Stopped = true
	case events.CpeCampaignContinued:
		s.Stopped = false
	case events.CpeCampaignHalted, events.CpeCampaignFinished:
		return State{}
	}
	return s
}

// decide asks for the job, and arms the timer of the next one.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	after := evolve(s, in)
	switch {
	case after.CampaignID.IsZero():
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLook}}}, nil
	case in.Refusal != nil:
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{
		Jobs:   []commands.Job{commands.AdvanceCpeCampaign{CampaignID: after.CampaignID, OrgID: after.OrgID}},
		Timers: []processmanagers.Timer{{Name: timerLook, At: after.next(now)}},
	}, nil
}

// next is when something can have happened: outside the hours when they begin, at the latest, and soon within them.
func (s State) next(now time.Time) time.Time {
	if s.Stopped {
		return now.Add(longPause)
	}
	if s.Hours == nil {
		return now.Add(shortPause)
	}
	from, _ := s.Hours.Window(now, calendar.ZoneOrUTC(s.Timezone))
	switch late := now.Add(longPause); {
	case !from.After(now):
		return now.Add(shortPause)
	case from.Before(late):
		return from
	default: // what was begun within the hours may end outside of them
		return late
	}
}
