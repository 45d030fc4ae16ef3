package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Limits on waiting and on attempts.
const (
	connectPatience = 3 * time.Second       // for a connection, before a call fails as unavailable
	callPatience    = 30 * time.Second      // for connection and answer together
	firstPause      = 50 * time.Millisecond // before the second attempt; each next pause is longer
	longestPause    = 2 * time.Second       // between two attempts
	readAttempts    = 4                     // the first one included
	silence         = 2 * time.Second       // of a call, after which those who watch are told
	// pairPing is for how long a ping may have no answer where another node may take over, unless the address says it.
	pairPing = 5 * time.Second
)

// ErrClosed is the cause of the ErrUnavailable of every call after Close: the program is stopping.
var ErrClosed = errors.New("event store is closed")

// link keeps one client in use and replaces the client when its connection is lost. Safe for concurrent use.
//
// The stock client does not survive a lost connection (docs/facts/eventstore.md#client-that-gives-up): after some
// failed attempts it closes for ever, and calls that were running at that moment hang. Therefore a client here tries to
// connect without end, and calls start only when its connection stands. A client that lost its connection gets no new
// calls, and its last user closes it.
type link struct {
	config esdb.Configuration
	local  func() grpc.ClientConnInterface // of Config
	log    *slog.Logger
	lost   atomic.Pointer[func()] // of Store.Watch; nil = nobody watches

	mu     sync.Mutex
	now    *session
	closed chan struct{}
}

// session is one client and its shared call for appends, from the attempt to connect until the connection is lost.
type session struct {
	client *esdb.Client
	shared *appends      // nil = the client appends
	ready  chan struct{} // closed when the connection stands
	users  int           // calls and subscriptions on it; guarded by link.mu
	lost   bool          // gets no new users; guarded by link.mu
}

// newLink parses the address and connects to nothing yet. It fails for an address that the client cannot parse.
func newLink(cfg Config) (*link, error) {
	config, err := esdb.ParseConnectionString(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("event store address: %w", err)
	}
	if cfg.Trust != nil {
		config.RootCAs = cfg.Trust
	}
	// A call that begins as the connection ends may wait its ten seconds on it, and the store goes on at the other node
	// within half a minute all the same (docs/operations.md).
	if clustered(config) && !strings.Contains(strings.ToLower(cfg.URL), "keepalivetimeout=") {
		config.KeepAliveTimeout = pairPing
	}
	config.MaxDiscoverAttempts = math.MaxInt
	config.Logger = func(level esdb.LogLevel, format string, args ...any) {
		cfg.Logger.Debug("event store client", "level", level, "text", fmt.Sprintf(format, args...))
	}
	return &link{config: *config, local: cfg.Local, log: cfg.Logger, closed: make(chan struct{})}, nil
}

// close ends the present session; calls after it fail with ErrClosed. A second close does nothing.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return
	default:
	}
	close(l.closed)
	if l.now != nil {
		l.retireLocked(l.now)
	}
}

// acquire returns a session whose connection stands, waiting at most connectPatience. The caller must release it.
func (l *link) acquire(ctx context.Context) (*session, error) {
	s, err := l.enter()
	if err != nil {
		return nil, err
	}
	select {
	case <-s.ready:
		return s, nil
	default:
	}
	timer := time.NewTimer(connectPatience)
	defer timer.Stop()
	select {
	case <-s.ready:
		return s, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-l.closed:
		err = ErrClosed
	case <-timer.C:
		err = unavailable(errors.New("no connection to the event store"))
	}
	l.release(s, nil)
	return nil, err
}

// enter makes the caller a user of the present session and opens a session when there is none.
func (l *link) enter() (*session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return nil, ErrClosed
	default:
	}
	if l.now == nil {
		client, err := esdb.NewClient(&l.config)
		if err != nil {
			return nil, fmt.Errorf("event store client: %w", err)
		}
		shared, err := newAppends(&l.config, l.local)
		if err != nil {
			_ = client.Close()
			return nil, err
		}
		// connect is a user too, so that no caller closes the client while connect still needs it.
		l.now = &session{client: client, shared: shared, ready: make(chan struct{}), users: 1}
		go l.connect(l.now)
	}
	l.now.users++
	return l.now, nil
}

