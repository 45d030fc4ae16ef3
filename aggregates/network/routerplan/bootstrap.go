package routerplan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BootstrapVersion is the version of the script that Bootstrap writes. Source: docs/rules/network.md#bootstrap-script.
const BootstrapVersion = commands.BootstrapVersion

// Names that the script gives to what it makes outside the firewall. bootstrapComment is the comment, bootstrapGroup
// the user group; versionMark stands before the script's version in a comment, tunnelMark and radiusMark before the
// marks of the secrets that the script has.
const (
	bootstrapComment = "Platform"
	bootstrapGroup   = "platform-api"
	versionMark      = "BOOTSTRAP_VERSION="
	tunnelMark       = "TUNNEL="
	radiusMark       = "RADIUS="
)

// interimUpdate is how often a router reports about a session of PPP. Accepts say the same (telemetry.ReportEvery).
const interimUpdate = "5m"

// BootstrapConfig has the values of one router's script. Secrets and the API user may have all characters except
// control characters.
type BootstrapConfig struct {
	Concentrator string // host name or address of the SSTP server, as routers reach it over the internet
	SSTPPort     int
	TunnelUser   string
	TunnelSecret string
	TunnelRef    id.Secret // of TunnelSecret
	RadiusHost   string    // the platform's address inside the tunnel
	RadiusSecret string
	RadiusRef    id.Secret // of RadiusSecret
	CoAPort      int
	APIUser      string
	APIPassword  string
	APIPort      int     // port of the service that the platform calls: www, www-ssl, api or api-ssl
	AllowReboot  bool    // gives the user group the policy reboot, without which a router refuses the command
	ReportURL    string  // address with the device's token, for the report of the script's version; "" = no report
	Garden       *Garden // nil = the script makes no walled garden
	CPE          CPEServer
}

// Patterns that keep a value safe inside a script or a configuration file without quotes.
var (
	plainSecret = regexp.MustCompile(`^[A-Za-z0-9]{8,64}$`) // secrets that the platform generates
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	plainURL    = regexp.MustCompile(`^https?://[A-Za-z0-9.:\[\]_/-]+$`)
)

// maxQuoted is the largest quoted text in the script, in bytes.
const maxQuoted = 256

