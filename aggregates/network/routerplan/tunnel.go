package routerplan

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TunnelConfig configures the SSTP concentrator of the management tunnel. The concentrator is a separate program or
// router; the platform only writes its configuration.
type TunnelConfig struct {
	Port        int    // TCP
	Certificate string // path of the certificate chain (accel-ppp), or name of the certificate (router)
	Key         string // path of its key (accel-ppp)
	// Platform is the address at which a router that serves as concentrator reaches the platform; accel-ppp runs on
	// the platform's own machine and needs none.
	Platform netip.Addr
	Clients  []TunnelClient
	CPE      CPEServer // zero = no management network is led through the tunnel
}

// TunnelClient is one router that connects to the concentrator.
type TunnelClient struct {
	User    string
	Secret  string
	Address string // in 10.99.0.0/16
	Name    string // for people only
	Router  id.Device
	// Networks lists the subnets of its management networks: see Ways.
	Networks []string
}

// tunnelServer names the profile and the list of the tunnels' interfaces, and tags secrets and rules, when the
// concentrator is a router.
const tunnelServer = "lastmile-tunnel"

// tunnelLink begins the names of the tunnels' interfaces with accel-ppp; a number follows. Both its configuration and
// the rules of nftables are made from it.
const tunnelLink = "lmtun"

// Validate reports clients that a file cannot hold unchanged, and addresses or users that occur twice.
func (c TunnelConfig) Validate() error {
	var f failure.Faults
	f.Check(c.Port > 0 && c.Port < 65536, "port", "must be a port")
	seen := map[string]bool{}
	for _, client := range c.Clients {
		f.Check(plainWord.MatchString(client.User), "user", "%q must have letters, digits, dots and dashes only",
			client.User)
		f.Check(plainSecret.MatchString(client.Secret), "secret", "of %s must have 8 to 64 letters and digits",
			client.User)
		f.Check(!seen[client.User] && !seen[client.Address], "user", "%s or its address %s is there twice", client.User,
			client.Address)
		seen[client.User], seen[client.Address] = true, true
		client.checkWays(&f)
	}
	return f.Err()
}

// sorted orders the clients by user, so that the same clients always give the same file.
func (c TunnelConfig) sorted() []TunnelClient {
	return slices.SortedFunc(slices.Values(c.Clients),
		func(a, b TunnelClient) int { return cmp.Compare(a.User, b.User) })
}

// AccelPPP writes the two files of accel-ppp, an SSTP server that runs on Debian: its configuration
// (/etc/accel-ppp.conf) and its secrets (/etc/accel-ppp/chap-secrets, which only root may read). It knows no routes of
// a user, but runs a script for each tunnel that has come up: see AccelWays.
func AccelPPP(c TunnelConfig) (config, secrets string, err error) {
	if err := c.Validate(); err != nil {
		return "", "", err
	}
	var modules, ways string
	if c.CPE.reached() {
		modules, ways = "sigchld\npppd_compat\n", "\n[pppd-compat]\nip-up="+AccelWaysPath+"\n"
	}
	config = fmt.Sprintf(`# Management tunnel of Lastmile. Written by "lastmile tunnel config"; changes are lost.
[modules]
log_syslog
sstp
auth_mschap_v2
chap-secrets
%s
[core]
log-error=/var/log/accel-ppp/core.log
thread-count=2

[common]
single-session=replace

[ppp]
verbose=1
mtu=1400
mru=1400
ipv4=require
ipv6=deny
mppe=prefer
lcp-echo-interval=20
lcp-echo-failure=3
unit-cache=0

[sstp]
verbose=1
port=%d
accept=ssl
ssl-pemfile=%s
ssl-keyfile=%s
ssl-protocol=tls1.2,tls1.3
ifname=%s%%d

[client-ip-range]
disable

[chap-secrets]
gw-ip-address=%s
chap-secrets=/etc/accel-ppp/chap-secrets

[cli]
tcp=127.0.0.1:2001
%s`, modules, c.Port, c.Certificate, c.Key, tunnelLink, commands.TunnelGateway, ways)
	var b strings.Builder
	b.WriteString("# user server secret address\n")
	for _, client := range c.sorted() {
		fmt.Fprintf(&b, "%s * %s %s\n", client.User, client.Secret, client.Address)
	}
	return config, b.String(), nil
}

