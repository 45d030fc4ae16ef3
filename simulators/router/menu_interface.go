package router

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// counters are the properties that every interface shows and that cannot be written.
var counters = []string{
	"rx-byte", "tx-byte", "rx-packet", "tx-packet", "rx-drop", "tx-drop", "tx-queue-drop", "rx-error", "tx-error",
	"fp-rx-byte", "fp-tx-byte", "fp-rx-packet", "fp-tx-packet", "link-downs", "last-link-up-time",
	"last-link-down-time", "running", "actual-mtu", "mac-address", "l2mtu", "max-l2mtu", "default-name", "type", "mtu",
	"slave", "inactive",
}

// sameName refuses a second interface of one name.
const sameName = "failure: already have interface with such name"

// interfaceMenus has the interfaces, the PPPoE servers and the SSTP server.
func interfaceMenus() []menu {
	return []menu{
		{
			path: "interface", named: true, comment: true, unique: []string{"name"}, dup: sameName, closed: true,
			free: true, props: []prop{nameProp, text("mtu", "1500"), onByDefault}, state: counters, show: showInterface,
			commands: []string{"monitor-traffic"}, changed: interfaceChanged,
		},
		ethernetMenu(),
		typed("vlan", "interface/vlan", false, showInterface,
			text("mtu", "1500"), ifaceProp("interface", "", true),
			prop{name: "vlan-id", def: "1", check: number(1, 4095)},
			text("arp", "enabled"), no("use-service-tag")),
		typed("bridge", "interface/bridge", false, showInterface,
			text("mtu", "auto"), word("protocol-mode", "rstp", "none", "stp", "mstp"), no("vlan-filtering"),
			yes("auto-mac"),
			prop{name: "admin-mac", check: hardware}, yes("fast-forward"), text("arp", "enabled")),
		typed("bond", "interface/bonding", false, showInterface,
			text("mtu", "1500"), prop{name: "slaves", need: true, check: slaves},
			word("mode", "balance-rr", "802.3ad", "active-backup", "balance-alb", "balance-tlb", "balance-xor",
				"broadcast"),
			text("primary", "none"), text("link-monitoring", "mii"), text("arp", "enabled"),
			text("transmit-hash-policy", "layer-2")),
		tunnel("sstp-out", "interface/sstp-client",
			text("connect-to", ""), prop{name: "port", def: "443", check: number(1, 65535), since: v7},
			text("certificate", "none"),
			no("verify-server-certificate"), no("verify-server-address-from-certificate"), text("tls-version", "any"),
			text("http-proxy", "0.0.0.0"), text("proxy-port", "443"), no("pfs"),
			prop{name: "add-sni", def: "false", check: boolean, since: v7}),
		tunnel("pppoe-out", "interface/pppoe-client", ifaceProp("interface", "", true), text("service-name", blank),
			text("ac-name", blank)),
		tunnel("l2tp-out", "interface/l2tp-client", text("connect-to", ""), no("use-ipsec"),
			prop{name: "ipsec-secret", secret: true}),
		pppoeSessionMenu(),
		pppoeServerMenu(),
		sstpServerMenu(),
	}
}

// groupingMenus has the ports of bridges, and the lists of interfaces with their members.
func groupingMenus() []menu {
	return []menu{
		{
			path: "interface/bridge/port", comment: true, unique: []string{"interface"},
			dup: "failure: device already added as bridge port",
			props: []prop{
				ifaceProp("interface", "", true), ifaceProp("bridge", "", true),
				prop{name: "pvid", def: "1", check: number(1, 4094)}, yes("hw"), onByDefault,
			},
			state: []string{"inactive", "status", "role"},
			show: func(r *Router, w *row, out Item) {
				port, bridge := r.byName("interface", w.props["interface"]), r.byName("interface", w.props["bridge"])
				out["inactive"] = strconv.FormatBool(w.props["disabled"] == "true" || port == nil || bridge == nil ||
					!r.running(port) || bridge.props["disabled"] == "true")
			},
		},
		{
			path: "interface/list", named: true, comment: true, unique: []string{"name"},
			dup: "failure: already have such list",
			props: []prop{
				nameProp, prop{name: "include", def: blank, check: lists},
				prop{name: "exclude", def: blank, check: lists},
			},
			state: []string{"builtin"},
			show:  func(_ *Router, w *row, out Item) { out["builtin"] = strconv.FormatBool(w.builtin) },
		},
		{
			path: "interface/list/member", comment: true, unique: []string{"list", "interface"},
			dup: "failure: already have such member",
			props: []prop{
				{name: "list", need: true, check: existing("interface/list"), ref: "interface/list"},
				ifaceProp("interface", "", true), onByDefault,
			},
		},
	}
}

