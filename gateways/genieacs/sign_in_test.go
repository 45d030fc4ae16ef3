package genieacs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// extension writes ours to a file.
func extension(t *testing.T) (path string) {
	t.Helper()
	files, err := genieacs.InstallationFiles(genieacs.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "lastmile.js")
	if err := os.WriteFile(path, []byte(files["ext/lastmile.js"]), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExtension_LetsInWhomThePlatformLetsIn, and nobody whatever goes wrong. Whether a password was shown is true or
// false in 1.2, and a text in 1.3.
func TestExtension_LetsInWhomThePlatformLetsIn(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	path, p := extension(t), newPlatform(t)
	p.requires("own secret")
	at := p.URL + "/internal/cpe/identify"
	for _, c := range []struct {
		url, key, shown, want string
	}{
		{at, "internal", "", `[null,"own secret",true]`}, {at, "internal", "true", `[null,true,true]`},
		{at, "internal", "false", `[null,false,true]`}, {at, "other", "", `[null,null,true]`},
		{at, "other", "true", `[null,false,true]`}, {"http://127.0.0.1:1/", "internal", "true", `[null,false,true]`},
		{"", "internal", "true", `[null,false,true]`}, {p.URL + "/other/", "internal", "true", `[null,true,true]`},
	} {
		args := []string{"-e", asking, path, "signIn"}
		if c.shown != "" {
			args = append(args, c.shown)
		}
		cmd := exec.CommandContext(t.Context(), node, args...)
		cmd.Env = append(os.Environ(), "LASTMILE_IDENTIFY_URL="+c.url, "LASTMILE_INTERNAL_KEY="+c.key)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%+v: %s, %v, %s", c, out, err, errs.String())
		}
		if strings.Contains(errs.String(), "own secret") || strings.Contains(errs.String(), c.key) {
			t.Errorf("a secret was printed: %s", errs.String())
		}
	}
}

// TestOwn_ADeviceThatRefusesItsSignInHasTheRest: the login of the customer, and its tags, also of the next customer
// while the sign-in waits for its time.
func TestOwn_ADeviceThatRefusesItsSignInHasTheRest(t *testing.T) {
	t.Parallel()
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		k, p := ready(t)
		server := string(root) + ".ManagementServer."
		signIn := `["` + server + `Username","00D09E-HomeBox","xsd:string"],["` + server + `Password","s","xsd:string"]`
		id := k.add(acs.DeviceConfig{Serial: "R1", Root: string(root)})
		of := func(name string) string {
			return strings.Replace(strings.ReplaceAll(answered, "jane.doe", name), `],"provisionVersion"`,
				","+signIn+`],"provisionVersion"`, 1)
		}
		p.tell(200, of("ali"))
		if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{
			Reject: map[string]string{server + "Password": "9007"},
		}); err != nil {
			t.Fatal(err)
		}
		k.inform(id, "0 BOOTSTRAP", "1 BOOT")
		if got := k.inside(id, wan(root)+"Username"); got != "ali" {
			t.Errorf("%s: the login is of %v", root, got)
		}
		if d := k.read(id); !slices.Contains(d.Tags, "sub:ali") {
			t.Errorf("%s: tags %v", root, d.Tags)
		}
		if got := k.inside(id, server+"Username"); got != "" {
			t.Errorf("%s: a name without its password: %v", root, got)
		}
		p.tell(200, of("baraka"))
		k.tagged(id, genieacs.Unidentified)
		k.inform(id, "2 PERIODIC")
		if got := k.inside(id, wan(root)+"Username"); got != "baraka" {
			t.Errorf("%s: then the login is of %v", root, got)
		}
		if got := k.faulty(); !slices.Equal(got, []string{string(id) + ":lastmile-sign-in"}) {
			t.Errorf("%s: faults on %v", root, got)
		}
		if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{}); err != nil {
			t.Fatal(err)
		}
		k.clock.Advance(time.Hour)
		k.inform(id, "0 BOOTSTRAP", "1 BOOT")
		if name, secret := k.inside(id, server+"Username"), k.inside(id, server+"Password"); name != "00D09E-HomeBox" ||
			secret != "s" {
			t.Errorf("%s: signs in as %v", root, name)
		}
		k.noFaults()
	}
}

// TestUsername_IsTheServersID, which the expression of cwmp.auth compares with.
func TestUsername_IsTheServersID(t *testing.T) {
	t.Parallel()
	for _, c := range []acs.DeviceConfig{
		{Serial: "S1", OUI: "00D09E", ProductClass: "Box"},
		{Serial: " a-1:é ", OUI: "00d09e", ProductClass: "Box (2)"},
		{Serial: "S2", OUI: "00D09E", NoClass: true},
	} {
		id := newKit(t, acs.Config{}).add(c)
		if got := genieacs.Username(c.OUI, c.ProductClass, c.Serial); got != string(id) {
			t.Errorf("%+v: %s, want %s", c, got, id)
		}
	}
}
