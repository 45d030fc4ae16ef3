package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// handsets configures the NAS that speaks RADIUS for the router.
func (r *Router) handsets() handset.Config {
	host := netip.MustParseAddr(r.cfg.Host) // was checked
	address := host
	if r.cfg.Tunnel.Is4() {
		address = r.cfg.Tunnel
	}
	return handset.Config{
		Name: r.cfg.Name, Local: host, Address: address, CoAPort: r.cfg.CoAPort, Legacy: r.version < v7MessageAuth,
		Seed: r.seed, Clock: r.sim.clock, Logger: r.sim.log, Servers: r.servers, Hears: r.hears, Admit: r.admit,
		Started: r.flows, Changed: r.turned, Ended: r.ended,
	}
}

// Handsets gives the NAS that speaks RADIUS for the router, for its faults and counts; nil without RouterConfig.RADIUS.
func (r *Router) Handsets() *handset.NAS { return r.nas }

// servers gives the RADIUS clients of the router for a service and a server, in the order of the menu; without a
// service all that are enabled.
func (r *Router) servers(service, server string) []handset.Server {
	service = map[string]string{handset.PPPoE: "ppp", handset.Hotspot: "hotspot"}[service]
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []handset.Server
	for _, w := range r.tableOf("radius").rows {
		called := w.props["called-id"]
		switch {
		case w.props["disabled"] == "true":
		case service != "" && !slices.Contains(splitList(w.props["service"]), service):
		case service != "" && (called != "" && called != server || w.props["accounting-backup"] == "true"):
		default:
			list = append(list, r.serverAt(w))
		}
	}
	return list
}

// serverAt is the server of a RADIUS client; one that does not hear the router has no address. The lock is held.
func (r *Router) serverAt(client *row) handset.Server {
	timeout, _ := parseSpan(client.props["timeout"])
	at := handset.Server{
		Secret: []byte(client.props["secret"]), Timeout: timeout,
		Unsigned: client.props["require-message-auth"] == "no",
	}
	address, err := netip.ParseAddr(client.props["address"])
	throughTunnel := err == nil && inTunnel.Contains(address)
	if err != nil || !r.heard(client) || throughTunnel && r.cfg.Remote && r.tunnelIn() == "" {
		return at
	}
	at.Access = r.cfg.RADIUS(netip.AddrPortFrom(address, portOf(client.props["authentication-port"])))
	at.Accounting = r.cfg.RADIUS(netip.AddrPortFrom(address, portOf(client.props["accounting-port"])))
	return at
}

// hears reports whether requests of RADIUS servers reach the router: it must have power, accept them at the port where
// they come, and have no firewall rule against them.
func (r *Router) hears() bool {
	r.lock()
	defer r.unlock()
	incoming := r.tableOf("radius/incoming").rows[0].props
	port := incoming["port"]
	return !r.off && incoming["accept"] == "true" && portOf(port) == r.nas.CoAAddr().Port() &&
		r.filter("udp", port, "new") == admitted
}

// SignIn lets a customer's device sign in and waits for the end of it: at the router itself for a local user, else at
// the RADIUS server that the router's settings name. It fails where Connect does.
func (r *Router) SignIn(ctx context.Context, c handset.Customer) (handset.Result, error) {
	result := make(chan handset.Result, 1)
	if err := r.dial(c, func(got handset.Result, active *row) {
		r.comeBack(c, active)
		result <- got
	}); err != nil {
		return handset.Result{}, err
	}
	select {
	case got := <-result:
		return got, nil
	case <-ctx.Done():
		return handset.Result{}, fmt.Errorf("sign in: %w", ctx.Err())
	}
}

// dial begins a sign-in. done gets the result and the row in the active list, nil for none, once and without locks.
func (r *Router) dial(c handset.Customer, done func(handset.Result, *row)) error {
	r.lock()
	c, local, err := r.receive(c)
	if err == nil && local == nil && r.nas != nil && c.Address != "" {
		r.signing[c.Address] = true
	}
	r.unlock()
	switch {
	case err != nil:
		return err
	case local != nil:
		done(handset.Result{Outcome: handset.Accepted, Attributes: []handset.Attribute{}}, local)
		return nil
	case r.nas == nil:
		return errNoRADIUS
	}
	err = r.nas.Dial(c, func(got handset.Result) {
		r.lock()
		delete(r.signing, c.Address)
		var active *row
		if got.Session != nil {
			active = r.online[got.Session.ID]
		}
		r.unlock()
		r.sim.log.Info("customer signed in", "router", r.cfg.Name, "user", c.Name, "outcome", string(got.Outcome),
			"message", got.Message)
		done(got, active)
	})
	if err != nil {
		r.lock()
		delete(r.signing, c.Address)
		r.unlock()
	}
	return err
}

