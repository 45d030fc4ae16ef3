package router

import (
	"net/netip"
	"strconv"
	"strings"
)

// addressMenus has pools, addresses, DHCP, routes, simple queues and DNS.
func addressMenus() []menu {
	return append(dhcpMenus(), []menu{
		{
			path: "ip/pool", named: true, comment: true, unique: []string{"name"},
			dup: "failure: pool with such name exists",
			props: []prop{
				nameProp, {name: "ranges", need: true, check: addressRanges},
				{name: "next-pool", check: existing("ip/pool", "none"), ref: "ip/pool"},
			},
			changed: renamed("ip/pool"),
		},
		{
			path: "ip/address", comment: true, unique: []string{"address", "interface"},
			dup: "failure: already have such address",
			props: []prop{
				{name: "address", need: true, check: interfaceAddress}, ifaceProp("interface", "", true),
				{name: "network", check: address}, onByDefault,
			},
			state: []string{"actual-interface", "invalid", "slave"}, added: addressAdded, changed: addressChanged,
			show: func(r *Router, w *row, out Item) {
				out["actual-interface"] = w.props["interface"]
				if master := r.masterOf(w.props["interface"]); master != "" {
					out["actual-interface"] = master
					if r.version >= v7ServiceRows {
						out["slave"] = "true"
					}
				}
				showDangling("interface")(r, w, out)
			},
		},
		routeMenu(),
		simpleQueueMenu(),
		{path: "ip/settings", single: true, props: []prop{word("rp-filter", "no", "loose", "strict")}},
		{
			path: "ip/dns", single: true,
			props: []prop{
				{name: "servers", def: blank, check: prefixesBare}, no("allow-remote-requests")},
			state: []string{"dynamic-servers"},
		},
	}...)
}

// dhcpMenus has the DHCP client and the DHCP server with networks and leases.
func dhcpMenus() []menu {
	return []menu{
		{
			path: "ip/dhcp-client", comment: true, unique: []string{"interface"},
			dup: "failure: dhcp-client on that interface already exists",
			props: []prop{
				ifaceProp("interface", "", true), word("add-default-route", "yes", "no", "special-classless"),
				{name: "default-route-distance", def: "1", check: number(1, 255)},
				{name: "use-peer-dns", def: "true", check: boolean}, yes("use-peer-ntp"),
				{name: "disabled", def: "true", check: boolean, until: v7},
				{name: "disabled", def: "false", check: boolean, since: v7},
			},
			state: []string{"status", "address", "gateway", "dhcp-server", "primary-dns", "expires-after", "invalid"},
			show:  showDangling("interface"),
		},
		dhcpServerMenu(),
		{
			path: "ip/dhcp-server/network", comment: true, unique: []string{"address"},
			dup: "failure: such network already exists",
			props: []prop{
				{name: "address", need: true, check: network}, {name: "gateway", def: blank, check: prefixesBare},
				{name: "dns-server", def: blank, check: prefixesBare}, text("domain", blank), text("ntp-server", blank),
				{name: "netmask", def: "0", check: number(0, 32)}, text("wins-server", blank),
				{name: "dhcp-option", def: blank, check: options, ref: "ip/dhcp-server/option"},
			},
		},
		{
			path: "ip/dhcp-server/option", named: true, comment: true, unique: []string{"name"},
			dup: "failure: option with such name already exists",
			props: []prop{
				nameProp, {name: "code", need: true, check: number(1, 254)},
				{name: "value", def: blank, check: optionValue}, {
					name: "force", def: "false", check: boolean, since: v7,
				},
			},
			state: []string{"raw-value"}, changed: renamed("ip/dhcp-server/option"),
			show: func(_ *Router, w *row, out Item) { out["raw-value"] = rawOption(w.props["value"]) },
		},
		dhcpLeaseMenu(),
	}
}

// addressAdded fills in the property network and creates the connected route.
func addressAdded(r *Router, w *row) *Trap {
	p, err := netip.ParsePrefix(w.props["address"])
	if err != nil {
		return badValue("address")
	}
	if w.props["network"] == "" {
		w.props["network"] = p.Masked().Addr().String()
	}
	r.insert("ip/route", &row{dynamic: true, owner: w, props: Item{
		"dst-address": netip.PrefixFrom(p.Addr(), p.Bits()).Masked().String(), "gateway": w.props["interface"],
		"distance": "0", "scope": "10", "connect": "true", "disabled": w.props["disabled"],
	}})
	return nil
}

// addressChanged replaces the connected route.
func addressChanged(r *Router, w *row, before Item) {
	r.dropOwned(w)
	if before["address"] != w.props["address"] {
		delete(w.props, "network")
	}
	_ = addressAdded(r, w)
}

// showRoute adds the state of a route. 6.x shows gateway-status, 7.x immediate-gw.
func showRoute(r *Router, w *row, out Item) {
	if w.props["disabled"] == "true" {
		delete(out, "distance")
		delete(out, "dynamic")
		return
	}
	via, reachable := r.exit(w.props["gateway"])
	if r.version < v7 {
		delete(out, "immediate-gw")
		if out["gateway-status"] = w.props["gateway"] + " unreachable"; reachable {
			out["gateway-status"] = w.props["gateway"] + " reachable via  " + via
			out["active"] = "true"
		}
		out["type"] = "unicast"
		return
	}
	out["inactive"] = strconv.FormatBool(!reachable)
	switch {
	case !reachable:
		out["immediate-gw"] = ""
		return
	case via == w.props["gateway"]:
		out["immediate-gw"] = via
	default:
		bare, _, _ := strings.Cut(w.props["gateway"], "%")
		out["immediate-gw"] = bare + "%" + via
	}
	out["active"] = "true"
	if !w.dynamic {
		out["static"] = "true"
	}
}

