package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// things migrates a part with one protected table and gives the table's name.
func things(t *testing.T, db *postgres.DB) string {
	t.Helper()
	files := fstest.MapFS{"00001_things.sql": {Data: []byte(`-- +goose Up
create table {schema}.things (org_id uuid not null, name text not null);
`)}}
	if err := db.Migrate(t.Context(), "part", files); err != nil {
		t.Fatal(err)
	}
	schema := db.Namespace.Schema("part")
	for range 2 { // the second time changes nothing
		if err := db.ProtectTable(t.Context(), schema, "things"); err != nil {
			t.Fatal(err)
		}
	}
	return schema + ".things"
}

// insert adds one row as the owner, whom row-level security lets write for every organization.
func insert(t *testing.T, db *postgres.DB, table string, org uuid.UUID, name string) {
	t.Helper()
	if _, err := db.Owner.Exec(t.Context(), "insert into "+table+" values ($1, $2)", org, name); err != nil {
		t.Fatal(err)
	}
}

func TestTenantRead_SeesOneOrganizationAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	table := things(t, db)
	a, b := uuid.New(), uuid.New()
	insert(t, db, table, a, "of a")
	insert(t, db, table, b, "of b")

	for _, c := range []struct {
		org  uuid.UUID
		want []string
	}{{a, []string{"of a"}}, {b, []string{"of b"}}, {uuid.New(), []string{}}} {
		var names []string
		var count int
		var none *string
		err := db.TenantRead(t.Context(), c.org, func(r *postgres.Reads) {
			postgres.Collect(r, &names, pgx.RowTo[string], "select name from "+table)
			postgres.CollectOne(r, &count, pgx.RowTo[int], "select count(*) from "+table)
			postgres.CollectMaybe(r, &none, pgx.RowTo[string], "select name from "+table+" where name = $1", "absent")
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, names); d != "" || count != len(c.want) || none != nil {
			t.Errorf("org %s: count %d, none %v, names (-want +got)\n%s", c.org, count, none, d)
		}
	}
	var left int
	if err := db.Query.QueryRow(t.Context(), "select count(*) from "+table).Scan(&left); err != nil || left != 0 {
		t.Errorf("without an organization the query role sees %d rows, err %v", left, err)
	}
	if err := db.TenantRead(t.Context(), uuid.Nil, func(*postgres.Reads) {}); err == nil {
		t.Error("a read without an organization was allowed")
	}
}

func TestPlatformRead_SeesEveryOrganization(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	table := things(t, db)
	insert(t, db, table, uuid.New(), "x")
	insert(t, db, table, uuid.New(), "y")
	var names []string
	err := db.PlatformRead(t.Context(), func(r *postgres.Reads) {
		postgres.Collect(r, &names, pgx.RowTo[string], "select name from "+table+" order by name")
	})
	if d := cmp.Diff([]string{"x", "y"}, names); err != nil || d != "" {
		t.Errorf("err %v, names (-want +got)\n%s", err, d)
	}
}

// TestCollectMap_KeepsTheLastRowOfAKey: what was in the map before goes, and a value that does not fit its type is an
// error that leaves the map as it was.
func TestCollectMap_KeepsTheLastRowOfAKey(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	got := map[string]int{"before": 1}
	read := func(sql string) error {
		return db.PlatformRead(t.Context(), func(r *postgres.Reads) { postgres.CollectMap(r, &got, sql) })
	}
	want := map[string]int{"a": 3, "b": 2}
	if err := read("values ('a', 1), ('b', 2), ('a', 3)"); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
	if err := read("values ('a', null::int)"); err == nil || !maps.Equal(got, want) {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
	if err := read("select 'a', 1 where false"); err != nil || got == nil || len(got) > 0 {
		t.Errorf("without a row: %v, %v", got, err)
	}
}

func TestReadRoles_CannotWriteNorEscape(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	table := things(t, db)
	for _, pool := range []string{postgres.QueryRole, postgres.PlatformRole} {
		p := db.Query
		if pool == postgres.PlatformRole {
			p = db.Platform
		}
		if _, err := p.Exec(t.Context(),
			"set transaction_read_only = off; insert into "+table+" values (gen_random_uuid(), 'z')"); err == nil {
			t.Errorf("%s could write", pool)
		}
		var role string
		var bypass bool
		err := pgx.BeginFunc(t.Context(), p, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "reset role"); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(),
				"select current_user, rolbypassrls or rolsuper from pg_roles where rolname = current_user").Scan(&role,
				&bypass)
		})
		if err != nil || role != pool || bypass {
			t.Errorf("after reset role: %s (bypass %v, err %v), want %s", role, bypass, err, pool)
		}
	}
}