// receive does what a router does with a customer before it asks RADIUS: it finds the server, and brings a local user
// or a bypassed device online. The lock is held.
func (r *Router) receive(c handset.Customer) (handset.Customer, *row, error) {
	c.Service = cmp.Or(c.Service, handset.PPPoE)
	if c.MAC = strings.ToUpper(c.MAC); c.MAC == "" {
		c.MAC = r.newMAC()
	}
	switch {
	case r.off:
		return c, nil, fmt.Errorf("router %s is off", r.cfg.Name)
	case c.Service == handset.PPPoE:
		return r.receivePPPoE(c)
	case c.Service == handset.Hotspot:
		return r.receiveHotspot(c)
	}
	return c, nil, fmt.Errorf("service %q is neither pppoe nor hotspot", c.Service)
}

// errWrongPassword is the refusal of a local user.
var errWrongPassword = errors.New("the router has this user itself, with another password")

// receivePPPoE is receive for PPPoE. A client that names no service takes the first server.
func (r *Router) receivePPPoE(c handset.Customer) (handset.Customer, *row, error) {
	server, err := r.serverOf("interface/pppoe-server/server", "service-name", c.Server)
	if err != nil {
		return c, nil, err
	}
	c.Server, c.Interface = server.props["service-name"], server.props["interface"]
	allowed := splitList(server.props["authentication"])
	for _, m := range [][2]string{
		{handset.MSCHAPv2, "mschap2"}, {handset.MSCHAP, "mschap1"}, {handset.CHAP, "chap"}, {handset.PAP, "pap"},
	} {
		if slices.Contains(allowed, m[1]) {
			c.Method = cmp.Or(c.Method, m[0])
		} else if c.Method == m[0] {
			return c, nil, fmt.Errorf("server %s does not take %s", c.Server, m[1])
		}
	}
	s := sessionOf(c)
	r.oneHost(s, server) // before anybody is asked who it is
	if secret := r.localSecret(c.Name); secret != nil {
		if secret.props["password"] != c.Password {
			return c, nil, errWrongPassword
		}
		active, err := r.bringUp(s, server, secret)
		return c, active, err
	}
	if profile := r.byName("ppp/profile", server.props["default-profile"]); profile != nil {
		err = r.full(s, server, profile)
	}
	return c, nil, cmp.Or(err, r.usesRADIUS(c.Name))
}

// receiveHotspot is receive for a hotspot, where the device has its address before it signs in.
func (r *Router) receiveHotspot(c handset.Customer) (handset.Customer, *row, error) {
	server, err := r.serverOf("ip/hotspot", "name", c.Server)
	if err != nil {
		return c, nil, err
	}
	c.Server, c.Interface = server.name(), server.props["interface"]
	if c.Method == handset.MACLogin {
		c.Name = c.MAC
	}
	s := sessionOf(c)
	if host, err := r.bound(&s, server); host != nil || err != nil {
		return c, host, err
	}
	if err := r.host(&s, server); err != nil {
		return c, nil, err
	}
	c.Address = s.Address
	if c.Method, err = r.loginBy(c.Method, server); err != nil {
		return c, nil, err
	}
	if user := r.localUser(c.Name, server); user != nil {
		if user.props["password"] != c.Password {
			return c, nil, errWrongPassword
		}
		active, err := r.enter(s, server, false)
		return c, active, err
	}
	return c, nil, r.spotUsesRADIUS(c.Name, server)
}

// loginBy checks the way in which a device signs in against the hotspot's profile; "" becomes the page's.
func (r *Router) loginBy(method string, server *row) (string, error) {
	var allowed []string
	if profile := r.byName("ip/hotspot/profile", server.props["profile"]); profile != nil {
		allowed = splitList(profile.props["login-by"])
	}
	for _, m := range [][2]string{
		{handset.CHAP, "http-chap"}, {handset.PAP, "http-pap"}, {handset.MACLogin, "mac"},
	} {
		if slices.Contains(allowed, m[1]) && (method == m[0] || method == "" && m[0] != handset.MACLogin) {
			return m[0], nil
		}
	}
	return method, fmt.Errorf("hotspot %s has no login by %q", server.name(), method)
}

// serverOf is server for a client that may name none, which takes the first one that is enabled.
func (r *Router) serverOf(path, prop, value string) (*row, error) {
	for _, w := range r.tableOf(path).rows {
		if value == "" && w.props["disabled"] != "true" && r.closed(w.props["interface"]) == "" {
			return w, nil
		}
	}
	return r.server(path, prop, value)
}

// sessionOf is a customer as a session that begins.
func sessionOf(c handset.Customer) Session {
	return Session{Kind: c.Service, User: c.Name, Server: c.Server, MAC: c.MAC, Address: c.Address}
}