// quotable reports whether a text can be written with quotes into a script: not empty, valid UTF-8, no control
// characters.
func quotable(text string) bool {
	return text != "" && len(text) <= maxQuoted && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// quoted writes a text so that a script and a terminal take it unchanged: every character that is not plain becomes its
// hex digits, which 6.49 and 7.x both read. So a question mark does not open the terminal's help.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("._-+=:@/,!#%*", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%02X`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Validate reports every value that a script cannot hold, one fault for each.
func (c BootstrapConfig) Validate() error {
	var f failure.Faults
	f.Check(plainWord.MatchString(c.Concentrator), "concentrator", "must be a host name or IPv4 address")
	f.Check(c.SSTPPort > 0 && c.SSTPPort < 65536, "sstpPort", "must be a port")
	f.Check(plainWord.MatchString(c.TunnelUser), "tunnelUser", "must have letters, digits, dots and dashes only")
	f.Check(plainSecret.MatchString(c.TunnelSecret), "tunnelSecret", "must have 8 to 64 letters and digits")
	_, err := netip.ParseAddr(c.RadiusHost)
	f.Check(err == nil, "radiusHost", "must be an address")
	f.Check(quotable(c.RadiusSecret), "radiusSecret", "must have 1 to %d characters, without control characters",
		maxQuoted)
	f.Check(c.CoAPort > 0 && c.CoAPort < 65536, "coaPort", "must be a port")
	f.Check(quotable(c.APIUser), "apiUsername", "must have 1 to %d characters, without control characters", maxQuoted)
	f.Check(quotable(c.APIPassword), "apiPassword", "must have 1 to %d characters, without control characters",
		maxQuoted)
	f.Check(c.APIPort > 0 && c.APIPort < 65536, "apiPort", "must be a port")
	used := commands.PortInUse(c.APIPort)
	f.Check(used == "", "apiPort", "must not be %d, where a router has %s", c.APIPort, used)
	if c.ReportURL != "" {
		_, err := url.Parse(c.ReportURL)
		f.Check(err == nil && plainURL.MatchString(c.ReportURL), "reportUrl",
			"must be an http or https address without a query")
	}
	return f.Err()
}

// serviceOf is the router's service behind an API port; an unknown port is taken for www. Source:
// docs/rules/network.md#api-ports.
func serviceOf(port int) string {
	switch port {
	case 443:
		return "www-ssl"
	case 8728:
		return "api"
	case 8729:
		return "api-ssl"
	}
	return "www"
}

// Bootstrap writes the script that an operator pastes into a router's terminal or imports from a file. It runs on 6.49
// and 7.x and may run again. It changes only what it made itself, and also /ppp aaa, /radius incoming and the services
// that it restricts to the tunnel (ServicePlan).
//
// The script is one block, because a local variable in a pasted text lives for one line only. It has no tabs and no
// question marks, because a terminal reacts to them. A command that only one version knows is given to :parse at run
// time, so that its failure stops nothing else.
//
// At the end it reports its version in two ways. It sets the comment of the tunnel interface to "Platform
// BOOTSTRAP_VERSION=2" with the marks of its secrets (Mark), which the platform reads with the interfaces as soon as
// the tunnel is up; that needs only the policy read (BootstrapOf). And it posts to ReportURL, with the version as the
// last part of the path, so that the platform knows at once: /tool fetch runs with the rights of the person who pastes
// the script, not of the API user. Where device-mode forbids the fetch, the comment remains.
func Bootstrap(c BootstrapConfig) (string, error) {
	if err := c.Validate(); err != nil {
		return "", err
	}
	var b script
	b.put("# Lastmile bootstrap, version %d. Safe to run again. It restricts services to the tunnel: afterwards",
		BootstrapVersion)
	b.put("# %s no longer answer on the LAN; winbox and ssh do.", restrictedServices(c.APIPort))
	b.put("{")
	b.version()
	b.endRollbacks()
	b.tunnel(c)
	b.radius(c)
	b.access(c)
	b.firewall(c)
	b.report(c)
	b.put("}")
	return strings.Join(b.lines, "\n") + "\n", nil
}

// script collects the lines of a script.
type script struct{ lines []string }

// put adds one line. Without args the format is written unchanged, also its percent signs.
func (s *script) put(format string, args ...any) {
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	s.lines = append(s.lines, line)
}

// ensure writes "add the row when there is none, else set it" for one menu; find selects the row that the script made.
// onlyNew are properties for the add alone.
func (s *script) ensure(menu, find, values, onlyNew string) {
	s.put(":if ([:len [%s find where %s]] = 0) do={ %s add %s %s } else={ %s set [find where %s] %s }",
		menu, find, menu, onlyNew, values, menu, find, values)
}

// late writes a command that only some versions know. A router that does not know it prints a line and continues.
func (s *script) late(command string) {
	s.put(`:do { :local cmd [:parse "%s"]; $cmd } on-error={ :put "skipped on this router" }`,
		strings.ReplaceAll(command, `"`, `\"`))
}

// endRollbacks removes the entries of runs from the scheduler, the one for a boot first: each would restore an older
// state than the one that the script writes. They are those of isRollback.
func (s *script) endRollbacks() {
	s.put("# 0. Rollbacks of repairs: they would undo this script.")
	for _, name := range []string{bootRollback, RollbackName, spareRollback} {
		mine := fmt.Sprintf(`(comment="%s" or comment~"^%s " or on-event~"comment=.Platform.20run.20")`,
			bootstrapComment, runComment)
		s.put(`:do { /system scheduler remove [find where name="%s" and %s] } on-error={`, name, mine)
		s.put(`:put "The scheduler of this router cannot be written." }`)
	}
}

// tunnel makes the SSTP client with its own profile, and waits at most 30 seconds until it runs.
func (s *script) tunnel(c BootstrapConfig) {
	s.put("# 1. Management tunnel: everything else goes through it.")
	s.ensure("/ppp profile", `name="`+TunnelInterface+`"`,
		"use-encryption=yes use-compression=no change-tcp-mss=yes only-one=yes", `name="`+TunnelInterface+`"`)
	values := fmt.Sprintf(
		`user="%s" password="%s" profile=%s add-default-route=no disabled=no`,
		c.TunnelUser, c.TunnelSecret, TunnelInterface)
	s.ensure("/interface sstp-client", `name="`+TunnelInterface+`"`, values,
		fmt.Sprintf(`name="%s" connect-to=%s verify-server-certificate=no`, TunnelInterface, c.Concentrator))
	// Version 6 writes the port into connect-to, version 7 has a property for it.
	s.put(`:if ($major < 7) do={`)
	s.put(`/interface sstp-client set [find where name="%s"] connect-to="%s:%d"`, TunnelInterface, c.Concentrator,
		c.SSTPPort)
	s.put(`} else={`)
	s.put(`/interface sstp-client set [find where name="%s"] connect-to=%s`, TunnelInterface, c.Concentrator)
	s.late(fmt.Sprintf(`/interface sstp-client set [find where name="%s"] port=%d`, TunnelInterface, c.SSTPPort))
	s.put(`}`)
	s.put(`:local up false`)
	running := fmt.Sprintf(`/interface sstp-client get [find where name="%s"] running`, TunnelInterface)
	s.put(`:for i from=1 to=15 do={ :if (!$up) do={ :set up [%s]; :if (!$up) do={ :delay 2s } } }`, running)
	s.put(`:if (!$up) do={ :put "The tunnel is not up yet; the rest is set up all the same." }`)
}

// radius makes the RADIUS client, and turns on accounting and incoming requests (disconnect and change of
// authorization). An operator's client that stands before it keeps its place: moving it would take the operator's own
// customers away without a question, so that the script only tells it.
func (s *script) radius(c BootstrapConfig) {
	s.put("# 2. RADIUS.")
	mine := `comment="` + bootstrapComment + `"`
	// an operator may have written another comment
	s.put(`:if ([:len [/radius find where %s]] = 0) do={ /radius set [find where address=%s service~"ppp"] %s }`, mine,
		c.RadiusHost, mine)
	s.ensure("/radius", mine, fmt.Sprintf(
		`service=ppp,hotspot address=%s secret=%s authentication-port=1812 accounting-port=1813 timeout=3s disabled=no`+
			` src-address=0.0.0.0 accounting-backup=no called-id="" domain="" realm=""`,
		c.RadiusHost, quoted(c.RadiusSecret)), mine)
	s.late(`/radius set [find where ` + mine + `] protocol=udp`)
	// as asked: a client of other services, or with a called-id, is not asked about the platform's customers
	s.put(`:local first true`)
	s.put(`:foreach one in=[/radius find where disabled=no service~"ppp|hotspot"] do={`)
	s.put(`:if ($first and [:len [/radius get $one called-id]] = 0) do={`)
	s.put(`:set first false`)
	s.put(`:if ([/radius get $one comment] != "%s") do={ :put "%s" }`, bootstrapComment,
		"Another RADIUS client is asked before the platform's: see the difference of this router's setup.")
	s.put(`} }`)
	s.put("/ppp aaa set use-radius=yes accounting=yes interim-update=%s", interimUpdate)
	s.put("/radius incoming set accept=yes port=%d", c.CoAPort)
	s.put(`:if ($major >= 7) do={`)
	s.late("/radius incoming set vrf=main")
	s.put(`}`)
}

// firewall makes the platform's rules, and the list of what the walled garden allows.
func (s *script) firewall(c BootstrapConfig) {
	s.put("# 4. Firewall: the tunnel rule first. Rules of others are not touched.")
	rules := Firewall{RadiusHost: c.RadiusHost, CoAPort: c.CoAPort, Garden: c.Garden, CPE: c.CPE}
	s.way(c.CPE)
	s.rules("/ip firewall filter", FirewallTag, FirewallRules(rules))
	if nat := NATRules(rules); len(nat) > 0 {
		s.rules("/ip firewall nat", FirewallTag, nat)
	}
	if c.Garden == nil {
		return
	}
	s.put(`/ip firewall address-list remove [find where list=%s comment="%s"]`, AllowedList, fwAllowed)
	for _, entry := range c.Garden.allowed() {
		address := quoted(entry.Values[propertyAddress])
		// an entry of the operator's own serves as well: a router has each once
		s.put(`:if ([:len [/ip firewall address-list find where list=%s address=%s]] = 0) do={`, AllowedList, address)
		s.put(`/ip firewall address-list add list=%s address=%s comment="%s" disabled=no }`, AllowedList, address,
			fwAllowed)
	}
}

// way makes the list of interfaces and the route that lead management networks to the CPE server.
func (s *script) way(c CPEServer) {
	if !c.reached() {
		return
	}
	s.put(`:if ([:len [/interface list find where name="%s"]] = 0) do={ /interface list add name="%s" comment="%s" }`,
		ManagementList, ManagementList, fwManagement)
	find := `comment="` + fwManagement + `"`
	s.ensure("/ip route", find, words(c.route()), "")
}

// rules puts rules at the head of a table, in their order: so what is accepted is accepted before anything is dropped.
// The rules of an earlier run, which have the same tag, are removed after the new ones stand. The tunnel is blocked at
// no moment, also when the script ends in the middle.
func (s *script) rules(menu, tag string, rules []Resource) {
	s.put(`{`)
	s.put(`:local old [%s find where comment~"^%s"]`, menu, tag)
	s.put(`:local ids [%s find where dynamic=no]`, menu)
	for _, rule := range rules {
		add := menu + " add " + words(rule)
		s.put(`:if ([:len $ids] > 0) do={ %s place-before=($ids->0) } else={ %s }`, add, add)
	}
	s.put(`:foreach rule in=$old do={ %s remove $rule }`, menu)
	s.put(`}`)
}

// words writes a rule's properties in a fixed order, so that equal rules give equal scripts.
func words(rule Resource) string {
	var list []string
	for _, property := range []string{
		"chain", "action", "in-interface", "out-interface", "in-interface-list", "out-interface-list", "src-address",
		"dst-address", "src-address-list", "dst-address-list", "protocol", "dst-port", "connection-state",
		"connection-nat-state", "jump-target", "reject-with", "to-addresses", "to-ports", "gateway", "distance",
		"disabled", "comment",
	} {
		if value, ok := rule.Values[property]; ok && property == "comment" {
			list = append(list, fmt.Sprintf("%s=%q", property, value))
		} else if ok {
			list = append(list, property+"="+value)
		}
	}
	return strings.Join(list, " ")
}

// report writes the version and the marks of the secrets into the comment of the tunnel interface, and posts the
// version to the platform.
func (s *script) report(c BootstrapConfig) {
	s.put("# 5. Report the version.")
	s.put(`/interface sstp-client set [find where name="%s"] comment="%s %s%d %s%s %s%s"`, TunnelInterface,
		bootstrapComment, versionMark, BootstrapVersion, tunnelMark, Mark(c.TunnelRef), radiusMark, Mark(c.RadiusRef))
	if c.ReportURL != "" {
		s.late(fmt.Sprintf(`/tool fetch url="%s/%d" http-method=post http-data="" check-certificate=no keep-result=no`,
			c.ReportURL, BootstrapVersion))
	}
	s.put(`:put "%s%d done"`, versionMark, BootstrapVersion)
}

// Mark is a short text by which the platform knows which secret a script has. It comes from the secret's reference
// alone: nobody can guess the secret by it.
func Mark(ref id.Secret) string {
	sum := sha256.Sum256([]byte("script " + ref.String()))
	return hex.EncodeToString(sum[:4])
}

// Bootstrapped says which script ran on a router last.
type Bootstrapped struct {
	Version int    // 0 = none
	Tunnel  string // Mark of the tunnel's password in it; "" in scripts of older programs
	Radius  string // Mark of the RADIUS secret in it; "" in scripts of older programs
}

// BootstrapOf reads from the menu interface which script ran on a router. A version that does not exist is none, since
// anybody at the router can write a comment.
func BootstrapOf(s Snapshot) Bootstrapped {
	for _, r := range s[MenuInterface] {
		if r[propertyName] != TunnelInterface {
			continue
		}
		after := func(mark string) string {
			_, rest, _ := strings.Cut(r[propertyComment], mark)
			text, _, _ := strings.Cut(rest, " ")
			return text
		}
		version, err := strconv.Atoi(after(versionMark))
		if err == nil && version > 0 && version <= BootstrapVersion {
			return Bootstrapped{Version: version, Tunnel: after(tunnelMark), Radius: after(radiusMark)}
		}
	}
	return Bootstrapped{}
}
