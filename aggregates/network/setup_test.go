package network_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

// The secret that a router was given last is kept, because most routers hide it: with another one its setup has
// drifted.
func TestDevice_SetupDriftIsRecordedOnceForEachDifference(t *testing.T) {
	t.Parallel()
	found := []events.DriftedResource{{Path: "ppp/aaa", Kind: "changed", Name: "ppp/aaa"}}
	drift := func(hash string) commands.ReportSetupDrift {
		return commands.ReportSetupDrift{DeviceID: device, Hash: hash, Resources: found}
	}
	clear := commands.ReportSetupDrift{DeviceID: device}
	drifted := func(hash string) events.DeviceSetupDrifted {
		return events.DeviceSetupDrifted{
			DeviceID: device, OrgID: org, FirstSeenAt: now, Hash: hash, Resources: found, At: now,
		}
	}
	applied := commands.ReportSetupApplied{DeviceID: device, RunID: run, RadiusRef: secret}
	script := commands.ReportBootstrap{DeviceID: device, Version: 2, By: commands.BootstrapByReport}
	ran := events.DeviceBootstrapReported{DeviceID: device, Version: 2, By: commands.BootstrapByReport, At: now}
	s := decidertest.For(t, devices, now).Given(registered).
		When(script).Then(ran).When(script).ThenNothing().
		When(clear).ThenNothing().
		When(drift("a")).Then(drifted("a")).
		When(drift("a")).ThenNothing().
		When(drift("b")).Then(drifted("b")).
		When(clear).Then(events.DeviceSetupCleared{DeviceID: device, At: now}).
		When(drift("b")).Then(drifted("b")).
		When(applied).Then(events.DeviceSetupApplied{DeviceID: device, RunID: run, RadiusRef: secret, At: now}).
		When(applied).ThenNothing()
	survives(t, s)
	if s.State().Setup.RadiusGiven != secret || s.State().Setup.DriftHash != "" {
		t.Errorf("%+v", s.State().Setup)
	}
	s.When(commands.ReplaceDeviceCredentials{DeviceID: device, Kind: events.CredentialRadius, From: secret,
		Ref: secret2}).
		Then(events.DeviceCredentialsReplaced{DeviceID: device, Kind: events.CredentialRadius, Ref: secret2, At: now}).
		When(commands.ReportBootstrap{DeviceID: device, Version: 2, By: commands.BootstrapByRouter}).ThenNothing().
		When(script).Then(ran)
	if s.State().Setup.RadiusGiven != secret2 {
		t.Error("the script brought the new secret")
	}
}
