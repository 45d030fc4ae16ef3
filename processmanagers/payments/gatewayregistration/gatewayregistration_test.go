package gatewayregistration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
)

// The settings of these tests.
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

// of wraps an event.
func of(e events.Event) processmanagers.Input {
	return processmanagers.Input{Event: &events.Envelope{Type: e.EventType(), Position: 42, Event: e}}
}

// after folds events.
func after(ins ...events.Event) gatewayregistration.State {
	var s gatewayregistration.State
	for _, e := range ins {
		s = gatewayregistration.Evolve(s, of(e))
	}
	return s
}

// expect compares jobs and the retry timer; the zero time is a disarmed one.
func expect(t *testing.T, s gatewayregistration.State, in processmanagers.Input, jobs []commands.Job, retry time.Time) {
	t.Helper()
	got, err := gatewayregistration.Decide(s, in, now)
	if err != nil {
		t.Fatal(err)
	}
	want := processmanagers.Output{Jobs: jobs}
	if in.Event != nil {
		want.Timers = []processmanagers.Timer{{Name: "retry", At: retry}}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestDirectShortcode_IsRegisteredWithItsOwnCredentials(t *testing.T) {
	t.Parallel()
	job := []commands.Job{commands.RegisterShortcode{OrgID: org, CredentialsRef: keys, Position: 42}}
	expect(t, after(), of(configured), job, time.Time{})
	expect(t, after(configured, registered), of(configured), nil, time.Time{}) // only a flag changed
	expect(t, after(), of(events.GatewayConfigured{OrgID: org}), nil, time.Time{})
	changed := configured
	changed.Shortcode = "600888"
	expect(t, after(configured, registered), of(changed), job, time.Time{})
}

func TestFailedRegistration_IsTriedAgainForADay(t *testing.T) {
	t.Parallel()
	s := after(configured)
	for _, wait := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour} {
		expect(t, s, of(failed), nil, now.Add(wait))
		s = gatewayregistration.Evolve(s, of(failed))
	}
	again := processmanagers.Input{Timeout: &processmanagers.Timeout{Name: "retry"}}
	expect(t, s, again, []commands.Job{commands.RegisterShortcode{OrgID: org, CredentialsRef: keys}}, time.Time{})
	for range 40 {
		s = gatewayregistration.Evolve(s, of(failed))
	}
	expect(t, s, of(failed), nil, time.Time{})
	expect(t, after(configured, registered), again, nil, time.Time{})
}
