package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// otherWaits waits for a lock on a connection of its own, as another program does, for a limited time.
func otherWaits(t *testing.T, key int64, limit string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `set lock_timeout = '`+limit+`'`); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `select pg_advisory_lock($1)`, key)
	return err
}

// TestLock_OfAProgramThatHangsIsFreed: the connection stands, and nothing comes from it, as from a stopped process.
func TestLock_OfAProgramThatHangsIsFreed(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	postgres.LimitLocks(db, 200*time.Millisecond, time.Hour)
	if _, got, err := db.TryLock(t.Context(), "hangs"); !got {
		t.Fatal(err)
	}
	if err := otherWaits(t, db.Namespace.LockKey("hangs"), "20s"); err != nil {
		t.Errorf("the lock is not freed: %v", err)
	}
}

// TestLock_ThatNobodyUsesStaysWithItsProgram: also for longer than the server waits for a word of one that hangs.
func TestLock_ThatNobodyUsesStaysWithItsProgram(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	postgres.LimitLocks(db, time.Second, 100*time.Millisecond)
	held, got, err := db.TryLock(t.Context(), "idle")
	if !got {
		t.Fatal(err)
	}
	if err := otherWaits(t, db.Namespace.LockKey("idle"), "3s"); postgres.Code(err) != "55P03" {
		t.Errorf("another program got the lock: %v", err)
	}
	if !held.IsHeld() {
		t.Error("the lock is lost")
	}
}
