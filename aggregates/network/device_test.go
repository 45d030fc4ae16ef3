package network_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// details are an operator's input with the default ports.
var details = events.DeviceDetails{Name: "Tower 1", IPAddress: "203.0.113.7", CoAPort: 3799, APIPort: 80}

// register is the command and registered the event that creates the router.
var (
	register = commands.RegisterDevice{
		DeviceID: device, OrgID: org, Details: details, TunnelAddress: "10.99.3.4", TunnelUser: "nas-1", APIRef: secret,
		RadiusRef: secret, TunnelRef: secret, ReportRef: secret,
	}
	registered = events.DeviceRegistered{
		DeviceID: device, OrgID: org, Details: details, TunnelAddress: "10.99.3.4", TunnelUser: "nas-1", APIRef: secret,
		RadiusRef: secret, TunnelRef: secret, ReportRef: secret, At: now,
	}
)

func TestDevice_IsRegisteredCorrectedAndDecommissioned(t *testing.T) {
	t.Parallel()
	corrected := details
	corrected.Name, corrected.APIPort = "Tower One", 8728
	learned := events.DeviceTransport{
		Protocol: commands.ProtocolREST, Port: 80, Version: "7.16 (stable)", BoardName: "RB5009",
	}
	s := decidertest.For(t, devices, now).
		When(commands.CorrectDevice{DeviceID: device, Details: corrected}).ThenFails("device_not_found").
		When(register).Then(registered).
		When(register).ThenFails("device_exists").
		When(commands.LearnDeviceTransport{DeviceID: device, Transport: learned}).
		Then(events.DeviceTransportLearned{DeviceID: device, Transport: learned, At: now}).
		When(commands.LearnDeviceTransport{DeviceID: device, Transport: learned}).ThenNothing().
		When(commands.CorrectDevice{DeviceID: device, Details: corrected}).
		Then(events.DeviceDetailsCorrected{DeviceID: device, Details: corrected, At: now}).
		When(commands.CorrectDevice{DeviceID: device, Details: corrected}).ThenNothing()
	if s.State().Transport.Protocol != "" {
		t.Error("another port must be found out again")
	}
	s.When(commands.ReplaceDeviceCredentials{DeviceID: device, Kind: events.CredentialRadius, Ref: secret2}).
		ThenFails("concurrent_change").
		When(commands.ReplaceDeviceCredentials{DeviceID: device, Kind: events.CredentialRadius, From: secret,
			Ref: secret2}).
		Then(events.DeviceCredentialsReplaced{DeviceID: device, Kind: events.CredentialRadius, Ref: secret2, At: now}).
		When(commands.ReplaceDeviceCredentials{DeviceID: device, Kind: events.CredentialRadius,
			Ref: secret2}).ThenNothing().
		When(commands.ReportBootstrap{DeviceID: device, Version: 2, By: commands.BootstrapByReport}).
		Then(events.DeviceBootstrapReported{DeviceID: device, Version: 2, By: commands.BootstrapByReport, At: now}).
		When(commands.ReportBootstrap{DeviceID: device, Version: 2, By: commands.BootstrapByRouter}).ThenNothing()
	survives(t, s)
	if s.State().RadiusRef != secret2 || s.State().APIRef != secret || network.Devices().Owner(s.State()) != org {
		t.Errorf("state %+v", s.State())
	}
	s.When(commands.DecommissionDevice{DeviceID: device}).Then(events.DeviceDecommissioned{DeviceID: device, OrgID: org,
		At: now}).
		When(commands.DecommissionDevice{DeviceID: device}).ThenNothing().
		When(commands.MarkDeviceRecovered{DeviceID: device}).ThenFails("device_not_found")
}

func TestDevice_TunnelPlaceIsClaimedUntilDecommissioned(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, devices, now).Given(registered)
	claims := network.Devices().Claims(s.State())
	if len(claims) != 2 || claims[0].Value != "10.99.3.4" || claims[0].Code != "tunnel_address_taken" ||
		claims[1].Value != "nas-1" {
		t.Errorf("claims %v", claims)
	}
	s.Given(events.DeviceDecommissioned{DeviceID: device, OrgID: org, At: now})
	if got := network.Devices().Claims(s.State()); got != nil {
		t.Errorf("still claims %v", got)
	}
}

func TestDevice_BreakerIsRecordedOnce(t *testing.T) {
	t.Parallel()
	decidertest.For(t, devices, now).Given(registered).
		When(commands.MarkDeviceRecovered{DeviceID: device}).ThenNothing().
		When(commands.MarkDeviceUnreachable{DeviceID: device, Error: "i/o timeout"}).
		Then(events.DeviceUnreachable{DeviceID: device, Error: "i/o timeout", At: now}).
		When(commands.MarkDeviceUnreachable{DeviceID: device, Error: "refused"}).ThenNothing().
		When(commands.MarkDeviceRecovered{DeviceID: device}).Then(events.DeviceRecovered{DeviceID: device, At: now})
}

