package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Lock is an advisory lock of PostgreSQL, which frees it when this program dies. It is not a transaction, so outside
// calls may be made under it. One connection, which nothing else uses, holds all locks of a DB: a lock costs no
// connection of a pool, however many there are.
type Lock struct {
	session *lockSession
	term    *lockTerm
	key     int64
	freed   chan struct{} // closed when the lock is given back or lost
	unlock  sync.Once
	free    func() // closes freed; may be called again
}

// ErrLockLost reports that the connection that held a lock has ended. Another program may hold the lock by now.
var ErrLockLost = errors.New("the lock is lost")

// How a lock is waited for while another program holds it, and how long a statement about locks may take.
const (
	lockWait  = 100 * time.Millisecond
	lockLimit = 5 * time.Second
)

// Lock waits for the advisory lock of a name in the namespace. Holders within this program pass it on at once; a lock
// of another program is noticed as free within lockWait.
func (db *DB) Lock(ctx context.Context, name string) (*Lock, error) {
	for {
		l, held, err := db.locks.try(ctx, db.Namespace.LockKey(name))
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if l != nil {
			return l, nil
		}
		if !loop.WaitFor(ctx, held, lockWait) {
			return nil, fmt.Errorf("lock %s: %w", name, ctx.Err())
		}
	}
}

// TryLock takes the lock if it is free. Otherwise it returns nil and false at once.
func (db *DB) TryLock(ctx context.Context, name string) (*Lock, bool, error) {
	l, _, err := db.locks.try(ctx, db.Namespace.LockKey(name))
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", name, err)
	}
	return l, l != nil, nil
}

// Ping fails when the lock is lost, or when that cannot be found out.
func (l *Lock) Ping(ctx context.Context) error {
	return l.session.use(ctx, l.term, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "select 1")
		return err
	})
}

// IsHeld reports whether the lock is neither given back nor known to be lost. The locks of a DB are lost together, so
// after the Ping of one of them it is known of all.
func (l *Lock) IsHeld() bool {
	select {
	case <-l.freed:
		return false
	default:
		return true
	}
}

// Unlock frees the lock. When that cannot be confirmed the connection is closed, which frees all locks of the DB.
func (l *Lock) Unlock() {
	l.unlock.Do(func() {
		_ = l.session.use(context.Background(), l.term, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `select pg_advisory_unlock($1)`, l.key)
			delete(l.term.held, l.key)
			return err
		})
		l.free()
	})
}

// lockSession holds the locks of a DB on one connection, which it opens when the first lock is asked for, and again
// after it was lost. Safe for concurrent use.
type lockSession struct {
	url    string
	limits lockLimits
	turn   chan struct{} // has one element while nobody uses the connection
	term   *lockTerm     // nil without a connection; guarded by turn, as all below
	lost   func()        // of Watch
	closed bool
}

// lockTerm is the life of one connection. Its locks end with it.
type lockTerm struct {
	conn  *pgx.Conn
	held  map[int64]*Lock
	pause func()        // ends the wait for the end of the connection, which nobody may use before
	over  chan struct{} // closed when it is lost
}

// newLockSession connects to nothing yet.
func newLockSession(url string) *lockSession {
	s := &lockSession{
		url: url, limits: lockLimits{lockSilence, lockPing}, turn: make(chan struct{}, 1), lost: func() {},
	}
	s.turn <- struct{}{}
	return s
}

// errClosed answers a lock that is asked for after the end of the DB.
var errClosed = errors.New("the database is closed")

// try takes a lock if it is free. Otherwise held is closed when it may be free; nil when another program has it.
func (s *lockSession) try(ctx context.Context, key int64) (got *Lock, held <-chan struct{}, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer s.leave()
	if s.closed {
		return nil, nil, errClosed
	}
	if s.term != nil && s.term.held[key] != nil {
		return nil, s.term.held[key].freed, nil
	}
	var free bool
	err = s.run(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, key).Scan(&free)
	})
	if err != nil || !free {
		return nil, nil, err
	}
	freed := make(chan struct{})
	got = &Lock{
		session: s, term: s.term, key: key, freed: freed, free: sync.OnceFunc(func() { close(freed) }),
	}
	s.term.held[key] = got
	return got, nil, nil
}

