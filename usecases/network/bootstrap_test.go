package networkcases_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/network"
)

func TestShowBootstrap_IsRecordedBeforeAnybodySeesIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device, _, err := k.devices.Register(t.Context(), k.asked(), input())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if script, err := k.devices.ShowBootstrap(t.Context(), k.asked(), device); err != nil ||
			script != "the script" {
			t.Fatalf("%q, %v", script, err)
		}
	}
	shown := commands.ShowBootstrap{}.CommandName()
	names := k.actions(commands.DeviceCategory, id.Any(device))
	if want := []string{commands.RegisterDevice{}.CommandName(), shown, shown}; !slices.Equal(names, want) {
		t.Errorf("recorded %v", names)
	}
	stranger := coretest.Keyed(id.New[id.Organization]())
	script, err := k.devices.ShowBootstrap(t.Context(), stranger, device)
	coretest.Refused(t, "another organization", err, "device_not_found")
	if script != "" {
		t.Error("it was shown without a record")
	}
}

func TestShowBootstrap_ThirtyTimesAnHourForADevice(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device, _, err := k.devices.Register(t.Context(), k.asked(), input())
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := k.devices.ShowBootstrap(t.Context(), k.asked(), device); err != nil {
			t.Fatal(err)
		}
	}
	_, err = k.devices.ShowBootstrap(t.Context(), k.asked(), device)
	coretest.Refused(t, "the 31st", err, "rate_limited")
	if names := k.actions(commands.DeviceCategory, id.Any(device)); len(names) != 31 {
		t.Errorf("%d records", len(names))
	}
}

func TestReportBootstrap_ThirtyTimesAnHourAndOnlyOfVersionsThatExist(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	token, err := p.Vault.CallbackSecrets.Issue(t.Context(), vault.CallbackOwner{
		Kind: networkjobs.TokenBootstrap, Ref: p.device.UUID(), OrgID: p.org,
	})
	if err != nil {
		t.Fatal(err)
	}
	report := func(version int) error {
		return p.workers.ReportBootstrap(t.Context(), token.Reveal(), version)
	}
	coretest.Refused(t, "a version of the future", report(networkjobs.BootstrapVersion+1), "bad_version")
	for n := range 29 {
		if err := report(1 + n%networkjobs.BootstrapVersion); err != nil {
			t.Fatal(err)
		}
	}
	coretest.Refused(t, "the 31st", report(networkjobs.BootstrapVersion), "rate_limited")
	coretest.Refused(t, "another token", p.workers.ReportBootstrap(t.Context(), "nonsense", 2),
		"callback_token_unknown")
}