func TestReboot_IsSentOnceAndCheckedByUptime(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, devices, now).Given(registered).
		When(commands.BeginReboot{DeviceID: device, RunID: run}).ThenNothing().
		When(commands.RequestReboot{DeviceID: device, RunID: run}).Then(events.DeviceRebootRequested{DeviceID: device,
		RunID: run, At: now}).
		When(commands.RequestReboot{DeviceID: device, RunID: run}).ThenNothing().
		When(commands.RequestReboot{DeviceID: device, RunID: run2}).ThenFails("reboot_in_progress").
		When(commands.ConfirmReboot{DeviceID: device, RunID: run, UptimeSeconds: 9}).ThenNothing().
		When(commands.BeginReboot{DeviceID: device, RunID: run2}).ThenNothing().
		When(commands.BeginReboot{DeviceID: device, RunID: run}).Then(events.DeviceRebootStarted{DeviceID: device,
		RunID: run, At: now}).
		When(commands.BeginReboot{DeviceID: device, RunID: run}).ThenNothing().
		When(commands.AcceptReboot{DeviceID: device, RunID: run}).Then(events.DeviceRebootAccepted{DeviceID: device,
		RunID: run, At: now}).
		When(commands.AcceptReboot{DeviceID: device, RunID: run}).ThenNothing()
	survives(t, s)
	s.When(commands.ConfirmReboot{DeviceID: device, RunID: run, UptimeSeconds: 9}).
		Then(events.DeviceRebootConfirmed{DeviceID: device, RunID: run, UptimeSeconds: 9, At: now}).
		When(commands.FailReboot{DeviceID: device, RunID: run, Message: "late"}).ThenNothing().
		When(commands.RequestReboot{DeviceID: device, RunID: run2}).Then(events.DeviceRebootRequested{DeviceID: device,
		RunID: run2, At: now}).
		When(commands.FailReboot{DeviceID: device, RunID: run2, Message: "not enough permissions (9)"}).
		Then(events.DeviceRebootFailed{DeviceID: device, RunID: run2, Message: "not enough permissions (9)", At: now})
}

func TestReboot_AbandonedOneIsNotInTheWayForEver(t *testing.T) {
	t.Parallel()
	later := now.Add(time.Hour)
	decidertest.For(t, devices, now).Given(registered,
		events.DeviceRebootRequested{DeviceID: device, RunID: run, At: now}).
		At(later).When(commands.RequestReboot{DeviceID: device, RunID: run2}).Then(events.DeviceRebootRequested{
		DeviceID: device, RunID: run2, At: later,
	})
}

func TestTunnelCandidates_AreRoutersAddressesAndComeOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for try := range 65533 {
		text := network.TunnelCandidate(device, try)
		address := netip.MustParseAddr(text)
		if seen[text] || !commands.TunnelPlan.Contains(address) || address.Compare(commands.TunnelGateway) <= 0 ||
			text == "10.99.255.255" {
			t.Fatalf("try %d gives %s", try, text)
		}
		seen[text] = true
	}
}