// use runs statements on the connection of a term, which must not be over.
func (s *lockSession) use(ctx context.Context, term *lockTerm, do func(context.Context, *pgx.Conn) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.term != term || term == nil {
		return ErrLockLost
	}
	return s.run(ctx, do)
}

// run calls do with the connection, and opens one if there is none. The end of the caller's context does not interrupt
// a statement, because that would close the connection and lose all locks. After an error the connection is closed. The
// caller has the turn.
func (s *lockSession) run(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockLimit)
	defer cancel()
	silence, answered := context.WithTimeout(ctx, lockSlow)
	defer answered()
	defer context.AfterFunc(silence, s.lost)()
	if s.term == nil {
		conn, err := s.open(ctx)
		if err != nil {
			return err
		}
		s.term = &lockTerm{conn: conn, held: map[int64]*Lock{}, over: make(chan struct{})}
		go s.keep(s.term)
		s.lost() // nobody has watched since the last connection ended
	}
	err := do(ctx, s.term.conn)
	if err != nil {
		s.lose()
	}
	return err
}

// open makes a connection for locks.
func (s *lockSession) open(ctx context.Context) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(s.url) // it knows the parameters of pools, which may stand in the address
	if err != nil {
		return nil, errors.New("DATABASE_URL is not a valid PostgreSQL address")
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = "lastmile locks"
	followPrimary(cfg.ConnConfig)
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, watchLockHolder, s.limits.silence.Milliseconds()); err != nil {
		_ = conn.Close(ctx) // the first error is the reason
		return nil, err
	}
	return conn, nil
}

// lockSilence is the time after which the server ends a connection whose program or host has vanished or hangs: without
// it the locks would be kept for as long as the kernel keeps the connection, two hours by default. A connection that
// nobody uses is kept by a statement at every lockPing.
const (
	lockSilence = 10 * time.Second
	lockPing    = 2 * time.Second
)

// lockLimits are lockSilence and lockPing, but for tests.
type lockLimits struct{ silence, ping time.Duration }

// watchLockHolder lets the server look whether the holder of the locks still exists: while it says nothing, and below
// TCP. A server without a setting keeps the others.
const watchLockHolder = `select set_config(s.name, v.value, false)
	from (values ('idle_session_timeout', $1::bigint::text), ('tcp_user_timeout', $1::bigint::text),
		('tcp_keepalives_idle', '4'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3')) v (name, value)
	join pg_settings s using (name)`

// keep uses a connection until it is lost, so that the server does not take it for one whose program has vanished.
func (s *lockSession) keep(term *lockTerm) {
	every := time.NewTicker(s.limits.ping)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			_ = s.use(context.Background(), term, func(ctx context.Context, conn *pgx.Conn) error {
				return conn.Ping(ctx) // a failure has closed it
			})
		case <-term.over:
			return
		}
	}
}

// lose closes the connection and with it the locks. The caller has the turn.
func (s *lockSession) lose() {
	if s.term == nil {
		return
	}
	if !s.closed {
		s.lost() // before the connection is closed, which can take a second
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.term.conn.Close(ctx) // the server frees the locks when it notices
	for _, l := range s.term.held {
		l.free()
	}
	close(s.term.over)
	s.term = nil
}

// close ends the session for good.
func (s *lockSession) close() {
	if s.enter(context.Background()) == nil {
		defer s.leave()
		s.closed = true
		s.lose()
	}
}

// enter waits for the turn to use the connection.
func (s *lockSession) enter(ctx context.Context) error {
	select {
	case <-s.turn:
		if s.term != nil {
			s.term.pause()
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives the turn back. Until somebody takes it, the end of the connection is waited for.
func (s *lockSession) leave() {
	if s.term != nil {
		s.await(s.term)
	}
	s.turn <- struct{}{}
}
