// Package provider simulates the mobile-money provider on a real socket: it serves the provider's paths
// (docs/facts/mobile-money.md#paths), moves simulated money, and misbehaves on request in every way that the provider
// does (docs/facts/mobile-money.md#prompt-callback). The true movements of money are always readable at GET
// /sim/transactions, whichever callbacks were dropped, repeated or reordered, so that a test can compare them with the
// accounts. Methods and HTTP paths control it (docs/rules/setup.md#provider-simulator).
//
// The provider's two environments are two simulators: each has its own money, credentials and addresses, and with the
// same Seed and clock both give out the same receipt numbers.
//
// Two runs with the same Seed, clock and order of requests give the same ids, receipt numbers and faults. It posts to
// loopback addresses only.
package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Config of a simulator; the zero value is usable.
type Config struct {
	Addr   string // listen address; a free loopback port when empty
	Seed   uint64
	Clock  clock.Clock  // stamps receipts and ages tokens; delays are real time. The machine's when nil
	Logger *slog.Logger // silent when nil
	// Sandbox takes the addresses of a shortcode as often as they are registered, as the provider's sandbox does.
	// Otherwise they are taken once, as in production, until DeleteURLs.
	Sandbox bool
	// CallbackDelay is the time that a payer takes to answer a prompt when the phone has no delay of its own.
	CallbackDelay time.Duration
	// NoAnswerDelay is the time until an unanswered prompt expires, when the phone has no delay of its own.
	NoAnswerDelay time.Duration
	// LateDelay is the time from the failure to the success of late_success, when the phone has none of its own.
	LateDelay time.Duration
	// ReorderHold is the time for which the fault reorderCallbacks holds callbacks; 50 ms when 0.
	ReorderHold time.Duration
	// ReceiptItem is the name of the receipt in prompt callbacks; empty alternates between the two names in use.
	ReceiptItem string
}

// Simulator is the provider. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	cfg    Config
	log    *slog.Logger
	server *http.Server
	client *http.Client // posts callbacks, to loopback only
	url    string

	// run ends at Stop; it bounds the delays and callbacks.
	run  context.Context
	halt context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	book    book
	pending int           // delays and callbacks under way
	idle    chan struct{} // closed when pending falls to 0
	stopped bool
}

// New makes a simulator with an empty book; it listens after Start.
func New(cfg Config) *Simulator {
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	cfg.ReorderHold = cmp.Or(cfg.ReorderHold, 50*time.Millisecond)
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Simulator{cfg: cfg, log: cfg.Logger, client: loopbackClient(), idle: make(chan struct{})}
	s.book = newBook(cfg.Seed, cfg.Clock.Now())
	s.server = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Start listens and serves until Stop. Cancelling ctx ends pending delays and callbacks, not the listener.
func (s *Simulator) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen as provider: %w", err)
	}
	s.run, s.halt = context.WithCancel(ctx)
	s.url = "http://" + listener.Addr().String()
	s.work.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("provider simulator stopped serving", "error", err)
		}
	})
	s.log.Info("provider simulator listens", "url", s.url)
	return nil
}

// URL gives the base address for the gateway's configuration; empty before Start.
func (s *Simulator) URL() string { return s.url }

// Stop closes the listener, drops pending delays and waits for callbacks under way. Transactions can still be read.
func (s *Simulator) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	if s.halt == nil {
		return nil
	}
	s.halt()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.server.Close())
	}
	s.work.Wait()
	s.client.CloseIdleConnections()
	return err
}

// Idle waits until no payer has a step left and no callback is under way or held; it fails with ctx's error.
func (s *Simulator) Idle(ctx context.Context) error {
	for {
		s.mu.Lock()
		pending, idle := s.pending, s.idle
		s.mu.Unlock()
		if pending == 0 {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return fmt.Errorf("wait for the provider simulator: %w", ctx.Err())
		}
	}
}

// later runs do after a delay, unless the simulator stops before. The work counts as pending from now on. Must be
// called without the lock.
func (s *Simulator) later(delay time.Duration, do func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.pending++
	s.work.Go(func() {
		defer s.finished()
		if loop.Sleep(s.run, delay) {
			do(s.run)
		}
	})
}

// finished ends one pending piece of work; the last one wakes Idle.
func (s *Simulator) finished() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending--; s.pending == 0 {
		close(s.idle)
		s.idle = make(chan struct{})
	}
}

// handler serves the provider's paths, with and without the prefix /mpesa (docs/rules/setup.md#provider-simulator), and
// the control paths.
func (s *Simulator) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/v1/generate", s.faulty(s.issueToken))
	for path, handle := range map[string]http.HandlerFunc{
		"/stkpush/v1/processrequest":  s.promptPayer,
		"/stkpushquery/v1/query":      s.queryPrompt,
		"/c2b/v2/registerurl":         s.registerURLs,
		"/transactionstatus/v1/query": s.queryTransaction,
		"/reversal/v1/request":        s.reverse,
	} {
		guarded := s.faulty(s.authorised(handle))
		mux.HandleFunc("POST "+path, guarded)
		mux.HandleFunc("POST /mpesa"+path, guarded)
	}
	mux.HandleFunc("POST /pulltransactions/v1/register", s.faulty(s.authorised(s.registerPull)))
	mux.HandleFunc("POST /pulltransactions/v1/query", s.faulty(s.authorised(s.pull)))
	s.routeBills(mux)
	s.routeControl(mux)
	return mux
}
