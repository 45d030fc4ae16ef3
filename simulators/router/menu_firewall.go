package router

// firewallMenus has filter, NAT and mangle rules and address lists.
func firewallMenus() []menu {
	matchers := []string{
		"src-address", "dst-address", "protocol", "src-port", "dst-port", "connection-state", "connection-nat-state",
		"src-address-list", "dst-address-list", "ipsec-policy", "icmp-options", "log-prefix", "jump-target",
		"reject-with", "to-addresses", "to-ports", "address-list", "address-list-timeout", "hotspot",
		"connection-limit", "tcp-flags", "layer7-protocol",
	}
	rules := func(path string, actions ...string) menu {
		props := []prop{
			{name: "chain", need: true}, {name: "action", def: "accept", check: oneOf(actions...), fixed: true},
			onUntilSet, {name: "log", check: boolean},
			{name: "in-interface", check: negated("interface"), ref: "interface"},
			{name: "out-interface", check: negated("interface"), ref: "interface"},
			{name: "in-interface-list", check: negated("interface/list"), ref: "interface/list"},
			{name: "out-interface-list", check: negated("interface/list"), ref: "interface/list"},
		}
		for _, name := range matchers {
			p := text(name, "")
			if name == "src-address" || name == "dst-address" {
				p.check = addressOrRange
			}
			props = append(props, p)
		}
		return menu{
			path: path, comment: true, ordered: true, props: props, state: []string{"bytes", "packets", "invalid"},
			guard: guardRule,
			show: func(_ *Router, _ *row, out Item) {
				out["bytes"], out["packets"], out["invalid"] = "0", "0", "false"
			},
		}
	}
	return []menu{
		rules("ip/firewall/filter", "accept", "drop", "reject", "jump", "return", "log", "passthrough", "tarpit",
			"fasttrack-connection", "add-src-to-address-list", "add-dst-to-address-list"),
		rules("ip/firewall/nat", "accept", "masquerade", "src-nat", "dst-nat", "redirect", "jump", "return", "log",
			"passthrough", "netmap", "same"),
		rules("ip/firewall/mangle", "accept", "mark-connection", "mark-packet", "mark-routing", "change-mss", "jump",
			"return", "passthrough"),
		{
			path: "ip/firewall/address-list", comment: true, free: true, unique: []string{"list", "address"},
			dup: "failure: already have such entry",
			props: []prop{
				{name: "list", need: true}, {name: "address", need: true, check: addressOrName},
				{name: "timeout", check: interval("none-static", "none-dynamic")}, onByDefault,
			},
			state: []string{"creation-time"},
			show:  func(r *Router, w *row, out Item) { out["creation-time"] = r.version.date(r.bornOf(w)) },
			added: func(_ *Router, w *row) *Trap {
				w.dynamic = w.props["timeout"] != "" && w.props["timeout"] != "none-static"
				return nil
			},
		},
	}
}

// guardRule refuses matchers that cannot hold in the rule's chain or without its protocol.
func guardRule(_ *Router, _, next *row) *Trap {
	p := next.props
	switch {
	case (p["chain"] == "output" || p["chain"] == "srcnat" || p["chain"] == "postrouting") &&
		p["in-interface"]+p["in-interface-list"] != "":
		return refuse("failure: incoming interface matching not possible in output and postrouting chains")
	case (p["chain"] == "input" || p["chain"] == "dstnat" || p["chain"] == "prerouting") &&
		p["out-interface"]+p["out-interface-list"] != "":
		return refuse("failure: outgoing interface matching not possible in input and prerouting chains")
	case p["src-port"]+p["dst-port"] != "" && p["protocol"] != "tcp" && p["protocol"] != "udp" &&
		p["protocol"] != "6" && p["protocol"] != "17":
		return refuse("failure: ports can be specified if proto is tcp,udp,udp-lite,dccp,sctp")
	}
	return nil
}

// negated accepts an existing name, with or without "!".
func negated(target string) check {
	return func(r *Router, prop, value string) (string, *Trap) {
		if len(value) > 1 && value[0] == '!' {
			stored, trap := existing(target)(r, prop, value[1:])
			return "!" + stored, trap
		}
		return existing(target)(r, prop, value)
	}
}

// addressOrRange accepts a prefix or a range of addresses.
func addressOrRange(r *Router, prop, value string) (string, *Trap) {
	if stored, trap := prefix(r, prop, value); trap == nil {
		return stored, nil
	}
	return addressRanges(r, prop, value)
}

// addressOrName accepts an address, a range or a domain name, which has a letter.
func addressOrName(r *Router, prop, value string) (string, *Trap) {
	if stored, trap := addressOrRange(r, prop, value); trap == nil {
		return stored, nil
	}
	for i := range len(value) {
		c := value[i] | 0x20
		if c >= 'a' && c <= 'z' {
			return value, nil
		}
	}
	return "", badValue(prop)
}
