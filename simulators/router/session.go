package router

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// flow is the traffic of one row. Counters grow with the rates from the instant since.
type flow struct {
	rx, tx         uint64 // bytes
	rxRate, txRate uint64 // bytes a second from since on
	since          time.Time
	born           time.Time
	downs          uint64
}

// flowOf gives the stored traffic of a row, created at the first use.
func (r *Router) flowOf(w *row) *flow {
	f, ok := r.traffic[w]
	if !ok {
		f = &flow{since: r.now(), born: r.now()}
		r.traffic[w] = f
	}
	return f
}

// trafficOf gives the traffic of a row up to now, in whole seconds of its rates.
func (r *Router) trafficOf(w *row) flow {
	f := *r.flowOf(w)
	seconds := uint64(max(r.now().Sub(f.since), 0) / time.Second)
	f.rx += f.rxRate * seconds
	f.tx += f.txRate * seconds
	return f
}

// born records the creation time of a new row.
func (r *Router) born(w *row) { r.flowOf(w) }

// bornOf gives the creation time of a row.
func (r *Router) bornOf(w *row) time.Time { return r.flowOf(w).born }

// since gives the age of a row.
func (r *Router) since(w *row) time.Duration { return r.now().Sub(r.bornOf(w)) }

// Session is a customer who connects.
type Session struct {
	Kind   string `json:"kind"` // "pppoe" or "hotspot"
	User   string `json:"user"`
	Server string `json:"server"` // service-name of the PPPoE server, or name of the hotspot
	MAC    string `json:"mac"`    // made up when empty
	// Address is the one that RADIUS gives; when empty, the next one of the profile's or the hotspot's pool.
	Address string `json:"address"`
	// Rate is the first part of Mikrotik-Rate-Limit, upload/download as "5M/10M"; empty means no queue.
	Rate string `json:"rate"`
	List string `json:"list"` // address list of the customer; empty for none
	// RADIUS is the address of the one RADIUS server that knows the user, and all others refuse him; when empty, every
	// server knows him.
	RADIUS string `json:"radius"`
	// RxBytes and TxBytes are the bytes that the customer uploads and downloads in a second.
	RxBytes uint64 `json:"rxBytes"`
	TxBytes uint64 `json:"txBytes"`
}

// Connect starts a session and gives its id in the active list. It fails where a real router takes no client: the
// server or its interface is off or the port of a bridge, nobody may check the user's password, or there is no address.
func (r *Router) Connect(s Session) (string, error) {
	r.lock()
	defer r.mu.Unlock()
	r.sessions++
	s.MAC = strings.ToUpper(s.MAC)
	if s.MAC == "" {
		s.MAC = r.newMAC()
	}
	if _, err := netip.ParseAddr(s.Address); err != nil && s.Address != "" {
		return "", fmt.Errorf("session address: %w", err)
	}
	if r.off {
		return "", fmt.Errorf("router %s is off", r.cfg.Name)
	}
	switch s.Kind {
	case "pppoe":
		return r.dialIn(s)
	case "hotspot":
		return r.login(s)
	}
	return "", fmt.Errorf("session kind %q is neither pppoe nor hotspot", s.Kind)
}

// server finds an enabled server by a property, on an interface that brings clients.
func (r *Router) server(path, prop, value string) (*row, error) {
	why := "there is none"
	for _, w := range r.tableOf(path).rows {
		if w.props[prop] != value || w.props["disabled"] == "true" {
			continue
		}
		if why = r.closed(w.props["interface"]); why == "" {
			return w, nil
		}
	}
	return nil, fmt.Errorf("%s has no enabled server with %s %q: %s", path, prop, value, why)
}

// authorized asks the first RADIUS client for a service about a user, as a router does: what that server says counts,
// and the clients after it are asked only when it is silent. It fails when there is no client or the server refuses.
func (r *Router) authorized(service string, s Session) error {
	for _, w := range r.tableOf("radius").rows {
		called := w.props["called-id"]
		switch at := w.props["address"]; {
		case w.props["disabled"] == "true" || !slices.Contains(splitList(w.props["service"]), service):
		case called != "" && called != s.Server:
		case w.props["accounting-backup"] == "true" || !r.heard(w): // silence
		case s.RADIUS != "" && s.RADIUS != at:
			return fmt.Errorf("the RADIUS server %s does not know user %s", at, s.User)
		default:
			return nil
		}
	}
	return fmt.Errorf("nobody checks user %s: no RADIUS client for %s", s.User, service)
}

// inTunnel is the network of the routers' tunnels, where the platform's RADIUS server is.
var inTunnel = netip.MustParsePrefix("10.99.0.0/16")

// heard reports whether the server of a RADIUS client understands the requests and knows from whom they are. The
// platform's server has UDP only, and knows routers by their address in the tunnel, which a router chooses by itself
// unless the client has another one. Servers of operators know them all.
func (r *Router) heard(client *row) bool {
	if at, err := netip.ParseAddr(client.props["address"]); err != nil || !inTunnel.Contains(at) {
		return true
	}
	from := client.props["src-address"]
	return client.props["protocol"] == "udp" &&
		(from == "" || from == "0.0.0.0" || !r.cfg.Tunnel.IsValid() || from == r.cfg.Tunnel.String())
}

