package network_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
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
	script := commands.ReportBootstrap{
		DeviceID: device, Version: 2, By: commands.BootstrapByReport, RadiusRef: secret,
	}
	ran := events.DeviceBootstrapReported{
		DeviceID: device, Version: 2, By: commands.BootstrapByReport, RadiusRef: secret, At: now,
	}
	s := decidertest.For(t, devices, now).Given(registered,
		events.DeviceBootstrapShown{DeviceID: device, Version: 2, RadiusRef: secret, At: now}).
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
		When(script).ThenNothing()
	if s.State().Setup.RadiusGiven != secret {
		t.Error("the script of the former secret counts as having brought the new one")
	}
}

// A script brings the RADIUS secret that was valid when it was shown, whenever it runs. Which one a script has brought
// is not known when the platform reads only its version, or when the report does not name one that was shown.
func TestSetup_AScriptBringsTheRadiusSecretOfItsShowing(t *testing.T) {
	t.Parallel()
	shown := func(ref id.Secret) commands.ShowBootstrap {
		return commands.ShowBootstrap{DeviceID: device, Version: 2, RadiusRef: ref}
	}
	ran := func(by string, ref id.Secret) commands.ReportBootstrap {
		return commands.ReportBootstrap{DeviceID: device, Version: 2, By: by, RadiusRef: ref}
	}
	replaced := commands.ReplaceDeviceCredentials{
		DeviceID: device, Kind: events.CredentialRadius, From: secret, Ref: secret2,
	}
	marked := func(ref id.Secret) commands.ReportBootstrap {
		report := ran(commands.BootstrapByMark, ref)
		report.TunnelRef = registered.TunnelRef
		return report
	}
	for name, c := range map[string]struct {
		commands []commands.DeviceCommand
		given    id.Secret
	}{
		"an old script": {[]commands.DeviceCommand{
			shown(secret), replaced, ran(commands.BootstrapByReport, secret),
		}, secret},
		"the new script": {[]commands.DeviceCommand{
			shown(secret), replaced, shown(secret2), ran(commands.BootstrapByReport, secret2),
		}, secret2},
		"the old script after the new one": {[]commands.DeviceCommand{
			shown(secret), replaced, shown(secret2), ran(commands.BootstrapByReport, secret2),
			ran(commands.BootstrapByReport, secret),
		}, secret},
		"a version that the platform read": {[]commands.DeviceCommand{
			shown(secret), ran(commands.BootstrapByRouter, id.Secret{}),
		}, id.Secret{}},
		"a version that the platform read with the marks": {[]commands.DeviceCommand{
			shown(secret), marked(secret),
		}, secret},
		"marks with a secret that no script has": {[]commands.DeviceCommand{
			shown(secret), marked(secret2),
		}, id.Secret{}},
		"a secret that no script has": {[]commands.DeviceCommand{
			shown(secret), replaced, ran(commands.BootstrapByReport, secret2),
		}, id.Secret{}},
		"a report without a secret": {[]commands.DeviceCommand{
			shown(secret), ran(commands.BootstrapByReport, id.Secret{}),
		}, id.Secret{}},
	} {
		s := decidertest.For(t, devices, now).Given(registered)
		for _, command := range c.commands {
			s.When(command).ThenEvents()
		}
		if got := s.State(); got.Setup.RadiusGiven != c.given || got.Bootstrap != 2 {
			t.Errorf("%s: the router was given %v with version %d", name, got.Setup.RadiusGiven, got.Bootstrap)
		}
		survives(t, s)
	}
}

// A script is known to have the tunnel's present password by its report, or by the mark of that password; a mark of one
// that was replaced meanwhile says nothing.
func TestSetup_AMarkOfTheTunnelsPasswordCountsUntilItIsReplaced(t *testing.T) {
	t.Parallel()
	rotated := func(from, to id.Secret) commands.ReplaceDeviceCredentials {
		return commands.ReplaceDeviceCredentials{DeviceID: device, Kind: events.CredentialTunnel, From: from, Ref: to}
	}
	ran := func(by string, ref id.Secret) commands.ReportBootstrap {
		return commands.ReportBootstrap{DeviceID: device, Version: 2, By: by, TunnelRef: ref}
	}
	third := id.New[id.Secret]()
	s := decidertest.For(t, devices, now).Given(registered)
	s.When(ran(commands.BootstrapByMark, secret2)).ThenNothing()
	s.When(rotated(registered.TunnelRef, secret2)).ThenEvents()
	s.When(ran(commands.BootstrapByMark, registered.TunnelRef)).ThenNothing()
	s.When(ran(commands.BootstrapByRouter, id.Secret{})).ThenEvents()
	if !s.State().Rotated {
		t.Error("a version alone counts")
	}
	s.When(ran(commands.BootstrapByMark, secret2)).Then(events.DeviceBootstrapReported{
		DeviceID: device, Version: 2, By: commands.BootstrapByMark, At: now,
	})
	if s.State().Rotated {
		t.Error("the mark does not count")
	}
	s.When(ran(commands.BootstrapByMark, secret2)).ThenNothing()
	s.When(rotated(secret2, third)).ThenEvents()
	s.When(ran(commands.BootstrapByMark, secret2)).ThenNothing()
	survives(t, s)
}

// That a router cannot be compared is recorded once, and so is the end of it.
func TestSetup_ARouterThatCannotBeComparedIsTold(t *testing.T) {
	t.Parallel()
	failed := commands.ReportDriftCheck{DeviceID: device, Error: "The router answers too slowly to be compared."}
	made := commands.ReportDriftCheck{DeviceID: device}
	unchecked := events.DeviceDriftUnchecked{DeviceID: device, Error: failed.Error, At: now}
	s := decidertest.For(t, devices, now).When(failed).ThenFails("device_not_found").Given(registered).
		When(made).ThenNothing().
		When(failed).Then(unchecked).When(failed).ThenNothing().
		When(made).Then(events.DeviceDriftChecked{DeviceID: device, At: now}).When(made).ThenNothing().
		When(failed).Then(unchecked)
	survives(t, s)
}
