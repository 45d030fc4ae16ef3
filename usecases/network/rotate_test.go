package networkcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Whoever has an older script knows the password of the tunnel and the address of reports: after a rotation neither is
// worth anything, and the router is shown to need the new script until that has reported.
func TestRotateSecrets_AnOlderScriptIsWorthNothing(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	owner := vault.CallbackOwner{Kind: networkjobs.TokenBootstrap, Ref: p.device.UUID(), OrgID: p.org}
	row := func() networkviews.DeviceRow { return p.deviceRow(p.device) }
	old, err := p.Vault.CallbackSecrets.Issue(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.workers.ReportBootstrap(t.Context(), old.Reveal(), networkjobs.BootstrapVersion); err != nil {
		t.Fatal(err)
	}
	before := p.kit.device(p.device)
	leaked, _ := p.secret(before.TunnelRef)

	_, err = p.devices.RotateSecrets(t.Context(), coretest.Keyed(id.New[id.Organization]()), p.device)
	coretest.Refused(t, "another organization", err, "device_not_found")
	asked := p.asked()
	_, err = p.devices.RotateSecrets(t.Context(), broken(asked), p.device)
	coretest.Refused(t, "a try that ends before", err, "stale_revision")
	done, err := p.devices.RotateSecrets(t.Context(), asked, p.device)
	if err != nil || !done.Changed {
		t.Fatalf("%+v, %v", done, err)
	}
	p.shows(networkviews.DevicesName, done)

	after, has := p.secret(row().TunnelRef) // what the concentrator is given
	if _, kept := p.secret(before.TunnelRef); kept || !has || after == leaked {
		t.Errorf("the former password is kept: %t, there is a new one: %t", kept, has)
	}
	coretest.Refused(t, "the former address", p.workers.ReportBootstrap(t.Context(), old.Reveal(),
		networkjobs.BootstrapVersion), "callback_token_unknown")
	if !row().Rotated {
		t.Error("the router is not shown to need the new script")
	}
	names := p.actions(commands.DeviceCategory, id.Any(p.device))
	if last := names[len(names)-1]; last != (commands.ReplaceDeviceCredentials{}).CommandName() {
		t.Errorf("recorded is %s", last)
	}

	again, err := p.devices.RotateSecrets(t.Context(), asked, p.device)
	if same := p.kit.device(p.device).TunnelRef; err != nil || again.Changed && same != row().TunnelRef {
		t.Errorf("a repeat rotates again: %+v, %v", again, err)
	}
	fresh, err := p.Vault.CallbackSecrets.Issue(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.workers.ReportBootstrap(t.Context(), fresh.Reveal(), networkjobs.BootstrapVersion); err != nil {
		t.Fatal(err)
	}
	if state := p.kit.device(p.device); state.Rotated {
		t.Error("the report of the new script does not count")
	}
}

// A repeat that comes after a second rotation leaves the password of the second one in use, and the address at which
// the script with it reports.
func TestRotateSecrets_ALateRepeatLeavesTheNewestPasswordAndAddress(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	first, second := k.asked(), k.asked()
	rotate := func(asked usecases.Asked) {
		t.Helper()
		if _, err := k.devices.RotateSecrets(t.Context(), asked, device); err != nil {
			t.Fatal(err)
		}
	}
	rotate(first)
	rotate(second)
	token, err := k.Vault.CallbackSecrets.Issue(t.Context(), vault.CallbackOwner{
		Kind: networkjobs.TokenBootstrap, Ref: device.UUID(), OrgID: k.org, // the new script is shown
	})
	if err != nil {
		t.Fatal(err)
	}
	rotate(first)
	if _, err := k.Vault.CallbackSecrets.Lookup(t.Context(), token); err != nil {
		t.Errorf("the newest script cannot report: %v", err)
	}
	if _, has := k.secret(k.device(device).TunnelRef); !has {
		t.Error("the password in use was deleted")
	}
}

// The address of reports ends with its router.
func TestDecommission_RevokesTheAddressOfReports(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	owner := vault.CallbackOwner{Kind: networkjobs.TokenBootstrap, Ref: device.UUID(), OrgID: k.org}
	token, err := k.Vault.CallbackSecrets.Issue(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.devices.Decommission(t.Context(), k.asked(), device); err != nil {
		t.Fatal(err)
	}
	_, err = k.Vault.CallbackSecrets.Lookup(t.Context(), token)
	coretest.Refused(t, "the address of a router that is gone", err, "callback_token_unknown")
}

// deviceRow is a router as its read model has it.
func (p *plant) deviceRow(device id.Device) networkviews.DeviceRow {
	p.t.Helper()
	row, err := networkviews.DevicesQuery{Views: p.views}.Get(p.t.Context(), p.org, device)
	if err != nil || row == nil {
		p.t.Fatalf("no device: %v", err)
	}
	return *row
}
