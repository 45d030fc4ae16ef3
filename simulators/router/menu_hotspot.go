package router

import "strconv"

// hotspotMenus has hotspot servers, profiles, users, walled gardens and sessions. Most have no comment, as on a router.
func hotspotMenus() []menu {
	server := prop{name: "server", check: existing("ip/hotspot", "all"), ref: "ip/hotspot"}
	return append(walledMenus(server), []menu{
		hotspotMenu(),
		hotspotProfileMenu(),
		{
			path: "ip/hotspot/user/profile", named: true, unique: []string{"name"},
			dup: "failure: profile with such name already exists",
			props: []prop{
				nameProp, {name: "shared-users", def: "1", check: number(0, 65535, "unlimited")},
				text("rate-limit", blank), {name: "keepalive-timeout", def: "2m", check: interval("none")},
				{name: "idle-timeout", def: "none", check: interval("none")},
			},
			state: []string{"default"}, show: showDefault, changed: renamed("ip/hotspot/user/profile"),
		},
		{
			path: "ip/hotspot/user", named: true, comment: true, unique: []string{"name", "server"},
			dup: "failure: already have user with this name for this server",
			props: []prop{
				nameProp, {name: "password", secret: true},
				{
					name: "profile", def: "default", check: existing("ip/hotspot/user/profile"),
					ref: "ip/hotspot/user/profile",
				},
				server, {name: "limit-uptime", check: interval()}, {name: "mac-address", check: hardware},
				{name: "address", check: address}, {name: "limit-bytes-in", check: number(0, 1<<62)},
				{name: "limit-bytes-out", check: number(0, 1<<62)},
				{name: "limit-bytes-total", check: number(0, 1<<62)}, onByDefault,
			},
			state: []string{"uptime", "bytes-in", "bytes-out", "default"}, show: showDefault,
		},
		hotspotActiveMenu(),
		bindingMenu(server),
		{
			path: "ip/hotspot/cookie", closed: true, free: true, state: []string{
				"user", "domain", "expires-in", "mac-address",
			},
		},
		{
			path: "ip/hotspot/host", closed: true, free: true, state: []string{
				"mac-address", "address", "to-address", "server", "authorized", "bypassed", "uptime",
			},
		},
	}...)
}

// walledMenus has the rules for traffic before a login: by host, and by address.
func walledMenus(server prop) []menu {
	return []menu{
		{
			path: "ip/hotspot/walled-garden", comment: true, ordered: true,
			props: []prop{
				text("dst-host", ""), text("dst-port", ""), text("path", ""), text("method", ""),
				{name: "src-address", check: prefix}, {name: "dst-address", check: prefix}, server,
				{name: "action", def: "allow", check: oneOf("allow", "deny"), fixed: true}, onByDefault,
			},
			state: []string{"hits"}, show: func(_ *Router, _ *row, out Item) { out["hits"] = "0" },
			added: spawnHostRule,
			changed: func(r *Router, w *row, _ Item) {
				r.dropOwned(w)
				_ = spawnHostRule(r, w)
			},
		},
		{
			path: "ip/hotspot/walled-garden/ip", comment: true, ordered: true,
			props: []prop{
				{name: "dst-address", check: prefix}, text("dst-host", ""), text("dst-address-list", ""),
				text("dst-port", ""), text("protocol", ""), {name: "src-address", check: prefix}, server,
				{name: "action", def: "accept", check: oneOf("accept", "drop", "reject"), fixed: true}, onByDefault,
			},
			state: []string{"invalid"}, show: func(_ *Router, _ *row, out Item) { out["invalid"] = "false" },
		},
	}
}

// spawnHostRule creates the dynamic rule of walled-garden/ip that belongs to a rule with a host.
func spawnHostRule(r *Router, w *row) *Trap {
	if w.props["dst-host"] == "" || w.props["disabled"] == "true" {
		return nil
	}
	props := Item{"dst-host": w.props["dst-host"], "action": "accept", "disabled": "false"}
	if w.props["server"] != "" {
		props["server"] = w.props["server"]
	}
	r.insert("ip/hotspot/walled-garden/ip", &row{dynamic: true, owner: w, props: props})
	return nil
}

// hotspotMenu has the servers. Their sessions end when the interface changes or the server is disabled.
func hotspotMenu() menu {
	return menu{
		path: "ip/hotspot", named: true, unique: []string{"name"},
		dup: "failure: server with such name already exists",
		props: []prop{
			nameProp, ifaceProp("interface", "", true),
			{name: "address-pool", def: "none", check: existing("ip/pool", "none"), ref: "ip/pool"},
			{name: "profile", def: "default", check: existing("ip/hotspot/profile"), ref: "ip/hotspot/profile"},
			{name: "addresses-per-mac", def: "2", check: number(0, 65535, "unlimited")},
			{name: "idle-timeout", def: "5m", check: interval("none")},
			{name: "keepalive-timeout", def: "none", check: interval("none")},
			{name: "login-timeout", def: "none", check: interval("none")}, offByDefault,
		},
		state: []string{"proxy-status", "HTTPS", "invalid"},
		show: func(r *Router, w *row, out Item) {
			out["proxy-status"], out["HTTPS"] = "running", "false"
			showInvalid("interface")(r, w, out)
		},
		changed: func(r *Router, w *row, before Item) {
			renamed("ip/hotspot")(r, w, before)
			bindingChanged("interface", "disabled")(r, w, before)
		},
	}
}

// hotspotProfileMenu has the settings that servers share: the page, the kinds of login and RADIUS.
func hotspotProfileMenu() menu {
	return menu{
		path: "ip/hotspot/profile", named: true, unique: []string{"name"},
		dup: "failure: profile with such name already exists",
		props: []prop{
			nameProp, {name: "hotspot-address", def: "0.0.0.0", check: address}, text("dns-name", blank),
			text("html-directory", "hotspot"), text("html-directory-override", blank),
			{
				name: "login-by", def: "cookie,http-chap",
				check: listOf("cookie", "http-chap", "http-pap", "https", "mac", "mac-cookie", "trial"),
			},
			no("use-radius"), yes("radius-accounting"),
			{name: "radius-interim-update", def: "received", check: interval("received")},
			text("nas-port-type", "wireless-802.11"), text("radius-mac-format", "XX:XX:XX:XX:XX:XX"),
			text("rate-limit", blank), text("ssl-certificate", "none"),
			{name: "http-cookie-lifetime", def: "3d", check: interval()}, text("smtp-server", "0.0.0.0"),
		},
		state: []string{"default"}, show: showDefault, changed: renamed("ip/hotspot/profile"),
	}
}

// hotspotActiveMenu has the sessions. Packets are counted as 900 bytes each.
func hotspotActiveMenu() menu {
	return menu{
		path: "ip/hotspot/active", closed: true, free: true,
		state: []string{
			"server", "user", "address", "mac-address", "login-by", "uptime", "idle-time", "session-time-left",
			"keepalive-timeout", "bytes-in", "bytes-out", "packets-in", "packets-out", "radius",
		},
		show: func(r *Router, w *row, out Item) {
			showUptime(r, w, out)
			t := r.trafficOf(w)
			out["bytes-in"], out["bytes-out"] = strconv.FormatUint(t.rx, 10), strconv.FormatUint(t.tx, 10)
			out["packets-in"], out["packets-out"] = strconv.FormatUint(t.rx/900, 10),
				strconv.FormatUint(t.tx/900, 10)
			out["idle-time"] = "0s"
		},
	}
}
