package postgres_test

import (
	"context"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestProtectTable_ProgramsThatStartTogetherTakeTurns: all of them wait for one database, and it comes back.
func TestProtectTable_ProgramsThatStartTogetherTakeTurns(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	schema := db.Namespace.Schema("rights")
	if _, err := db.Owner.Exec(t.Context(), "create schema "+schema+"; create table "+schema+".a (org_id uuid); "+
		"create table "+schema+".b (org_id uuid)"); err != nil {
		t.Fatal(err)
	}
	var programs errgroup.Group
	for range 8 {
		programs.Go(func() error {
			for range 10 {
				for _, table := range []string{"a", "b"} {
					if err := db.ProtectTable(t.Context(), schema, table); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := programs.Wait(); err != nil {
		t.Error(err)
	}
}

// TestProtectTable_MeetsAVacuum: the server's vacuum holds the table, and writes its row in pg_class at its end. A
// grant in its place does both, since a vacuum cannot be stopped half-way.
func TestProtectTable_MeetsAVacuum(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	table := things(t, db)
	vacuum, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = vacuum.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := vacuum.Exec(t.Context(), "lock table "+table+" in share update exclusive mode"); err != nil {
		t.Fatal(err)
	}
	var program errgroup.Group
	program.Go(func() error { return db.ProtectTable(t.Context(), db.Namespace.Schema("part"), "things") })
	for waiting := 0; waiting == 0; {
		err := vacuum.QueryRow(t.Context(),
			"select count(*) from pg_locks where relation = $1::regclass and not granted", table).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := vacuum.Exec(t.Context(), "grant insert on "+table+" to current_user"); err != nil {
		t.Fatal(err)
	}
	if err := vacuum.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}
