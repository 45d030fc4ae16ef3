package genieacs_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
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
		preset.Precondition != "Tags.org0x3Aacme IS NOT NULL" || !strings.Contains(text, ofAcme.Text) {
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

// runs installs a text as the script of acme, lets a device call, and gives what the script logged, and channels, codes
// and messages of the faults.
func (k *kit) runs(id genieacs.DeviceID, text string) (lines []string, faults string) {
	k.t.Helper()
	c := ofAcme
	c.Text = text
	if err := k.InstallCustom(k.t.Context(), c); err != nil {
		k.t.Fatal(err)
	}
	before := len(k.sim.Log())
	k.inform(id, "2 PERIODIC")
	if err := k.EachFault(k.t.Context(), func(f genieacs.Fault) error {
		faults += f.Channel + " " + f.Code + " " + f.Message
		return k.ClearFault(k.t.Context(), f.ID)
	}); err != nil {
		k.t.Fatal(err)
	}
	for _, line := range k.sim.Log()[before:] {
		if text, is := strings.CutPrefix(line, string(id)+": "); is {
			lines = append(lines, text)
		}
	}
	return lines, faults
}

// TestCustom_WhatAScriptHandsToTheServerIsBounded: the server works on it where no limit of time holds.
func TestCustom_WhatAScriptHandsToTheServerIsBounded(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "A-1"})
	const long = `let s = "0123456789abcdef"; for (let i = 0; i < 100; i++) { s += "0123456789abcdef"; } `
	const tooLong = "(a text of more than 1024 characters)"
	lines, faults := k.runs(id, long+`log(s + s + s); log([s, 1, "x"]); log(args); log(s.slice(0, 1024));`)
	whole := strings.Repeat("0123456789abcdef", 64)
	if want := []string{tooLong, tooLong + ",1,x", "", whole}; faults != "" || !slices.Equal(lines, want) {
		t.Errorf("logged %q, faults %s", lines, faults)
	}
	lines, _ = k.runs(id, `for (let i = 1; i < 100; i++) { log(i); }`)
	if len(lines) != 20 || lines[19] != "20" {
		t.Errorf("logged %q", lines)
	}
	declares, looks := "let n = 0; ", ""
	for i := range 300 { // all are declared before the first look: each look at something new is a commit
		declares += fmt.Sprintf(`const a%d = declare("Device.DeviceInfo.UpTime", {value: 1}); `, i)
		looks += fmt.Sprintf(
			`if (a%d.value !== undefined) { n++; } for (const one of a%[1]d) { n += 0 * one.size; } `, i)
	}
	lines, faults = k.runs(id, declares+looks+"log(n);")
	if faults != "" || !slices.Equal(lines, []string{"200"}) {
		t.Errorf("declared %q, faults %s", lines, faults)
	}
	for _, value := range []string{`s`, `[s, "xsd:string"]`, `["x", s]`, `"x" + s + s`} {
		script := long + `declare("Device.WiFi.SSID.1.SSID", {value: 1}, {value: ` + value + `}); log("on");`
		lines, faults = k.runs(id, script)
		if faults != ofAcme.Name+" script.Error a text of more than 1024 characters" || len(lines) != 0 {
			t.Errorf("%s: logged %q, faults %s", value, lines, faults)
		}
	}
}

// TestCustom_AScriptWorksBetweenItsBounds: what it may do it does as without them, and errors have its own lines.
func TestCustom_AScriptWorksBetweenItsBounds(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "A-1"})
	text := `declare("Device.WiFi.SSID.*", null, {path: 3});
		declare("Tags.acme-seen", null, {value: true});
		const ssid = declare("Device.WiFi.SSID.2.SSID", {value: Date.now()}, {value: ["Acme", "xsd:string"]});
		for (const one of declare("Device.WiFi.SSID.*.SSID", {path: 1, value: 1})) { log(one.path.slice(17)); }
		if (ssid.value[0] !== "Acme") { return; }
		clear("Device.Hosts", Date.now());
		log("done"); // the end`
	lines, faults := k.runs(id, text)
	if faults != "" || !slices.Equal(lines[max(len(lines)-4, 0):], []string{"1.SSID", "2.SSID", "3.SSID", "done"}) {
		t.Errorf("logged %q, faults %s", lines, faults)
	}
	tags, name := k.read(id).Tags, k.inside(id, "Device.WiFi.SSID.2.SSID")
	if name != "Acme" || !slices.Contains(tags, "acme-seen") {
		t.Errorf("tags %v, name %v", tags, name)
	}
	stored, _, err := k.Provision(t.Context(), ofAcme.Name)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Split(stored, "\n")
	counting := regexp.MustCompile(`__step\([0-9]+\);`)
	for i, line := range strings.Split(text, "\n") {
		at[i] = counting.ReplaceAllString(at[i], "")
		if i == 0 && !strings.HasSuffix(at[0], line) || i > 0 && at[i] != line {
			t.Errorf("line %d is %q", i+1, at[i])
		}
	}
}

