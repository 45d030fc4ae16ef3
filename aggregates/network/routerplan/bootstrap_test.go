package routerplan_test

import (
	"flag"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// update rewrites the golden files: go test -update.
var update = flag.Bool("update", false, "write golden files")

// bootstrapConfig is a complete input; tests change one field of it.
func bootstrapConfig() routerplan.BootstrapConfig {
	return routerplan.BootstrapConfig{
		Concentrator: "vpn.example.net", SSTPPort: 4443, TunnelUser: "nas-1a2b3c4d", TunnelSecret: "tunnelSecret1",
		RadiusHost: "10.99.0.1", RadiusSecret: "radiusSecret1", CoAPort: 3799, APIUser: "platform",
		TunnelRef: id.Derive[id.Secret]("test", "tunnel"), RadiusRef: id.Derive[id.Secret]("test", "radius"),
		APIPassword: "apiPassword1", APIPort: 80, ReportURL: "https://isp.example.net/webhooks/bootstrap/TOKEN",
	}
}

// golden compares a text with its file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
}

func TestBootstrap_IsTheScriptThatWasReviewed(t *testing.T) {
	t.Parallel()
	got, err := routerplan.Bootstrap(bootstrapConfig())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "bootstrap.rsc", got)
	checkScript(t, got)
}

// checkScript wants a text that terminals of 6.49 and 7.x accept: one block, balanced brackets and quotes, no character
// that the terminal reacts to, and no path with slashes.
func checkScript(t *testing.T, script string) {
	t.Helper()
	if strings.ContainsAny(script, "\t?\r") {
		t.Error("tabs and question marks are keys of the terminal")
	}
	var open []rune
	depthAt := 0
	for n, l := range strings.Split(strings.TrimSpace(script), "\n") {
		if strings.HasPrefix(l, "#") {
			continue
		}
		if len(open) == 0 {
			depthAt++
		}
		quoted := false
		for i, r := range l {
			escaped := i > 0 && l[i-1] == '\\'
			switch {
			case r == '"' && !escaped:
				quoted = !quoted
			case quoted:
			case strings.ContainsRune("{[(", r):
				open = append(open, r)
			case strings.ContainsRune("}])", r):
				pair := map[rune]rune{'}': '{', ']': '[', ')': '('}[r]
				if len(open) == 0 || open[len(open)-1] != pair {
					t.Fatalf("line %d: %c closes nothing: %s", n+1, r, l)
				}
				open = open[:len(open)-1]
			}
		}
		if quoted {
			t.Errorf("line %d: a quote is open: %s", n+1, l)
		}
		if menu, _, _ := strings.Cut(strings.TrimPrefix(l, "/"), " "); strings.HasPrefix(l, "/") &&
			strings.Contains(menu, "/") {
			t.Errorf("line %d: version 6 knows no path with slashes: %s", n+1, l)
		}
	}
	if len(open) > 0 || depthAt != 1 {
		t.Errorf("%d blocks, %d brackets open: local variables would be lost", depthAt, len(open))
	}
}

func TestBootstrap_KeepsTheOrderTunnelRadiusUserServiceFirewallReport(t *testing.T) {
	t.Parallel()
	got, _ := routerplan.Bootstrap(bootstrapConfig())
	at := 0
	for _, part := range []string{
		"/ppp profile add name=\"platform-tunnel\"", "/interface sstp-client add name=\"platform-tunnel\"", "running",
		"/radius add", "interim-update=5m", "/radius incoming set accept=yes port=3799",
		"policy=read,write,api,!ftp,!reboot,!policy,!test,!password,!sniff,!sensitive,!romon", "rest-api", "/user add",
		"/ip service set www address=10.99.0.0/16", "Platform-fw:", "comment=\"Platform BOOTSTRAP_VERSION=2 TUNNEL=",
		"/tool fetch", "BOOTSTRAP_VERSION=2 done",
	} {
		next := strings.Index(got[at:], part)
		if next < 0 {
			t.Fatalf("%s is missing, or too early", part)
		}
		at += next
	}
	c := bootstrapConfig()
	c.APIPort, c.AllowReboot, c.ReportURL = 8729, true, ""
	got, _ = routerplan.Bootstrap(c)
	if !strings.Contains(got, "/ip service set api-ssl address=10.99.0.0/16") || strings.Contains(got, "!reboot") ||
		strings.Contains(got, "fetch") {
		t.Error(got)
	}
	checkScript(t, got)
}

