package genieacs_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// answered says that a device has a customer.
const answered = `{"known":true,"orgSlug":"acme","tags":["org:acme","sub:jane.doe","plan:home-10"],"parameters":[
	["Device.PPP.Interface.1.Username","jane.doe","xsd:string"],
	["Device.PPP.Interface.1.Password","pppoe-secret","xsd:string"],
	["Device.PPP.Interface.1.Enable",true,"xsd:boolean"],
	["InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.Username","jane.doe","xsd:string"],
	["InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.Password","pppoe-secret","xsd:string"],
	["InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.Enable",true,"xsd:boolean"]
	],"provisionVersion":"2"}`

// pending says that a device has no organization.
const pending = `{"known":true,"orgSlug":"","tags":[],"parameters":[],"provisionVersion":"2"}`

// ready is a kit with our provisions and a platform.
func ready(t *testing.T) (*kit, *platform) {
	t.Helper()
	p := newPlatform(t)
	p.tell(200, answered)
	k := newKit(t, acs.Config{Identify: acs.Identify{URL: p.URL, Key: "internal"}})
	if _, err := k.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k, p
}

// wan is the prefix of the dialled connection of a device.
func wan(root genieacs.Root) string {
	if root == genieacs.TR098 {
		return "InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1."
	}
	return "Device.PPP.Interface.1."
}

// noFaults fails when the server noted an error.
func (k *kit) noFaults() {
	k.t.Helper()
	if err := k.EachFault(k.t.Context(), func(f genieacs.Fault) error {
		k.t.Errorf("fault of %s on %s: %s %s", f.Device, f.Channel, f.Code, f.Message)
		return nil
	}); err != nil {
		k.t.Fatal(err)
	}
}

func TestOwn_ADeviceGetsAllInItsFirstSession(t *testing.T) {
	t.Parallel()
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		t.Run(string(root), func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			id := k.add(acs.DeviceConfig{Serial: "B-1", Root: string(root)})
			k.noFaults()
			asked := p.questions()
			class := map[genieacs.Root]string{genieacs.TR181: "HomeBox-2", genieacs.TR098: "HG8"}[root]
			want := `{"address":"127.0.0.1","oui":"00D09E","productClass":"` + class + `","serialNumber":"B-1"}`
			if len(asked) != 2 || asked[0] != want || asked[1] != want { // at each run of the presets
				t.Errorf("asked %v", asked)
			}
			tree := genieacs.TreeOf(root)
			d := k.read(id, append(tree.Health(), wan(root)+"Username", tree.InformEnable, tree.InformInterval)...)
			if !slices.Equal(d.Tags, []string{"org:acme", "sub:jane.doe", "plan:home-10"}) {
				t.Errorf("tags %v", d.Tags)
			}
			for path, want := range map[string]any{
				wan(root) + "Username": "jane.doe", wan(root) + "Password": "pppoe-secret", wan(root) + "Enable": true,
				wan(root) + "ConnectionStatus": "Connected", tree.InformEnable: true, tree.InformInterval: 300.0,
			} {
				if got := k.inside(id, path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
			if d.Values[tree.InformInterval].Text() != "300" || d.Values[tree.Model].Text() == "" {
				t.Errorf("values %v", d.Values)
			}
			l, err := k.Layout(t.Context(), id)
			if err != nil || l.Root != root || len(l.Bands) != 2 || len(l.PPPoE) != 1 ||
				l.PPPoE[0].LoggedInAs != "jane.doe" {
				t.Fatalf("layout %+v, %v", l, err)
			}
			for _, b := range l.Bands {
				if len(b.Keys) != 1 || b.Name == "" || k.inside(id, b.Keys[0]) == nil {
					t.Errorf("band %+v", b)
				}
			}
			if strings.Contains(k.log.String(), "pppoe-secret") {
				t.Error("a password was logged")
			}
		})
	}
}

