package router

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// subnets gives the networks of the enabled addresses of an interface.
func (r *Router) subnets(name string) []netip.Prefix {
	var out []netip.Prefix
	for _, w := range r.tableOf("ip/address").rows {
		p, err := netip.ParsePrefix(w.props["address"])
		if err == nil && w.props["interface"] == name && w.props["disabled"] != "true" {
			out = append(out, p)
		}
	}
	return out
}

// within reports whether an address belongs to a network of an interface and is not the router's own.
func (r *Router) within(name string, ip netip.Addr) bool {
	return slices.ContainsFunc(r.subnets(name), func(p netip.Prefix) bool {
		return p.Contains(ip) && p.Addr() != ip && p.Masked().Addr() != ip
	})
}

// taken gives the addresses of all sessions, hotspot devices and leases.
func (r *Router) taken() map[string]bool {
	out := maps.Clone(r.signing)
	for _, path := range []string{"ppp/active", "ip/hotspot/active", "ip/hotspot/host", "ip/dhcp-server/lease"} {
		for _, w := range r.tableOf(path).rows {
			out[w.props["address"]] = true
		}
	}
	return out
}

// fromPool gives the first free address of a pool, or of the pools that follow it.
func (r *Router) fromPool(name string) (string, error) {
	taken, seen := r.taken(), []string{}
	for at := name; at != "" && at != "none" && !slices.Contains(seen, at); {
		seen = append(seen, at)
		pool := r.byName("ip/pool", at)
		if pool == nil {
			return "", fmt.Errorf("there is no pool %s", at)
		}
		for one := range strings.SplitSeq(pool.props["ranges"], ",") {
			first, last, ok := bounds(one)
			for ip := first; ok && ip.Compare(last) <= 0; ip = ip.Next() {
				if !taken[ip.String()] {
					return ip.String(), nil
				}
			}
		}
		at = pool.props["next-pool"]
	}
	return "", fmt.Errorf("pool %s has no free address", name)
}

// bounds reads a-b, a, or a prefix; of a prefix the network and the broadcast address are left out.
func bounds(text string) (first, last netip.Addr, ok bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		first, last = p.Masked().Addr(), p.Masked().Addr()
		for next := last.Next(); p.Contains(next); next = next.Next() {
			last = next
		}
		if p.Bits() < 31 {
			first, last = first.Next(), last.Prev()
		}
		return first, last, true
	}
	low, high, two := strings.Cut(text, "-")
	if !two {
		high = low
	}
	first, errFirst := netip.ParseAddr(low)
	last, errLast := netip.ParseAddr(high)
	return first, last, errFirst == nil && errLast == nil
}
