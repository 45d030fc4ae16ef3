package benchtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statsDelay is how late a server counts what its connections have written.
const statsDelay = 11 * time.Second

// writtenSQL counts the rows that were ever written to the tables of an installation, without those that were changed
// in place, which cost no index anything.
const writtenSQL = `
select schemaname, relname, n_tup_ins + n_tup_upd - n_tup_hot_upd from pg_stat_user_tables
where starts_with(schemaname, $1 || '_')`

// WatchRows measures the database without a program that thinks: no work that leaves these rows can be faster. The
// returned function takes as many rows from each table of an installation as were written to it since, and writes them
// to an empty table with the same indexes, by one statement for each table, on as many connections as there are
// processors. It gives the time, and the number of rows.
func WatchRows(b *testing.B, pool *pgxpool.Pool, namespace string) func() (time.Duration, int64) {
	b.Helper()
	before := written(b, pool, namespace)
	return func() (time.Duration, int64) {
		after := written(b, pool, namespace)
		for table, n := range before {
			after[table] -= n
		}
		maps.DeleteFunc(after, func(_ string, n int64) bool { return n <= 0 })
		return copyRows(b, pool, namespace+"_bench", after)
	}
}

// written counts the rows by table, whose names are quoted.
func written(b *testing.B, pool *pgxpool.Pool, namespace string) map[string]int64 {
	b.Helper()
	time.Sleep(statsDelay)
	rows, err := pool.Query(b.Context(), writtenSQL, namespace)
	if err != nil {
		b.Fatal(err)
	}
	counts := map[string]int64{}
	var schema, name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&schema, &name, &n}, func() error {
		counts[pgx.Identifier{schema, name}.Sanitize()] = n
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return counts
}

// copyRows copies so many rows of each table, at most all, to a new table in a new schema.
func copyRows(b *testing.B, pool *pgxpool.Pool, schema string, counts map[string]int64) (time.Duration, int64) {
	b.Helper()
	must := func(ctx context.Context, sql string, args ...any) int64 {
		done, err := pool.Exec(ctx, sql, args...)
		if err != nil {
			b.Errorf("%s: %v", sql, err)
		}
		return done.RowsAffected()
	}
	largest := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	must(b.Context(), `drop schema if exists `+schema+` cascade`)
	must(b.Context(), `create schema `+schema)
	for i, table := range largest {
		must(b.Context(), fmt.Sprintf(`create table %s.t%d (like %s including indexes)`, schema, i, table))
	}
	var next, rows atomic.Int64
	began := time.Now()
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(largest)); i = next.Add(1) - 1 {
				rows.Add(must(b.Context(), fmt.Sprintf(`insert into %s.t%d select * from %s limit $1`, schema, i,
					largest[i]), counts[largest[i]]))
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	if b.Failed() {
		b.FailNow()
	}
	return took, rows.Load()
}