// TestOwn_TheLoginGoesToTheConnectionThatTheDeviceHas: also where it is not the first by its number, and after a
// factory reset. It is the one to which the platform writes later.
func TestOwn_TheLoginGoesToTheConnectionThatTheDeviceHas(t *testing.T) {
	t.Parallel()
	for root, has := range map[genieacs.Root]string{
		genieacs.TR181: "Device.PPP.Interface.3.",
		genieacs.TR098: "InternetGatewayDevice.WANDevice.1.WANConnectionDevice.3.WANPPPConnection.1.",
	} {
		t.Run(string(root), func(t *testing.T) {
			t.Parallel()
			k, _ := ready(t)
			id := k.add(acs.DeviceConfig{Serial: "W1", Root: string(root), Dialled: 3})
			for _, when := range []string{"first", "after a reset"} {
				k.noFaults()
				l, err := k.Layout(t.Context(), id)
				if err != nil || len(l.PPPoE) != 1 || l.PPPoE[0].Username != has+"Username" {
					t.Fatalf("%s: layout %+v, %v", when, l, err)
				}
				for name, want := range map[string]any{
					"Username": "jane.doe", "Password": "pppoe-secret", "Enable": true, "ConnectionStatus": "Connected",
				} {
					if got := k.inside(id, has+name); got != want {
						t.Errorf("%s: %s is %v, want %v", when, name, got, want)
					}
				}
				k.clock.Advance(time.Minute)
				if err := k.sim.PressReset(string(id)); err != nil {
					t.Fatal(err)
				}
				k.settle()
			}
		})
	}
}

