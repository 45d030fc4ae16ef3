// Package gatewayregistration activates an organization's own shortcode: it registers the C2B addresses with the
// organization's credentials, and tries again after a failure. Source: docs/rules/payments.md#direct-shortcode.
//
//	configured (direct) ──► job RegisterShortcode ─┬─► registered (active)
//	                             ▲                 └─► failed ──► timer retry: 1, 5, 15 min, then hourly for a day
//	                             └─────────────────────────────────────┘   (a lasting failure: only new settings)
//	saved again while active ──► job RegisterShortcode, once
//	no report of the job within 30 min (timer retry) ──► job RegisterShortcode again, then hourly
package gatewayregistration

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Name keys the process's rows, and TimerRetry its timer, which comes due when a registration that failed or of which
// no report came is to be tried again. The next try that people see is read from there, so that it is the one that
// comes.
const (
	Name       = "gatewayregistration"
	TimerRetry = "retry"
)

// waits are the times between tries; the last one is repeated until maxTries.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// maxTries is the largest number of tries for one configuration, which takes about a day. Saving the settings again
// starts over.
const maxTries = 27

// lostAfter is how long a registration waits for the report of its job, after which the job was lost; unreported is the
// time between the tries that follow. Both wait as long as the settings stay.
const (
	lostAfter  = 30 * time.Minute
	unreported = time.Hour
)

// State is the present configuration of one organization. Tries counts failed registrations of it; a lasting failure
// makes it maxTries.
type State struct {
	OrgID       id.Organization `json:"orgId"`
	Direct      bool            `json:"direct,omitempty"`
	Environment string          `json:"environment,omitempty"`
	Shortcode   string          `json:"shortcode,omitempty"`
	Credentials id.Secret       `json:"credentials"`
	Registered  bool            `json:"registered,omitempty"`
	Tries       int             `json:"tries,omitempty"`
}

// Process has one instance for each organization; it never ends.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: Name,
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.GatewayConfigured) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.GatewayRegistered) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.GatewayRegistrationFailed) string { return e.OrgID.String() }),
		},
		Decide: Decide,
		Evolve: Evolve,
	}
}

// same reports whether settings have the same shortcode, environment and credentials as the present ones, so that a
// registration stays valid.
func (s State) same(e events.GatewayConfigured) bool {
	return s.Direct == e.Direct && s.Environment == e.Environment && s.Shortcode == e.Shortcode &&
		s.Credentials == e.CredentialsRef
}

// Evolve follows the settings and counts failures; a failure with former credentials does not count.
func Evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.GatewayConfigured:
		s = State{
			OrgID: e.OrgID, Direct: e.Direct, Environment: e.Environment, Shortcode: e.Shortcode,
			Credentials: e.CredentialsRef, Registered: s.Registered && s.same(e),
		}
	case events.GatewayRegistered:
		s.Registered = true
	case events.GatewayRegistrationFailed:
		if e.CredentialsRef == s.Credentials {
			s.Tries++
			if e.Lasting {
				s.Tries = maxTries
			}
		}
	}
	return s
}

// Decide asks for a registration when direct settings are saved, after each failure until maxTries unless it is
// lasting, and when a job was lost without a report. An active shortcode gets its present addresses in this way, once:
// the daily refresh asks next.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		if !s.Direct || s.Registered {
			return processmanagers.Output{}, nil
		}
		return processmanagers.Output{
			Jobs: []commands.Job{
				commands.RegisterShortcode{OrgID: s.OrgID, CredentialsRef: s.Credentials, Try: s.Tries},
			},
			Timers: []processmanagers.Timer{{Name: TimerRetry, At: now.Add(unreported)}},
		}, nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	out := processmanagers.Output{Timers: []processmanagers.Timer{{Name: TimerRetry}}}
	switch e := in.Event.Event.(type) {
	case events.GatewayConfigured:
		if e.Direct {
			out.Jobs = []commands.Job{
				commands.RegisterShortcode{
					OrgID: e.OrgID, CredentialsRef: e.CredentialsRef, Position: in.Event.Position,
				},
			}
		}
		if e.Direct && !(s.Registered && s.same(e)) {
			out.Timers = []processmanagers.Timer{{Name: TimerRetry, At: e.At.Add(lostAfter)}}
		}
	case events.GatewayRegistrationFailed:
		if e.CredentialsRef == s.Credentials && !e.Lasting && s.Tries+1 < maxTries {
			out.Timers = []processmanagers.Timer{{Name: TimerRetry, At: e.At.Add(waits[min(s.Tries, len(waits)-1)])}}
		}
	}
	return out, nil
}
