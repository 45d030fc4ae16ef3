package postgres_test

import (
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