func TestBootstrap_RefusesWhatCannotStandInIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*routerplan.BootstrapConfig){
		"quote in a secret":  func(c *routerplan.BootstrapConfig) { c.TunnelSecret = `abcdefgh"` },
		"dollar":             func(c *routerplan.BootstrapConfig) { c.TunnelSecret = "abcdefgh$" },
		"no secret":          func(c *routerplan.BootstrapConfig) { c.RadiusSecret = "" },
		"control character":  func(c *routerplan.BootstrapConfig) { c.APIPassword = "abc\ndef" },
		"command in a host":  func(c *routerplan.BootstrapConfig) { c.Concentrator = "a; /system reset" },
		"query in the URL":   func(c *routerplan.BootstrapConfig) { c.ReportURL = "https://x/y?z=1" },
		"newline in a user":  func(c *routerplan.BootstrapConfig) { c.TunnelUser = "a\nb" },
		"no address":         func(c *routerplan.BootstrapConfig) { c.RadiusHost = "radius" },
		"no API credentials": func(c *routerplan.BootstrapConfig) { c.APIUser = "" },
	} {
		c := bootstrapConfig()
		change(&c)
		if script, err := routerplan.Bootstrap(c); err == nil {
			t.Errorf("%s: %s", name, script)
		}
	}
}

func TestBootstrapOf_ReadsTheVersionFromTheTunnelInterface(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]int{
		"Platform BOOTSTRAP_VERSION=2": 2, "Platform BOOTSTRAP_VERSION=1 x": 1, "": 0, "BOOTSTRAP_VERSION=x": 0,
		"Platform BOOTSTRAP_VERSION=99": 0, "Platform BOOTSTRAP_VERSION=-1": 0,
	} {
		s := routerplan.Snapshot{
			routerplan.MenuInterface: {
				{"name": "ether1", "comment": "BOOTSTRAP_VERSION=9"}, {"name": "platform-tunnel", "comment": comment},
			},
		}
		if got := routerplan.BootstrapOf(s).Version; got != want {
			t.Errorf("%q gives %d", comment, got)
		}
	}
}

// The marks tell one reference from another, and nothing about a secret: not even its reference can be read in them.
func TestBootstrap_MarksItsSecretsByTheirReferences(t *testing.T) {
	t.Parallel()
	c := bootstrapConfig()
	before, err := routerplan.Bootstrap(c)
	if err != nil {
		t.Fatal(err)
	}
	mark := routerplan.Mark(c.TunnelRef)
	if len(mark) != 8 || strings.Contains(c.TunnelRef.String(), mark) || mark == routerplan.Mark(c.RadiusRef) {
		t.Errorf("the mark is %q", mark)
	}
	c.TunnelSecret, c.RadiusSecret = "anotherSecret1", "anotherSecret2"
	after, _ := routerplan.Bootstrap(c)
	line := func(script string) string {
		_, rest, _ := strings.Cut(script, "comment=\"Platform BOOTSTRAP_VERSION=")
		text, _, _ := strings.Cut(rest, "\"")
		return text
	}
	if line(before) != "2 TUNNEL="+mark+" RADIUS="+routerplan.Mark(c.RadiusRef) || line(after) != line(before) {
		t.Errorf("the comments are %q and %q", line(before), line(after))
	}
	for comment, want := range map[string]routerplan.Bootstrapped{
		"Platform BOOTSTRAP_VERSION=2":                   {Version: 2},
		"Platform BOOTSTRAP_VERSION=2 TUNNEL=a RADIUS=b": {Version: 2, Tunnel: "a", Radius: "b"},
		"TUNNEL=a RADIUS=b":                              {},
	} {
		s := routerplan.Snapshot{routerplan.MenuInterface: {{"name": "platform-tunnel", "comment": comment}}}
		if got := routerplan.BootstrapOf(s); got != want {
			t.Errorf("%q gives %+v", comment, got)
		}
	}
}

func TestTunnelConfigs_AreTheFilesThatWereReviewed(t *testing.T) {
	t.Parallel()
	c := routerplan.TunnelConfig{
		Port: 4443, Certificate: "/etc/accel-ppp/fullchain.pem", Key: "/etc/accel-ppp/key.pem",
		Clients: []routerplan.TunnelClient{
			{User: "nas-2", Secret: "secretOfTwo", Address: "10.99.7.9"}, {
				User: "nas-1", Secret: "secretOfOne", Address: "10.99.3.4",
			},
		},
	}
	config, secrets, err := routerplan.AccelPPP(c)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "accel-ppp.conf", config)
	golden(t, "chap-secrets", secrets)
	golden(t, "tunnel.nft", routerplan.AccelFirewall(routerplan.CPEServer{}))
	c.Certificate = "tunnel"
	if _, err := routerplan.RouterConcentrator(c); err == nil {
		t.Error("a concentrator that does not know the platform")
	}
	c.Platform = netip.MustParseAddr("192.168.88.10")
	script, err := routerplan.RouterConcentrator(c)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "concentrator.rsc", script)
	checkScript(t, script)
	c.Clients[0].Address = c.Clients[1].Address
	if _, _, err := routerplan.AccelPPP(c); err == nil {
		t.Error("two routers with one address")
	}
}