// secretOf finds the local secret of a PPP user, which counts before RADIUS; nil when there is none. It fails when
// nobody can check the user, or the RADIUS server that is asked does not know him.
func (r *Router) secretOf(s Session) (*row, error) {
	w := r.byName("ppp/secret", s.User)
	if w != nil && w.props["disabled"] != "true" && (w.props["service"] == "any" || w.props["service"] == "pppoe") {
		return w, nil
	}
	if r.tableOf("ppp/aaa").rows[0].props["use-radius"] != "true" {
		return nil, fmt.Errorf("nobody checks user %s: no secret of this name, and RADIUS is not used for PPP", s.User)
	}
	return nil, r.authorized("ppp", s)
}

// pppAddresses gives the addresses of both ends of a PPP session, from the secret, RADIUS and the profile.
func (r *Router) pppAddresses(s Session, secret, profile *row) (local, remote string, err error) {
	sources := []Item{profile.props}
	if secret != nil {
		sources = []Item{secret.props, profile.props}
	}
	remote = s.Address
	for _, from := range sources {
		for name, end := range map[string]*string{"local-address": &local, "remote-address": &remote} {
			value := from[name]
			if *end != "" || value == "" {
				continue
			}
			if _, isAddress := netip.ParseAddr(value); isAddress == nil {
				*end = value
			} else if *end, err = r.fromPool(value); err != nil {
				return "", "", err
			}
		}
	}
	if remote == "" {
		return "", "", fmt.Errorf("user %s gets no address: profile %s has no remote-address", s.User, profile.name())
	}
	return cmp.Or(local, "10.112.112.1"), remote, nil
}

// full refuses a session that a PPPoE server or its profile does not allow beside those that are there.
func (r *Router) full(s Session, server, profile *row) error {
	count, sameHost, sameUser := 0, false, false
	for _, w := range r.tableOf("ppp/active").rows {
		sameUser = sameUser || w.name() == s.User
		if w.owner == server {
			count++
			sameHost = sameHost || w.props["caller-id"] == s.MAC
		}
	}
	limit, err := strconv.Atoi(server.props["max-sessions"])
	switch {
	case err == nil && limit > 0 && count >= limit:
		return fmt.Errorf("server %s has max-sessions", s.Server)
	case sameHost && server.props["one-session-per-host"] == "true":
		return fmt.Errorf("host %s has a session already", s.MAC)
	case sameUser && profile.props["only-one"] == "yes":
		return fmt.Errorf("user %s is online already", s.User)
	}
	return nil
}

// dialIn creates the dynamic items of a PPPoE session: interface, queue, address and route.
func (r *Router) dialIn(s Session) (string, error) {
	server, err := r.server("interface/pppoe-server/server", "service-name", s.Server)
	if err != nil {
		return "", err
	}
	secret, err := r.secretOf(s)
	if err != nil {
		return "", err
	}
	profile := r.byName("ppp/profile", server.props["default-profile"])
	if secret != nil {
		profile = r.byName("ppp/profile", secret.props["profile"])
	}
	if profile == nil {
		return "", fmt.Errorf("the profile of server %s is gone", s.Server)
	}
	if err := r.full(s, server, profile); err != nil {
		return "", err
	}
	local, remote, err := r.pppAddresses(s, secret, profile)
	if err != nil {
		return "", err
	}
	s.Address = remote
	name := "<pppoe-" + s.User + ">"
	for n := 1; r.hasName("interface", name); n++ {
		name = fmt.Sprintf("<pppoe-%s-%d>", s.User, n)
	}
	active := r.insert("ppp/active", &row{id: 0x80000000 + r.sessions, dynamic: true, owner: server, props: Item{
		"name": s.User, "service": "pppoe", "caller-id": s.MAC, "address": s.Address, "encoding": "",
		"limit-bytes-in": "0", "limit-bytes-out": "0", "session-id": fmt.Sprintf("0x81%X%05X", r.boots%16, r.sessions),
		"radius": strconv.FormatBool(secret == nil),
	}})
	port := r.insert("interface", &row{
		id: 0xF00000 + r.sessions, dynamic: true, owner: active, props: Item{
			"name": name, "type": "pppoe-in", "mtu": "1480", "disabled": "false", "mac-address": s.MAC,
		},
	})
	r.trickle(active, s)
	r.trickle(port, s)
	r.shape(active, name, name, s)
	address := r.insert("ip/address", &row{
		dynamic: true, owner: active, props: Item{
			"address": local + "/32", "network": s.Address, "interface": name, "disabled": "false",
		},
	})
	r.insert("ip/route", &row{
		dynamic: true, owner: address, props: Item{
			"dst-address": s.Address + "/32", "gateway": name, "distance": "0", "scope": "10", "connect": "true",
			"disabled": "false",
		},
	})
	return formatID(active.id), nil
}

