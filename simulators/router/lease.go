package router

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Lease is a device that asks for an address, or asks again, at the router's DHCP server.
type Lease struct {
	Address string `json:"address"` // the next one of the server's pool when empty
	MAC     string `json:"mac"`
	Host    string `json:"host"`   // the name it gave
	Server  string `json:"server"` // of ip/dhcp-server
}

// Lease adds a dynamic lease in the state bound, which ends after the server's lease-time. A device that has one keeps
// its address for another lease-time, or gets another address when the server's pool no longer has its own. It fails
// where a device would get none.
func (r *Router) Lease(l Lease) error {
	r.lock()
	defer r.unlock()
	server, err := r.server("ip/dhcp-server", "name", l.Server)
	if err != nil {
		return err
	}
	if l.MAC == "" {
		l.MAC = r.newMAC()
	}
	l.MAC = strings.ToUpper(l.MAC)
	pool := server.props["address-pool"]
	if held := r.leaseOf(l); held != nil {
		if r.inPool(pool, held.props["address"]) {
			held.ends = r.leaseEnd(server)
			return nil
		}
		r.drop("ip/dhcp-server/lease", held)
		l.Address = ""
	}
	if l.Address == "" && pool != "static-only" {
		if l.Address, err = r.fromPool(pool); err != nil {
			return err
		}
	}
	ip, err := netip.ParseAddr(l.Address)
	switch {
	case err != nil:
		return fmt.Errorf("lease address: %w", err)
	case !r.within(server.props["interface"], ip):
		return fmt.Errorf("%s is in no network of %s", ip, server.props["interface"])
	case r.taken()[l.Address]:
		return fmt.Errorf("%s is in use", ip)
	}
	props := []string{
		"address", l.Address, "mac-address", l.MAC, "client-id", "1:" + strings.ToLower(l.MAC), "server", l.Server,
		"status", "bound", "active-address", l.Address, "active-mac-address", l.MAC, "active-client-id",
		"1:" + strings.ToLower(l.MAC), "active-server", l.Server, "radius", "false",
	}
	if l.Host != "" {
		props = append(props, "host-name", l.Host)
	}
	r.put("ip/dhcp-server/lease", row{dynamic: true, ends: r.leaseEnd(server)}, props...)
	return nil
}

// leaseOf finds the lease that a device has from a server, unless it asks for another address; nil = none.
func (r *Router) leaseOf(l Lease) *row {
	for _, w := range r.tableOf("ip/dhcp-server/lease").rows {
		if w.dynamic && w.props["mac-address"] == l.MAC && w.props["server"] == l.Server &&
			(l.Address == "" || l.Address == w.props["address"]) {
			return w
		}
	}
	return nil
}

// leaseEnd is the instant at which a lease that begins now ends.
func (r *Router) leaseEnd(server *row) time.Time {
	lasts, _ := parseSpan(server.props["lease-time"])
	return r.now().Add(lasts)
}

// inPool reports whether a pool gives an address.
func (r *Router) inPool(name, address string) bool {
	pool, ip := r.byName("ip/pool", name), netip.MustParseAddr(address)
	return pool != nil && slices.ContainsFunc(splitList(pool.props["ranges"]), func(one string) bool {
		first, last, ok := bounds(one)
		return ok && first.Compare(ip) <= 0 && ip.Compare(last) <= 0
	})
}

// expireLeases removes the dynamic leases that have ended by the simulator's clock. The lock is held.
func (r *Router) expireLeases() {
	for _, w := range slices.Clone(r.tableOf("ip/dhcp-server/lease").rows) {
		if w.dynamic && !w.ends.After(r.now()) {
			r.drop("ip/dhcp-server/lease", w)
		}
	}
}

// showLease fills in what a lease without a client has, and the time until a lease ends.
func showLease(r *Router, w *row, out Item) {
	for name, def := range map[string]string{"status": "waiting", "last-seen": "never", "radius": "false"} {
		if out[name] == "" {
			out[name] = def
		}
	}
	if w.dynamic {
		out["expires-after"], out["last-seen"] = span(w.ends.Sub(r.now())), span(r.since(w))
	}
}
