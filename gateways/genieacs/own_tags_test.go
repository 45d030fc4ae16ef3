package genieacs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
		"10:x2.5": "p", "casa 12*": "p", "señor:s": "p",
	} {
		t.Run(username, func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			login, last := "sub:"+acstag.Username(username), "plan:"+acstag.Name(plan)
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
			k.tagged(id, genieacs.Left+acstag.Username(username)) // it is released
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
// What is no name of a tag is an error of the script, in words of ours.
func TestCustom_ATagThatIsMadeWhileTheScriptRunsEndsNoSession(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "A-1"})
	const signs = "a tag with other signs than letters, digits, - and _"
	const number = "a tag with 0x before two digits or capitals"
	const wifi = `"Tags.acme-" + declare("Device.WiFi.SSID.1.SSID", {value: 1}).value[0]`
	const sets, clears = "declare(" + wifi + ", null, {value: true});", "clear(" + wifi + ", 1);"
	for name, c := range map[string]struct{ text, want string }{
		"Home":                   {`let n = 40; n += 40; declare("Tags.acme-0x" + n, null, {value: true});`, number},
		"a0xFF":                  {clears, number},
		"0x41":                   {sets, number},
		"5%":                     {sets, signs},
		"Home Wifi":              {sets, signs},
		"jane.doe":               {sets, signs},
		"Nyumbani \u00e9":        {sets, signs},
		"*":                      {sets, signs},
		"[a:b]":                  {clears, signs},
		strings.Repeat("x", 196): {sets, "a tag of more than 200 characters"},
	} {
		k.named(id, name)
		lines, faults := k.runs(id, c.text+` log("on");`)
		if faults != "acme-custom-provision script.Error "+c.want || len(lines) > 0 {
			t.Errorf("%s: logged %q, faults %s", name, lines, faults)
		}
	}
	for _, name := range []string{"Home-0xfy", strings.Repeat("x", 195)} {
		k.named(id, name)
		lines, faults := k.runs(id, sets+` log("on");`)
		if faults != "" || !slices.Contains(lines, "on") || !slices.Contains(k.read(id).Tags, "acme-"+name) {
			t.Errorf("logged %q, faults %s, tags %v", lines, faults, k.read(id).Tags)
		}
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

// TestOwn_TagsOfAnOrganizationLeaveWithIt: those that its scripts have set, also in the session in which the device
// learns that it has another one; those of the other one stay, whose name begins with the same letters, and so do those
// of the server's operator.
func TestOwn_TagsOfAnOrganizationLeaveWithIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string   // organizations
		runs          bool     // the scripts of before run in the session of the change
		marked        bool     // and not by the tag of before: the platform has taken it
		left          []string // of before's tags
	}{
		"by its tag":        {before: "acme", after: "rival"},
		"while it runs":     {before: "acme", after: "rival", runs: true},
		"by a mark":         {before: "acme", after: "rival", marked: true},
		"to nobody":         {before: "acme", runs: true},
		"to a longer name":  {before: "acme", after: "acme-b", runs: true},
		"to a shorter name": {before: "acme-b", after: "acme", runs: true},
		"not at all":        {before: "acme", after: "acme", runs: true, left: []string{"acme-old", "acme-b-old"}},
		"to it again":       {before: "acme", after: "acme", marked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			says := func(org string) string { return `{"known":true,"tags":["org:` + org + `"],"parameters":[]}` }
			p.tell(200, says(c.before))
			id := k.add(acs.DeviceConfig{Serial: "G1"})
			for _, tag := range []string{c.before + "-old", c.before + "-b-old", "team", c.before + "x-y", "acm-z"} {
				k.tagged(id, tag)
			}
			if c.runs {
				k.organizes(c.before, `declare("Tags.`+c.before+`-now", null, {value: true});`)
			}
			if c.marked {
				k.tagged(id, genieacs.LeftOrganization+c.before)
				k.untagged(id, "org:"+c.before)
			}
			p.tell(200, pending)
			if c.after != "" {
				p.tell(200, says(c.after))
				k.organizes(c.after, `declare("Tags.`+c.after+`-b-new", null, {value: true});`)
			}
			k.tagged(id, genieacs.Unidentified)
			for range 2 { // the second time there is nothing to do
				k.inform(id, "2 PERIODIC")
				k.noFaults()
				want := append([]string{"team", c.before + "x-y", "acm-z"}, c.left...)
				if c.after != "" {
					want = append(want, "org:"+c.after, c.after+"-b-new")
				}
				tags := k.read(id).Tags
				slices.Sort(tags)
				slices.Sort(want)
				if !slices.Equal(tags, want) {
					t.Errorf("tags %v, want %v", tags, want)
				}
			}
		})
	}
}

// organizes installs a script of an organization.
func (k *kit) organizes(org, text string) {
	k.t.Helper()
	c := genieacs.Custom{Name: org + "-tags", Tag: "org:" + org, Version: 1, Text: text}
	if err := k.InstallCustom(k.t.Context(), c); err != nil {
		k.t.Fatal(err)
	}
}

