package main

import (
	"context"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestCpe_ProvisionsOfOrganizations goes from the first version of a script over its run on a device to its removal.
func TestCpe_ProvisionsOfOrganizations(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	const at = "/cpe/provisions/custom-provision"
	body := func(script string) map[string]any { return map[string]any{"script": script} }
	made := k.must(k.admin, "PUT", at, body(`declare("Device.WiFi.SSID.1.SSID", {value: 1}, {value: "Acme"});`))
	if made.text("storedName") != "acme-custom-provision" || made.text("state") != "installed" ||
		made.at("version") != "1" || made.at("by.name") == "<nil>" {
		t.Errorf("made %v", made)
	}
	preset := k.served(t.Context(), "/presets/")
	if !strings.Contains(preset, `"channel":"acme-custom-provision"`) ||
		!strings.Contains(preset, "Tags.org0x3Aacme IS NOT NULL") {
		t.Errorf("presets %s", preset)
	}
	device, err := k.acs.AddDevice(acs.DeviceConfig{Serial: "SN-1"})
	if err != nil {
		t.Fatal(err)
	}
	k.must(k.admin, "POST", "/cpe/pending/"+k.pendingID(k.admin, "SN-1")+"/claim", nil)
	k.eventually("the script to run", func(ctx context.Context) (bool, error) {
		if err := k.acs.Inform(device, "0 BOOTSTRAP"); err != nil {
			return false, err
		}
		if err := k.acs.Idle(ctx); err != nil {
			return false, err
		}
		has, err := k.acs.Parameters(device)
		return has["Device.WiFi.SSID.1.SSID"] == "Acme", err
	})
	faulty := k.must(k.admin, "PUT", at, body(`log(declare("Device.None", {value: 1}).value[0]);`))
	if faulty.at("version") != "2" || faulty.text("state") != "installed" {
		t.Errorf("changed %v", faulty)
	}
	k.eventually("a fault on the script's channel", func(ctx context.Context) (bool, error) {
		err := k.acs.Inform(device, "2 PERIODIC")
		return strings.Contains(k.served(ctx, "/faults/"), "acme-custom-provision"), err
	})
	if rows := k.all(k.admin, "/cpe/provisions"); len(rows) != 1 || rows[0].text("name") != "custom-provision" {
		t.Errorf("listed %v", rows)
	}
	if got := k.must(k.admin, "GET", at, nil); !strings.Contains(got.text("script"), "Device.None") {
		t.Errorf("read %v", got)
	}
	k.must(k.admin, "DELETE", at, nil)
	k.withoutProvision("acme-custom-provision")
	k.eventually("the script to be removed", func(ctx context.Context) (bool, error) {
		_, err := k.admin.call(ctx, "GET", at, "", nil)
		no := asAPIError(err)
		return no != nil && no.Code == "provision_not_found", nil
	})
	k.refused(k.admin, "DELETE "+at, nil, 404, "provision_not_found")
}

// TestCpe_AProvisionIsCheckedFirst: what a script may not do is told with its line, and nothing reaches the server.
func TestCpe_AProvisionIsCheckedFirst(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	const at = "/cpe/provisions/custom-provision"
	body := func(script string) map[string]any { return map[string]any{"script": script} }
	for _, bad := range []string{
		"log(1);\next('lastmile', 'identify');", "log(1);\n}",
		"log(1);\ndeclare('Tags.org0x3Arival', null, {value: 1});",
	} {
		_, err := k.admin.call(t.Context(), "PUT", at, "", body(bad))
		no := asAPIError(err)
		if no == nil || no.Status != 422 || no.Code != "provision_refused" || !strings.Contains(no.Body, "Line 2 ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	k.refused(k.admin, "PUT /cpe/provisions/a%20b", body("log(1);"), 422, "invalid_input")
	k.refused(k.admin, "PUT "+at, body(" "), 422, "invalid_input")
	k.withoutProvision("acme-")
}

// TestCpe_AProvisionThatWasTakenOnceIsCheckedAgain: what an earlier program took and this one does not is left out of
// the server, and its organization sees why.
func TestCpe_AProvisionThatWasTakenOnceIsCheckedAgain(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	org := k.organizationID("acme")
	if _, err := k.app.engines.bus.Execute(t.Context(), commands.WriteCpeProvision{
		ProvisionID: commands.CpeProvisionID(org, "wild"), OrgID: org, Name: "wild", StoredName: "acme-wild", Place: 1,
		Tag: "org:acme", Script: "log(1);\ndeclare('Device.WiFi.SSID.*', null, {path: 1e9});",
	}, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	}); err != nil {
		t.Fatal(err)
	}
	k.eventually("the script to be refused", func(context.Context) (bool, error) {
		rows := k.all(k.admin, "/cpe/provisions")
		return len(rows) == 1 && rows[0].text("state") == "refused" &&
			strings.HasPrefix(rows[0].at("error.message"), "Line 2 of the script: path must be a number"), nil
	})
	k.withoutProvision("acme-")
}

// withoutProvision waits until the CPE server has neither script nor preset of a name.
func (k acsKit) withoutProvision(name string) {
	k.t.Helper()
	k.eventually(name+" to be gone", func(ctx context.Context) (bool, error) {
		texts := k.served(ctx, "/provisions/?projection=_id") + k.served(ctx, "/presets/?projection=_id")
		return !strings.Contains(texts, name), nil
	})
}

// TestCpe_ProvisionsAreOfOneOrganization: slugs have dashes, so that two organizations can spell one name; and an
// organization sees none of another one's.
func TestCpe_ProvisionsAreOfOneOrganization(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	body := map[string]any{"script": "log(1);"}
	other := k.organization("acme-north", "ada@north.test")
	k.must(k.admin, "PUT", "/cpe/provisions/north-wifi", body)
	k.refused(other, "PUT /cpe/provisions/wifi", body, 409, "provision_name_taken")
	k.refused(other, "GET /cpe/provisions/north-wifi", nil, 404, "provision_not_found")
	k.refused(other, "DELETE /cpe/provisions/wifi", nil, 404, "provision_not_found")
	if rows := k.all(other, "/cpe/provisions"); len(rows) != 0 {
		t.Errorf("another one sees %v", rows)
	}
	k.must(k.admin, "DELETE", "/cpe/provisions/north-wifi", nil)
	k.withoutProvision("acme-north-wifi")
	k.eventually("the name to be free", func(ctx context.Context) (bool, error) {
		made, err := other.call(ctx, "PUT", "/cpe/provisions/wifi", "", body)
		return err == nil && made.text("storedName") == "acme-north-wifi", err
	})
}

// TestCpe_AProvisionReachesAServerThatBreaksOff: between script and preset, and before both.
func TestCpe_AProvisionReachesAServerThatBreaksOff(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	for n, faults := range []acs.Faults{{CrashNext: 1}, {LoseAnswers: 2}} {
		k.acs.SetFaults(faults)
		name := []string{"first", "second"}[n]
		k.must(k.admin, "PUT", "/cpe/provisions/"+name, map[string]any{"script": "log(1);"})
		k.eventually(name+" to be installed", func(ctx context.Context) (bool, error) {
			got, err := k.admin.call(ctx, "GET", "/cpe/provisions/"+name, "", nil)
			return got.text("state") == "installed", err
		})
		if presets := k.served(t.Context(), "/presets/"); !strings.Contains(presets, `"channel":"acme-`+name) {
			t.Errorf("presets %s", presets)
		}
	}
}

// TestCpe_WithoutAServerThereAreNoProvisions: what nobody could run is not kept.
func TestCpe_WithoutAServerThereAreNoProvisions(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	k.refused(k.admin, "PUT /cpe/provisions/a", map[string]any{"script": "log(1);"}, 503, "cpe_server_not_set_up")
	if rows := k.all(k.admin, "/cpe/provisions"); len(rows) != 0 {
		t.Errorf("kept %v", rows)
	}
}
