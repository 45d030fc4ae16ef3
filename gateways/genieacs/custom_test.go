package genieacs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// ofAcme is a provision of an organization, which names each Wi-Fi.
var ofAcme = genieacs.Custom{
	Name: "acme-custom-provision", Tag: "org:acme", Version: 1,
	Text: `declare("Device.WiFi.SSID.1.SSID", {value: 1}, {value: "Acme"});`,
}

func TestCustom_RunsOnTheDevicesOfItsOrganizationAlone(t *testing.T) {
	t.Parallel()
	k, p := ready(t) // answers that a device is that of acme
	if err := k.InstallCustom(t.Context(), ofAcme); err != nil {
		t.Fatal(err)
	}
	mine := k.add(acs.DeviceConfig{Serial: "A-1"})
	p.tell(200, pending)
	other := k.add(acs.DeviceConfig{Serial: "B-1"})
	k.inform(mine, "2 PERIODIC")
	k.inform(other, "2 PERIODIC")
	k.noFaults()
	const ssid = "Device.WiFi.SSID.1.SSID"
	if k.inside(mine, ssid) != "Acme" || k.inside(other, ssid) == "Acme" {
		t.Errorf("mine %v, other %v", k.inside(mine, ssid), k.inside(other, ssid))
	}
}

// What is there is not written again, whoever asks; what another hand has changed is.
func TestCustom_WritesWhatIsMissing(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	at := t.Context()
	if err := k.InstallCustom(at, ofAcme); err != nil {
		t.Fatal(err)
	}
	text, _, _ := k.Provision(at, ofAcme.Name)
	preset, found, err := k.Preset(at, ofAcme.Name)
	if err != nil || !found || preset.Channel != ofAcme.Name || preset.Provision != ofAcme.Name ||
		preset.Precondition != "Tags.org0x3Aacme IS NOT NULL" || !strings.HasSuffix(text, ofAcme.Text) {
		t.Fatalf("preset %+v, script %s, %v", preset, text, err)
	}
	if err := k.DeletePreset(at, ofAcme.Name); err != nil { // a kill came before it
		t.Fatal(err)
	}
	if err := k.PutProvision(at, ofAcme.Name, text+"\n// by hand"); err != nil {
		t.Fatal(err)
	}
	if err := k.InstallCustom(at, ofAcme); err != nil {
		t.Fatal(err)
	}
	mended, _, _ := k.Provision(at, ofAcme.Name)
	if _, found, _ := k.Preset(at, ofAcme.Name); !found || mended != text {
		t.Errorf("preset %v, script %s", found, mended)
	}
	if err := errors.Join(k.RemoveCustom(at, ofAcme.Name), k.RemoveCustom(at, ofAcme.Name)); err != nil {
		t.Fatal(err)
	}
	_, has, _ := k.Provision(at, ofAcme.Name)
	if _, found, _ := k.Preset(at, ofAcme.Name); found || has {
		t.Errorf("preset %v, script %v", found, has)
	}
}

// Scripts of the server's operator, and ours, are not touched.
func TestCustom_LeavesWhatOthersHaveWritten(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	at := t.Context()
	const theirs = "log('of the operator');"
	if err := k.PutProvision(at, ofAcme.Name, theirs); err != nil {
		t.Fatal(err)
	}
	if err := k.InstallCustom(at, ofAcme); !errors.Is(err, genieacs.ErrForeign) {
		t.Errorf("installed over a script of another: %v", err)
	}
	if err := k.RemoveCustom(at, ofAcme.Name); err != nil {
		t.Error(err)
	}
	text, _, _ := k.Provision(at, ofAcme.Name)
	if _, found, _ := k.Preset(at, ofAcme.Name); found || text != theirs {
		t.Errorf("preset %v, script %q", found, text)
	}
	ours := ofAcme
	ours.Name = "lastmile-bootstrap"
	if err := k.InstallCustom(at, ours); !errors.Is(err, genieacs.ErrUnfit) {
		t.Errorf("a name of ours: %v", err)
	}
	if err := k.RemoveCustom(at, ours.Name); !errors.Is(err, genieacs.ErrUnfit) {
		t.Errorf("a name of ours: %v", err)
	}
}