// AccelFirewall writes the rules of nftables that belong to accel-ppp. A router reaches RADIUS, and the redirect of the
// walled garden, at the platform's address and nothing else: no other service of the machine, no other router, no
// network behind it. Its packets have its own address, the one to which the way back leads through its tunnel: no
// router sends RADIUS as another one. The devices of a management network reach the ports of the CPE server, on this
// machine or behind it, and it reaches them; their addresses are checked in the same way.
func AccelFirewall(cpe CPEServer) string {
	var input, from, to string
	if cpe.reached() {
		ours := fmt.Sprintf("\t\tiifname \"%s*\" ip saddr %s ip daddr %s ", tunnelLink, commands.ManagementPlan,
			cpe.Address)
		ports := fmt.Sprintf("tcp dport { %s } accept\n", strings.ReplaceAll(cpe.ports(), ",", ", "))
		answers := "ct state established,related accept\n"
		input = ours + ports + ours + answers
		other := fmt.Sprintf("oifname != \"%s*\" ", tunnelLink)
		from = ours + other + ports + ours + other + answers
		to = fmt.Sprintf("\t\toifname \"%s*\" ip saddr %s ip daddr %s accept\n", tunnelLink, cpe.Address,
			commands.ManagementPlan)
	}
	return fmt.Sprintf(`# Management tunnel of Lastmile. Written by "lastmile tunnel config"; load it with nft -f.
table inet lastmile_tunnel
delete table inet lastmile_tunnel
table inet lastmile_tunnel {
	chain source {
		type filter hook prerouting priority -300; policy accept;
		iifname "%[1]s*" fib saddr . iif oif missing drop
	}
	chain input {
		type filter hook input priority -10; policy accept;
%[5]s		iifname "%[1]s*" ip saddr != %[2]s drop
		iifname "%[1]s*" ip daddr != %[3]s drop
		iifname "%[1]s*" ct state established,related accept
		iifname "%[1]s*" udp dport { 1812, 1813 } accept
		iifname "%[1]s*" tcp dport %[4]d accept
		iifname "%[1]s*" icmp type echo-request accept
		iifname "%[1]s*" drop
	}
	chain forward {
		type filter hook forward priority -10; policy accept;
%[6]s		iifname "%[1]s*" drop
%[7]s		oifname "%[1]s*" drop
	}
}
`, tunnelLink, commands.TunnelPlan, commands.TunnelGateway, commands.RedirectPort, input, from, to)
}

// RouterConcentrator writes the script for a router that serves as concentrator. It may run again: it removes the
// secrets of routers that no longer exist, and otherwise changes only the router's one SSTP server.
//
// The router has 10.99.0.1, and hands the platform what comes there for RADIUS; what the platform sends into the tunnel
// comes from 10.99.0.1. So routers know one address for both, and accept requests of dynamic authorization from it.
// Nothing is forwarded between two tunnels, nor between a tunnel and anybody but the platform.
func RouterConcentrator(c TunnelConfig) (string, error) {
	if err := c.Validate(); err != nil {
		return "", err
	}
	var f failure.Faults
	f.Check(c.Platform.Is4() && !commands.TunnelPlan.Contains(c.Platform) && !c.Platform.IsUnspecified(), "platform",
		"must be the platform's IPv4 address, as this router reaches it")
	if err := f.Err(); err != nil {
		return "", err
	}
	var b script
	b.put("# Management tunnel of Lastmile: SSTP concentrator. Safe to run again.")
	b.put("{")
	b.put(`:if ([:len [/interface list find where name="%s"]] = 0) do={ /interface list add name="%s" }`, tunnelServer,
		tunnelServer)
	b.ensure("/ppp profile", `name="`+tunnelServer+`"`,
		fmt.Sprintf("local-address=%s only-one=yes use-encryption=yes change-tcp-mss=yes interface-list=%s",
			commands.TunnelGateway, tunnelServer), `name="`+tunnelServer+`"`)
	filter, nat := concentratorRules(c.Platform, c.CPE)
	b.rules("/ip firewall filter", tunnelServer+":", filter)
	b.rules("/ip firewall nat", tunnelServer+":", nat)
	b.openCPE(c.CPE)
	var known []string
	if c.CPE.reached() {
		b.put(`:local moved ""`)
	}
	for _, client := range c.sorted() {
		known = append(known, fmt.Sprintf(`name!="%s"`, client.User))
		values := fmt.Sprintf(`password="%s" service=sstp profile=%s remote-address=%s disabled=no comment="%s"`,
			client.Secret, tunnelServer, client.Address, tunnelServer)
		if c.CPE.reached() {
			values += fmt.Sprintf(` routes="%s"`, client.routes())
			b.put(`:set moved [/ppp secret find where name="%s" and routes!="%s"]`, client.User, client.routes())
		}
		b.ensure("/ppp secret", `name="`+client.User+`"`, values, `name="`+client.User+`"`)
		if c.CPE.reached() {
			b.put(`:if ([:len $moved] > 0) do={ /ppp active remove [find where name="%s"] }`, client.User)
		}
	}
	gone := strings.Join(append([]string{`comment="` + tunnelServer + `"`}, known...), " and ")
	if c.CPE.reached() { // a tunnel that is up keeps its routes until it ends
		b.put(`:foreach one in=[/ppp secret find where %s] do={`, gone)
		b.put(`/ppp active remove [find where name=[/ppp secret get $one name]] }`)
	}
	b.put("/ppp secret remove [find where %s]", gone)
	b.put(`/interface sstp-server server set enabled=yes port=%d default-profile=%s certificate="%s" `+
		`authentication=mschap2`, c.Port, tunnelServer, c.Certificate)
	b.put(`:put "tunnel concentrator: %d routers"`, len(c.Clients))
	b.put("}")
	return strings.Join(b.lines, "\n") + "\n", nil
}