// typed makes the menu of one type of interface; its rows are also rows of the menu interface.
func typed(kind, path string, closed bool, show func(*Router, *row, Item), props ...prop) menu {
	return menu{
		path: path, table: "interface", kind: kind, named: true, comment: true, unique: []string{"name"}, dup: sameName,
		closed: closed, props: append([]prop{{name: "name", need: true}, onByDefault}, props...), state: counters,
		show: show, added: interfaceAdded, changed: interfaceChanged,
	}
}

// ethernetMenu has the physical ports, whose command monitor tells the speed that both ends have agreed on.
func ethernetMenu() menu {
	m := typed("ether", "interface/ethernet", true, showInterface,
		text("mtu", "1500"), prop{name: "mac-address", check: hardware}, yes("auto-negotiation"),
		text("speed", "1Gbps"), text("arp", "enabled"))
	m.commands, m.command = []string{"monitor"}, monitorEthernet
	return m
}

// monitorEthernet gives the link of one port.
func monitorEthernet(r *Router, c call) (reply, *Trap) {
	w := r.byName("interface", c.args["numbers"])
	if w == nil {
		return reply{}, noItem()
	}
	if r.unplugged[w.name()] {
		return reply{rows: []Item{{"name": w.name(), "status": "no-link"}}}, nil
	}
	rate := cmp.Or(r.linkRates[w.name()], "1Gbps")
	return reply{rows: []Item{{"name": w.name(), "status": "link-ok", "rate": rate, "full-duplex": "true"}}}, nil
}

// tunnel makes the menu of one type of PPP client; new items are disabled, as on a router.
func tunnel(kind, path string, props ...prop) menu {
	m := typed(kind, path, false, showInterface, append(props,
		text("user", blank), prop{name: "password", def: blank, secret: true}, text("max-mtu", "1500"),
		text("max-mru", "1500"),
		prop{name: "profile", def: "default-encryption", check: existing("ppp/profile"), ref: "ppp/profile"},
		no("add-default-route"), prop{name: "default-route-distance", def: "1", check: number(0, 255)},
		no("dial-on-demand"),
		prop{name: "keepalive-timeout", def: "60", check: number(0, 65535, "disabled")},
		text("authentication", "pap,chap,mschap1,mschap2"))...)
	m.props[0] = text("name", kind+"1")
	m.props[1] = offByDefault
	return m
}

// lists accepts a comma list of interface lists, also an empty one.
func lists(r *Router, prop, value string) (string, *Trap) {
	if value == "" {
		return "", nil
	}
	for _, one := range splitList(value) {
		if !r.hasName("interface/list", one) {
			return "", mismatch(prop)
		}
	}
	return value, nil
}

// interfaceAdded gives a new interface a MAC address.
func interfaceAdded(r *Router, w *row) *Trap {
	if w.props["mac-address"] == "" {
		w.props["mac-address"] = r.newMAC()
	}
	return nil
}

// interfaceChanged renames references, and ends the sessions over an interface that was disabled.
func interfaceChanged(r *Router, w *row, before Item) {
	if before["name"] != w.name() {
		r.rename("interface", before["name"], w.name())
	}
	if w.props["disabled"] != "true" || before["disabled"] == "true" {
		return
	}
	for _, path := range []string{"interface/pppoe-server/server", "ip/hotspot"} {
		for _, server := range r.tableOf(path).rows {
			if server.props["interface"] == w.name() {
				r.dropOwned(server)
			}
		}
	}
}

// bindingChanged ends the sessions of a server when one of these properties changes.
func bindingChanged(disruptive ...string) func(*Router, *row, Item) {
	return func(r *Router, w *row, before Item) {
		for _, p := range disruptive {
			if before[p] != w.props[p] {
				r.dropOwned(w)
				return
			}
		}
	}
}

