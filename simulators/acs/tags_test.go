package acs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// tag puts a tag on a device, from outside.
func (k *kit) tag(id, escaped string) {
	k.t.Helper()
	if r := k.do("POST", "/devices/"+strings.ReplaceAll(id, "%", "%25")+"/tags/"+escaped, ""); r.status != 200 {
		k.t.Fatalf("tag %s: %d %s", escaped, r.status, r.body)
	}
}

// ended counts how often a process of the server has ended.
func (k *kit) ended() int { return strings.Count(strings.Join(k.Log(), "\n"), "process ended") }

// TestScripts_TagsHaveTheServersForm, in scripts and preconditions.
func TestScripts_TagsHaveTheServersForm(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.script("look", `for (const tag of declare("Tags.*", {value: 1})) { log(tag.path); }`)
	k.do("PUT", "/provisions/fits", `log("fits");`)
	k.do("PUT", "/presets/fits", `{"channel":"f","precondition":"Tags.a00x78FF IS NOT NULL",
		"configurations":[{"type":"provision","name":"fits"}]}`)
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	for _, tag := range []string{"a0xFF", "plan%3A50x50", "jane%40x5%2Enet", "0xab"} {
		k.tag(id, tag)
	}
	before := len(k.logged(id))
	k.inform(id, "2 PERIODIC")
	want := []string{"Tags.a00x78FF", "Tags.plan0x3A500x7850", "Tags.jane0x40x50x2Enet", "Tags.0xab", "fits"}
	slices.Sort(want)
	lines := k.logged(id)[before:]
	slices.Sort(lines)
	if !slices.Equal(lines, want) {
		t.Errorf("logged %v", lines)
	}
}

// TestScripts_ATagThatCannotBeReadBackEndsTheSession: nothing of it is kept, and others go on; one that is read as
// another tag is that one.
func TestScripts_ATagThatCannotBeReadBackEndsTheSession(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.script("set", `declare("Tags.x", null, {value: true}); declare("Tags.plan0x3A50x50", null, {value: true});`)
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	if got := k.find("devices", `{"_tags":"plan:5P"}`); !slices.Equal(got, []string{id}) {
		t.Errorf("tagged %v", got)
	}
	for _, form := range []string{"a0xFF", "100x80", "0x40xA0x2E"} {
		k.script("set", `declare("Tags.y", null, {value: true}); declare("Tags.`+form+`", null, {value: true});`)
		ended := k.ended()
		k.inform(id, "2 PERIODIC")
		if got := k.find("devices", `{"_tags":"y"}`); len(got) > 0 || k.ended() != ended+1 {
			t.Errorf("%s: tagged %v, and the process ended %d times", form, got, k.ended()-ended)
		}
	}
	k.script("set", `declare("Tags.y", null, {value: true});`)
	k.inform(id, "2 PERIODIC")
	if got := k.find("devices", `{"_tags":"y"}`); !slices.Equal(got, []string{id}) {
		t.Errorf("afterwards tagged %v", got)
	}
}

// TestScripts_PathsHavePartsOfFewSigns: of others the script fails. One of three parts is no tag.
func TestScripts_PathsHavePartsOfFewSigns(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	for path, fails := range map[string]bool{
		"Tags.a%": true, "Tags.a b": true, "Tags.é": true, "Tags.a*": true, "Tags.": true, "Device..X": true,
		"Device.WiFi.": true, "": true,
		"Tags.a.b": false, "Tags.a_-1": false, "Device.WiFi.SSID.*": false, "Device.WiFi.[Name: a b.c].SSID": false,
	} {
		for _, call := range []string{"declare(%q, null, {value: true});", "clear(%q, 1);"} {
			k.do("DELETE", "/faults/"+strings.ReplaceAll(id, "%", "%25")+":set", "")
			k.script("set", fmt.Sprintf(call, path))
			k.inform(id, "2 PERIODIC")
			faults := k.do("GET", "/faults/", "").body
			if failed := strings.Contains(faults, "Invalid parameter path"); failed != fails {
				t.Errorf("%s of %q: %s", call, path, faults)
			}
		}
	}
	tags := k.do("GET", "/devices/?projection=_tags", "").body
	if !strings.Contains(tags, `"a_-1"`) || strings.Contains(tags, `"a"`) || strings.Contains(tags, "a.b") {
		t.Errorf("tags %s", tags)
	}
}

// TestScripts_ANewDeviceWhoseSessionIsLostIsNewAgain: it says BOOTSTRAP until the server has kept it.
func TestScripts_ANewDeviceWhoseSessionIsLostIsNewAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.script("set", `declare("Tags.a0xFF", null, {value: true});`)
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	if got := k.find("devices", `{}`); len(got) > 0 {
		t.Errorf("kept %v", got)
	}
	k.script("set", `declare("Tags.x", null, {value: true});`)
	k.do("PUT", "/presets/set", `{"channel":"set","events":{"0 BOOTSTRAP":true},
		"configurations":[{"type":"provision","name":"set"}]}`)
	k.inform(id, "2 PERIODIC")
	if got := k.find("devices", `{"_tags":"x"}`); !slices.Equal(got, []string{id}) {
		t.Errorf("tagged %v", got)
	}
}
