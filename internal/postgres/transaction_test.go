package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestTransaction_APanicLeavesNothing: no row and no lock; the end of the test asks for the connections. In the second
// case it comes while the answer of a statement is being read.
func TestTransaction_APanicLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(pgx.Tx){
		"between statements": func(pgx.Tx) { panic("a fault") },
		"within a batch": func(tx pgx.Tx) {
			batch := &pgx.Batch{}
			for range 3 {
				batch.Queue("select generate_series(1, 1000)").Query(func(pgx.Rows) error { panic("a fault") })
			}
			_ = tx.SendBatch(t.Context(), batch).Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			table := things(t, db)
			err := loop.Try(func() error {
				return postgres.Transaction(t.Context(), db.Owner, func(tx pgx.Tx) error {
					_, err := tx.Exec(t.Context(), "insert into "+table+" values (gen_random_uuid(), 'of a panic')")
					if err == nil {
						_, err = tx.Exec(t.Context(), "select pg_advisory_xact_lock($1)", db.Namespace.LockKey(table))
					}
					if err != nil {
						return err
					}
					fault(tx)
					return nil
				})
			})
			if loop.StackOf(err) == "" {
				t.Fatalf("no panic: %v", err)
			}
			soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var rows int
			err = postgres.Transaction(soon, db.Owner, func(tx pgx.Tx) error {
				_, err := tx.Exec(soon, "select pg_advisory_xact_lock($1)", db.Namespace.LockKey(table))
				if err != nil {
					return err
				}
				return tx.QueryRow(soon, "select count(*) from "+table).Scan(&rows)
			})
			if err != nil || rows != 0 {
				t.Errorf("%d rows, %v", rows, err)
			}
		})
	}
}
