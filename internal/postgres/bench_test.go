package postgres_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// BenchmarkTenantRead prints the cost of row-level security: the rate of a tenant read of 25 rows of 20,000, as a share
// of the rate of the same indexed query by the owner.
func BenchmarkTenantRead(b *testing.B) {
	db := pgtest.New(b)
	schema := db.Namespace.Schema("bench")
	table := schema + ".rows"
	org := uuid.New()
	for _, sql := range []string{
		"create schema " + schema,
		"create table " + table +
			" (org_id uuid not null, n int not null, name text not null, primary key (org_id, n))",
		"insert into " + table + " select '" + org.String() +
			"'::uuid, n, 'name ' || n from generate_series(1, 20000) n",
		"analyze " + table,
	} {
		if _, err := db.Owner.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.ProtectTable(b.Context(), schema, "rows"); err != nil {
		b.Fatal(err)
	}
	type row struct {
		N    int
		Name string
	}
	sql := "select n, name from " + table + " where org_id = $1 and n > $2 order by n limit 25"
	read := func(b *testing.B, once func(after int) error) float64 {
		n := 0
		for b.Loop() {
			n++
			if err := once(n % 19000); err != nil {
				b.Fatal(err)
			}
		}
		return float64(b.Elapsed()) / float64(b.N)
	}
	var bare, tenant float64
	b.Run("bare", func(b *testing.B) {
		bare = read(b, func(after int) error {
			rows, _ := db.Owner.Query(b.Context(), sql, org, after)
			_, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
			return err
		})
	})
	b.Run("tenant", func(b *testing.B) {
		tenant = read(b, func(after int) error {
			var found []row
			return db.TenantRead(b.Context(), org, func(r *postgres.Reads) {
				postgres.Collect(r, &found, pgx.RowToStructByName[row], sql, org, after)
			})
		})
		b.ReportMetric(bare/tenant, "ratio")
		b.Logf("ratio %.2f, no aim", bare/tenant)
	})
}
