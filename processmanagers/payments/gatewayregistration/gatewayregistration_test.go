package gatewayregistration_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
)

// The ids and events of one organization's shortcode.
var (
	now        = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org        = id.Must[id.Organization]("0195a000-0000-7000-8000-000000000001")
	keys       = id.Must[id.Secret]("0195a000-0000-7000-8000-000000000041")
	configured = events.GatewayConfigured{
		OrgID: org, Direct: true, Environment: "sandbox", Shortcode: "600777", CredentialsRef: keys, At: now,
	}
	registered = events.GatewayRegistered{OrgID: org, Shortcode: "600777", CredentialsRef: keys, At: now}
	failed     = events.GatewayRegistrationFailed{
		OrgID: org, Shortcode: "600777", CredentialsRef: keys, Error: "no", At: now,
	}
)

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[gatewayregistration.State] {
	t.Helper()
	return processtest.For(t, gatewayregistration.Process(), now).Given(list...)
}

// job registers the shortcode. position is that of the event that asked for it, 0 after a timer.
func job(position uint64) []commands.Job {
	return []commands.Job{commands.RegisterShortcode{OrgID: org, CredentialsRef: keys, Position: position}}
}

// retry is an output of jobs and the timer; the zero time disarms it.
func retry(at time.Time, jobs ...commands.Job) processmanagers.Output {
	return processmanagers.Output{Jobs: jobs, Timers: []processmanagers.Timer{{Name: "retry", At: at}}}
}

func TestDirectShortcode_IsRegisteredWithItsOwnCredentials(t *testing.T) {
	t.Parallel()
	registers := retry(time.Time{}, job(processtest.Position)...)
	after(t).When(configured).Then(registers)
	// a setting that the provider does not see
	after(t, configured, registered).When(configured).Then(retry(time.Time{}))
	after(t).When(events.GatewayConfigured{OrgID: org}).Then(retry(time.Time{}))
	changed := configured
	changed.Shortcode = "600888"
	after(t, configured, registered).When(changed).Then(registers)
}

func TestFailedRegistration_IsTriedAgainForADay(t *testing.T) {
	t.Parallel()
	s := after(t, configured)
	for _, wait := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour} {
		s = s.When(failed).Then(retry(now.Add(wait)))
	}
	s = s.WhenDue("retry", now).Then(processmanagers.Output{Jobs: job(0)})
	for range 40 {
		s = s.Given(failed)
	}
	s.When(failed).Then(retry(time.Time{}))
	after(t, configured, registered).WhenDue("retry", now).ThenNothing()
}

func TestProcess_EveryHandledEventBelongsToTheOrganization(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, gatewayregistration.Process(), org.String(), configured, registered, failed)
}
