package router

import (
	"net/netip"
	"slices"
)

// Transit is a packet that comes to a router and is perhaps for somebody else.
type Transit struct {
	In       string // interface
	From, To netip.Addr
	Protocol string // "tcp" or "udp"
	Port     string // of the receiver
	State    string // connection-state; "" = new
}

// Transited says where a packet went.
type Transited struct {
	Passed bool       // false: the firewall stopped it, or there is no way
	Out    string     // interface by which it left; "" = it was for the router itself
	From   netip.Addr // its source then; that of the interface when it was translated
}

// Transit tells where a packet goes: by the router's check of sources (rp-filter), its routes, the chain input or
// forward of its filter, and the chain srcnat of its translation, in which it knows no jumps.
func (r *Router) Transit(t Transit) Transited {
	r.lock()
	defer r.unlock()
	p := packet{in: t.In, from: t.From, to: t.To, protocol: t.Protocol, port: t.Port, state: t.State}
	if p.state == "" {
		p.state = "new"
	}
	if in := r.byName("interface", t.In); r.off || in == nil || !r.running(in) {
		return Transited{}
	}
	if r.tableOf("ip/settings").rows[0].props["rp-filter"] == "strict" && r.wayTo(t.From) != t.In {
		return Transited{}
	}
	if slices.ContainsFunc(r.tableOf("ip/address").rows, func(w *row) bool {
		own, err := netip.ParsePrefix(w.props["address"])
		return err == nil && own.Addr() == t.To
	}) {
		verdict, _ := r.chain("input", p, 0)
		return Transited{Passed: verdict == admitted, From: t.From}
	}
	p.out = r.wayTo(t.To)
	verdict, _ := r.chain("forward", p, 0)
	if p.out == "" || verdict != admitted {
		return Transited{}
	}
	return Transited{Passed: true, Out: p.out, From: r.translated(p)}
}

// wayTo gives the interface of the longest active route to an address; "" = there is none.
func (r *Router) wayTo(to netip.Addr) (out string) {
	longest := -1
	for _, w := range r.tableOf("ip/route").rows {
		dst, err := netip.ParsePrefix(w.props["dst-address"])
		if err != nil || w.props["disabled"] == "true" || !dst.Contains(to) || dst.Bits() <= longest {
			continue
		}
		if via, reachable := r.exit(w.props["gateway"]); reachable {
			out, longest = via, dst.Bits()
		}
	}
	return out
}

// translated gives the source of a packet that leaves.
func (r *Router) translated(p packet) netip.Addr {
	for _, w := range r.tableOf("ip/firewall/nat").rows {
		if w.dynamic || w.props["disabled"] == "true" || w.props["chain"] != "srcnat" || !r.matches(w.props, p) {
			continue
		}
		switch w.props["action"] {
		case "accept":
			return p.from
		case "masquerade", "src-nat":
			return r.addressOf(p.out)
		}
	}
	return p.from
}

// addressOf gives a router's own address on an interface. The tunnel's is in no row.
func (r *Router) addressOf(out string) netip.Addr {
	for _, path := range []string{"ip/address", "ip/dhcp-client"} {
		for _, w := range r.tableOf(path).rows {
			if own, err := netip.ParsePrefix(w.props["address"]); err == nil && w.props["interface"] == out {
				return own.Addr()
			}
		}
	}
	return r.cfg.Tunnel
}
