package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrPassing marks an error that a further attempt may avoid: a lost connection, a server that restarts, a conflict.
// When a commit ends with it, the outcome is unknown.
var ErrPassing = errors.New("database is away")

// passing adds the mark ErrPassing to an error without changing its text.
type passing struct{ error }

// Unwrap lets errors.Is and errors.As reach the marked error.
func (p *passing) Unwrap() error { return p.error }

// Is lets errors.Is find ErrPassing.
func (p *passing) Is(target error) bool { return target == ErrPassing }

// Transaction runs fn in a transaction, committed when it returns nil. An error that is ErrPassing
// may be tried again as it is; any other will come again. When fn panics nothing of it stays, also none of its locks.
func Transaction(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return &passing{fmt.Errorf("begin: %w", err)}
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // changes nothing after a commit
	if err := fn(tx); err != nil {
		if tx.Conn().IsClosed() || mayPass(err) {
			return &passing{err}
		}
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		if Code(err) != "" && !mayPass(err) || errors.Is(err, pgx.ErrTxCommitRollback) {
			return fmt.Errorf("commit: %w", err)
		}
		return &passing{fmt.Errorf("commit: %w", err)}
	}
	return nil
}

// mayPass reports, by the code of an error, whether it comes from the server's condition and not from the statement.
func mayPass(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	switch Class(err) {
	case "40", "55", "XX": // conflict, locks, internal
		return true
	}
	return ofServer(err)
}
