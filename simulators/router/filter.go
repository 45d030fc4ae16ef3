package router

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// packet has the properties by which the firewall judges a packet for the router itself, or one that it passes on.
type packet struct {
	in       string     // interface
	from     netip.Addr // of the client
	to       netip.Addr // the router's address; may be invalid
	out      string     // interface; "" for the router itself
	protocol string     // "tcp" or "udp"
	port     string
	state    string // connection-state
}

// filter gives what the firewall does with a client's packet for a port of the router. state is "new" or
// "established". Clients come through a running SSTP client; without one they come over a cable of their own, which no
// rule filters, or not at all where RouterConfig.Remote is set. The lock is held.
func (r *Router) filter(protocol, port, state string) welcome {
	in := r.tunnelIn()
	switch {
	case in == "" && r.cfg.Remote:
		return unheard
	case in == "":
		return admitted
	}
	verdict, _ := r.chain("input", packet{
		in: in, from: r.seenFrom, to: r.cfg.Tunnel, protocol: protocol, port: port, state: state,
	}, 0)
	return verdict
}

// chain runs a packet through a chain of ip/firewall/filter; decided is false when no rule did, which admits it.
func (r *Router) chain(name string, p packet, depth int) (verdict welcome, decided bool) {
	if depth > 10 {
		return admitted, false
	}
	for _, w := range r.tableOf("ip/firewall/filter").rows {
		if w.dynamic || w.props["disabled"] == "true" || w.props["chain"] != name || !r.matches(w.props, p) {
			continue
		}
		switch w.props["action"] {
		case "accept":
			return admitted, true
		case "drop", "tarpit":
			return unheard, true
		case "reject":
			return refused, true
		case "return":
			return admitted, false
		case "jump":
			if verdict, decided = r.chain(w.props["jump-target"], p, depth+1); decided {
				return verdict, true
			}
		}
	}
	return admitted, false
}

// matches reports whether a rule matches a packet. A matcher that the simulator does not know matches nothing.
func (r *Router) matches(rule Item, p packet) bool {
	for name, value := range rule {
		bare := strings.TrimPrefix(value, "!")
		var hit bool
		switch name {
		case "chain", "action", "disabled", "log", "log-prefix", "comment", "jump-target", "reject-with":
			continue
		case "in-interface":
			hit = bare == p.in
		case "in-interface-list":
			hit = slices.Contains(r.members(bare, nil), p.in)
		case "out-interface":
			hit = bare == p.out
		case "out-interface-list":
			hit = slices.Contains(r.members(bare, nil), p.out)
		case "src-address":
			hit = covers(bare, p.from)
		case "dst-address":
			hit = covers(bare, p.to)
		case "src-address-list":
			hit = r.listed(bare, p.from)
		case "dst-address-list":
			hit = r.listed(bare, p.to)
		case "protocol":
			hit = bare == p.protocol || bare == map[string]string{"tcp": "6", "udp": "17"}[p.protocol]
		case "dst-port":
			hit = portIn(bare, p.port)
		case "connection-nat-state":
			hit = false // no packet here is translated by dstnat
		case "connection-state":
			hit = slices.Contains(splitList(bare), p.state)
		default:
			return false
		}
		if hit == (bare != value) {
			return false
		}
	}
	return true
}

// members gives the interfaces of an interface list. path has the lists on the way, so that circles end.
func (r *Router) members(list string, path []string) []string {
	if slices.Contains(path, list) {
		return nil
	}
	path = append(slices.Clone(path), list)
	var out []string
	if w := r.byName("interface/list", list); w != nil {
		for _, other := range splitList(w.props["include"]) {
			out = append(out, r.members(other, path)...)
		}
		for _, other := range splitList(w.props["exclude"]) {
			away := r.members(other, path)
			out = slices.DeleteFunc(out, func(name string) bool { return slices.Contains(away, name) })
		}
	}
	for _, w := range r.tableOf("interface/list/member").rows {
		if w.props["list"] == list && w.props["disabled"] != "true" {
			out = append(out, w.props["interface"])
		}
	}
	for _, w := range r.tableOf("interface").rows {
		if list == "all" || list == "dynamic" && w.dynamic || list == "static" && !w.dynamic {
			out = append(out, w.name())
		}
	}
	return out
}

// listed reports whether an address list has an address.
func (r *Router) listed(list string, ip netip.Addr) bool {
	return slices.ContainsFunc(r.tableOf("ip/firewall/address-list").rows, func(w *row) bool {
		return w.props["list"] == list && w.props["disabled"] != "true" && covers(w.props["address"], ip)
	})
}

// covers reports whether a prefix, an address or a range of addresses contains an address.
func covers(text string, ip netip.Addr) bool {
	if low, high, isRange := strings.Cut(text, "-"); isRange {
		first, errFirst := netip.ParseAddr(low)
		last, errLast := netip.ParseAddr(high)
		return errFirst == nil && errLast == nil && first.Compare(ip) <= 0 && ip.Compare(last) <= 0
	}
	if one, err := netip.ParseAddr(text); err == nil {
		return one == ip
	}
	p, err := netip.ParsePrefix(text)
	return err == nil && p.Contains(ip)
}

// portIn reports whether a list of ports and ranges contains a port.
func portIn(list, port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && slices.ContainsFunc(splitList(list), func(one string) bool {
		low, high, isRange := strings.Cut(one, "-")
		first, errFirst := strconv.Atoi(low)
		last := first
		if isRange {
			last, _ = strconv.Atoi(high)
		}
		return errFirst == nil && first <= n && n <= last
	})
}