// TestCustom_ARunTakesSoManySteps: whatever loops or calls itself ends there, long before its time is up. What a script
// does with a few hundred devices' parameters does not come near.
func TestCustom_ARunTakesSoManySteps(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "A-1"})
	for _, text := range []string{
		`while (true) { }`, `for (;;);`, `let n = 0; do n++; while (n < 1e9);`, `const f = () => f(); f();`,
		`let n = 0; for (;;) { n++; if (n < 0) { break; } }`,
		`function f(n) { if (n > 0) { f(n - 1); f(n - 1); } } f(40);`,
		`const f = (n) => n > 0 ? f(n - 1) + +f(n - 1) : 0; f(40);`,
		`const l = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]; l.forEach(() => l.forEach(() => l.forEach(() => l.forEach(() =>
			l.forEach(() => l.some((x) => x > 99))))));`,
		`let s = "0123456789abcdef"; for (let i = 0; i < 3000; i++) { s.indexOf("x"); }`,
		`for (let i = 0; i < 90; i++) { ` + strings.Repeat("i + 1; ", 500) + `}`,
	} {
		lines, faults := k.runs(id, text+"\nlog(1);")
		if faults != ofAcme.Name+" script.Error more than 100000 steps" || len(lines) != 0 {
			t.Errorf("%s: logged %q, faults %s", text, lines, faults)
		}
	}
	lines, faults := k.runs(id, `let n = 0;
		for (let i = 0; i < 1500; i++) if (i % 2 === 0) n++; else n += 2;
		const f = (a) => (a.slice(1) === "x") ? 1 : 0;
		for (let i = 0; i < 200; i++) { n += +f("ax"); }
		log(n);`)
	if faults != "" || !slices.Equal(lines, []string{"2450"}) {
		t.Errorf("logged %q, faults %s", lines, faults)
	}
}

// TestCustom_ScriptsOfEarlierProgramsAreBoundedOrTaken: one that an earlier program has written is written anew, and
// one that does more than it may is taken from the server with its preset.
func TestCustom_ScriptsOfEarlierProgramsAreBoundedOrTaken(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	at := t.Context()
	if err := k.InstallCustom(at, ofAcme); err != nil {
		t.Fatal(err)
	}
	now, _, _ := k.Provision(at, ofAcme.Name)
	before := fmt.Sprintf("// %s version 1 sha256 %064d\n%s", ofAcme.Name, 7, ofAcme.Text)
	if err := errors.Join(k.PutProvision(at, ofAcme.Name, before), k.InstallCustom(at, ofAcme)); err != nil {
		t.Fatal(err)
	}
	if text, _, _ := k.Provision(at, ofAcme.Name); text != now {
		t.Errorf("the server has %s", text)
	}
	wild := ofAcme
	wild.Text = "log(1);\ndeclare('Device.WiFi.SSID.*', null, {path: 1e9});"
	before = fmt.Sprintf("// %s version 1 sha256 %064d\n%s", wild.Name, 7, wild.Text)
	if err := k.PutProvision(at, wild.Name, before); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var no *genieacs.Refusal
		err := k.InstallCustom(at, wild)
		if !errors.As(err, &no) || !strings.HasPrefix(no.Message, "Line 2 of the script: ") {
			t.Errorf("installed: %v", err)
		}
		_, has, _ := k.Provision(at, wild.Name)
		if _, found, _ := k.Preset(at, wild.Name); found || has {
			t.Errorf("preset %v, script %v", found, has)
		}
	}
}
