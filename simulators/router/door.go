package router

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The services that the simulator really offers.
const (
	serviceWWW    = "www"
	serviceWWWSSL = "www-ssl"
	serviceAPI    = "api"
	serviceAPISSL = "api-ssl"
)

// door holds the listeners and connections of a router.
type door struct {
	listeners map[string]net.Listener // by service; fixed after open
	servers   []*http.Server
	work      sync.WaitGroup

	mu    sync.Mutex
	conns map[*visit]struct{}
	last  uint64
}

// visit is one open connection.
type visit struct {
	net.Conn
	door    *door
	service string
	id      uint64
	once    sync.Once
}

// Close forgets the connection.
func (v *visit) Close() error {
	v.once.Do(func() {
		v.door.mu.Lock()
		delete(v.door.conns, v)
		v.door.mu.Unlock()
	})
	return v.Conn.Close()
}

// gate is a listener that lets in whom the configuration lets in.
type gate struct {
	net.Listener
	r       *Router
	service string
}

// Accept gives the next connection that the configuration admits. A refused one is accepted and closed, as on the
// router; one to a service that is off is reset.
func (g gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		up, admitted := g.r.admits(g.service)
		if up && admitted {
			return g.r.door.enter(conn, g.service), nil
		}
		if tcp, ok := conn.(*net.TCPConn); ok && !up {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// admits tells whether a service is on, and whether it admits those who connect over loopback.
func (r *Router) admits(service string) (up, admitted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.byName("ip/service", service)
	if w == nil || r.off || w.props["disabled"] == "true" {
		return false, false
	}
	limit, err := strconv.Atoi(w.props["max-sessions"])
	return true, inside(w.props["address"], r.seenFrom) && (err != nil || r.door.count(service) < limit)
}

// count counts the open connections of a service.
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

// inside tells whether a list of prefixes holds an address; an empty list holds all.
func inside(list string, ip netip.Addr) bool {
	return list == "" || slices.ContainsFunc(splitList(list), func(one string) bool {
		p, err := netip.ParsePrefix(one)
		return err == nil && p.Contains(ip)
	})
}

// enter keeps a connection so that a reboot can break it.
func (d *door) enter(conn net.Conn, service string) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	v := &visit{Conn: conn, door: d, service: service, id: d.last}
	d.conns[v] = struct{}{}
	return v
}

// breakAll resets all connections.
func (d *door) breakAll() {
	d.mu.Lock()
	all := make([]*visit, 0, len(d.conns))
	for v := range d.conns {
		all = append(all, v)
	}
	d.mu.Unlock()
	for _, v := range all {
		if tcp, ok := v.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = v.Close()
	}
}

// serviceRows are the dynamic rows of newer releases: one for each connection, with the name of the service again.
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

// Connections counts the open connections.
func (r *Router) Connections() int {
	r.door.mu.Lock()
	defer r.door.mu.Unlock()
	return len(r.door.conns)
}

// open starts the listeners.
func (r *Router) open(ctx context.Context, certificate tls.Certificate) error {
	r.door.listeners, r.door.conns = map[string]net.Listener{}, map[*visit]struct{}{}
	secure := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
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
			in = tls.NewListener(in, secure)
		}
		if service == serviceWWW || service == serviceWWWSSL {
			server := &http.Server{
				Handler: r.rest(service == serviceWWWSSL), ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet,
				BaseContext: func(net.Listener) context.Context { return ctx },
			}
			r.door.servers = append(r.door.servers, server)
			r.door.work.Go(func() { _ = server.Serve(in) })
			continue
		}
		r.door.work.Go(func() { r.acceptAPI(ctx, in) })
	}
	return nil
}

// close ends listeners and connections and waits for what runs.
func (r *Router) close() {
	for _, l := range r.door.listeners {
		_ = l.Close()
	}
	for _, s := range r.door.servers {
		_ = s.Close()
	}
	r.door.breakAll()
	r.door.work.Wait()
}

// Addr is the address of a service: "www", "www-ssl", "api" or "api-ssl"; empty without a listener.
func (r *Router) Addr(service string) string {
	if l, ok := r.door.listeners[service]; ok {
		return l.Addr().String()
	}
	return ""
}
