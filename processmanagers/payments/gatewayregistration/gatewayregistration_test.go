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
	registers := retry(now.Add(30*time.Minute), job(processtest.Position)...)
	after(t).When(configured).Then(registers)
	after(t).When(events.GatewayConfigured{OrgID: org}).Then(retry(time.Time{}))
	changed := configured
	changed.Shortcode = "600888"
	after(t, configured, registered).When(changed).Then(registers)
}

// A person saves the same settings again when the provider has former addresses of an active shortcode no more.
func TestActiveShortcode_SavedAgainGetsItsPresentAddressesOnce(t *testing.T) {
	t.Parallel()
	again := retry(time.Time{}, job(processtest.Position)...)
	after(t, configured, registered).When(configured).Then(again).WhenDue("retry", now).ThenNothing()
}

func TestFailedRegistration_IsTriedAgainForADay(t *testing.T) {
	t.Parallel()
	s := after(t, configured)
	for _, wait := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour} {
		s = s.When(failed).Then(retry(now.Add(wait)))
	}
	sixth := commands.RegisterShortcode{OrgID: org, CredentialsRef: keys, Try: 5} // another request than the fifth
	s = s.WhenDue("retry", now).Then(retry(now.Add(time.Hour), sixth))
	for range 40 {
		s = s.Given(failed)
	}
	s.When(failed).Then(retry(time.Time{}))
	after(t, configured, registered).WhenDue("retry", now).ThenNothing()
}

func TestRegistration_WhoseJobWasLostIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := after(t, configured)
	for range 40 { // no report ever comes
		s = s.WhenDue("retry", now).Then(retry(now.Add(time.Hour), job(0)...))
	}
}

func TestRegistration_StaysValidOnlyForTheSameAccess(t *testing.T) {
	t.Parallel()
	registers := retry(now.Add(30*time.Minute), job(processtest.Position)...)
	other := id.Must[id.Secret]("0195a000-0000-7000-8000-000000000042")
	flag := configured
	flag.RejectUnknownAccounts = true
	// A second change of a setting that the provider does not see keeps it valid, too.
	after(t, configured, registered, flag).When(configured).Then(retry(time.Time{}, job(processtest.Position)...))
	after(t, configured, registered, flag).WhenDue("retry", now).ThenNothing()
	live := configured
	live.Environment = "production"
	after(t, configured, registered).When(live).Then(registers)
	fresh := configured
	fresh.CredentialsRef = other
	registers.Jobs = []commands.Job{
		commands.RegisterShortcode{OrgID: org, CredentialsRef: other, Position: processtest.Position},
	}
	after(t, configured, registered).When(fresh).Then(registers)
	after(t, configured, registered, fresh).When(failed).Then(retry(time.Time{})) // of the former credentials
	central := events.GatewayConfigured{OrgID: org}
	after(t, configured, central).WhenDue("retry", now).ThenNothing()
	after(t, configured).WhenRefused(commands.ConfigureGateway{OrgID: org}, "x").ThenNothing()
	after(t, configured, failed, configured).When(failed).Then(retry(now.Add(time.Minute))) // saved again: from anew
}

func TestFailedRegistration_IsGivenUpAfterTwentySevenTries(t *testing.T) {
	t.Parallel()
	s := after(t, configured)
	for range 25 {
		s = s.Given(failed)
	}
	s.When(failed).Then(retry(now.Add(time.Hour)))
	s.Given(failed).When(failed).Then(retry(time.Time{}))
}

func TestLastingFailure_IsNotTriedAgainBeforeTheSettingsAreSavedAgain(t *testing.T) {
	t.Parallel()
	lasting := failed
	lasting.Lasting = true
	s := after(t, configured).When(lasting).Then(retry(time.Time{}))
	s.When(failed).Then(retry(time.Time{})) // a late report of an earlier job
	s.When(configured).Then(retry(now.Add(30*time.Minute), job(processtest.Position)...)).
		When(failed).Then(retry(now.Add(time.Minute)))
}

func TestProcess_EveryHandledEventBelongsToTheOrganization(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, gatewayregistration.Process(), org.String(), configured, registered, failed)
}
