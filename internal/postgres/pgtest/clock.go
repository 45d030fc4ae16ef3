package pgtest

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Steps lets a test set the clock of a database: each call of what it gives moves now() by a time, forward or back, for
// all statements of the owner.
func Steps(t T, db *postgres.DB) func(by time.Duration) {
	t.Helper()
	ctx := context.Background()
	schema := db.Namespace.Schema("steps")
	if _, err := db.Owner.Exec(ctx, `create schema `+schema+`;
		create table `+schema+`.ahead as select interval '0' as by;
		create function `+schema+`.now() returns timestamptz stable language sql
			as 'select pg_catalog.now() + by from `+schema+`.ahead'`); err != nil {
		t.Fatalf("make a clock that can be set: %v", err)
	}
	cfg := db.Owner.Config()
	cfg.ConnConfig.RuntimeParams["search_path"] = schema + ", pg_catalog"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		t.Fatalf("open test database: %v", err)
	}
	db.Owner.Close()
	db.Owner = pool
	return func(by time.Duration) {
		t.Helper()
		if _, err := db.Owner.Exec(ctx, `update `+schema+`.ahead set by = by + $1::interval`, by); err != nil {
			t.Fatalf("set the clock of the database: %v", err)
		}
	}
}
