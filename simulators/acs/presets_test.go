package acs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// script installs a script with a preset and a channel of its name.
func (k *kit) script(name, text string) {
	k.t.Helper()
	k.do("PUT", "/provisions/"+name, text)
	k.do("PUT", "/presets/"+name, strings.ReplaceAll(
		`{"channel":"~","configurations":[{"type":"provision","name":"~"}]}`, "~", name))
}

// logged gives what the scripts of a device have logged.
func (k *kit) logged(id string) (lines []string) {
	for _, line := range k.Log() {
		if text, is := strings.CutPrefix(line, id+": "); is {
			lines = append(lines, text)
		}
	}
	return lines
}

// TestScripts_ALookCommitsWhatWasDeclared, and sees all as it is afterwards: a tag that was taken has no path any
// more.
func TestScripts_ALookCommitsWhatWasDeclared(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.script("look", `for (const tag of declare("Tags.*", {value: 1})) {
			const before = tag.path;
			declare(before, null, {value: false});
			log("was " + before + ", is " + tag.path);
		}
		const name = declare("`+ssid+`", {value: 1}, {value: "Home"});
		log(name.value[0]);
		declare("`+ssid+`", {value: 1}, {value: "Away"});
		declare("`+ssid+`", {value: 1}, {value: "Home"});
		commit();
		log(name.value[0]);`)
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.do("POST", "/devices/"+strings.ReplaceAll(id, "%", "%25")+"/tags/x", "")
	before := len(k.logged(id))
	k.inform(id, "2 PERIODIC")
	lines := k.logged(id)[before:]
	if !slices.Contains(lines, "was Tags.x, is undefined") || slices.Contains(lines, "Away") ||
		!slices.Contains(lines, "Home") {
		t.Errorf("logged %v", lines)
	}
	if got := k.has(id, ssid); got != "Home" {
		t.Errorf("it has %v", got)
	}
	if left := k.find("faults", "{}"); len(left) != 0 {
		t.Errorf("faults %v", left)
	}
}

// TestPresets_AChannelThatFailsIsHeldBackAlone, for longer than one that is alone: it was tried twice.
func TestPresets_AChannelThatFailsIsHeldBackAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.script("name", `declare("`+ssid+`", {value: 1}, {value: "Home"}); log("name");`)
	k.script("other", `log("other");`)
	id := k.add(acs.DeviceConfig{Serial: "S1", Off: true})
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{Reject: map[string]string{ssid: "9007"}}); err != nil {
		t.Fatal(err)
	}
	if err := k.SetPower(id, true); err != nil {
		t.Fatal(err)
	}
	k.settle()
	if got := k.find("faults", "{}"); !slices.Equal(got, []string{id + ":name"}) {
		t.Errorf("faults %v", got)
	}
	for _, wait := range []time.Duration{5 * time.Minute, 5 * time.Minute} {
		before := len(k.logged(id))
		k.clock.Advance(wait)
		k.inform(id, "2 PERIODIC")
		lines := k.logged(id)[before:]
		if !slices.Contains(lines, "other") || slices.Contains(lines, "name") != (before > 2) {
			t.Errorf("logged %v", lines)
		}
	}
}

// TestPresets_RunAgainUntilTheyChangeNothing, also those that fit only by what was changed; without an end is a fault.
func TestPresets_RunAgainUntilTheyChangeNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.script("set", `declare("Tags.x", null, {value: true});`)
	k.do("PUT", "/provisions/then", `declare("Tags.y", null, {value: true});`)
	k.do("PUT", "/presets/a", `{"channel":"a","precondition":"Tags.x IS NOT NULL",
		"configurations":[{"type":"provision","name":"then"}]}`)
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	if tags := k.find("devices", `{"_tags":"y"}`); !slices.Equal(tags, []string{id}) {
		t.Errorf("tagged %v", tags)
	}
	k.script("take", `declare("Tags.x", null, {value: false});`)
	k.inform(id, "2 PERIODIC")
	if got := k.find("faults", `{"code":"preset_loop"}`); len(got) == 0 {
		t.Error("presets that work against each other came to an end")
	}
}

// TestPresets_WithoutAnEndAllChannelsOfTheSessionAreHeldBack: those that ran, after four times, and longer each time.
func TestPresets_WithoutAnEndAllChannelsOfTheSessionAreHeldBack(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.script("still", `log("still");`)
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.script("broken", `declare("Device.None", {value: 1}).value[0];`)
	k.inform(id, "2 PERIODIC")
	k.script("turns", `const t = declare("Tags.x", {value: 1}); declare("Tags.x", null, {value: !t.value});`)
	runs := func() (n int) {
		before := len(k.logged(id))
		k.inform(id, "2 PERIODIC")
		return len(k.logged(id)) - before
	}
	if n := runs(); n != 4 {
		t.Errorf("ran %d times", n)
	}
	for n, wait := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute} {
		got := k.find("faults", `{"code":"preset_loop"}`)
		if want := []string{id + ":still", id + ":turns"}; !slices.Equal(got, want) {
			t.Errorf("%d: faults %v", n, got)
		}
		k.clock.Advance(wait - 30*time.Second)
		if n := runs(); n != 0 {
			t.Errorf("%s: ran %d times before its time", wait, n)
		}
		k.clock.Advance(20 * time.Second)
		if n := runs(); n == 0 {
			t.Errorf("%s: did not run when its time had come", wait)
		}
	}
}
