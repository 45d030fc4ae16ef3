// Package webhooks calls the endpoints of organizations' own systems: one POST for each attempt at a delivery, signed
// as Standard Webhooks say. An organization's staff choose the address, so nothing of it is trusted: where it leads,
// how long it takes, and what it answers. Whether an attempt is repeated is decided elsewhere. Source:
// docs/rules/webhooks.md#delivery, docs/rules/webhooks.md#addresses, docs/rules/engine.md#addresses-we-dial.
package webhooks

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/egress"
)

// Limits of one call.
const (
	usualTimeout = 10 * time.Second // from the first packet to the status of the answer
	mostHeaders  = 16 << 10         // bytes of the answer's headers
	mostRead     = 16 << 10         // bytes of the answer's body; beyond it the connection is closed
	readPatience = time.Second      // for the answer's body
)

// Config is read by New once. The zero value is that of production.
type Config struct {
	// Addresses decides where an endpoint may be; http is allowed in development.
	Addresses egress.Guard
	// Roots are the authorities whose certificates are trusted; nil = the machine's.
	Roots   *x509.CertPool
	Timeout time.Duration // of one call; 10 s when 0
	Logger  *slog.Logger  // silent when nil
}

// Client calls endpoints. Safe for concurrent use.
type Client struct {
	guard   egress.Guard
	timeout time.Duration
	log     *slog.Logger
	machine clock.Clock // measures calls, and dates them: receivers compare the date with their own clocks
	http    *http.Client
}

// New makes a client; nothing is called yet.
func New(cfg Config) *Client {
	cfg.Timeout = cmp.Or(cfg.Timeout, usualTimeout)
	c := &Client{guard: cfg.Addresses, timeout: cfg.Timeout, log: cfg.Logger, machine: clock.System()}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true) // a smaller face towards strangers than that of HTTP/2
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:       nil, // also not that of the environment
			DialContext: c.guard.Dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots},
			TLSHandshakeTimeout: cfg.Timeout, IdleConnTimeout: time.Minute, MaxIdleConns: 256, MaxIdleConnsPerHost: 8,
			MaxResponseHeaderBytes: mostHeaders, DisableCompression: true, Protocols: protocols,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Close drops idle connections; calls under way are not interrupted.
func (c *Client) Close() { c.http.CloseIdleConnections() }
