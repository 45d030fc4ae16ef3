package router

// pppMenus has PPP profiles, secrets and sessions, RADIUS, and the router's users.
func pppMenus() []menu {
	return append(radiusMenus(), []menu{
		profileMenu(),
		{
			path: "ppp/secret", named: true, comment: true, unique: []string{"name"},
			dup: "failure: secret with the same name already exists",
			props: []prop{
				nameProp, {name: "password", def: blank, secret: true},
				word("service", "any", "async", "l2tp", "ovpn", "pppoe", "pptp", "sstp"),
				{name: "profile", def: "default", check: existing("ppp/profile"), ref: "ppp/profile"},
				text("caller-id", blank), {name: "local-address", check: addressOrPool},
				{name: "remote-address", check: addressOrPool}, text("routes", blank),
				{name: "limit-bytes-in", def: "0", check: number(0, 1<<62)},
				{name: "limit-bytes-out", def: "0", check: number(0, 1<<62)}, onByDefault,
			},
			state: []string{"last-logged-out", "last-caller-id", "last-disconnect-reason"},
		},
		{
			path: "ppp/aaa", single: true,
			props: []prop{
				no("use-radius"), yes("accounting"), {name: "interim-update", def: "0s", check: interval()},
				no("use-circuit-id-in-nas-port-id"),
				{name: "enable-ipv6-accounting", def: "false", check: boolean, since: v7MessageAuth},
			},
		},
		{
			path: "ppp/active", closed: true, free: true,
			state: []string{
				"name", "service", "caller-id", "address", "uptime", "encoding", "session-id", "limit-bytes-in",
				"limit-bytes-out", "radius",
			},
			show: showUptime,
		},
		userMenu(),
		{
			path: "user/group", named: true, comment: true, admin: true, unique: []string{"name"},
			dup: "failure: group with the same name already exists",
			props: []prop{
				nameProp, {name: "policy", def: blank, check: policies, fixed: true}, text("skin", "default"),
			},
			changed: renamed("user/group"),
		},
	}...)
}

// radiusMenus has the RADIUS client, and the incoming requests (CoA).
func radiusMenus() []menu {
	return []menu{
		{
			path: "radius", comment: true, ordered: true,
			props: []prop{
				{
					name: "service", def: blank,
					check: listOf("ppp", "login", "hotspot", "wireless", "dhcp", "ipsec", "dot1x"), fixed: true,
				},
				{name: "address", need: true, check: address}, {name: "secret", def: blank, secret: true},
				{name: "authentication-port", def: "1812", check: number(1, 65535)},
				{name: "accounting-port", def: "1813", check: number(1, 65535)},
				{name: "timeout", def: "300ms", check: interval(), until: v7},
				{name: "timeout", def: "1s100ms", check: interval(), since: v7},
				word("protocol", "udp", "radsec"), {name: "src-address", def: "0.0.0.0", check: address},
				text("called-id", blank), text("domain", blank), text("realm", blank), no("accounting-backup"),
				text("certificate", "none"),
				{name: "require-message-auth", def: "yes-for-request-resp", check: oneOf("no", "yes-for-request-resp"),
					since: v7MessageAuth, fixed: true}, onByDefault,
			},
		},
		{
			path: "radius/incoming", single: true,
			props: []prop{
				no("accept"), {name: "port", def: "3799", check: number(1, 65535)},
				{name: "vrf", def: "main", since: v7},
			},
		},
	}
}

// prefixesBare accepts a comma list of addresses and stores it unchanged.
func prefixesBare(r *Router, prop, value string) (string, *Trap) {
	for _, one := range splitList(value) {
		if _, trap := address(r, prop, one); trap != nil {
			return "", trap
		}
	}
	return value, nil
}

// showDefault marks the items of the factory configuration.
func showDefault(_ *Router, w *row, out Item) {
	out["default"] = "false"
	if w.builtin {
		out["default"] = "true"
	}
}

// showUptime adds the age of a session.
func showUptime(r *Router, w *row, out Item) { out["uptime"] = span(r.since(w)) }

// renamed makes a callback that updates references to an item whose name changes.
func renamed(name string) func(*Router, *row, Item) {
	return func(r *Router, w *row, before Item) {
		if before["name"] != w.name() {
			r.rename(name, before["name"], w.name())
		}
	}
}

// profileMenu has the settings that sessions get: addresses, lists and rates.
func profileMenu() menu {
	return menu{
		path: "ppp/profile", named: true, comment: true, remarks: v7PlainREST, unique: []string{"name"},
		dup: "failure: profile with the same name already exists",
		props: []prop{
			nameProp, {name: "local-address", check: addressOrPool, ref: "ip/pool"},
			{name: "remote-address", check: addressOrPool, ref: "ip/pool"},
			ifaceProp("bridge", "", false), word("use-ipv6", "default", "yes", "no", "required"),
			word("use-mpls", "default", "yes", "no", "required"),
			word("use-compression", "default", "yes", "no"),
			word("use-encryption", "default", "yes", "no", "required"),
			word("only-one", "default", "yes", "no"), word("change-tcp-mss", "default", "yes", "no"),
			{name: "dns-server", check: prefixesBare},
			text("rate-limit", ""), {name: "session-timeout", check: interval("none")},
			{name: "idle-timeout", check: interval("none")},
			text("address-list", blank),
			{name: "interface-list", check: existing("interface/list"), ref: "interface/list"},
			text("incoming-filter", ""), text("outgoing-filter", ""), text("parent-queue", ""),
			text("on-up", blank), text("on-down", blank),
			{name: "use-upnp", def: "default", since: v7},
		},
		state: []string{"default"}, show: showDefault, changed: renamed("ppp/profile"),
	}
}

// userMenu has the users of the router. Passwords can be written but not read.
func userMenu() menu {
	return menu{
		path: "user", named: true, comment: true, admin: true, unique: []string{"name"},
		dup: "failure: user with the same name already exists",
		props: []prop{
			nameProp, {name: "group", need: true, check: existing("user/group"), ref: "user/group"},
			{name: "address", def: blank, check: prefixes},
			{name: "password", secret: true}, onByDefault,
		},
		state: []string{"last-logged-in", "expired"},
		show:  func(r *Router, w *row, out Item) { delete(out, "password") },
	}
}