// TestCustom_AScriptRunsNoMoreWhereItsOrganizationHasGivenTheDeviceUp: the server tries what has failed again on a
// device that the preset does not fit any more. Tags that it set then would have no mark, and pass to the next
// organization.
func TestCustom_AScriptRunsNoMoreWhereItsOrganizationHasGivenTheDeviceUp(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]string{
		"nobody has it": pending, "another one has it": `{"known":true,"tags":["org:rival"],"parameters":[]}`,
	} {
		k, p := ready(t)
		id := k.add(acs.DeviceConfig{Serial: "A-1"})
		k.organizes("acme", `declare("Tags.acme-x", null, {value: true}); log("of acme");
			log(declare("Device.None", {value: 1}).value[0]);`)
		k.inform(id, "2 PERIODIC")
		if faults, err := k.DeviceFaults(t.Context(), id); err != nil || len(faults) != 1 ||
			!slices.Contains(k.read(id).Tags, "acme-x") {
			t.Fatalf("%s: it has faults %v (%v)", name, faults, err)
		}
		p.tell(200, after)
		k.tagged(id, genieacs.Unidentified)
		k.inform(id, "2 PERIODIC") // the fault holds the script back
		if tags := k.read(id).Tags; slices.Contains(tags, "acme-x") || slices.Contains(tags, "org:acme") {
			t.Fatalf("%s: it has tags %v", name, tags)
		}
		ran := strings.Count(strings.Join(k.sim.Log(), "\n"), "of acme")
		k.clock.Advance(time.Hour)
		k.inform(id, "2 PERIODIC")
		if n := strings.Count(strings.Join(k.sim.Log(), "\n"), "of acme"); n != ran {
			t.Errorf("%s: it ran %d times more", name, n-ran)
		}
		if tags := k.read(id).Tags; slices.Contains(tags, "acme-x") {
			t.Errorf("%s: it has tags %v", name, tags)
		}
		k.noFaults()
	}
}

// TestCustom_ADeviceHasSoManyTagsOfItsOrganization: a script that finds new names at each call ends there, and the
// tags of others are not counted. It goes on when it takes old ones away first.
func TestCustom_ADeviceHasSoManyTagsOfItsOrganization(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "A-1"})
	for n := range 60 {
		k.tagged(id, fmt.Sprint("acm-", n))
		k.tagged(id, fmt.Sprint("acme", n))
	}
	count := func() (n int) {
		for _, tag := range k.read(id).Tags {
			if strings.HasPrefix(tag, "acme-") {
				n++
			}
		}
		return n
	}
	const grows = `for (let i = 0; i < 10; i++) { declare("Tags.acme-" + Date.now() + "-" + i, null, {value: true}); }
		declare("Tags.acme-0", null, {value: false}); declare("Tags.acme-gone", null, {value: [false]}); log("on");`
	for n := 10; n <= 100; n += 10 {
		if lines, faults := k.runs(id, grows); faults != "" || len(lines) == 0 || count() != n {
			t.Fatalf("it has %d tags, want %d: logged %q, faults %s", count(), n, lines, faults)
		}
	}
	const want = "acme-custom-provision script.Error more than 100 tags of the organization on the device: " +
		"take old ones away first, or set the same ones at each call"
	for name, text := range map[string]string{
		"ten": grows, "one": `declare("Tags.acme-one", null, {value: 1});`,
		"one that it takes later": `declare("Tags.acme-one", null, {value: true});
			declare("Tags.acme-one", null, {value: false});`,
		"one of none that it takes": `declare("Tags.acme-none", null, {value: false});
			declare("Tags.acme-one", null, {value: ["true", "xsd:boolean"]});`,
		"more at once": `for (let i = 0; i < 101; i++) { declare("Tags.acme-" + i, null, {value: true}); }`,
	} {
		lines, faults := k.runs(id, text)
		if faults != want || len(lines) > 0 || count() != 100 {
			t.Errorf("%s: it has %d tags, logged %q, faults %s", name, count(), lines, faults)
		}
	}
	had := k.read(id).Tags[len(k.read(id).Tags)-1]
	lines, faults := k.runs(id, `declare("Tags.`+had+`", null, {value: true}); log("has it");`)
	if faults != "" || !slices.Contains(lines, "has it") || count() != 100 {
		t.Errorf("it has %d tags, logged %q, faults %s", count(), lines, faults)
	}
	k.runs(id, `declare("Tags.`+had+`", null, {value: false}); declare("Tags.acme-one", null, {value: true});`)
	if _, faults := k.runs(id, `log(1);`); faults != "" || count() != 100 ||
		slices.Contains(k.read(id).Tags, had) || !slices.Contains(k.read(id).Tags, "acme-one") {
		t.Errorf("it has %d tags, faults %s", count(), faults)
	}
}

// TestCustom_ARunSetsSoManyNewTags: the scripts of a session do not see what the others set at the same time. Those
// that the device has are no new ones.
func TestCustom_ARunSetsSoManyNewTags(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "A-1"})
	sets := func(from, to int) string {
		return fmt.Sprintf(`for (let i = %d; i < %d; i++) {
			declare("Tags.acme-" + i, null, {value: true});
		} log("on");`, from, to)
	}
	const want = "acme-custom-provision script.Error more than 10 new tags in one run: set the others in another " +
		"script, or at a later call"
	for _, c := range []struct {
		from, to, tags int
		fails          bool
	}{{0, 11, 0, true}, {0, 10, 10, false}, {0, 20, 20, false}, {0, 31, 20, true}, {10, 30, 30, false}} {
		lines, faults := k.runs(id, sets(c.from, c.to))
		tags := len(k.read(id).Tags) - 3 // those of the organization, the login and the plan
		if tags != c.tags || c.fails != (faults == want) || c.fails == slices.Contains(lines, "on") {
			t.Errorf("from %d to %d: it has %d tags, logged %q, faults %s", c.from, c.to, tags, lines, faults)
		}
	}
}