// login creates the dynamic items of a hotspot session. Its id is the address, as on a router.
func (r *Router) login(s Session) (string, error) {
	server, err := r.server("ip/hotspot", "name", s.Server)
	if err != nil {
		return "", err
	}
	radius, err := r.hotspotUser(s, server)
	if err != nil {
		return "", err
	}
	if pool := server.props["address-pool"]; s.Address == "" && pool != "none" {
		if s.Address, err = r.fromPool(pool); err != nil {
			return "", err
		}
	}
	ip, _ := netip.ParseAddr(s.Address)
	if !r.within(server.props["interface"], ip) {
		return "", fmt.Errorf("%q is in no network of %s", s.Address, server.props["interface"])
	}
	id := uint64(0)
	for _, b := range ip.AsSlice() {
		id = id<<8 | uint64(b)
	}
	if r.tableOf("ip/hotspot/active").byID(id) != nil {
		return "", fmt.Errorf("address %s is in use", s.Address)
	}
	active := r.insert("ip/hotspot/active", &row{id: id, dynamic: true, owner: server, props: Item{
		"server": s.Server, "user": s.User, "address": s.Address, "mac-address": s.MAC, "login-by": "http-chap",
		"keepalive-timeout": "2m", "radius": strconv.FormatBool(radius),
	}})
	r.trickle(active, s)
	r.insert("ip/hotspot/host", &row{
		dynamic: true, owner: active, props: Item{
			"mac-address": s.MAC, "address": s.Address, "to-address": s.Address, "server": s.Server,
			"authorized": "true", "bypassed": "false",
		},
	})
	r.shape(active, "<hotspot-"+s.User+">", s.Address+"/32", s)
	return formatID(active.id), nil
}

// hotspotUser reports whether RADIUS checks a user of a hotspot; it fails when nobody can, or the RADIUS server that is
// asked does not know him. Local users count before RADIUS.
func (r *Router) hotspotUser(s Session, server *row) (radius bool, err error) {
	for _, w := range r.tableOf("ip/hotspot/user").rows {
		if at := w.props["server"]; w.name() == s.User && w.props["disabled"] != "true" &&
			(at == "" || at == "all" || at == server.name()) {
			return false, nil
		}
	}
	profile := r.byName("ip/hotspot/profile", server.props["profile"])
	if profile == nil || profile.props["use-radius"] != "true" {
		return false, fmt.Errorf("nobody checks user %s: no user of this name, and RADIUS is not used by %s", s.User,
			server.name())
	}
	return true, r.authorized("hotspot", s)
}

// trickle starts the traffic of a session at its rates.
func (r *Router) trickle(w *row, s Session) {
	f := r.flowOf(w)
	f.rxRate, f.txRate = s.RxBytes, s.TxBytes
}

// shape creates the session's dynamic queue and its entry in an address list.
func (r *Router) shape(active *row, name, target string, s Session) {
	if s.Rate != "" {
		if limit, trap := ratePair(r, "max-limit", s.Rate); trap == nil {
			w := r.put("queue/simple", row{dynamic: true, owner: active}, "name", name, "target", target, "max-limit",
				limit, "limit-at", limit)
			r.born(w)
		}
	}
	if s.List != "" {
		r.put("ip/firewall/address-list", row{owner: active}, "list", s.List, "address", s.Address)
		last := r.tableOf("ip/firewall/address-list").rows
		last[len(last)-1].dynamic = true
	}
}

// Disconnect ends the sessions of a user and gives their number.
func (r *Router) Disconnect(user string) int {
	r.lock()
	defer r.mu.Unlock()
	n := 0
	for path, prop := range map[string]string{"ppp/active": "name", "ip/hotspot/active": "user"} {
		for _, w := range append([]*row(nil), r.tableOf(path).rows...) {
			if w.props[prop] == user {
				r.drop(path, w)
				n++
			}
		}
	}
	return n
}

// AddTraffic adds bytes to an interface's counters and sets its rates, in bytes a second, from now on.
func (r *Router) AddTraffic(name string, rx, tx, rxRate, txRate uint64) error {
	r.lock()
	defer r.mu.Unlock()
	w := r.byName("interface", name)
	if w == nil {
		return fmt.Errorf("router %s has no interface %s", r.cfg.Name, name)
	}
	f := r.trafficOf(w)
	f.rx, f.tx, f.rxRate, f.txRate, f.since = f.rx+rx, f.tx+tx, rxRate, txRate, r.now()
	*r.flowOf(w) = f
	return nil
}

// restart does to the store what a reboot does: sessions with their dynamic items end, counters and uptime begin at 0.
// The lock is held.
func (r *Router) restart() {
	for _, path := range []string{"ppp/active", "ip/hotspot/active", "ip/hotspot/cookie"} {
		for _, w := range append([]*row(nil), r.tableOf(path).rows...) {
			r.drop(path, w)
		}
	}
	clear(r.traffic)
	r.booted = r.now()
	r.boots++
	r.sessions = 0
	r.rescheduleAll()
}

// Reboot restarts the router and breaks its connections; the router is up again at once.
func (r *Router) Reboot() {
	r.lock()
	r.restart()
	r.mu.Unlock()
	r.door.breakAll()
}
