// Package olt is the client of the system that runs an operator's optical line terminals: it registers an ONU at a
// port, puts its service into a VLAN, reads its optical levels and takes it out again. Each call may be repeated.
// Nothing here decides what to do about an outcome. Source: docs/facts/olt.md#protocol, docs/rules/engine.md#breaker.
package olt

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// BreakerKind is the breaker's kind of all calls; an open breaker of this kind fails with code olt_unavailable.
const BreakerKind = "olt"

// Guard is the circuit breaker of every call; package gateways/breaker implements it.
type Guard interface {
	// Do runs call, or fails with failure.Unavailable without running it. An error of call counts as a failure of the
	// target.
	Do(ctx context.Context, kind, target string, call func(ctx context.Context) error) error
	// Forget drops a target that does not exist.
	Forget(kind, target string)
}

// Config is read by New once.
type Config struct {
	Guard   Guard  // required
	Address string // of the system: the operator's own, so that it may be inside
	Token   string
	Clock   clock.Clock   // the machine's when nil
	Logger  *slog.Logger  // silent when nil
	Timeout time.Duration // of one exchange; 20 s when 0
}

// Client makes single exchanges with one system. Safe for concurrent use. Its methods hide the token from logs and fmt.
type Client struct {
	guard   Guard
	address string
	token   string
	clock   clock.Clock
	log     *slog.Logger
	timeout time.Duration
	http    *http.Client
}

// New makes a client; nothing is called yet.
func New(cfg Config) *Client {
	c := &Client{
		guard: cfg.Guard, address: strings.TrimRight(cfg.Address, "/"), token: cfg.Token, clock: cfg.Clock,
		log: cfg.Logger, timeout: cmp.Or(cfg.Timeout, 20*time.Second),
	}
	if c.clock == nil {
		c.clock = clock.System()
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.http = &http.Client{
		Transport: &http.Transport{
			TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 60 * time.Second, MaxIdleConnsPerHost: 8,
			MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		// A redirect would carry the token to an address that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Close drops idle connections; calls under way are not interrupted.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// String names the system, without its token.
func (c *Client) String() string { return "optical line terminals at " + c.address }

// GoString hides the token from %#v, too.
func (c *Client) GoString() string { return c.String() }

// Place names an ONU at a terminal of an organization.
type Place struct {
	Organization string // its slug
	OLT          string
	Serial       string // of the ONU, upper-case
}

// terminal is the breaker's name of the ONU's terminal. That of the system is an address, which no such name can be.
func (p Place) terminal() string { return p.Organization + "/" + p.OLT }

// Reading is an ONU as its terminal sees it.
type Reading struct {
	Port   string
	Number int // of the ONU on its port
	Online bool
	VLAN   int // of its service; 0 = none
	Levels *Levels
}

// Levels are the optical powers of an ONU in dBm, and the length of its fibre in metres.
type Levels struct {
	Received      float64 // by the ONU
	Sent          float64 // by the ONU
	ReceivedAtOLT float64
	Distance      int
}

// Forms of the names. Source: docs/facts/olt.md#names.
var (
	serialForm = regexp.MustCompile(`^[A-Z]{4}[0-9A-F]{8}$`)
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	portForm   = regexp.MustCompile(`^[0-9]{1,3}(/[0-9]{1,3}){0,2}$`)
)

// MaxVLAN is the highest number of a VLAN; the lowest is 1.
const MaxVLAN = 4094

// CheckSerial fails when a text is no serial of an ONU.
func CheckSerial(serial string) error {
	if !serialForm.MatchString(serial) {
		return errors.New("must be four letters and eight hexadecimal digits, in capitals, such as HWTC1A2B3C4D")
	}
	return nil
}

// CheckOLT fails when a text cannot name a terminal.
func CheckOLT(name string) error {
	if !nameForm.MatchString(name) {
		return errors.New("must have 1 to 32 small letters, digits or dashes")
	}
	return nil
}

// CheckPort fails when a text is no port of a terminal.
func CheckPort(port string) error {
	if !portForm.MatchString(port) {
		return errors.New("must be a number, or two or three with slashes between, such as 0/1/3")
	}
	return nil
}

// CheckVLAN fails when a number is no VLAN.
func CheckVLAN(vlan int) error {
	if vlan < 1 || vlan > MaxVLAN {
		return errors.New("must be 1 to 4094")
	}
	return nil
}
