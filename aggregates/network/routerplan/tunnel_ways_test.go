package routerplan_test

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// led is a concentrator that leads management networks of both its routers to the CPE server.
func led() routerplan.TunnelConfig {
	c := concentrator()
	c.CPE = cpe
	c.Clients[0].Networks = []string{"10.20.1.0/24", "10.20.9.0/25"}
	c.Clients[1].Networks = []string{"10.20.2.0/24"}
	return c
}

// All files for accel-ppp. Without a way to the CPE server they are as ever.
func TestAccel_TheWayIsTheOneThatWasReviewed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]routerplan.TunnelConfig{"accel": concentrator(), "accel_management": led()} {
		config, _, err := routerplan.AccelPPP(c)
		if err != nil {
			t.Fatal(err)
		}
		text := config + "\n" + routerplan.AccelFirewall(c.CPE)
		if c.CPE.Address.IsValid() {
			script, err := routerplan.AccelWays(c)
			if err != nil {
				t.Fatal(err)
			}
			text += "\n" + script
		}
		golden(t, name+".txt", text)
	}
}

// Where nft is installed and may be used it reads the rules itself; anywhere the rules stand in the order on which the
// isolation of the tunnels rests.
func TestAccel_TheRulesAreReadByNft(t *testing.T) {
	t.Parallel()
	rules := routerplan.AccelFirewall(cpe)
	nft, err := exec.LookPath("nft")
	if err == nil && exec.CommandContext(t.Context(), nft, "list", "tables").Run() == nil {
		check := exec.CommandContext(t.Context(), nft, "-c", "-f", "-")
		check.Stdin = strings.NewReader(rules)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	const devices = `iifname "lmtun*" ip saddr 10.20.0.0/16 ip daddr 10.98.0.5 `
	for chain, want := range map[string][]string{
		"source": {`iifname "lmtun*" fib saddr . iif oif missing drop`},
		"input": {
			devices + `tcp dport { 7547, 7567 } accept`, devices + `ct state established,related accept`,
			`iifname "lmtun*" ip saddr != 10.99.0.0/16 drop`, `iifname "lmtun*" ip daddr != 10.99.0.1 drop`,
			`iifname "lmtun*" ct state established,related accept`, `iifname "lmtun*" udp dport { 1812, 1813 } accept`,
			`iifname "lmtun*" tcp dport 1880 accept`, `iifname "lmtun*" icmp type echo-request accept`,
			`iifname "lmtun*" drop`,
		},
		"forward": {
			devices + `oifname != "lmtun*" tcp dport { 7547, 7567 } accept`,
			devices + `oifname != "lmtun*" ct state established,related accept`,
			`iifname "lmtun*" drop`, `oifname "lmtun*" ip saddr 10.98.0.5 ip daddr 10.20.0.0/16 accept`,
			`oifname "lmtun*" drop`,
		},
	} {
		_, body, _ := strings.Cut(rules, "chain "+chain+" {\n")
		body, _, _ = strings.Cut(body, "\t}\n")
		var got []string
		for _, line := range strings.Split(strings.TrimSpace(body), "\n")[1:] { // without the hook
			got = append(got, strings.TrimSpace(line))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("chain %s\n%s", chain, diff)
		}
	}
}

// leading runs the script of the ways with a program ip that shows these addresses and routes, and gives what it would
// change.
func leading(t *testing.T, c routerplan.TunnelConfig, addresses, routes string, args ...string) []string {
	t.Helper()
	script, err := routerplan.AccelWays(c)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script = strings.Replace(script, "PATH=", "PATH="+dir+":", 1)
	ip := "#!/bin/sh\ncase \"$*\" in\n'-4 -o addr show') cat <<'END'\n" + addresses + "END\n;;\n" +
		"'-4 route show proto 120') cat <<'END'\n" + routes + "END\n;;\n" +
		"'-4 -force -batch -') cat >> " + dir + "/done ;;\n*) echo \"$*\" >> " + dir + "/done ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "ip"), []byte(ip), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "lastmile-routes"}, args...)...)
	if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	done, err := os.ReadFile(filepath.Join(dir, "done"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(done)), "\n")
}

// A subnet leads to its router's tunnel and to no other one: what another router had before is removed first, also what
// nobody has any more, and what the kernel has right stays.
func TestAccel_ASubnetThatIsAnotherRoutersNowLeavesTheFormerOne(t *testing.T) {
	t.Parallel()
	const addresses = `1: lo    inet 127.0.0.1/8 scope host lo\       valid_lft forever preferred_lft forever
2: eth0    inet 10.98.0.1/24 brd 10.98.0.255 scope global eth0\       valid_lft forever preferred_lft forever
7: lmtun0    inet 10.99.0.1 peer 10.99.3.4/32 scope global lmtun0\       valid_lft forever preferred_lft forever
9: lmtun12    inet 10.99.0.1 peer 10.99.7.9/32 scope global lmtun12\       valid_lft forever preferred_lft forever
`
	const marks = " proto 120 metric 20"
	got := leading(t, led(), addresses, `unreachable 10.20.0.0/16 metric 20
10.20.1.0/24 via 10.99.7.9 dev lmtun12 metric 20
10.20.2.0/24 via 10.99.7.9 dev lmtun12 metric 20
10.20.7.0/24 via 10.99.3.4 dev lmtun0 metric 20
`)
	if len(got) == 5 {
		slices.Sort(got[1:3])
		slices.Sort(got[3:])
	}
	want := []string{
		"-4 route replace unreachable 10.20.0.0/16" + marks,
		"route del 10.20.1.0/24" + marks, "route del 10.20.7.0/24" + marks,
		"route add 10.20.1.0/24 via 10.99.3.4 dev lmtun0" + marks,
		"route add 10.20.9.0/25 via 10.99.3.4 dev lmtun0" + marks,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// the tunnel of one is down: nothing leads to it, and its subnet is unreachable
	got = leading(t, led(), strings.Split(addresses, "9: ")[0], "10.20.2.0/24 via 10.99.7.9 dev lmtun12 metric 20\n")
	if !slices.Contains(got, "route del 10.20.2.0/24"+marks) ||
		strings.Contains(strings.Join(got, "\n"), "add 10.20.2.") {
		t.Error(got)
	}
	up := leading(t, led(), "", "", "lmtun3", "none", "0", "10.99.0.1", "10.99.3.4", "192.0.2.7")
	if diff := cmp.Diff([]string{
		"-4 route replace 10.20.1.0/24 via 10.99.3.4 dev lmtun3" + marks,
		"-4 route replace 10.20.9.0/25 via 10.99.3.4 dev lmtun3" + marks,
	}, up); diff != "" {
		t.Error(diff)
	}
	if up = leading(t, led(), "", "", "lmtun3", "none", "0", "10.99.0.1", "10.99.3.40"); up != nil {
		t.Errorf("a router without networks: %v", up)
	}
}

// What is no subnet of the plan is in no file: it would be run as a command.
func TestConcentrator_TakesSubnetsOfThePlanOnly(t *testing.T) {
	t.Parallel()
	for _, network := range []string{
		"10.20.1.7/24", "192.168.1.0/24", "10.0.0.0/8", "", "10.20.1.0", "10.20.1.0/24\nEND\nreboot",
		"10.20.1.0/24 1,0.0.0.0/0",
	} {
		c := led()
		c.Clients[0].Networks = []string{network}
		if _, err := routerplan.AccelWays(c); err == nil {
			t.Errorf("%q in a script", network)
		}
		if _, err := routerplan.RouterConcentrator(c); err == nil {
			t.Errorf("%q on a router", network)
		}
	}
	c := led()
	c.Clients[0].Address = "10.99.3.4; reboot"
	if _, err := routerplan.AccelWays(c); err == nil {
		t.Error("an address that is none")
	}
}

// asConcentrator runs the script on a router on which two ports stand for the tunnels of two routers, with the routes
// that their users bring.
func asConcentrator(t *testing.T, version, rpFilter string) (*router.Router, string) {
	t.Helper()
	r := simulated(t, version)
	if err := r.Certify(); err != nil {
		t.Fatal(err)
	}
	do := func(menu, command string, values router.Item) {
		t.Helper()
		if _, err := r.Do(menu, command, values); err != nil {
			t.Fatalf("%s: /%s %v: %v", version, menu, values, err)
		}
	}
	do("ip/settings", "set", router.Item{"rp-filter": rpFilter})
	script, err := routerplan.RouterConcentrator(led())
	if err != nil {
		t.Fatal(err)
	}
	checkScript(t, script)
	out, err := r.Script(script)
	if err != nil {
		t.Fatalf("%s: %v: %s", version, err, out)
	}
	do("ip/firewall/nat", "add", router.Item{"chain": "srcnat", "action": "masquerade"})
	do("ip/address", "add", router.Item{"address": "10.98.0.1/24", "interface": "ether3"})
	for port, subnets := range map[string][]string{
		"ether4": {"10.99.3.4/32", "10.20.1.0/24"}, "ether5": {"10.99.7.9/32", "10.20.2.0/24"},
	} {
		do("interface/list/member", "add", router.Item{"list": "lastmile-tunnel", "interface": port})
		for _, subnet := range subnets {
			do("ip/route", "add", router.Item{"dst-address": subnet, "gateway": port})
		}
	}
	return r, out
}

// A router that serves as concentrator lets devices reach the CPE server's ports, and the server the devices; nobody
// reaches another organization, or sends as one.
func TestConcentrator_OnARouterDevicesReachTheirServerAlone(t *testing.T) {
	t.Parallel()
	const one, other, lan = "ether4", "ether5", "ether3"
	for _, version := range releases {
		r, out := asConcentrator(t, version, "strict")
		if strings.Contains(out, "closed") {
			t.Errorf("%s: %s", version, out)
		}
		for name, c := range map[string]struct {
			in, from, to, protocol, port, state string
			out                                 string // "-" = stopped
		}{
			"inform":                  {one, "10.20.1.7", "10.98.0.5", "tcp", "7547", "new", lan},
			"answer to a call":        {other, "10.20.2.7", "10.98.0.5", "tcp", "40000", "established", lan},
			"call":                    {lan, "10.98.0.5", "10.20.2.7", "tcp", "30005", "new", other},
			"the northbound port":     {one, "10.20.1.7", "10.98.0.5", "tcp", "7557", "new", "-"},
			"as the other one's":      {one, "10.20.2.7", "10.98.0.5", "tcp", "7547", "new", "-"},
			"as the CPE server":       {one, "10.98.0.5", "10.20.2.7", "tcp", "80", "new", "-"},
			"as nobody's":             {one, "10.20.77.7", "10.98.0.5", "tcp", "7547", "new", "-"},
			"the router itself":       {one, "10.99.3.4", "10.98.0.5", "tcp", "7547", "new", "-"},
			"the other one's devices": {one, "10.20.1.7", "10.20.2.7", "tcp", "80", "new", "-"},
			"the other router":        {one, "10.20.1.7", "10.99.7.9", "tcp", "80", "new", "-"},
			"the server's neighbour":  {one, "10.20.1.7", "10.98.0.6", "tcp", "7547", "new", "-"},
			"the platform":            {one, "10.20.1.7", "192.168.88.10", "udp", "1812", "new", "-"},
			"the internet":            {one, "10.20.1.7", "8.8.8.8", "tcp", "443", "new", "-"},
			"calls to a router":       {lan, "10.98.0.5", "10.99.3.4", "tcp", "80", "new", "-"},
			"calls of a neighbour":    {lan, "10.98.0.6", "10.20.1.7", "tcp", "80", "new", "-"},
		} {
			got := r.Transit(router.Transit{
				In: c.in, From: netip.MustParseAddr(c.from), To: netip.MustParseAddr(c.to), Protocol: c.protocol,
				Port: c.port, State: c.state,
			})
			if got.Passed != (c.out != "-") || got.Passed && (got.Out != c.out || got.From.String() != c.from) {
				t.Errorf("%s, %s: %+v", version, name, got)
			}
		}
		closed, out := asConcentrator(t, version, "no")
		if got := closed.Transit(router.Transit{
			In: one, From: netip.MustParseAddr("10.20.2.7"), To: cpe.Address, Protocol: "tcp", Port: "7547",
		}); got.Passed || !strings.Contains(out, "rp-filter=strict") {
			t.Errorf("%s: without a check of sources: %+v, %s", version, got, out)
		}
	}
}

// A router's users bring the subnets that are behind them. One whose subnets have changed is ended, because a tunnel
// that is up keeps its routes; so is one whose router is gone. Another run changes nothing.
func TestConcentrator_OnARouterSubnetsFollowTheirRouter(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r, _ := asConcentrator(t, version, "strict")
		routes := func() map[string]string {
			got := map[string]string{}
			for _, secret := range r.Snapshot(false)["ppp/secret"] {
				got[secret["name"]] = secret["routes"]
			}
			return got
		}
		want := map[string]string{
			"nas-1": "10.20.1.0/24 10.99.3.4 1,10.20.9.0/25 10.99.3.4 1", "nas-2": "10.20.2.0/24 10.99.7.9 1",
		}
		if diff := cmp.Diff(want, routes()); diff != "" {
			t.Errorf("%s\n%s", version, diff)
		}
		run := func(c routerplan.TunnelConfig) []string {
			t.Helper()
			for _, user := range []string{"nas-1", "nas-2"} {
				online(t, r, user)
			}
			script, err := routerplan.RouterConcentrator(c)
			if err != nil {
				t.Fatal(err)
			}
			if out, faults := r.Paste(script); len(faults) > 0 {
				t.Fatalf("%s: %v: %s", version, faults, out)
			}
			var up []string
			for _, session := range read(t, r, []string{routerplan.MenuPPPActive})[routerplan.MenuPPPActive] {
				up = append(up, session["name"])
			}
			slices.Sort(up)
			return up
		}
		if up := run(led()); len(up) != 2 {
			t.Errorf("%s: after a second run %v are up", version, up)
		}
		c := led()
		c.Clients[0].Networks, c.Clients[1].Networks = []string{"10.20.1.0/24"}, []string{"10.20.2.0/24"}
		if up := run(c); !slices.Equal(up, []string{"nas-2"}) {
			t.Errorf("%s: after a change of nas-1 %v are up", version, up)
		}
		c.Clients = c.Clients[:1]
		if up := run(c); !slices.Equal(up, []string{"nas-1"}) || len(routes()) != 1 {
			t.Errorf("%s: without nas-2 %v are up", version, up)
		}
	}
}

// online brings a user online who is not, as a session of PPP.
func online(t *testing.T, r *router.Router, user string) {
	t.Helper()
	for _, session := range read(t, r, []string{routerplan.MenuPPPActive})[routerplan.MenuPPPActive] {
		if session["name"] == user {
			return
		}
	}
	if len(read(t, r, []string{routerplan.MenuPPPoEServer})[routerplan.MenuPPPoEServer]) == 0 {
		if _, err := r.Do(routerplan.MenuPPPoEServer, "add", router.Item{
			"service-name": "tunnels", "interface": "ether4", "disabled": "no",
		}); err != nil {
			t.Fatal(err)
		}
		if err := r.UseRADIUS(); err != nil {
			t.Fatal(err)
		}
	}
	session := router.Session{Kind: "pppoe", User: user, Server: "tunnels", Address: "10.99.200.1"}
	if _, err := r.Connect(session); err != nil {
		t.Fatal(err)
	}
}
