package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Lock is an advisory lock that a connection of its own holds, so PostgreSQL frees it when this program dies. It is not
// a transaction, so outside calls may be made under it.
type Lock struct {
	conn *pgxpool.Conn
	key  int64
}

// Lock waits for the advisory lock of a name in the namespace. Each holder and each waiter takes one connection of the
// owner's pool: callers must bound how many of them there are.
func (db *DB) Lock(ctx context.Context, name string) (*Lock, error) {
	l, _, err := db.lock(ctx, name, `select true from pg_advisory_lock($1)`)
	return l, err
}

// TryLock takes the lock if it is free. Otherwise it returns nil and false at once.
func (db *DB) TryLock(ctx context.Context, name string) (*Lock, bool, error) {
	return db.lock(ctx, name, `select pg_try_advisory_lock($1)`)
}

// lock runs one of the two statements on a connection taken from the pool.
func (db *DB) lock(ctx context.Context, name, sql string) (*Lock, bool, error) {
	conn, err := db.Owner.Acquire(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", name, err)
	}
	l := &Lock{conn: conn, key: db.Namespace.LockKey(name)}
	var got bool
	if err := conn.QueryRow(ctx, sql, l.key).Scan(&got); err != nil {
		l.Unlock() // the server may have given the lock although the wait was interrupted
		return nil, false, fmt.Errorf("lock %s: %w", name, err)
	}
	if !got {
		conn.Release()
		return nil, false, nil
	}
	return l, true, nil
}

// Conn gives the connection that holds the lock, for statements that must fail once the lock is lost. Not safe for
// concurrent use.
func (l *Lock) Conn() *pgx.Conn { return l.conn.Conn() }

// Unlock frees the lock. When that cannot be confirmed the connection is closed, which frees it too.
func (l *Lock) Unlock() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := l.conn.Exec(ctx, `select pg_advisory_unlock($1)`, l.key); err != nil {
		_ = l.conn.Conn().Close(ctx) // Release drops a closed connection
	}
	l.conn.Release()
}
