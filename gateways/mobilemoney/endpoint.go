// Package mobilemoney is the client of the mobile-money provider and the reader of its callbacks. It speaks the
// provider's words on the wire and classifies outcomes by their meaning for the money: accepted, refused, in doubt,
// or never sent. Nothing here decides what to do about an outcome, and nothing repeats a prompt that may have been
// delivered. Source: docs/facts/mobile-money.md#paths, docs/rules/payments.md#provider-paths,
// docs/rules/payments.md#verdicts, docs/rules/payments.md#shared-token, docs/rules/engine.md#breaker.
package mobilemoney

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Environment selects the provider's host: the values of PAYMENT_ENV.
type Environment string

// The two environments of the provider.
const (
	Sandbox    Environment = "sandbox"
	Production Environment = "production"
)

// The provider's addresses. Source: docs/facts/mobile-money.md#paths.
const (
	SandboxURL    = "https://sandbox.safaricom.co.ke"
	ProductionURL = "https://api.safaricom.co.ke"
)

// providerDomain holds every real host of the provider; test mode never calls one (docs/rules/setup.md#test-gateway).
const providerDomain = "safaricom.co.ke"

// BreakerKind is the breaker's kind of all calls; an open breaker of this kind fails with code provider_unavailable.
const BreakerKind = "provider"

// Guard is the circuit breaker of every call; package gateways/breaker implements it.
type Guard interface {
	// Do runs call, or fails with failure.Unavailable without running it. An error of call counts as a failure of the
	// target.
	Do(ctx context.Context, kind, target string, call func(ctx context.Context) error) error
	// Ready returns the error that Do would return now, or nil.
	Ready(kind, target string) error
}

// Config is read by NewEndpoint once.
type Config struct {
	Environment Environment
	BaseURL     string // overrides the environment's address when set: PAYMENT_BASE_URL
	// Test is GATEWAY_MODE=test: a real host of the provider is refused, and plain http is allowed anywhere.
	Test    bool
	Guard   Guard         // required
	Clock   clock.Clock   // the machine's when nil
	Logger  *slog.Logger  // silent when nil
	Timeout time.Duration // of one exchange; 20 s when 0
}

// Endpoint makes single exchanges with one provider host, without tokens; Client adds them. Safe for concurrent
// use.
type Endpoint struct {
	base    string
	host    string // the breaker's target; logs show it
	guard   Guard
	clock   clock.Clock
	log     *slog.Logger
	timeout time.Duration
	http    *http.Client
}

// NewEndpoint checks the address and makes an endpoint; nothing is called yet. It refuses plain http, except in test
// mode and to this machine.
func NewEndpoint(cfg Config) (*Endpoint, error) {
	address := cfg.BaseURL
	switch {
	case address != "":
	case cfg.Environment == Production:
		address = ProductionURL
	case cfg.Environment == Sandbox:
		address = SandboxURL
	default:
		return nil, fmt.Errorf("payment environment %q is neither sandbox nor production", cfg.Environment)
	}
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("provider address must be a plain http or https URL")
	}
	if err := checkHost(u, cfg.Test); err != nil {
		return nil, err
	}
	if cfg.Guard == nil {
		return nil, errors.New("provider endpoint needs a breaker")
	}
	e := &Endpoint{
		base: u.String(), host: u.Host, guard: cfg.Guard, clock: cfg.Clock, log: cfg.Logger,
		timeout: cmp.Or(cfg.Timeout, 20*time.Second), http: newHTTPClient(),
	}
	if e.clock == nil {
		e.clock = clock.System()
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	return e, nil
}

// checkHost keeps test mode from calling the real provider, and secrets from unencrypted networks.
func checkHost(u *url.URL, test bool) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	switch {
	case test && (host == providerDomain || strings.HasSuffix(host, "."+providerDomain)):
		return errors.New("test mode never calls a real provider host: set PAYMENT_BASE_URL")
	case u.Scheme == "https", u.Scheme == "http" && (test || loopback(host)):
		return nil
	}
	return errors.New("provider address must be https")
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// newHTTPClient follows no redirect: a redirect would carry credentials, or a prompt, to an address that is not
// configured.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 60 * time.Second,
			MaxIdleConnsPerHost: 32, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Target gives the breaker's name of this host: host and port.
func (e *Endpoint) Target() string { return e.host }

// Close drops idle connections; calls under way are not interrupted.
func (e *Endpoint) Close() { e.http.CloseIdleConnections() }
