package router

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
)

// secretOf finds the local secret of a PPP user, which counts before RADIUS; nil when there is none. It fails when
// nobody can check the user, or the RADIUS server that is asked does not know him.
func (r *Router) secretOf(s Session) (*row, error) {
	if w := r.localSecret(s.User); w != nil {
		return w, nil
	}
	if err := r.usesRADIUS(s.User); err != nil {
		return nil, err
	}
	return nil, r.authorized("ppp", s)
}

// localSecret finds the local secret of a PPPoE user; nil = none.
func (r *Router) localSecret(user string) *row {
	w := r.byName("ppp/secret", user)
	if w != nil && w.props["disabled"] != "true" && (w.props["service"] == "any" || w.props["service"] == "pppoe") {
		return w
	}
	return nil
}

// usesRADIUS fails when PPP users are not checked by RADIUS.
func (r *Router) usesRADIUS(user string) error {
	if r.tableOf("ppp/aaa").rows[0].props["use-radius"] != "true" {
		return fmt.Errorf("nobody checks user %s: no secret of this name, and RADIUS is not used for PPP", user)
	}
	return nil
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

// oneHost ends the sessions of a device on a PPPoE server that lets a host have one: the new one counts.
func (r *Router) oneHost(s Session, server *row) {
	if server.props["one-session-per-host"] != "true" {
		return
	}
	for _, w := range slices.Clone(r.tableOf("ppp/active").rows) {
		if w.owner == server && w.props["caller-id"] == s.MAC {
			r.drop("ppp/active", w)
		}
	}
}

// full refuses a session that a PPPoE server or its profile does not allow beside those that are there.
func (r *Router) full(s Session, server, profile *row) error {
	count, sameUser := 0, false
	for _, w := range r.tableOf("ppp/active").rows {
		sameUser = sameUser || w.name() == s.User
		if w.owner == server {
			count++
		}
	}
	limit, err := strconv.Atoi(server.props["max-sessions"])
	switch {
	case err == nil && limit > 0 && count >= limit:
		return fmt.Errorf("server %s has max-sessions", s.Server)
	case sameUser && profile.props["only-one"] == "yes":
		return fmt.Errorf("user %s is online already", s.User)
	}
	return nil
}

// dialIn starts a PPPoE session.
func (r *Router) dialIn(s Session) (string, error) {
	server, err := r.server("interface/pppoe-server/server", "service-name", s.Server)
	if err != nil {
		return "", err
	}
	secret, err := r.secretOf(s)
	if err != nil {
		return "", err
	}
	active, err := r.bringUp(s, server, secret)
	if err != nil {
		return "", err
	}
	return formatID(active.id), nil
}

// bringUp creates the dynamic items of a PPPoE session: interface, queue, address and route. secret is nil for a user
// of RADIUS.
func (r *Router) bringUp(s Session, server, secret *row) (*row, error) {
	profile := r.byName("ppp/profile", server.props["default-profile"])
	if secret != nil {
		profile = r.byName("ppp/profile", secret.props["profile"])
	}
	if profile == nil {
		return nil, fmt.Errorf("the profile of server %s is gone", s.Server)
	}
	r.oneHost(s, server)
	if err := r.full(s, server, profile); err != nil {
		return nil, err
	}
	local, remote, err := r.pppAddresses(s, secret, profile)
	if err != nil {
		return nil, err
	}
	s.Address, s.Rate = remote, cmp.Or(s.Rate, profile.props["rate-limit"])
	name := "<pppoe-" + s.User + ">"
	for n := 1; r.hasName("interface", name); n++ {
		name = fmt.Sprintf("<pppoe-%s-%d>", s.User, n)
	}
	r.sessions++
	active := r.insert("ppp/active", &row{id: 0x80000000 + r.sessions, dynamic: true, owner: server, props: Item{
		"name": s.User, "service": "pppoe", "caller-id": s.MAC, "address": s.Address, "encoding": "",
		"limit-bytes-in": "0", "limit-bytes-out": "0", "session-id": r.localSessionID(),
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
	return active, nil
}

// localSessionID is the next session id in the active list. Beside a handset, which counts from 1, it is in the upper
// half.
func (r *Router) localSessionID() string {
	number := r.sessions
	if r.nas != nil {
		number |= 0x80000
	}
	return fmt.Sprintf("0x81%X%05X", r.boots%16, number)
}