// openCPE enables the rules that let management networks through, where the router itself drops what comes from another
// tunnel than that of its source: it has no rule for that, but a setting for all of its traffic, which is the
// operator's to decide. Without it one organization's router could send as the devices of another one.
func (s *script) openCPE(cpe CPEServer) {
	if !cpe.reached() {
		return
	}
	s.put(`:if ([/ip settings get rp-filter] = "strict") do={`)
	s.put(`/ip firewall filter enable [find where comment~"^%s:cpe"]`, tunnelServer)
	s.put(`} else={`)
	s.put(`:put "Management networks stay closed: set /ip settings rp-filter=strict, then run this again." }`)
}

// concentratorRules lists the firewall's rules on a router that serves as concentrator, in their order. Those for the
// CPE server are disabled: see openCPE.
func concentratorRules(platform netip.Addr, cpe CPEServer) (filter, nat []Resource) {
	rule := func(name string, pairs ...string) Resource {
		r := Resource{Name: tunnelServer + ":" + name, Values: map[string]string{
			propertyComment: tunnelServer + ":" + name,
		}}
		for i := 0; i+1 < len(pairs); i += 2 {
			r.Values[pairs[i]] = pairs[i+1]
		}
		return r
	}
	const in, out = "in-interface-list", "out-interface-list"
	at, plan, redirect := platform.String(), commands.TunnelPlan.String(), strconv.Itoa(commands.RedirectPort)
	filter = []Resource{
		rule("ping", "chain", "input", "action", "accept", in, tunnelServer, "protocol", "icmp"),
		rule("input-drop", "chain", "input", "action", "drop", in, tunnelServer),
		rule("answers", "chain", "forward", "action", "accept", in, tunnelServer, propertySrcAddress, plan,
			"dst-address", at, "connection-state", "established,related"),
		rule("radius", "chain", "forward", "action", "accept", in, tunnelServer, propertySrcAddress, plan,
			"dst-address", at, "protocol", "udp", "dst-port", "1812,1813"),
		rule("redirect", "chain", "forward", "action", "accept", in, tunnelServer, propertySrcAddress, plan,
			"dst-address", at, "protocol", "tcp", "dst-port", redirect),
		rule("from-tunnels-drop", "chain", "forward", "action", "drop", in, tunnelServer),
		rule("platform", "chain", "forward", "action", "accept", out, tunnelServer, "src-address", at),
		rule("to-tunnels-drop", "chain", "forward", "action", "drop", out, tunnelServer),
	}
	var untranslated []Resource
	if cpe.reached() {
		server, devices := cpe.Address.String(), commands.ManagementPlan.String()
		from := []string{"chain", "forward", "action", "accept", propertyDisabled, "yes", in, tunnelServer, out,
			"!" + tunnelServer, propertySrcAddress, devices, propertyDstAddress, server}
		to := []string{out, tunnelServer, propertySrcAddress, server, propertyDstAddress, devices}
		filter = slices.Concat(filter[:5], []Resource{
			rule("cpe", append(slices.Clone(from), "protocol", "tcp", propertyDstPort, cpe.ports())...),
			rule("cpe-answers", append(slices.Clone(from), "connection-state", "established,related")...),
		}, filter[5:7], []Resource{
			rule("cpe-calls",
				append([]string{"chain", "forward", "action", "accept", propertyDisabled, "yes"}, to...)...),
		}, filter[7:])
		untranslated = []Resource{
			rule("cpe", "chain", "srcnat", "action", "accept", propertySrcAddress, devices, propertyDstAddress, server),
			rule("cpe-calls", append([]string{"chain", "srcnat", "action", "accept"}, to...)...),
		}
	}
	gateway := commands.TunnelGateway.String()
	nat = append(untranslated, []Resource{
		rule("radius", "chain", "dstnat", "action", "dst-nat", in, tunnelServer, "dst-address", gateway, "protocol",
			"udp",
			"dst-port", "1812,1813", "to-addresses", at),
		rule("redirect", "chain", "dstnat", "action", "dst-nat", in, tunnelServer, "dst-address", gateway, "protocol",
			"tcp", "dst-port", redirect, "to-addresses", at),
		rule("platform", "chain", "srcnat", "action", "src-nat", out, tunnelServer, "src-address", at, "to-addresses",
			gateway),
	}...)
	return filter, nat
}
