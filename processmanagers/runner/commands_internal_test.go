package processrunner

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestCommands_AreFoundByKeyAlsoInABurst: the statements on commands have run while the table was known to be
// empty. Then a burst fills it, before the server looks at it anew. None of them reads the whole table for each key.
func TestCommands_AreFoundByKeyAlsoInABurst(t *testing.T) {
	t.Parallel()
	const burst, asked = 2_000, 50
	db := pgtest.New(t)
	r := New(Config{DB: db})
	if err := r.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Owner.Exec(t.Context(), r.sql(`vacuum analyze {schema}.commands`)); err != nil {
		t.Fatal(err)
	}
	d := &round{process: &process{r: r, name: "some"}}
	var keys []string
	var ids []uuid.UUID
	for i := range asked {
		keys, ids = append(keys, fmt.Sprintf("key %d", i)), append(ids, uuid.New())
	}
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	look := func() int {
		t.Helper()
		found, err := d.waiting(t.Context(), tx, keys)
		if err == nil {
			_, err = d.waits(t.Context(), tx, keys[0], []string{"n"}, []string{"{}"})
		}
		if err == nil {
			_, err = tx.Exec(t.Context(), r.sql(selectCommandsSQL), anew, d.name, []string{keys[0]}, []int64{0})
		}
		if err == nil {
			_, err = tx.Exec(t.Context(), r.sql(deleteCommandsSQL), anew, ids)
		}
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for range 10 { // from the sixth time on the server may keep a plan
		look()
	}
	_, err = tx.Exec(t.Context(), r.sql(`insert into {schema}.commands (id, process, key, name, body, cause)
		select gen_random_uuid(), 'some', 'key ' || n, 'n', '{}', '{}' from generate_series(1, $1) n`), burst)
	if err != nil {
		t.Fatal(err)
	}
	before := rowsRead(t, tx, r)
	if n := look(); n != asked-1 {
		t.Errorf("%d instances have commands that wait, want %d", n, asked-1)
	}
	if n := rowsRead(t, tx, r) - before; n > 3*burst {
		t.Errorf("%d rows were read one after the other of %d", n, burst)
	}
}

// rowsRead is how many rows of the table were read without an index, in this transaction.
func rowsRead(t *testing.T, tx pgx.Tx, r *Runner) (n int) {
	t.Helper()
	err := tx.QueryRow(t.Context(), `select seq_tup_read from pg_stat_xact_user_tables where relid = $1::regclass`,
		r.sql("{schema}.commands")).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCommands_OfOneLaneCostNoMoreWhenManyWait: neither those that wait nor those that were deleted are gone through
// for the next one.
func TestCommands_OfOneLaneCostNoMoreWhenManyWait(t *testing.T) {
	t.Parallel()
	const waiting = 2_000
	db := pgtest.New(t)
	r := New(Config{DB: db})
	if err := r.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := db.Owner.Exec(t.Context(), r.sql(`insert into {schema}.commands (id, process, key, name, body, cause)
		select gen_random_uuid(), 'some', 'lane', 'n', '{}', '{}' from generate_series(1, $1) n`), waiting)
	if err == nil {
		_, err = db.Owner.Exec(t.Context(), r.sql(`vacuum analyze {schema}.commands`))
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &round{process: &process{r: r, name: "some"}}
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for _, done := range []int64{0, waiting / 2, waiting - 1} {
		if _, err := tx.Exec(t.Context(), r.sql(`delete from {schema}.commands where seq <= $1`), done); err != nil {
			t.Fatal(err)
		}
		before := entriesRead(t, tx, r)
		found, err := d.waiting(t.Context(), tx, []string{"lane"})
		if err != nil || !found["lane"] {
			t.Fatalf("after %d: %v, %v", done, found, err)
		}
		rows, err := tx.Query(t.Context(), r.sql(selectCommandsSQL), anew, d.name, []string{"lane"}, []int64{done})
		if err != nil {
			t.Fatal(err)
		}
		next, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[storedCommand])
		if err != nil || next.Seq != done+1 || next.More != (done < waiting-1) {
			t.Fatalf("after %d comes %+v, %v", done, next, err)
		}
		if n := entriesRead(t, tx, r) - before; n > 10 {
			t.Errorf("after %d, %d rows and entries of indexes were read for the next one", done, n)
		}
	}
}

// entriesRead is how many rows of the table were read without an index, and how many entries of its indexes, in this
// transaction.
func entriesRead(t *testing.T, tx pgx.Tx, r *Runner) (n int) {
	t.Helper()
	err := tx.QueryRow(t.Context(), `select sum(pg_stat_get_xact_tuples_returned(c))::int from (
			select $1::regclass::oid union all select indexrelid from pg_index where indrelid = $1::regclass) t (c)`,
		r.sql("{schema}.commands")).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
