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

	mu    sync.Mutex
	conns map[*visit]struct{}
	last  uint64
}

// visit is one open connection; its id numbers the rows of ip/service.
type visit struct {
	net.Conn
	door    *door
	service string
	id      uint64
	once    sync.Once
}

// Close removes the connection from the door, once, and closes it.
func (v *visit) Close() error {
	v.once.Do(func() {
		v.door.mu.Lock()
		delete(v.door.conns, v)
		v.door.mu.Unlock()
	})
	return v.Conn.Close()
}

// gate is a listener that admits the clients that the configuration allows.
type gate struct {
	net.Listener
	r       *Router
	service string
}

// Accept gives the next connection that the configuration admits. A refused one is accepted and then closed, as on a
// router; a connection to a service that is off is reset.
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

// admits reports whether a service is on, and whether it admits clients from the address seenFrom.
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

// close ends listeners and connections and waits for their goroutines.
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

// Addr gives host:port of a service: "www", "www-ssl", "api" or "api-ssl"; empty without a listener.
func (r *Router) Addr(service string) string {
	if l, ok := r.door.listeners[service]; ok {
		return l.Addr().String()
	}
	return ""
}