func TestProtectTable_BindsTheOwnerThroughThePolicyOnly(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	table := things(t, db)
	var enabled, forced bool
	err := db.Owner.QueryRow(t.Context(),
		"select relrowsecurity, relforcerowsecurity from pg_class where oid = $1::regclass", table).Scan(&enabled,
		&forced)
	if err != nil || !enabled || !forced {
		t.Errorf("row security enabled %v, forced %v, err %v", enabled, forced, err)
	}
}

func TestMigrate_ConcurrentProgramsApplyOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	files := fstest.MapFS{
		"00001_a.sql": {Data: []byte("-- +goose Up\ncreate table {schema}.a (n int);\n")},
		"00002_b.sql": {Data: []byte("-- +goose Up\ninsert into {schema}.a values (1);\n")},
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := db.Migrate(t.Context(), "twice", files); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var rows int
	if err := db.Owner.QueryRow(t.Context(),
		"select count(*) from "+db.Namespace.Schema("twice")+".a").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("rows %d, err %v", rows, err)
	}
}

func TestOpen_ConcurrentProgramsMakeTheRoles(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { pgtest.Open(t, url, pgtest.Namespace()) })
	}
	wg.Wait()
}

func TestOpen_WithoutCreateRoleNamesTheSQL(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	user := "plain_" + string(db.Namespace)
	if _, err := db.Owner.Exec(t.Context(), "create role "+user+" login password 'plain'"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := pgtest.Open(t, db.URL, db.Namespace).Owner.Exec(context.Background(),
			"drop role "+user); err != nil {
			t.Error(err)
		}
	})
	cfg, err := pgx.ParseConfig(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(db.URL, cfg.User+":"+cfg.Password+"@", user+":plain@", 1)
	_, err = postgres.Open(t.Context(), postgres.Config{URL: url, Namespace: pgtest.Namespace()})
	if err == nil || !strings.Contains(err.Error(), "create role lastmile_query") {
		t.Errorf("want the SQL to run, have: %v", err)
	}
}

func TestOpen_BadAddressKeepsThePassword(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://u:hunter2@[::bad/x", Namespace: "x"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("have: %v", err)
	}
}

