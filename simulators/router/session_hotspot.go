package router

import (
	"fmt"
	"net/netip"
	"strconv"
)

// login starts a hotspot session.
func (r *Router) login(s Session) (string, error) {
	server, err := r.server("ip/hotspot", "name", s.Server)
	if err != nil {
		return "", err
	}
	if host, err := r.bound(&s, server); host != nil || err != nil {
		return idOf(host), err
	}
	radius, err := r.hotspotUser(s, server)
	if err != nil {
		return "", err
	}
	if err := r.host(&s, server); err != nil {
		return "", err
	}
	active, err := r.enter(s, server, radius)
	return idOf(active), err
}

// idOf is the id of a row in the router's form; "" for nil.
func idOf(w *row) string {
	if w == nil {
		return ""
	}
	return formatID(w.id)
}

// host gives a device its address in the network of a hotspot.
func (r *Router) host(s *Session, server *row) error {
	if pool := server.props["address-pool"]; s.Address == "" && pool != "none" {
		var err error
		if s.Address, err = r.fromPool(pool); err != nil {
			return err
		}
	}
	if ip, _ := netip.ParseAddr(s.Address); !r.within(server.props["interface"], ip) {
		return fmt.Errorf("%q is in no network of %s", s.Address, server.props["interface"])
	}
	return nil
}

// enter creates the dynamic items of a hotspot session. Its id is the address, as on a router.
func (r *Router) enter(s Session, server *row, radius bool) (*row, error) {
	ip, err := netip.ParseAddr(s.Address)
	if err != nil {
		return nil, fmt.Errorf("address of user %s: %w", s.User, err)
	}
	id := uint64(0)
	for _, b := range ip.AsSlice() {
		id = id<<8 | uint64(b)
	}
	if r.tableOf("ip/hotspot/active").byID(id) != nil {
		return nil, fmt.Errorf("address %s is in use", s.Address)
	}
	by := "http-chap"
	if s.User == s.MAC {
		by = "mac"
	}
	active := r.insert("ip/hotspot/active", &row{id: id, dynamic: true, owner: server, props: Item{
		"server": s.Server, "user": s.User, "address": s.Address, "mac-address": s.MAC, "login-by": by,
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
	return active, nil
}

// hotspotUser reports whether RADIUS checks a user of a hotspot; it fails when nobody can, or the RADIUS server that is
// asked does not know him. Local users count before RADIUS.
func (r *Router) hotspotUser(s Session, server *row) (radius bool, err error) {
	if r.localUser(s.User, server) != nil {
		return false, nil
	}
	if err := r.spotUsesRADIUS(s.User, server); err != nil {
		return false, err
	}
	return true, r.authorized("hotspot", s)
}

// localUser finds a local user of a hotspot; nil = none.
func (r *Router) localUser(user string, server *row) *row {
	for _, w := range r.tableOf("ip/hotspot/user").rows {
		if at := w.props["server"]; w.name() == user && w.props["disabled"] != "true" &&
			(at == "" || at == "all" || at == server.name()) {
			return w
		}
	}
	return nil
}

// spotUsesRADIUS fails when users of a hotspot are not checked by RADIUS.
func (r *Router) spotUsesRADIUS(user string, server *row) error {
	profile := r.byName("ip/hotspot/profile", server.props["profile"])
	if profile == nil || profile.props["use-radius"] != "true" {
		return fmt.Errorf("nobody checks user %s: no user of this name, and RADIUS is not used by %s", user,
			server.name())
	}
	return nil
}