// exit finds the interface through which a gateway is reached: after "%", by its name, or by a connected network.
func (r *Router) exit(gateway string) (via string, reachable bool) {
	if _, name, ok := strings.Cut(gateway, "%"); ok {
		return name, r.byName("interface", name) != nil
	}
	if w := r.byName("interface", gateway); w != nil {
		return gateway, r.running(w)
	}
	ip, err := netip.ParseAddr(gateway)
	if err != nil {
		return "", false
	}
	for _, path := range []string{"ip/address", "ip/dhcp-client"} {
		for _, w := range r.tableOf(path).rows {
			if p, err := netip.ParsePrefix(w.props["address"]); err == nil && w.props["disabled"] != "true" &&
				p.Masked().Contains(ip) {
				return w.props["interface"], true
			}
		}
	}
	return "", false
}

// routeMenu has static routes and the dynamic ones of addresses and DHCP clients.
func routeMenu() menu {
	return menu{
		path: "ip/route", comment: true,
		props: []prop{
			{name: "dst-address", def: "0.0.0.0/0", check: route}, text("gateway", blank),
			{name: "distance", def: "1", check: number(1, 255)}, {name: "scope", def: "30", check: number(0, 255)},
			{name: "target-scope", def: "10", check: number(0, 255)},
			{name: "routing-table", def: "main", since: v7}, {name: "routing-mark", until: v7},
			text("pref-src", ""), onByDefault,
		},
		state: []string{"immediate-gw", "active", "inactive", "static", "connect", "dhcp", "vpn", "ecmp",
			"blackhole", "gateway-status", "type", "vrf-interface"}, show: showRoute,
	}
}

// simpleQueueMenu limits the rates of addresses. Its counters stay at 0, because no packets pass.
func simpleQueueMenu() menu {
	return menu{
		path: "queue/simple", named: true, comment: true, ordered: true, unique: []string{"name"},
		dup: "failure: already have such name",
		props: []prop{
			nameProp, text("target", blank), text("parent", "none"), text("packet-marks", blank),
			text("priority", "8/8"), text("queue", "default-small/default-small"),
			{name: "limit-at", def: "0/0", check: ratePair}, {name: "max-limit", def: "0/0", check: ratePair},
			{name: "burst-limit", def: "0/0", check: ratePair},
			{name: "burst-threshold", def: "0/0", check: ratePair}, text("burst-time", "0s/0s"),
			text("bucket-size", "0.1/0.1"), onByDefault,
		},
		state: []string{"bytes", "packets", "rate", "dropped", "invalid", "total-bytes"},
		show: func(_ *Router, _ *row, out Item) {
			out["bytes"], out["packets"], out["rate"], out["dropped"], out["invalid"] = "0/0", "0/0", "0/0", "0/0",
				"false"
		},
	}
}

// dhcpServerMenu allows one server on each interface.
func dhcpServerMenu() menu {
	return menu{
		path: "ip/dhcp-server", named: true, comment: true, unique: []string{"name"},
		dup: "failure: server with such name already exists",
		props: []prop{
			nameProp, ifaceProp("interface", "", true),
			{name: "address-pool", def: "static-only", check: existing("ip/pool", "static-only"), ref: "ip/pool"},
			{name: "lease-time", def: "30m", check: interval()}, word("use-radius", "no", "yes", "accounting"),
			text("authoritative", "yes"), {name: "disabled", def: "true", check: boolean, until: v7},
			{name: "disabled", def: "false", check: boolean, since: v7},
		},
		state: []string{"invalid"}, changed: renamed("ip/dhcp-server"),
		show: func(r *Router, w *row, out Item) {
			showInvalid("interface")(r, w, out)
			if len(r.subnets(w.props["interface"])) == 0 {
				out["invalid"] = "true"
			}
		},
		added: func(r *Router, w *row) *Trap {
			for _, other := range r.tableOf("ip/dhcp-server").rows {
				if other != w && other.props["interface"] == w.props["interface"] {
					return refuse("server or relay with such interface already exists")
				}
			}
			return nil
		},
	}
}

// dhcpLeaseMenu has static leases, and dynamic ones that Lease made.
func dhcpLeaseMenu() menu {
	return menu{
		path: "ip/dhcp-server/lease", comment: true, free: true, unique: []string{"address"},
		dup: "failure: already have static lease with this IP address",
		props: []prop{
			{name: "address", need: true, check: address}, {name: "mac-address", check: hardware},
			text("client-id", ""),
			{name: "server", check: existing("ip/dhcp-server", "all"), ref: "ip/dhcp-server"},
			text("address-lists", blank), text("dhcp-option", blank), no("blocked"), onByDefault,
		},
		guard: func(r *Router, w, next *row) *Trap {
			for _, other := range r.tableOf("ip/dhcp-server/lease").rows {
				if mac := next.props["mac-address"]; other != w && !other.dynamic && mac != "" &&
					other.props["mac-address"] == mac && other.props["server"] == next.props["server"] {
					return refuse("failure: already have static lease for this client")
				}
			}
			return nil
		},
		state: []string{
			"status", "expires-after", "last-seen", "active-address", "active-mac-address", "active-client-id",
			"active-server", "host-name", "class-id", "radius",
		},
		show: showLease,
	}
}