// showInvalid marks a server that cannot work on its interface: the reference is dangling (an id has taken the place of
// the name), or the interface is disabled or the port of a bridge or a bond.
func showInvalid(prop string) func(*Router, *row, Item) {
	return func(r *Router, w *row, out Item) {
		port := r.byName("interface", w.props[prop])
		out["invalid"] = strconv.FormatBool(port == nil || port.props["disabled"] == "true" ||
			r.masterOf(port.name()) != "")
	}
}

// showDangling marks an item whose reference is dangling: an id has taken the place of the name.
func showDangling(prop string) func(*Router, *row, Item) {
	return func(_ *Router, w *row, out Item) {
		_, dangling := parseID(w.props[prop])
		out["invalid"] = strconv.FormatBool(dangling)
	}
}

// masterOf gives the bridge or the bond that an interface is a port of; "" when it is none.
func (r *Router) masterOf(name string) string {
	for _, port := range r.tableOf("interface/bridge/port").rows {
		if port.props["interface"] == name && port.props["disabled"] != "true" {
			return port.props["bridge"]
		}
	}
	for _, w := range r.tableOf("interface").rows {
		if w.props["type"] == "bond" && w.props["disabled"] != "true" &&
			slices.Contains(splitList(w.props["slaves"]), name) {
			return w.name()
		}
	}
	return ""
}

// closed gives the reason why no client of a service reaches the router over an interface; "" when clients do.
func (r *Router) closed(name string) string {
	w := r.byName("interface", name)
	switch {
	case w == nil:
		return "there is no interface " + name
	case w.props["disabled"] == "true":
		return name + " is disabled"
	case r.masterOf(name) != "":
		return name + " is a port of " + r.masterOf(name)
	case !r.running(w):
		return name + " is not running"
	case w.props["type"] == "vlan":
		return r.closed(w.props["interface"])
	}
	return ""
}

// slaves accepts a comma list of interfaces that are no ports yet.
func slaves(r *Router, prop, value string) (string, *Trap) {
	for _, one := range splitList(value) {
		if !r.hasName("interface", one) || r.masterOf(one) != "" {
			return "", mismatch(prop)
		}
	}
	return value, nil
}

// showInterface adds counters and link state. Packets are counted as 900 bytes each.
func showInterface(r *Router, w *row, out Item) {
	t := r.trafficOf(w)
	for name, n := range map[string]uint64{
		"rx-byte": t.rx, "tx-byte": t.tx, "rx-packet": t.rx / 900, "tx-packet": t.tx / 900, "link-downs": t.downs,
	} {
		out[name] = strconv.FormatUint(n, 10)
	}
	for _, name := range []string{
		"rx-drop", "tx-drop", "tx-queue-drop", "rx-error", "tx-error", "fp-rx-byte", "fp-tx-byte", "fp-rx-packet",
		"fp-tx-packet",
	} {
		out[name] = "0"
	}
	out["running"] = strconv.FormatBool(r.running(w))
	if out["actual-mtu"] = w.props["mtu"]; out["actual-mtu"] == "auto" || out["actual-mtu"] == "" {
		out["actual-mtu"] = "1500"
	}
	if w.props["type"] == "ether" {
		out["l2mtu"], out["max-l2mtu"] = "1514", "9796"
		out["last-link-up-time"] = r.version.date(r.booted)
	}
	if r.masterOf(w.name()) != "" {
		out["slave"] = "true"
	}
	if parent := r.byName("interface", w.props["interface"]); w.props["type"] == "vlan" &&
		(parent == nil || parent.props["disabled"] == "true") {
		out["inactive"] = "true"
	}
}

// running reports whether an interface is up: enabled, plugged in, and over a parent that is up.
func (r *Router) running(w *row) bool {
	switch {
	case w.props["disabled"] == "true" || r.unplugged[w.name()]:
		return false
	case w.props["type"] == "vlan", w.props["type"] == "pppoe-out":
		parent := r.byName("interface", w.props["interface"])
		return parent != nil && r.running(parent)
	case w.props["type"] == "bond":
		return slices.ContainsFunc(splitList(w.props["slaves"]), func(name string) bool {
			port := r.byName("interface", name)
			return port != nil && r.running(port)
		})
	case w.props["type"] == "sstp-out":
		return w.props["connect-to"] != "" && w.props["user"] != "" && w.props["profile"] != ""
	}
	return true
}