func TestLock_OneHolderPerNamespace(t *testing.T) {
	t.Parallel()
	db, other := pgtest.New(t), pgtest.New(t)
	held, err := db.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := db.TryLock(t.Context(), "x"); ok || err != nil {
		t.Errorf("a held lock was taken again: %v, %v", ok, err)
	}
	foreign, ok, err := other.TryLock(t.Context(), "x")
	if !ok || err != nil {
		t.Fatalf("another namespace's lock was not free: %v", err)
	}
	foreign.Unlock()
	waiting := make(chan error)
	go func() {
		l, err := db.Lock(t.Context(), "x")
		if err == nil {
			l.Unlock()
		}
		waiting <- err
	}()
	held.Unlock()
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

func TestNamespace_RefusesWhatCannotStandUnquoted(t *testing.T) {
	t.Parallel()
	for _, n := range []postgres.Namespace{"", "A", "1a", "a_b", "a-b", postgres.Namespace(strings.Repeat("a", 25))} {
		if n.Validate() == nil {
			t.Errorf("%q was accepted", string(n))
		}
	}
	if got := postgres.Namespace("lastmile").Schema("vault"); got != "lastmile_vault" {
		t.Error(got)
	}
	if postgres.Namespace("a").LockKey("x") == postgres.Namespace("b").LockKey("x") {
		t.Error("two namespaces share a lock key")
	}
}

func TestOpen_TimesScanInUTC(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for _, pool := range []*pgxpool.Pool{db.Owner, db.Query, db.Platform} {
		var at time.Time
		err := pool.QueryRow(t.Context(), "select timestamptz '2026-03-01 12:00:00+03'").Scan(&at)
		if want := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC); err != nil || at.Location() != time.UTC ||
			!at.Equal(want) {
			t.Errorf("have %s, %v; want %s", at, err, want)
		}
	}
}

func TestLocks_HoldNoConnectionOfThePool(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var held []*postgres.Lock
	for i := range 200 { // more than any pool has connections
		l, ok, err := db.TryLock(t.Context(), fmt.Sprint("router ", i))
		if err != nil || !ok {
			t.Fatalf("lock %d: %v", i, err)
		}
		held = append(held, l)
	}
	waiting, end := context.WithCancel(t.Context())
	defer end()
	for i := range 50 {
		go func() { _, _ = db.Lock(waiting, fmt.Sprint("router ", i)) }()
	}
	if n := db.Owner.Stat().AcquiredConns(); n != 0 {
		t.Errorf("locks hold %d connections", n)
	}
	if _, err := db.Owner.Exec(t.Context(), "select 1"); err != nil {
		t.Error(err)
	}
	end()
	for _, l := range held {
		l.Unlock()
	}
}

func TestLock_OfALostConnectionIsLostAndFreeForOthers(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	other := pgtest.Open(t, db.URL, db.Namespace)
	held, err := db.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	beside, err := db.Lock(t.Context(), "y")
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Ping(t.Context()); err != nil || !beside.IsHeld() {
		t.Error(err, beside.IsHeld())
	}
	pgtest.EndHolder(t, db, "x")
	next, err := other.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer next.Unlock()
	for range 2 { // the first one notices the loss, and it is not forgotten
		if held.Ping(t.Context()) == nil {
			t.Error("a lost lock is said to be held")
		}
		if beside.IsHeld() {
			t.Error("the lock beside it is said to be held")
		}
	}
	if _, ok, err := db.TryLock(t.Context(), "x"); ok || err != nil {
		t.Errorf("two programs hold the lock: %v, %v", ok, err)
	}
	held.Unlock()
}

// TestMigrate_AnOlderProgramWarns: its tables have changed under it.
func TestMigrate_AnOlderProgramWarns(t *testing.T) {
	t.Parallel()
	url, ns := pgtest.URL(t), pgtest.New(t).Namespace
	var log bytes.Buffer
	db, err := postgres.Open(t.Context(), postgres.Config{
		URL: url, Namespace: ns, MaxConns: 2, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	older := fstest.MapFS{"00001_a.sql": {Data: []byte("-- +goose Up\ncreate table {schema}.a (n int);\n")}}
	newer := fstest.MapFS{"00001_a.sql": older["00001_a.sql"],
		"00002_b.sql": {Data: []byte("-- +goose Up\ninsert into {schema}.a values (1);\n")}}
	for _, files := range []fstest.MapFS{older, newer, newer} {
		if err := db.Migrate(t.Context(), "aged", files); err != nil ||
			strings.Contains(log.String(), "newer program") {
			t.Fatalf("%v\n%s", err, &log)
		}
	}
	if err := db.Migrate(t.Context(), "aged", older); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "migrated by a newer program") {
		t.Errorf("no warning in\n%s", &log)
	}
}
