package router

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// Session is a customer who connects.
type Session struct {
	Kind   string `json:"kind"` // "pppoe" or "hotspot"
	User   string `json:"user"`
	Server string `json:"server"` // service-name of the PPPoE server, or name of the hotspot
	MAC    string `json:"mac"`    // made up when empty
	// Address is the one that RADIUS gives; when empty, the next one of the profile's or the hotspot's pool.
	Address string `json:"address"`
	// Rate is as in Mikrotik-Rate-Limit, upload/download as "5M/10M"; when empty, that of the PPP profile. Without a
	// rate there is no queue.
	Rate string `json:"rate"`
	List string `json:"list"` // address list of the customer; empty for none
	// RADIUS is the address of the one RADIUS server that knows the user, and all others refuse him; when empty, every
	// server knows him.
	RADIUS string `json:"radius"`
	// RxBytes and TxBytes are the bytes that the customer uploads and downloads in a second.
	RxBytes uint64 `json:"rxBytes"`
	TxBytes uint64 `json:"txBytes"`
}

// Connect starts a session and gives its id in the active list, or in ip/hotspot/host when an IP binding lets the
// device pass. It asks no password, and imaginary RADIUS servers. It fails where a real router takes no client: the
// server or its interface is off or the port of a bridge, nobody may check the user's password, or there is no address.
// Where RouterConfig.RADIUS is set, only SignIn brings users of RADIUS online.
func (r *Router) Connect(s Session) (string, error) {
	r.lock()
	defer r.unlock()
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
	if r.nas != nil {
		return fmt.Errorf("user %s must sign in at a RADIUS server", s.User)
	}
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

// trickle starts the traffic of a session at its rates.
func (r *Router) trickle(w *row, s Session) {
	f := r.flowOf(w)
	f.rxRate, f.txRate = s.RxBytes, s.TxBytes
}

// shape creates the session's dynamic queue, and its entry in an address list unless there is an equal one, whoever's.
func (r *Router) shape(active *row, name, target string, s Session) {
	if limits := r.limits(s.Rate); limits != nil {
		w := r.put("queue/simple", row{dynamic: true, owner: active}, "name", name, "target", target)
		maps.Copy(w.props, limits)
		r.born(w)
	}
	const lists = "ip/firewall/address-list"
	entry := Item{"list": s.List, "address": s.Address}
	if s.List != "" && r.duplicate(r.menus[lists], &row{props: entry}) == nil {
		r.put(lists, row{owner: active}, "list", s.List, "address", s.Address)
		last := r.tableOf(lists).rows
		last[len(last)-1].dynamic = true
	}
}

// limits are the properties of a queue for a rate as in Mikrotik-Rate-Limit; nil for none and for one that is no rate.
func (r *Router) limits(rate string) Item {
	parts := strings.Fields(rate)
	names := []string{"max-limit", "burst-limit", "burst-threshold", "burst-time", "priority", "limit-at"}
	if len(parts) == 0 || len(parts) > len(names) {
		return nil
	}
	out := Item{}
	for i, part := range parts {
		first, second, two := strings.Cut(part, "/")
		if !two {
			second = first
		}
		switch names[i] {
		case "burst-time":
			out[names[i]] = first + "s/" + second + "s"
		case "priority":
			out[names[i]] = first + "/" + second
		default:
			limit, trap := ratePair(r, names[i], part)
			if trap != nil {
				return nil
			}
			out[names[i]] = limit
		}
	}
	out["limit-at"] = cmp.Or(out["limit-at"], out["max-limit"])
	return out
}

// Disconnect ends the sessions of a user, as when the user hangs up, and gives their number. A customer of SwitchOn
// dials again.
func (r *Router) Disconnect(user string) int {
	r.lock()
	defer r.unlock()
	r.cause = handset.UserRequest
	defer func() { r.cause = 0 }()
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

// restart does to the store what a reboot does: sessions with their dynamic items end, counters and uptime begin at 0.
// The lock is held.
func (r *Router) restart() {
	for _, path := range []string{"ppp/active", "ip/hotspot/active", "ip/hotspot/host", "ip/hotspot/cookie"} {
		for _, w := range append([]*row(nil), r.tableOf(path).rows...) {
			r.drop(path, w)
		}
	}
	r.ends, r.cut = nil, true // a router that restarts tells nobody
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
	r.unlock()
	r.door.breakAll()
}