func TestRegisterDevice_FormIsChecked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*commands.RegisterDevice){
		"no name":           func(c *commands.RegisterDevice) { c.Details.Name = " " },
		"control bytes":     func(c *commands.RegisterDevice) { c.Details.Name = "a\nb" },
		"no address":        func(c *commands.RegisterDevice) { c.Details.IPAddress = "tower" },
		"port":              func(c *commands.RegisterDevice) { c.Details.APIPort = 65536 },
		"concentrator":      func(c *commands.RegisterDevice) { c.TunnelAddress = "10.99.0.1" },
		"outside":           func(c *commands.RegisterDevice) { c.TunnelAddress = "10.98.0.9" },
		"no secret":         func(c *commands.RegisterDevice) { c.RadiusRef = secret; c.TunnelRef = [16]byte{} },
		"management a URL":  func(c *commands.RegisterDevice) { c.Details.ManagementAddress = "http://x/" },
		"no radius secret ": func(c *commands.RegisterDevice) { c.RadiusRef = [16]byte{} },
	} {
		c := register
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestBootstrap_OnlyVersionsThatExistAreBelieved(t *testing.T) {
	t.Parallel()
	for version, exists := range map[int]bool{
		-1: false, 0: false, 1: true, commands.BootstrapVersion: true, commands.BootstrapVersion + 1: false, 99: false,
	} {
		report := commands.ReportBootstrap{DeviceID: device, Version: version, By: commands.BootstrapByRouter}
		if err := report.Validate(); (err == nil) != exists || err != nil && failure.CodeOf(err) != "bad_version" {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

func TestBootstrap_EachShowingIsRecorded(t *testing.T) {
	t.Parallel()
	show := commands.ShowBootstrap{DeviceID: device, Version: 2}
	shown := events.DeviceBootstrapShown{DeviceID: device, Version: 2, At: now}
	s := decidertest.For(t, devices, now).
		When(show).ThenFails("device_not_found").
		Given(registered).
		When(show).Then(shown).
		When(show).Then(shown).
		When(commands.ReportBootstrap{DeviceID: device, Version: 1, By: commands.BootstrapByReport}).
		Then(events.DeviceBootstrapReported{DeviceID: device, Version: 1, By: commands.BootstrapByReport, At: now})
	if s.State().Bootstrap != 1 {
		t.Errorf("state %+v", s.State())
	}
}

func TestReadDeviceCustomers_EachReadingIsRecorded(t *testing.T) {
	t.Parallel()
	read := commands.ReadDeviceCustomers{DeviceID: device, ProposalID: id.As[id.Proposal](device)}
	was := events.DeviceCustomersRead{DeviceID: device, ProposalID: read.ProposalID, At: now}
	decidertest.For(t, devices, now).
		When(read).ThenFails("device_not_found").
		Given(registered).
		When(read).Then(was).
		When(read).Then(was)
}

func TestDevice_EachCredentialIsReplacedByItself(t *testing.T) {
	t.Parallel()
	for _, kind := range []events.CredentialKind{
		events.CredentialAPI, events.CredentialRadius, events.CredentialTunnel, events.CredentialReport,
	} {
		s := decidertest.For(t, devices, now).Given(registered).
			When(commands.ReplaceDeviceCredentials{DeviceID: device, Kind: kind, From: secret, Ref: secret2}).
			Then(events.DeviceCredentialsReplaced{DeviceID: device, Kind: kind, Ref: secret2, At: now})
		have := map[events.CredentialKind]id.Secret{
			events.CredentialAPI: s.State().APIRef, events.CredentialRadius: s.State().RadiusRef,
			events.CredentialTunnel: s.State().TunnelRef, events.CredentialReport: s.State().ReportRef,
		}
		for other, ref := range have {
			if (ref == secret2) != (other == kind) {
				t.Errorf("after %s was replaced, %s is %s", kind, other, ref)
			}
		}
	}
}

func TestDevice_TransportIsFoundOutAgainAtAnotherAddressOnly(t *testing.T) {
	t.Parallel()
	learned := events.DeviceTransport{Protocol: commands.ProtocolREST, Port: 80, Version: "7.16"}
	for name, c := range map[string]struct {
		change func(*events.DeviceDetails)
		again  bool
	}{
		"name":    {func(d *events.DeviceDetails) { d.Name = "Tower 2" }, false},
		"port":    {func(d *events.DeviceDetails) { d.APIPort = 8080 }, true},
		"address": {func(d *events.DeviceDetails) { d.ManagementAddress = "10.0.0.1" }, true},
	} {
		corrected := details
		c.change(&corrected)
		s := decidertest.For(t, devices, now).
			Given(registered, events.DeviceTransportLearned{DeviceID: device, Transport: learned},
				events.DeviceDetailsCorrected{DeviceID: device, Details: corrected})
		if forgotten := s.State().Transport.Protocol == ""; forgotten != c.again || s.State().Details != corrected {
			t.Errorf("another %s: %+v", name, s.State())
		}
	}
}

func TestDevice_ThatAnswersAgainCanFailAgain(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, devices, now).Given(registered, events.DeviceUnreachable{DeviceID: device},
		events.DeviceRecovered{DeviceID: device})
	s.When(commands.MarkDeviceRecovered{DeviceID: device}).ThenNothing().
		When(commands.MarkDeviceUnreachable{DeviceID: device, Error: "refused"}).
		Then(events.DeviceUnreachable{DeviceID: device, Error: "refused", At: now})
}

func TestReboot_ThatIsOverTakesNoMoreSteps(t *testing.T) {
	t.Parallel()
	requested := events.DeviceRebootRequested{DeviceID: device, RunID: run, At: now}
	started := events.DeviceRebootStarted{DeviceID: device, RunID: run, At: now}
	failed := events.DeviceRebootFailed{DeviceID: device, RunID: run, Message: "x", At: now}
	fail := commands.FailReboot{DeviceID: device, RunID: run, Message: "x"}
	decidertest.For(t, devices, now).Given(registered, requested).
		When(commands.AcceptReboot{DeviceID: device, RunID: run}).ThenNothing().
		When(commands.FailReboot{DeviceID: device, RunID: run2, Message: "x"}).ThenNothing().
		When(fail).Then(failed).When(fail).ThenNothing()
	decidertest.For(t, devices, now).Given(registered, requested, started, failed).
		When(commands.AcceptReboot{DeviceID: device, RunID: run}).ThenNothing().
		When(commands.ConfirmReboot{DeviceID: device, RunID: run, UptimeSeconds: 1}).ThenNothing().
		When(commands.RequestReboot{DeviceID: device, RunID: run2}).
		Then(events.DeviceRebootRequested{DeviceID: device, RunID: run2, At: now})
	decidertest.For(t, devices, now).Given(registered, requested, started).
		When(commands.ConfirmReboot{DeviceID: device, RunID: run2, UptimeSeconds: 1}).ThenNothing()
}