// byName finds an item of a table by its name; nil when there is none.
func (r *Router) byName(name, item string) *row {
	for _, w := range r.tableOf(name).rows {
		if item != "" && w.name() == item {
			return w
		}
	}
	return nil
}

// newMAC gives the next MAC address of this router; it follows from the seed.
func (r *Router) newMAC() string {
	r.macs++
	n := uint64(r.seed)<<16 + r.macs
	return fmt.Sprintf("0C:00:%02X:%02X:%02X:%02X", byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// pppoeSessionMenu has the interface of each PPPoE session; they begin and end with the session.
func pppoeSessionMenu() menu {
	return menu{
		path: "interface/pppoe-server", table: "interface", kind: "pppoe-in", named: true, closed: true, free: true,
		state: []string{
			"name", "user", "service", "interface", "remote-address", "running", "uptime", "encoding", "mtu",
		},
		show: func(r *Router, w *row, out Item) {
			if w.owner != nil && w.owner.owner != nil {
				server := w.owner.owner.props
				out["user"], out["remote-address"] = w.owner.name(), w.owner.props["caller-id"]
				out["service"], out["interface"] = server["service-name"], server["interface"]
				out["uptime"], out["encoding"] = span(r.since(w)), ""
			}
			out["running"] = "true"
		},
	}
}

// pppoeServerMenu offers PPPoE on interfaces. Its sessions end when the binding changes.
func pppoeServerMenu() menu {
	return menu{
		path: "interface/pppoe-server/server", comment: true, unique: []string{"service-name", "interface"},
		dup: "failure: already have such pppoe server",
		props: []prop{
			text("service-name", "service1"), ifaceProp("interface", "", true), text("max-mtu", "auto"),
			text("max-mru", "auto"), text("mrru", "disabled"),
			{
				name: "authentication", def: "pap,chap,mschap1,mschap2",
				check: listOf("pap", "chap", "mschap1", "mschap2"),
			},
			{name: "keepalive-timeout", def: "10", check: number(1, 65535, "disabled")}, no("one-session-per-host"),
			{name: "max-sessions", def: "unlimited", check: number(0, 65535, "unlimited")},
			{name: "pado-delay", def: "0", check: number(0, 65535)},
			{name: "default-profile", def: "default", check: existing("ppp/profile"), ref: "ppp/profile"},
			{name: "accept-empty-service", def: "true", check: boolean, since: v7}, offByDefault,
		},
		state: []string{"invalid"}, show: showInvalid("interface"),
		changed: bindingChanged("interface", "service-name", "disabled"),
	}
}

// sstpServerMenu has the one SSTP server of a router. It needs a certificate that is signed.
func sstpServerMenu() menu {
	return menu{
		path: "interface/sstp-server/server", single: true,
		props: []prop{
			no("enabled"), {name: "port", def: "443", check: number(1, 65535)}, text("max-mtu", "1500"),
			text("max-mru", "1500"), text("mrru", "disabled"),
			{name: "keepalive-timeout", def: "60", check: number(1, 65535, "disabled")},
			{name: "default-profile", def: "default", check: existing("ppp/profile"), ref: "ppp/profile"},
			{
				name: "authentication", def: "pap,chap,mschap1,mschap2",
				check: listOf("pap", "chap", "mschap1", "mschap2"),
			},
			{name: "certificate", def: "none", check: usableCertificate, ref: "certificate"},
			no("verify-client-certificate"), no("pfs"), text("tls-version", "any"), no("force-aes"),
		},
		guard: func(r *Router, _, next *row) *Trap {
			for _, other := range r.tableOf("ip/service").rows {
				if next.props["enabled"] == "true" && other.props["disabled"] != "true" &&
					other.props["port"] == next.props["port"] {
					return refuse("failure: port is used by another service")
				}
			}
			return nil
		},
	}
}