// TestOwn_OfSeveralConnectionsTheFirstGetsTheLogin: by number, and not by the letters of it.
func TestOwn_OfSeveralConnectionsTheFirstGetsTheLogin(t *testing.T) {
	t.Parallel()
	k, p := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "W2", Dialled: 9})
	sent, err := k.Call(t.Context(), id, genieacs.Task{Kind: genieacs.AddObject, Object: "Device.PPP.Interface"})
	if err != nil || sent.Outcome != genieacs.Done {
		t.Fatalf("%+v, %v", sent, err)
	}
	k.settle()
	p.tell(200, strings.ReplaceAll(answered, "jane.doe", "ali"))
	if err := k.AddTag(t.Context(), id, genieacs.Unidentified); err != nil {
		t.Fatal(err)
	}
	k.inform(id, "2 PERIODIC")
	k.noFaults()
	for path, want := range map[string]any{
		"Device.PPP.Interface.9.Username": "ali", "Device.PPP.Interface.10.Username": "",
	} {
		if got := k.inside(id, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

func TestOwn_HealthIsReadAtEachPeriodicInform(t *testing.T) {
	t.Parallel()
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		t.Run(string(root), func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			id := k.add(acs.DeviceConfig{Serial: "H1", Root: string(root)})
			tree := genieacs.TreeOf(root)
			for n := 1; n <= 3; n++ {
				k.clock.Advance(300 * time.Second)
				k.sim.Tick()
				k.settle()
				d := k.read(id, append(tree.Health(), tree.UpTime)...)
				if got := d.Values[tree.UpTime]; got.Text() != map[int]string{1: "300", 2: "600", 3: "900"}[n] {
					t.Errorf("uptime %+v after %d informs", got, n)
				}
				if !d.LastInform.Equal(k.clock.Now()) {
					t.Errorf("last inform %v", d.LastInform)
				}
				for _, path := range []string{tree.MemoryFree, tree.CPU, tree.Firmware, tree.BytesReceived} {
					if v := d.Values[path]; !v.At.Equal(k.clock.Now()) || v.Text() == "" {
						t.Errorf("%s: %+v", path, v)
					}
				}
			}
			l, err := k.Layout(t.Context(), id)
			if err != nil || l.Bands[0].Associated < 0 || l.Bands[1].Associated < 0 {
				t.Errorf("clients: %+v, %v", l.Bands, err)
			}
			k.noFaults()
			if n := len(p.questions()); n != 2 { // both in its first session
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestOwn_AnOutageOfThePlatformIsMadeUpForAtTheNextInform(t *testing.T) {
	t.Parallel()
	k, p := ready(t)
	p.tell(503, "")
	id := k.add(acs.DeviceConfig{Serial: "O1"})
	k.noFaults()
	if d := k.read(id); !slices.Equal(d.Tags, []string{genieacs.Unidentified}) {
		t.Fatalf("tags %v", d.Tags)
	}
	p.tell(200, answered)
	k.inform(id, "2 PERIODIC")
	k.noFaults()
	if d := k.read(id); slices.Contains(d.Tags, genieacs.Unidentified) || !slices.Contains(d.Tags, "org:acme") {
		t.Errorf("tags %v", d.Tags)
	}
	if k.inside(id, wan(genieacs.TR181)+"Password") != "pppoe-secret" {
		t.Error("the password did not come")
	}
	k.inform(id, "2 PERIODIC")
	if n := len(p.questions()); n != 3 { // twice without an answer, and once with one
		t.Errorf("asked %d times", n)
	}
}

func TestOwn_AFactoryResetBeginsAnewAndOldTagsGo(t *testing.T) {
	t.Parallel()
	k, p := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "F1"})
	if err := k.AddTag(t.Context(), id, "vip"); err != nil {
		t.Fatal(err)
	}
	p.tell(200, strings.ReplaceAll(strings.ReplaceAll(answered, "jane.doe", "ali"), "home-10", "gold"))
	k.clock.Advance(time.Minute)
	if sent, err := k.Call(t.Context(), id, genieacs.Task{Kind: genieacs.FactoryReset}); err != nil ||
		sent.Outcome != genieacs.Done {
		t.Fatalf("%+v, %v", sent, err)
	}
	k.settle()
	k.noFaults()
	d := k.read(id, "Device.PPP.Interface.1.Username")
	slices.Sort(d.Tags)
	if !slices.Equal(d.Tags, []string{"org:acme", "plan:gold", "sub:ali", "vip"}) {
		t.Errorf("tags %v", d.Tags)
	}
	for path, want := range map[string]any{
		"Device.PPP.Interface.1.Username": "ali", "Device.PPP.Interface.1.Password": "pppoe-secret",
		"Device.ManagementServer.PeriodicInformInterval": 300.0,
	} {
		if got := k.inside(id, path); got != want {
			t.Errorf("%s is %v", path, got)
		}
	}
}

func TestOwn_APendingDeviceLosesOurTagsOnly(t *testing.T) {
	t.Parallel()
	k, p := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "P1", NoClass: true})
	p.tell(200, pending)
	if err := k.AddTag(t.Context(), id, "mine"); err != nil {
		t.Fatal(err)
	}
	if err := k.sim.PressReset(string(id)); err != nil {
		t.Fatal(err)
	}
	k.settle()
	k.noFaults()
	if d := k.read(id); !slices.Equal(d.Tags, []string{"mine"}) || d.ProductClass != "" {
		t.Errorf("%+v", d)
	}
	if asked := p.questions(); !strings.Contains(asked[0], `"productClass":""`) {
		t.Errorf("asked %v", asked)
	}
}

func TestOwn_ADeviceThatTheServerForgotIsIdentifiedAgain(t *testing.T) {
	t.Parallel()
	k, p := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "R1"})
	if err := k.DeleteDevice(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	k.inform(id, "2 PERIODIC")
	if d := k.read(id); !slices.Contains(d.Tags, "org:acme") || len(p.questions()) != 4 {
		t.Errorf("tags %v, asked %d times", d.Tags, len(p.questions()))
	}
}

