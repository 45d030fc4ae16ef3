package routerplan_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// packet is the first packet of a connection, or with state "established" a later one.
type packet struct {
	from, to string // addresses
	protocol string // tcp, udp or icmp
	port     string // of the destination; "" for icmp
	state    string // "" = new
	in       string // interface; "" = that of a customer's session
}

// verdict has the end of a packet: "accept", "drop", "tcp-reset" or "icmp-admin-prohibited". to and port
// are the destination after the translation.
type verdict struct{ what, to, port string }

// world has what a router's rules refer to: address lists, and the addresses of host names.
type world struct {
	t     *testing.T
	rows  routerplan.Snapshot // with the menus of the firewall
	local string              // the router's own address
	names map[string]string   // host name to address
	out   string              // interface to the internet
}

// walk sends a packet through the rules as RouterOS does: translation of the destination, then the filter's chain input
// or forward. It knows the matchers that the rules of these tests have, and ends the test at any other.
func (w world) walk(p packet) verdict {
	w.t.Helper()
	v := verdict{to: p.to, port: p.port}
	if p.state == "" { // the translation is decided by the first packet of a connection
		switch row := w.chain(routerplan.MenuNAT, "dstnat", p, v); row["action"] {
		case "dst-nat":
			v.to = row["to-addresses"]
			if row["to-ports"] != "" {
				v.port = row["to-ports"]
			}
		case "redirect":
			v.to, v.port = w.local, row["to-ports"]
		}
	}
	chain := "forward"
	if v.to == w.local {
		chain = "input"
	}
	row := w.chain(routerplan.MenuFirewallFilter, chain, p, v)
	switch row["action"] {
	case "", "accept", "fasttrack-connection":
		v.what = "accept" // also what no rule refuses
	case "reject":
		v.what = row["reject-with"]
	default:
		v.what = row["action"]
	}
	return v
}

// chain gives the rule that decides in a chain; nil when none does.
func (w world) chain(path, chain string, p packet, v verdict) routerplan.Row {
	for _, row := range w.rows[path] {
		if row["chain"] != chain || row["disabled"] == "true" || !w.matches(row, p, v) {
			continue
		}
		switch row["action"] {
		case "jump":
			if found := w.chain(path, row["jump-target"], p, v); found != nil {
				return found
			}
		case "passthrough", "log":
		case "return":
			return nil
		default:
			return row
		}
	}
	return nil
}

// matches reports whether all matchers of a rule hold.
func (w world) matches(row routerplan.Row, p packet, v verdict) bool {
	in, state := p.in, p.state
	if in == "" {
		in = "<pppoe-customer>"
	}
	if state == "" {
		state = "new"
	}
	for property, value := range row {
		want, not := strings.CutPrefix(value, "!")
		var holds bool
		switch property {
		case "src-address":
			holds = inside(want, p.from)
		case "dst-address":
			holds = inside(want, v.to)
		case "src-address-list":
			holds = w.listed(want, p.from)
		case "dst-address-list":
			holds = w.listed(want, v.to)
		case "protocol":
			holds = want == p.protocol
		case "dst-port":
			holds = slices.Contains(strings.Split(want, ","), v.port)
		case "connection-state":
			holds = slices.Contains(strings.Split(want, ","), state)
		case "connection-nat-state":
			holds = want == "dstnat" && (v.to != p.to || v.port != p.port)
		case "in-interface":
			holds = in == want
		case "in-interface-list":
			holds = want == "WAN" && in == w.out || want == "all"
		case "out-interface", "out-interface-list", "ipsec-policy":
			holds = false
		case ".id", "chain", "action", "comment", "disabled", "dynamic", "invalid", "bytes", "packets", "log",
			"log-prefix", "jump-target", "reject-with", "to-addresses", "to-ports", "mark":
			holds = !not
		default:
			w.t.Fatalf("matcher %s=%s is not known here", property, value)
		}
		if holds == not {
			return false
		}
	}
	return true
}

// listed reports whether an address is in an address list, by itself, by its subnet or by its name.
func (w world) listed(list, address string) bool {
	return slices.ContainsFunc(w.rows[routerplan.MenuAddressList], func(r routerplan.Row) bool {
		entry := r["address"]
		if resolved := w.names[entry]; resolved != "" {
			entry = resolved
		}
		return r["list"] == list && r["disabled"] != "true" && inside(entry, address)
	})
}

// inside reports whether an address is the one named, or in the subnet.
func inside(subnet, address string) bool {
	if p, err := netip.ParsePrefix(subnet); err == nil {
		return p.Contains(netip.MustParseAddr(address))
	}
	return subnet == address
}
