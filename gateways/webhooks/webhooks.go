// Package webhooks calls the endpoints of organizations' own systems: one POST for each attempt at a delivery, signed
// as Standard Webhooks say. An organization's staff choose the address, so nothing of it is trusted: where it leads,
// how long it takes, and what it answers. Whether an attempt is repeated is decided elsewhere. Source:
// docs/rules/webhooks.md#delivery, docs/rules/webhooks.md#addresses, docs/rules/engine.md#addresses-we-dial.
package webhooks

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Limits of one call.
const (
	usualTimeout = 10 * time.Second // from the first packet to the status of the answer
	dialTimeout  = 4 * time.Second  // for each address of a name
	mostDialled  = 3                // addresses of a name
	mostHeaders  = 16 << 10         // bytes of the answer's headers
	mostRead     = 16 << 10         // bytes of the answer's body; beyond it the connection is closed
	readPatience = time.Second      // for the answer's body
)

// Config is read by New once. The zero value is that of production.
type Config struct {
	// Development allows http, and addresses of this machine and of private networks.
	Development bool
	// Domain is the platform's own, whose hosts are never called in production; "" = none.
	Domain string
	// Own gives the platform's own addresses; nil = those of this machine's interfaces.
	Own func() []netip.Addr
	// Resolve gives the addresses of a name; nil = the machine's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that was allowed; nil = the machine's network.
	Dial func(ctx context.Context, at netip.AddrPort) (net.Conn, error)
	// Roots are the authorities whose certificates are trusted; nil = the machine's.
	Roots   *x509.CertPool
	Timeout time.Duration // of one call; 10 s when 0
	Logger  *slog.Logger  // silent when nil
}

// Client calls endpoints. Safe for concurrent use.
type Client struct {
	cfg     Config
	log     *slog.Logger
	machine clock.Clock // measures calls, and dates them: receivers compare the date with their own clocks
	http    *http.Client
}

// New makes a client; nothing is called yet.
func New(cfg Config) *Client {
	cfg.Timeout = cmp.Or(cfg.Timeout, usualTimeout)
	c := &Client{cfg: cfg, log: cfg.Logger, machine: clock.System()}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.cfg.Resolve == nil {
		c.cfg.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.cfg.Own == nil {
		c.cfg.Own = ownAddresses
	}
	if c.cfg.Dial == nil {
		c.cfg.Dial = c.dialMachine
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true) // a smaller face towards strangers than that of HTTP/2
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:       nil, // also not that of the environment
			DialContext: c.dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots},
			TLSHandshakeTimeout: cfg.Timeout, IdleConnTimeout: time.Minute, MaxIdleConns: 256, MaxIdleConnsPerHost: 8,
			MaxResponseHeaderBytes: mostHeaders, DisableCompression: true, Protocols: protocols,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Close drops idle connections; calls under way are not interrupted.
func (c *Client) Close() { c.http.CloseIdleConnections() }