// connect waits until the client has found a node, which it tries for ever: also for a store that is closed meanwhile,
// whose program ends.
func (l *link) connect(s *session) {
	_, err := s.client.GetServerVersion()
	if err != nil {
		l.log.Warn("event store connection failed", "error", err)
		l.mu.Lock()
		l.retireLocked(s)
		l.mu.Unlock()
	} else {
		close(s.ready)
	}
	l.release(s, nil)
}

// release ends one use of a session. When err says that the connection is lost, the session gets no new users.
func (l *link) release(s *session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	if err != nil && connectionLost(err) {
		l.retireLocked(s)
	}
	if s.lost && s.users == 0 {
		s.close()
	}
}

// retireLocked stops the session from getting new users and closes it when it has none left. The caller holds l.mu.
func (l *link) retireLocked(s *session) {
	if s.lost {
		return
	}
	s.lost = true
	if l.now == s {
		l.now = nil
	}
	if s.users == 0 {
		s.close()
	}
}

// close ends the connections of a session that nobody uses.
func (s *session) close() {
	_ = s.client.Close()
	s.shared.close()
}

// outcome carries the result of a call from its goroutine to the caller.
type outcome[T any] struct {
	value T
	err   error
}

// tell tells those who watch that the store may be away, unless it is closed here.
func (l *link) tell() {
	select {
	case <-l.closed:
		return
	default:
	}
	if lost := l.lost.Load(); lost != nil {
		(*lost)()
	}
}

// call runs an operation as apart does, and tells those who watch of silence and of a failure after which the outcome
// is unknown. A caller who leaves says nothing about the store.
func call[T any](ctx context.Context, l *link, op operation[T]) (T, error) {
	return watched(ctx, l, func() (T, error) {
		ctx, cancel := context.WithTimeout(ctx, callPatience)
		defer cancel()
		return connected(ctx, l, op, apart)
	})
}

// callPrompt is call for an operation that obeys its context by itself and ends in time: it needs no goroutine and no
// limit of its own.
func callPrompt[T any](ctx context.Context, l *link, op operation[T]) (T, error) {
	return watched(ctx, l, func() (T, error) { return connected(ctx, l, op, use) })
}

// operation uses a session for one call.
type operation[T any] func(context.Context, *session) (T, error)

// connected runs an operation on a connected client in the way of run.
func connected[T any](
	ctx context.Context, l *link, op operation[T],
	run func(context.Context, *link, *session, operation[T]) (T, error),
) (T, error) {
	s, err := l.acquire(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return run(ctx, l, s, op)
}

// watched tells those who watch of what run meets.
func watched[T any](ctx context.Context, l *link, run func() (T, error)) (T, error) {
	silent := time.AfterFunc(silence, l.tell)
	defer silent.Stop()
	value, err := run()
	if err != nil && ctx.Err() == nil && errors.Is(translate(err), ErrUnavailable) {
		l.tell()
	}
	return value, err
}

// apart runs an operation in a goroutine of its own, because the client does not always obey its context: the caller
// returns as soon as the context ends. The operation's context ends then too.
func apart[T any](ctx context.Context, l *link, s *session, op operation[T]) (T, error) {
	done := make(chan outcome[T], 1)
	go func() {
		value, err := use(ctx, l, s, op)
		done <- outcome[T]{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done: // at the same moment
		return o.value, o.err
	default:
		var none T
		return none, ctx.Err()
	}
}

// use runs an operation on a session and releases it. The client panics on answers that it does not expect.
func use[T any](ctx context.Context, l *link, s *session, op operation[T]) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("event store client: %v", p)
		}
		l.release(s, err)
	}()
	return op(ctx, s)
}

// retryRead is call for reads. It repeats them over a lost connection, so that a reader does not notice a restart.
func retryRead[T any](ctx context.Context, l *link, op operation[T]) (T, error) {
	pause := loop.Backoff{Min: firstPause, Max: longestPause}
	for attempt := 1; ; attempt++ {
		value, err := call(ctx, l, op)
		if err == nil {
			return value, nil
		}
		if !connectionLost(err) || attempt == readAttempts || !pause.Wait(ctx) {
			return value, translate(err)
		}
	}
}
