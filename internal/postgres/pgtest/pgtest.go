// Package pgtest gives tests a real PostgreSQL: a namespace of its own for each test, or a copy of a prepared database
// (Template), on the server of TEST_DATABASE_URL or on a throw-away one that lives as long as the test program.
package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// T has the methods of a test that the kits call; *testing.T and *testing.B have them. Runnable Examples have no such
// value, and take one from internal/exampletest.
type T interface {
	Helper()
	// Cleanup calls f when the test ends; the function added last is called first.
	Cleanup(f func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	// Fatalf does not return.
	Fatalf(format string, args ...any)
}

// maxConns bounds the connections of each pool of a test, since many tests share the server.
const maxConns = 8

// shared is the server of this test program. The first test that asks starts it, and its keeper stops it when the
// program ends. The variable keeps the value from being garbage collected, which would close the keeper's pipe.
var shared = sync.OnceValues(func() (*Scratch, error) {
	return StartScratch(context.Background(), ScratchConfig{})
})

// URL gives the address of the server that tests share: that of TEST_DATABASE_URL, or of a throw-away server.
func URL(t T) string {
	t.Helper()
	if url := os.Getenv("TEST_DATABASE_URL"); url != "" {
		return url
	}
	server, err := shared()
	if err != nil {
		t.Fatalf("start a database for tests: %v", err)
	}
	return server.URL()
}

// New opens the database in a namespace of its own, without any schema yet. At the end of the test it is closed and
// the namespace's schemas are dropped.
func New(t T) *postgres.DB {
	t.Helper()
	url, ns := URL(t), Namespace()
	t.Cleanup(func() { drop(t, url, ns) })
	return Open(t, url, ns)
}

// Open opens the database in a namespace that is already in use, as a second program or one started again would. It is
// closed at the end of the test at the latest.
func Open(t T, url string, ns postgres.Namespace) *postgres.DB {
	t.Helper()
	return open(t, postgres.Config{URL: url, Namespace: ns, MaxConns: maxConns})
}

// open opens a database until the end of the test.
func open(t T, cfg postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(context.Background(), cfg)
	if err != nil {
		t.Fatalf("open test database: %v", err)
	}
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() { db.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(waittest.Limit):
			t.Errorf("a database connection was not given back")
		}
	})
	return db
}

// Namespace makes a random namespace, so that tests on one server do not meet.
func Namespace() postgres.Namespace {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails
	return postgres.Namespace("t" + hex.EncodeToString(b))
}

// drop removes all schemas of a namespace. A failure is only logged.
func drop(t T, url string, ns postgres.Namespace) {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Logf("drop test schemas: %v", err) // a test may have ended the server itself
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, _ := conn.Query(ctx, `select quote_ident(nspname) from pg_namespace where starts_with(nspname, $1)`,
		string(ns)+"_")
	schemas, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Errorf("drop test schemas: %v", err)
	}
	for _, schema := range schemas {
		if _, err := conn.Exec(ctx, "set lock_timeout = '10s'; set client_min_messages = 'error'; drop schema "+schema+
			" cascade"); err != nil {
			t.Errorf("drop test schema %s: %v", schema, err)
		}
	}
}

// EndConnections has the server end all connections that asked about a schema of the test, but the one that asks for
// this. The pool may give one that was ended the time before, which is tried again.
func EndConnections(t T, db *postgres.DB) {
	t.Helper()
	for {
		_, err := db.Owner.Exec(context.Background(), `select pg_terminate_backend(pid) from pg_stat_activity
			where pid <> pg_backend_pid() and datname = current_database() and application_name = 'lastmile'
			and query like '%' || $1 || '%'`, string(db.Namespace))
		switch {
		case err == nil:
			return
		case !postgres.Away(err):
			t.Fatalf("end connections: %v", err)
		}
	}
}

// EndHolder has the server end the connection that holds a lock of the database, by the lock's name.
func EndHolder(t T, db *postgres.DB, lock string) {
	t.Helper()
	_, err := db.Owner.Exec(context.Background(), `select pg_terminate_backend(pid) from pg_locks
		where locktype = 'advisory' and granted and (classid::bigint << 32) | objid::bigint = $1
			and database = (select oid from pg_database where datname = current_database())`,
		db.Namespace.LockKey(lock))
	if err != nil {
		t.Fatalf("end the holder of a lock: %v", err)
	}
}
