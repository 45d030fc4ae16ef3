package router

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The services that have a listener; the other rows of ip/service are only configuration.
const (
	serviceWWW    = "www"
	serviceWWWSSL = "www-ssl"
	serviceAPI    = "api"
	serviceAPISSL = "api-ssl"
)

// door has the listeners and open connections of a router.
type door struct {
	listeners map[string]net.Listener // by service; fixed after open
	servers   []*http.Server
	work      sync.WaitGroup
	silent    atomic.Bool // the router has no power

	mu     sync.Mutex
	conns  map[*visit]struct{}
	parked []net.Conn // left open without an answer while the router has no power
	last   uint64
}

// visit is one open connection; its id numbers the rows of ip/service.
type visit struct {
	net.Conn
	door    *door
	service string
	id      uint64
	once    sync.Once
}

// Close removes the connection from the door, once, and closes it. While the router has no power nobody closes
// anything: the connection stays open without an answer.
func (v *visit) Close() error {
	v.once.Do(func() {
		v.door.mu.Lock()
		delete(v.door.conns, v)
		v.door.mu.Unlock()
	})
	if v.door.park(v.Conn) {
		return nil
	}
	return v.Conn.Close()
}

// Write sends an answer, which is lost while the router has no power.
func (v *visit) Write(p []byte) (int, error) {
	if v.door.silent.Load() {
		return len(p), nil
	}
	return v.Conn.Write(p)
}

// park keeps a connection open until the power is back; false when the router has power.
func (d *door) park(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.silent.Load() {
		return false
	}
	d.parked = append(d.parked, conn)
	return true
}

// gate is a listener that admits the clients that the configuration allows.
type gate struct {
	net.Listener
	r       *Router
	service string
}

// Accept gives the next connection that the configuration admits. What the firewall drops, or what comes while the
// router has no power, stays open without an answer; a client outside the address filter finds the connection ended
// before an answer, as on a router; a connection to a service that is off is reset.
func (g gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, isTCP := conn.(*net.TCPConn)
		switch g.r.admits(g.service) {
		case admitted:
			return g.r.door.enter(conn, g.service), nil
		case unheard:
			g.r.door.mu.Lock()
			g.r.door.parked = append(g.r.door.parked, conn)
			g.r.door.mu.Unlock()
			continue
		case turnedAway:
			if isTCP {
				g.r.door.work.Go(func() { hangUp(tcp) })
				continue
			}
		case refused:
			if isTCP {
				_ = tcp.SetLinger(0)
			}
		}
		_ = conn.Close()
	}
}

// hangUp ends a connection so that the client reads its end, not a reset: what it has sent already is read first.
func hangUp(conn *net.TCPConn) {
	_ = conn.CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(time.Second)) //nolint:forbidigo // bounds a read of this machine
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// welcome says how a router treats a new connection.
type welcome int

// The ways in which a router treats a new connection.
const (
	admitted   welcome = iota
	turnedAway         // accepted and ended: the address filter of the service, or its max-sessions
	refused            // reset: the service is off
	unheard            // no answer at all: no power, or dropped by the firewall
)

// admits gives what the router does with a new connection to a service from the address seenFrom.
func (r *Router) admits(service string) welcome {
	r.lock()
	defer r.unlock()
	w := r.byName("ip/service", service)
	switch {
	case r.off:
		return unheard
	case r.faults.Refuse:
		return refused
	case w == nil:
		return refused
	}
	if verdict := r.filter("tcp", w.props["port"], "new"); verdict != admitted {
		return verdict
	}
	if w.props["disabled"] == "true" {
		return refused
	}
	limit, err := strconv.Atoi(w.props["max-sessions"])
	if !inside(w.props["address"], r.seenFrom) || err == nil && r.door.count(service) >= limit {
		return turnedAway
	}
	return admitted
}

// serviceAt gives the service that has a port; "" for none. woken is closed when the power comes back.
func (r *Router) serviceAt(port string) (service string, woken <-chan struct{}) {
	r.lock()
	defer r.unlock()
	for _, w := range r.tableOf("ip/service").rows {
		if w.props["port"] == port {
			service = w.name()
		}
	}
	return service, r.woken
}

// count gives the number of open connections of a service, for max-sessions.
func (d *door) count(service string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for v := range d.conns {
		if v.service == service {
			n++
		}
	}
	return n
}

