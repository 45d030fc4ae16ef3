// Package routeros speaks to MikroTik routers over REST or the older API protocol, whichever a device has, behind
// one interface with menu paths and property maps. A refusal keeps the router's own words; a lost connection says
// whether a write may have been applied; nothing here repeats a write. Source: docs/rules/network.md#router-calls,
// docs/facts/routeros.md#rest, docs/rules/engine.md#addresses-we-dial.
package routeros

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// BreakerKind is the breaker's kind of all calls. The wiring gives it the code device_unreachable.
const BreakerKind = "device"

// Item is one item of a menu, by property; ".id" is the id. Values are the router's own texts.
type Item map[string]string

// ID gives the id, in the form "*1A"; "" when Query.Props left it out.
func (i Item) ID() string { return i[".id"] }

// Query narrows a print; the zero value gives everything.
type Query struct {
	Where map[string]string // an item must equal all of them
	Props []string          // only these properties; .id is left out unless named
}

// Router has the operations of a router. Menus are written "ip/hotspot/profile". Set with an empty id is for menus of
// one item. Move puts an item before another one, or at the end when before is empty.
type Router interface {
	Print(ctx context.Context, menu string, q Query) ([]Item, error)
	Add(ctx context.Context, menu string, props map[string]string) (id string, err error)
	Set(ctx context.Context, menu, id string, props map[string]string) error
	Remove(ctx context.Context, menu, id string) error
	Move(ctx context.Context, menu, id, before string) error
	Run(ctx context.Context, menu, command string, args map[string]string) ([]Item, error)
}

// Guard is the circuit breaker of every call; package gateways/breaker implements it.
type Guard interface {
	// Do runs call, or fails with failure.Unavailable without running it. An error of call counts as a failure of the
	// target.
	Do(ctx context.Context, kind, target string, call func(ctx context.Context) error) error
}

// DialFunc opens a connection. The host of the address is always a literal IP.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Config is read by New once.
type Config struct {
	Guard   Guard         // required
	Policy  Policy        // required: which addresses may be dialled
	Dial    DialFunc      // the machine's network when nil
	Clock   clock.Clock   // the machine's when nil
	Logger  *slog.Logger  // silent when nil
	Timeout time.Duration // of one call with its connection; 15 s when 0
	// Connect bounds the opening of a connection, so that a silent router costs less than a slow one; 3 s when 0.
	Connect time.Duration
	Idle    time.Duration // unused connections are closed after it; 60 s when 0, more by CalledEvery
	// CalledEvery is how often each router is called at least; 0 = not known. Its connection is kept in between,
	// because each new one is a line in the router's log.
	CalledEvery time.Duration
	// Connections is the number of calls that a router gets at a time, each over its own connection; 2 when 0.
	Connections int
}

// Gateway holds the connections to all routers. Safe for concurrent use.
type Gateway struct {
	cfg Config

	mu      sync.Mutex
	devices map[string]*link
}

// Bounds of the time for which an unused connection is kept.
const (
	keptLeast = time.Minute
	keptMost  = 15 * time.Minute
)

// keptFor is how long an unused connection is kept where a router is called so often: two calls may fail to come. Of
// seldom calls each needs a connection of its own.
func keptFor(calledEvery time.Duration) time.Duration {
	kept := max(3*calledEvery, keptLeast)
	if kept > keptMost {
		return keptLeast
	}
	return kept
}

// New makes a gateway; nothing is dialled yet. It fails without Guard or Policy.
func New(cfg Config) (*Gateway, error) {
	if cfg.Guard == nil || cfg.Policy == nil {
		return nil, errors.New("router gateway needs a breaker and an address policy")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 15*time.Second)
	cfg.Connect = cmp.Or(cfg.Connect, 3*time.Second)
	cfg.Idle = cmp.Or(cfg.Idle, keptFor(cfg.CalledEvery))
	cfg.Connections = cmp.Or(cfg.Connections, 2)
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	return &Gateway{cfg: cfg, devices: map[string]*link{}}, nil
}

// client makes the HTTP client of one device. It is shared with no other device, so that its connections can be
// dropped.
func (g *Gateway) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: g.dial, TLSClientConfig: acceptAny(), MaxConnsPerHost: g.cfg.Connections,
			MaxIdleConnsPerHost: g.cfg.Connections,
			IdleConnTimeout:     g.cfg.Idle, TLSHandshakeTimeout: g.cfg.Timeout, DisableCompression: true,
			MaxResponseHeaderBytes: 64 << 10,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // routers speak HTTP/1.1
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// acceptAny accepts self-signed certificates: the tunnel has authenticated the router
// (docs/rules/network.md#api-ports).
func acceptAny() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // self-signed by design
}

// dial checks an address against the policy at each connection, then connects.
func (g *Gateway) dial(ctx context.Context, network, address string) (net.Conn, error) {
	place, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	if err := g.cfg.Policy(place.Addr()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Connect)
	defer cancel()
	return g.cfg.Dial(ctx, network, place.String())
}

// Device gives the router of a target. Nothing is dialled until its first call; all devices of one ID share
// connections, and a target with another address, port or credentials drops the former connections.
func (g *Gateway) Device(t Target) *Device {
	t.Port = cmp.Or(t.Port, PortHTTP)
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.devices[t.ID]
	if l == nil || l.target.Address != t.Address || l.target.Port != t.Port || l.target.Credentials != t.Credentials {
		if l != nil {
			l.retire()
		}
		l = newLink(g, t)
		g.devices[t.ID] = l
	}
	return &Device{l}
}

// Forget drops the connections of a device: it was deleted, or its next call has to show that it can be reached anew.
func (g *Gateway) Forget(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.devices[id]; l != nil {
		l.retire()
		delete(g.devices, id)
	}
}

// Close drops all idle connections; the gateway can still be used.
func (g *Gateway) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, l := range g.devices {
		l.retire()
		delete(g.devices, id)
	}
}
