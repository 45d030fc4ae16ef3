package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// How long things may take.
const (
	connectPatience = 3 * time.Second  // a call waits so long for the store to come back
	callPatience    = 30 * time.Second // and so long for its answer
	firstPause      = 50 * time.Millisecond
	longestPause    = 2 * time.Second
	readAttempts    = 4
)

// errClosed is a use of the store after Close.
var errClosed = errors.New("event store is closed")

// link keeps a client in use and replaces it when its connection is lost.
//
// The stock client cannot be left alone with that (docs/facts/eventstore.md#client-that-gives-up): after some failed
// attempts it is closed for ever, and calls that were under way at that moment hang. So a client here never gives up by
// itself; no call is started on one before its connection stands; and one that lost it gets no new calls and is closed
// by its last user.
type link struct {
	config esdb.Configuration
	log    *slog.Logger

	mu     sync.Mutex
	now    *session
	closed chan struct{}
}

// session is one client from its first connection until that is lost.
type session struct {
	client *esdb.Client
	ready  chan struct{} // closed when the connection stands
	users  int           // calls and subscriptions on it; guarded by link.mu
	lost   bool          // gets no new users; guarded by link.mu
}

// newLink reads the address.
func newLink(url string, log *slog.Logger) (*link, error) {
	config, err := esdb.ParseConnectionString(url)
	if err != nil {
		return nil, fmt.Errorf("event store address: %w", err)
	}
	config.MaxDiscoverAttempts = math.MaxInt
	config.Logger = func(level esdb.LogLevel, format string, args ...any) {
		log.Debug("event store client", "level", level, "text", fmt.Sprintf(format, args...))
	}
	return &link{config: *config, log: log, closed: make(chan struct{})}, nil
}

// close ends all sessions.
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

// acquire gives a session whose connection stands, for release by the caller.
func (l *link) acquire(ctx context.Context) (*session, error) {
	s, err := l.enter()
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(connectPatience)
	defer timer.Stop()
	select {
	case <-s.ready:
		return s, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-l.closed:
		err = errClosed
	case <-timer.C:
		err = unavailable(errors.New("no connection to the event store"))
	}
	l.release(s, nil)
	return nil, err
}

// enter makes the caller a user of the present session, beginning one when there is none.
func (l *link) enter() (*session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return nil, errClosed
	default:
	}
	if l.now == nil {
		client, err := esdb.NewClient(&l.config)
		if err != nil {
			return nil, fmt.Errorf("event store client: %w", err)
		}
		// The connection's maker is a user as well, so that nobody closes the client under it.
		l.now = &session{client: client, ready: make(chan struct{}), users: 1}
		go l.connect(l.now)
	}
	l.now.users++
	return l.now, nil
}

// connect waits until the client has found a node; it tries without end.
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

// release ends a use. An error that says that the connection is lost keeps new users away.
func (l *link) release(s *session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	if err != nil && connectionLost(err) {
		l.retireLocked(s)
	}
	if s.lost && s.users == 0 {
		_ = s.client.Close()
	}
}

// retireLocked keeps new users away from a session and closes it when it has none.
func (l *link) retireLocked(s *session) {
	if s.lost {
		return
	}
	s.lost = true
	if l.now == s {
		l.now = nil
	}
	if s.users == 0 {
		_ = s.client.Close()
	}
}

// outcome is what a call gave.
type outcome[T any] struct {
	value T
	err   error
}

// call runs one operation on a connected client. The client does not always obey a context, so the operation runs
// beside the caller, who is let go when the context ends; the operation itself gets a context that ends then, too.
func call[T any](ctx context.Context, l *link, op func(context.Context, *esdb.Client) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	s, err := l.acquire(ctx)
	if err != nil {
		cancel()
		var none T
		return none, err
	}
	done := make(chan outcome[T], 1)
	go func() {
		defer cancel()
		var o outcome[T]
		defer func() {
			// The client panics on answers that it does not expect.
			if p := recover(); p != nil {
				o.err = fmt.Errorf("event store client: %v", p)
			}
			l.release(s, o.err)
			done <- o
		}()
		o.value, o.err = op(ctx, s.client)
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done: // the operation's own end has cancelled the context
		return o.value, o.err
	default:
		var none T
		return none, ctx.Err()
	}
}

// retryRead is call for reads, which may be repeated: a restarted store is not seen by the reader.
func retryRead[T any](ctx context.Context, l *link, op func(context.Context, *esdb.Client) (T, error)) (T, error) {
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
