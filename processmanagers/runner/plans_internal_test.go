package processrunner

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// smallTablesSQL makes a row for each of so many instances, and lets the planner look at the tables.
const smallTablesSQL = `
insert into {schema}.instances (process, key, state, last_position)
	select 'small', i::text, '{}', i from generate_series(1, $1) i;
insert into {schema}.timers (process, key, name, due_at, cause)
	select 'small', i::text, 'due', '2026-01-01', '{}' from generate_series(1, $1) i;
analyze {schema}.instances, {schema}.timers`

// byKey matches the condition of an index by which a plan finds the row of one instance.
var byKey = regexp.MustCompile(`Index Cond: \(\(process = [^)]*\) AND \(key = [^)]*\)`)

// TestStatements_LookEachInstanceUpByItsKey also by a plan that was made while the tables were new or small: it is kept
// while they grow.
func TestStatements_LookEachInstanceUpByItsKey(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 3, 60} { // 0: the planner has never looked
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			lookUpByKey(t, n)
		})
	}
}

// lookUpByKey checks the plans that are made with so many instances.
func lookUpByKey(t *testing.T, n int) {
	t.Helper()
	db := pgtest.New(t)
	r := New(Config{DB: db})
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		_, err := db.Owner.Exec(t.Context(), r.sql(smallTablesSQL), pgx.QueryExecModeSimpleProtocol, n)
		if err != nil {
			t.Fatal(err)
		}
	}
	update := postgres.MustStatement(updateInstancesSQL, "process", "keys", "states", "positions", "ended", "last").Text
	for name, sql := range map[string]string{
		"lock": lockInstancesSQL, "update": update, "delete timers": deleteTimersSQL,
		"delete timers of instances": deleteTimersOfSQL, "delete due timers": deleteDueTimersSQL,
	} {
		if plan := genericPlan(t, db.Owner, r.sql(sql)); !byKey.MatchString(plan) {
			t.Errorf("%s goes over the table:\n%s", name, plan)
		}
	}
}

// genericPlan is the plan that the owner's connections keep for a statement.
func genericPlan(t *testing.T, owner *pgxpool.Pool, sql string) string {
	t.Helper()
	ctx := t.Context()
	conn, err := owner.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	prepared, err := conn.Conn().Prepare(ctx, "kept", sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer func() { _ = conn.Conn().Deallocate(ctx, "kept") }()
	none := strings.TrimSuffix(strings.Repeat("null, ", len(prepared.ParamOIDs)), ", ")
	rows, err := conn.Query(ctx, "explain (costs off) execute kept ("+none+")", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
