package genieacs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// lives fails when the server's process has ended.
func (k *kit) lives() {
	k.t.Helper()
	for _, line := range k.sim.Log() {
		if strings.Contains(line, "process ended") {
			k.t.Error(line)
		}
	}
}

// TestOwn_NamesThatLookLikeNumbersOfSignsAreTagsAsTold: the server takes 0x and two digits or capitals in a script for
// a sign, and ends at what is none. The login of such a name leaves the device as any other one.
func TestOwn_NamesThatLookLikeNumbersOfSignsAreTagsAsTold(t *testing.T) {
	t.Parallel()
	for username, plan := range map[string]string{
		"a0xFF": "50x50", "a0x41": "100x80", "jane@x5.net": "10x2.5", "0x0x41": "0xA.b", "jane@x41": "x",
	} {
		t.Run(username, func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			login, last := "sub:"+acstag.Name(username), "plan:"+acstag.Name(plan)
			says := strings.NewReplacer(
				"sub:jane.doe", login, "plan:home-10", last, "org:acme", "org:net0x41", "jane.doe", username,
			).Replace(answered)
			p.tell(200, says)
			id := k.add(acs.DeviceConfig{Serial: "N1"})
			for range 2 {
				k.tagged(id, genieacs.Unidentified)
				k.inform(id, "2 PERIODIC")
				if tags := k.read(id).Tags; !slices.Equal(tags, []string{"org:net0x41", login, last}) {
					t.Errorf("tags %v", tags)
				}
			}
			if got := k.inside(id, wan(genieacs.TR181)+"Username"); got != username {
				t.Errorf("its login is that of %v", got)
			}
			k.tagged(id, genieacs.Left+acstag.Name(username)) // it is released
			for _, tag := range []string{"org:net0x41", login, last} {
				k.untagged(id, tag)
			}
			p.tell(200, pending)
			k.inform(id, "2 PERIODIC")
			k.noFaults()
			k.lives()
			k.hasNoLogin(id, genieacs.TR181)
			if tags := k.read(id).Tags; len(tags) > 0 {
				t.Errorf("afterwards it has tags %v", tags)
			}
		})
	}
}

// TestOwn_ATagThatNoScriptCanTakeEndsNoSession: an earlier program, or somebody by hand, has put it there.
func TestOwn_ATagThatNoScriptCanTakeEndsNoSession(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"sub:a0xF.5", "plan:0xZ.1", "sub:jane@x5.net", genieacs.Left + "b0xF.5"} {
		k, p := ready(t)
		id := k.add(acs.DeviceConfig{Serial: "N2"})
		k.tagged(id, tag)
		p.tell(200, strings.ReplaceAll(answered, "jane.doe", "ali"))
		k.tagged(id, genieacs.Unidentified)
		k.inform(id, "2 PERIODIC")
		p.tell(200, pending)
		k.tagged(id, genieacs.Unidentified)
		k.inform(id, "2 PERIODIC")
		k.noFaults()
		k.lives()
		if tags := k.read(id).Tags; slices.Contains(tags, "org:acme") {
			t.Errorf("%s: tags %v", tag, tags)
		}
	}
}

// TestCustom_ASlugThatLooksLikeANumberOfASignFindsItsDevices, which have the tag as the server keeps it.
func TestCustom_ASlugThatLooksLikeANumberOfASignFindsItsDevices(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{"net0x41", "0x0x41", "acme-0x99"} {
		k, p := ready(t)
		p.tell(200, strings.ReplaceAll(answered, "org:acme", "org:"+acstag.Name(slug)))
		c := ofAcme
		c.Tag, c.Text = "org:"+slug, `log("runs");`
		if err := k.InstallCustom(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		id := k.add(acs.DeviceConfig{Serial: "N3"})
		k.inform(id, "2 PERIODIC")
		k.noFaults()
		if !slices.Contains(k.sim.Log(), string(id)+": runs") {
			t.Errorf("%s: the script did not run", slug)
		}
	}
}

// TestCustom_ATagThatIsMadeWhileTheScriptRunsEndsNoSession: the check has not seen what numbers and texts make of it.
func TestCustom_ATagThatIsMadeWhileTheScriptRunsEndsNoSession(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "A-1"})
	const want = "acme-custom-provision script.Error a tag with % or with 0x before two digits or capitals"
	const wifi = `"Tags.acme-" + declare("Device.WiFi.SSID.1.SSID", {value: 1}).value[0]`
	for name, text := range map[string]string{
		"Home":  `let n = 40; n += 40; declare("Tags.acme-0x" + n, null, {value: true});`,
		"5%":    "declare(" + wifi + ", null, {value: true});",
		"a0xFF": "clear(" + wifi + ", 1);",
	} {
		k.named(id, name)
		lines, faults := k.runs(id, text+` log("on");`)
		if faults != want || len(lines) > 0 {
			t.Errorf("%s: logged %q, faults %s", text, lines, faults)
		}
	}
	k.named(id, "Home 0xfy")
	lines, faults := k.runs(id, "declare("+wifi+`, null, {value: true}); log("on");`)
	if faults != "" || !slices.Contains(lines, "on") || !slices.Contains(k.read(id).Tags, "acme-Home 0xfy") {
		t.Errorf("logged %q, faults %s, tags %v", lines, faults, k.read(id).Tags)
	}
	k.lives()
}

// named gives the Wi-Fi of a device a name while no script runs on it.
func (k *kit) named(id genieacs.DeviceID, name string) {
	k.t.Helper()
	if err := k.RemoveCustom(k.t.Context(), ofAcme.Name); err != nil {
		k.t.Fatal(err)
	}
	k.writes(id, "Device.WiFi.SSID.1.SSID", name)
}