// TestOwn_ADeviceThatTheServerKnewBeforeAsksWhenItBoots: nobody asked about it at its bootstrap.
func TestOwn_ADeviceThatTheServerKnewBeforeAsksWhenItBoots(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.tell(200, answered)
	k := newKit(t, acs.Config{Identify: acs.Identify{URL: p.URL, Key: "internal"}})
	id := k.add(acs.DeviceConfig{Serial: "K1"})
	if _, err := k.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.inform(id, "2 PERIODIC")
	if n := len(p.questions()); n != 0 {
		t.Errorf("asked %d times before it booted", n)
	}
	k.inform(id, "1 BOOT")
	k.noFaults()
	if d := k.read(id); !slices.Contains(d.Tags, "org:acme") || len(p.questions()) != 2 {
		t.Errorf("tags %v, asked %d times", d.Tags, len(p.questions()))
	}
	for path, want := range map[string]any{
		"Device.ManagementServer.PeriodicInformInterval": 300.0, "Device.PPP.Interface.1.Password": "pppoe-secret",
	} {
		if got := k.inside(id, path); got != want {
			t.Errorf("%s is %v", path, got)
		}
	}
	if err := k.AddTag(t.Context(), id, genieacs.Unidentified); err != nil {
		t.Fatal(err)
	}
	k.inform(id, "1 BOOT")
	if n := len(p.questions()); n != 4 { // for the tag, and then for the boot
		t.Errorf("asked %d times", n)
	}
}

