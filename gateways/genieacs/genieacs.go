// Package genieacs is the client of the CPE server's northbound interface. It speaks the server's words on the wire and
// ours at its face: devices, parameters, tasks with their three outcomes, faults, files, presets and provisions.
//
// The server answers a request that it cannot work on by breaking off, for everybody whom the same process serves.
// So everything is checked before it is sent, and what cannot be sent is [ErrUnfit]. Documents of devices hold Wi-Fi
// keys and passwords in clear: each read names the leaves that it wants, and leaves with secrets cannot be named.
//
// Source: docs/facts/genieacs.md#interface, docs/facts/genieacs.md#tasks, docs/rules/engine.md#breaker.
package genieacs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/parsing"
)

// BreakerKind is the breaker's kind of all calls; an open breaker of this kind fails with code cpe_server_unavailable.
const BreakerKind = "cpe_server"

// Guard is the circuit breaker of every call; package gateways/breaker implements it.
type Guard interface {
	// Do runs call, or fails with failure.Unavailable without running it. An error of call counts as a failure of the
	// target.
	Do(ctx context.Context, kind, target string, call func(ctx context.Context) error) error
	// Ready returns the error that Do would return now, or nil.
	Ready(kind, target string) error
}

// Config is read by New once.
type Config struct {
	NBI    string         // address of the northbound interface, such as http://10.0.0.5:7557: ACS_NBI_URL
	Guard  Guard          // required
	Clock  clock.Clock    // the machine's when nil
	Logger *slog.Logger   // silent when nil
	Turns  *parsing.Turns // at checking scripts; those of this gateway alone when nil
	// Timeout of a call; 20 s when 0. Files have ten times of it.
	Timeout time.Duration
	// TaskTimeout of a task with a connection request; 160 s when 0: the server waits up to 30 s for the device's lock
	// and 120 s for the end of its session.
	TaskTimeout time.Duration
	// Patience is the first pause before a call that met a device in session is repeated, each further one being twice
	// as long; 250 ms when 0.
	Patience time.Duration
}

// Server makes calls to one CPE server. Safe for concurrent use.
type Server struct {
	base, host string // host is the breaker's target; logs show it
	guard      Guard
	clock      clock.Clock
	turns      *parsing.Turns
	log        *slog.Logger
	timeout    time.Duration
	taskTime   time.Duration
	patience   time.Duration
	http       *http.Client
	ahead      atomic.Int64 // see Ahead; in nanoseconds
}

// New checks the address and makes a client; nothing is called yet.
func New(cfg Config) (*Server, error) {
	u, err := url.Parse(strings.TrimRight(cfg.NBI, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("address of the CPE server must be a plain http or https URL")
	}
	if cfg.Guard == nil {
		return nil, errors.New("client of the CPE server needs a breaker")
	}
	s := &Server{
		base: u.String(), host: u.Host, guard: cfg.Guard, clock: cfg.Clock, log: cfg.Logger,
		timeout: cmp.Or(cfg.Timeout, 20*time.Second), taskTime: cmp.Or(cfg.TaskTimeout, 160*time.Second),
		patience: cmp.Or(cfg.Patience, 250*time.Millisecond), http: newHTTPClient(),
		turns: cfg.Turns,
	}
	if s.turns == nil {
		s.turns = parsing.NewTurns()
	}
	if s.clock == nil {
		s.clock = clock.System()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

// newHTTPClient follows no redirect, and drops idle connections before the server does after 5 s: a task that is sent
// on a connection at its end is a task in doubt.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 3 * time.Second, MaxIdleConnsPerHost: 16,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Target gives the breaker's name of this server: host and port.
func (s *Server) Target() string { return s.host }

// Ready fails with failure.Unavailable and RetryAfter while the breaker is open. Callers ask before they record work.
func (s *Server) Ready() error {
	if err := s.guard.Ready(BreakerKind, s.host); err != nil {
		return unavailable(err)
	}
	return nil
}

// Close drops idle connections; calls under way are not interrupted.
func (s *Server) Close() { s.http.CloseIdleConnections() }

// What a call can fail with besides failure.Unavailable (cpe_server_unavailable).
var (
	// ErrUnfit refuses a request that would harm the server. Nothing was sent.
	ErrUnfit = errors.New("request is not fit for the CPE server")
	// ErrUnknownDevice says that the server has no such device (any more).
	ErrUnknownDevice = errors.New("the CPE server has no such device")
	// ErrUnknownTask says that a task has ended or never was.
	ErrUnknownTask = errors.New("the CPE server has no such task")
	// ErrUnknownFile says that there is no such file.
	ErrUnknownFile = errors.New("the CPE server has no such file")
	// ErrInSession says that the device was in session at each of several tries. Nothing was done: try again later.
	ErrInSession = errors.New("the device is in session with the CPE server")
	// ErrCrashed says that the server broke off at this request while it answers others: it did not like the request,
	// or had an accident. Whether it acted is not known. It comes together with failure.Unavailable.
	ErrCrashed = errors.New("the CPE server broke off at this request")
	// ErrInDoubt says that a write was sent and its answer was lost: whether the server acted is not known. It comes
	// together with failure.Unavailable.
	ErrInDoubt = errors.New("the CPE server may have acted")
)

// Refusal is a no of the server that has no error of its own above, such as the syntax error of a provision.
type Refusal struct {
	Status  int    // of HTTP
	Message string // its words, without control characters, at most 500 bytes
}

// Error shows the status and the server's words.
func (r *Refusal) Error() string {
	return fmt.Sprintf("CPE server refused with %d: %s", r.Status, r.Message)
}

// unfit makes an ErrUnfit. The text must not hold a value, only names.
func unfit(text string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnfit, fmt.Sprintf(text, args...))
}

// pause waits real time between tries.
func pause(ctx context.Context, d time.Duration) bool { return loop.Sleep(ctx, d) }