// inside reports whether a list of prefixes contains an address; an empty list contains all.
func inside(list string, ip netip.Addr) bool {
	return list == "" || slices.ContainsFunc(splitList(list), func(one string) bool {
		p, err := netip.ParsePrefix(one)
		return err == nil && p.Contains(ip)
	})
}

// enter registers a connection, so that a reboot can break it.
func (d *door) enter(conn net.Conn, service string) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	v := &visit{Conn: conn, door: d, service: service, id: d.last}
	d.conns[v] = struct{}{}
	return v
}

// breakAll resets all connections, without a farewell, as a power cut does.
func (d *door) breakAll() {
	d.mu.Lock()
	all := make([]net.Conn, 0, len(d.conns)+len(d.parked))
	for v := range d.conns {
		if tcp, ok := v.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		all = append(all, v)
	}
	for _, conn := range d.parked {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		all = append(all, conn)
	}
	d.parked = nil
	d.mu.Unlock()
	for _, conn := range all {
		_ = conn.Close()
	}
}

// serviceRows gives the dynamic rows of ip/service since 7.19: one for each connection, with the service's name again.
func (d *door) serviceRows() []*row {
	d.mu.Lock()
	defer d.mu.Unlock()
	var rows []*row
	for v := range d.conns {
		rows = append(rows, &row{
			id: 0x80000000 + v.id, dynamic: true, props: Item{
				"name": v.service, "proto": "tcp", "connection": "true", "disabled": "false",
			},
		})
	}
	slices.SortFunc(rows, func(a, b *row) int { return int(a.id) - int(b.id) })
	return rows
}

// Connections gives the number of open connections of all services.
func (r *Router) Connections() int {
	r.door.mu.Lock()
	defer r.door.mu.Unlock()
	return len(r.door.conns)
}

// open starts the listeners of the services whose port is not negative.
func (r *Router) open(ctx context.Context, certificate tls.Certificate) error {
	r.door.listeners, r.door.conns = map[string]net.Listener{}, map[*visit]struct{}{}
	for service, port := range map[string]int{
		serviceWWW: r.cfg.Ports.WWW, serviceWWWSSL: r.cfg.Ports.WWWSSL, serviceAPI: r.cfg.Ports.API,
		serviceAPISSL: r.cfg.Ports.APISSL,
	} {
		if port < 0 {
			continue
		}
		plain, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("%s:%d", r.cfg.Host, port))
		if err != nil {
			return fmt.Errorf("listen as %s of router %s: %w", service, r.cfg.Name, err)
		}
		r.door.listeners[service] = plain
		var in net.Listener = gate{plain, r, service}
		if service == serviceWWWSSL || service == serviceAPISSL {
			in = tls.NewListener(in, r.secure(service, certificate))
		}
		if service == serviceWWW || service == serviceWWWSSL {
			server := &http.Server{
				Handler: r.rest(service), ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet,
				BaseContext: func(net.Listener) context.Context { return ctx },
			}
			r.door.servers = append(r.door.servers, server)
			r.door.work.Go(func() { _ = server.Serve(in) })
			continue
		}
		r.door.work.Go(func() { r.acceptAPI(ctx, in, service) })
	}
	return nil
}

// secure gives the TLS settings of a service. Without a certificate that is signed and assigned the handshake fails, as
// a router's does for clients without anonymous ciphers.
func (r *Router) secure(service string, own tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			r.lock()
			defer r.unlock()
			w := r.byName("certificate", r.byName("ip/service", service).props["certificate"])
			if w == nil || !issued(w) {
				return nil, fmt.Errorf("%s of router %s has no certificate", service, r.cfg.Name)
			}
			return &own, nil
		},
	}
}

// close ends listeners and connections and waits for their goroutines.
func (r *Router) close() {
	for _, l := range r.door.listeners {
		_ = l.Close()
	}
	for _, s := range r.door.servers {
		_ = s.Close()
	}
	r.door.silent.Store(false)
	r.door.breakAll()
	r.door.work.Wait()
	if r.nas != nil {
		r.nas.Stop()
	}
	r.loops.Stop()
}

// Addr gives host:port of a service: "www", "www-ssl", "api" or "api-ssl"; empty without a listener.
func (r *Router) Addr(service string) string {
	if l, ok := r.door.listeners[service]; ok {
		return l.Addr().String()
	}
	return ""
}