func TestInstall_WritesWhatDiffersAndNothingElse(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	writes := func() int {
		n := 0
		for _, r := range k.sim.Requests() {
			if strings.HasPrefix(r, "PUT ") {
				n++
			}
		}
		return n
	}
	first, err := k.Install(t.Context())
	if err != nil || len(first.Written) != 24 || writes() != 24 {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := k.Install(t.Context())
	if err != nil || len(again.Written)+len(again.Newer) != 0 || writes() != 24 {
		t.Errorf("%+v, %v, %d writes", again, err, writes())
	}
	name := "lastmile-health"
	present := fmt.Sprint("version ", genieacs.OwnVersion)
	ours, _, _ := k.Provision(t.Context(), name)
	preset, _, _ := k.Preset(t.Context(), name)
	for what, script := range map[string]string{
		"by hand": ours + "log('x');", "without a head": "log('x');",
		"head by hand": strings.Replace(ours, present, "version 9", 1) + "\n",
	} {
		if err := k.PutProvision(t.Context(), name, script); err != nil {
			t.Fatal(err)
		}
		done, err := k.Install(t.Context())
		got, _, _ := k.Provision(t.Context(), name)
		if err != nil || got != ours || !slices.Equal(done.Written, []string{name}) {
			t.Errorf("%s: %+v, %v", what, done, err)
		}
	}
	// A newer program was here: its script and its preset stay.
	newer := strings.Replace(ours, present, fmt.Sprint("version ", genieacs.OwnVersion+1), 1)
	if err := k.PutProvision(t.Context(), name, newer); err != nil {
		t.Fatal(err)
	}
	preset.Version = genieacs.OwnVersion + 1
	preset.Events = map[string]bool{"1 BOOT": true}
	if err := k.PutPreset(t.Context(), preset); err != nil {
		t.Fatal(err)
	}
	before := writes()
	done, err := k.Install(t.Context())
	if err != nil || len(done.Written) != 0 || !slices.Equal(done.Newer, []string{name, name}) || writes() != before {
		t.Errorf("newer: %+v, %v", done, err)
	}
	preset.Version = genieacs.OwnVersion
	if err := k.PutPreset(t.Context(), preset); err != nil {
		t.Fatal(err)
	}
	if done, err = k.Install(t.Context()); err != nil || !slices.Equal(done.Written, []string{name}) {
		t.Errorf("preset by hand: %+v, %v", done, err)
	}
}

func TestInstallationFiles_HaveAllThatARealServerNeeds(t *testing.T) {
	t.Parallel()
	files, err := genieacs.InstallationFiles(genieacs.Settings{
		Identify: "http://10.0.0.2:8080/internal/cpe/identify", Key: "k", Files: "http://10.0.0.3:7567",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"README.md", "cwmp.auth", "ext/lastmile.js", "genieacs.env", "provisions/lastmile-bootstrap.js",
		"provisions/lastmile-health.js", "provisions/lastmile-identify.js", "provisions/lastmile-sign-in.js",
		"provisions/lastmile-leaving.js", "presets/lastmile-leaving.json", "presets/lastmile-sign-in-bootstrap.json",
		"presets/lastmile-bootstrap.json", "presets/lastmile-registered.json",
		"presets/lastmile-again.json", "presets/lastmile-boot.json", "presets/lastmile-health.json",
	} {
		if files[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	for _, step := range []string{
		`createIndex({"_lastInform": 1})`, `createIndex({"_deviceId._SerialNumber": 1})`,
		"cwmp.downloadSuccessOnTimeout", "cwmp.auth",
		"lastmile-bootstrap lastmile-identify lastmile-sign-in lastmile-leaving lastmile-health",
	} {
		if !strings.Contains(files["README.md"], step) {
			t.Errorf("the README has no %s", step)
		}
	}
	want := "GENIEACS_EXT_TIMEOUT=3000\nLASTMILE_IDENTIFY_URL=http://10.0.0.2:8080/internal/cpe/identify\n" +
		"LASTMILE_INTERNAL_KEY=k\nGENIEACS_FS_URL_PREFIX=http://10.0.0.3:7567/\n"
	if files["genieacs.env"] != want {
		t.Errorf("environment:\n%s", files["genieacs.env"])
	}
	if _, err := genieacs.InstallationFiles(genieacs.Settings{Key: "a\nPATH=x"}); err == nil {
		t.Error("a key with a line end was taken")
	}
}

// asking calls the extension once and prints the error and the answer that it gives.
const asking = `
const started = Date.now();
require(process.argv[1])[process.argv[2]](["S 1", "00D09E", "Box", ...process.argv.slice(3)], (error, answer) => {
  process.stdout.write(JSON.stringify([error, answer, Date.now() - started < 3000]));
});`

func TestExtension_AnswersNullWhateverGoesWrong(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	path, p := extension(t), newPlatform(t)
	for _, c := range []struct {
		name, url, key, body, want string
		status                     int
	}{
		{"answer", p.URL, "internal", `{"known":true,"tags":["ä"]}`, `[null,{"known":true,"tags":["ä"]},true]`, 200},
		{"wrong key", p.URL, "other", `{"known":true}`, `[null,null,true]`, 200},
		{"outage", p.URL, "internal", `{}`, `[null,null,true]`, 503},
		{"page", p.URL, "internal", `<html>`, `[null,null,true]`, 200},
		{"nobody there", "http://127.0.0.1:1/", "internal", ``, `[null,null,true]`, 200},
		{"not set up", "", "internal", ``, `[null,null,true]`, 200},
	} {
		p.tell(c.status, c.body)
		cmd := exec.CommandContext(t.Context(), node, "-e", asking, path, "identify")
		cmd.Env = append(os.Environ(), "LASTMILE_IDENTIFY_URL="+c.url, "LASTMILE_INTERNAL_KEY="+c.key)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %s, %v, %s", c.name, out, err, errs.String())
		}
		if strings.Contains(errs.String(), c.key) {
			t.Errorf("%s: the key was printed: %s", c.name, errs.String())
		}
	}
	asked := p.questions()
	if asked[0] != `{"serialNumber":"S 1","oui":"00D09E","productClass":"Box"}` {
		t.Errorf("asked %v", asked[0])
	}
}

// TestExtension_SaysWhatADeviceDoesNotSendAsAnEmptyText, and all else as the text that it is.
func TestExtension_SaysWhatADeviceDoesNotSendAsAnEmptyText(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	path, p := extension(t), newPlatform(t)
	p.tell(200, `{}`)
	for class, want := range map[string]string{
		`null`: "", `undefined`: "", `""`: "", `"0"`: "0", `0`: "0", `"false"`: "false", `false`: "false",
	} {
		cmd := exec.CommandContext(t.Context(), node, "-e",
			`require(process.argv[1]).identify(["S1", "00D09E", `+class+`], () => {});`, path)
		cmd.Env = append(os.Environ(), "LASTMILE_IDENTIFY_URL="+p.URL, "LASTMILE_INTERNAL_KEY=internal")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		asked := p.questions()
		if got := asked[len(asked)-1]; !strings.Contains(got, `"productClass":"`+want+`"`) {
			t.Errorf("%s: asked %s", class, got)
		}
	}
}
