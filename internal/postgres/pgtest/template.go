package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// templates is the beginning of the names of all templates and their copies on a server.
const templates = "lastmile_template_"

// Template is a database that is prepared once in a test program. Each test that asks for it gets a copy, a database of
// its own: to copy 400 tables and drop the copy takes 50 ms, to make and drop them one by one a second. Safe for
// concurrent use.
type Template struct {
	prepare func(context.Context, *postgres.DB) error

	made      sync.Once
	err       error // of the preparation
	namespace postgres.Namespace
	url       *url.URL // of the server
	name      string   // of the database
	copies    atomic.Uint64

	mu   sync.Mutex
	conn *pgx.Conn // makes and drops copies; it holds the lock of the name
}

// NewTemplate makes a template of what prepare does to an empty database. The first test that asks for a copy calls it.
// It must leave what a program leaves that was stopped: whoever opens a copy starts for the second time.
func NewTemplate(prepare func(context.Context, *postgres.DB) error) *Template {
	return &Template{prepare: prepare}
}

// New opens a copy. At the end of the test it is closed and dropped. All copies have the namespace of the template, and
// a URL of their own.
func (m *Template) New(t T) *postgres.DB {
	t.Helper()
	ctx := context.Background()
	server := URL(t)
	m.made.Do(func() { m.err = m.make(ctx, server) })
	if m.err != nil {
		t.Fatalf("prepare a database for tests: %v", m.err)
	}
	name := fmt.Sprint(m.name, "_", m.copies.Add(1))
	if _, err := m.exec(ctx, copySQL(name, m.name)); err != nil {
		t.Fatalf("copy a database for a test: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(ctx, waittest.Limit)
		defer cancel()
		if err := m.drop(ctx, name); err != nil {
			t.Logf("drop the database of a test: %v", err) // a test may have ended the server itself
		}
	})
	// Many tests only give its address to a program, and need no connection of their own.
	return open(t, postgres.Config{URL: m.address(name), Namespace: m.namespace, MaxConns: maxConns, Known: true})
}

// copySQL copies a database by its files. The other way, through the write-ahead log, costs twice as much.
func copySQL(name, template string) string {
	return "create database " + name + " template " + template + " strategy file_copy"
}

// SQL of dropping a copy. Connections that were closed a moment ago are still ending.
const (
	endConnectionsSQL = `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = $1 and usename = current_user`
	dropSQL = "drop database if exists "
)

// drop drops a copy as soon as no connection to it is left. The statement itself would wait 100 ms for the last one.
func (m *Template) drop(ctx context.Context, name string) error {
	for {
		left, err := m.exec(ctx, endConnectionsSQL, name)
		if err != nil {
			return err
		}
		if left == 0 {
			_, err := m.exec(ctx, dropSQL+name)
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// make prepares the database, and shuts it so that nothing keeps it from being copied.
func (m *Template) make(ctx context.Context, server string) (err error) {
	if m.url, err = url.Parse(server); err != nil || m.url.Scheme == "" {
		return fmt.Errorf("TEST_DATABASE_URL must have the form postgres://user:password@host:port/database")
	}
	m.namespace = Namespace()
	m.name = templates + string(m.namespace)
	if _, err := m.exec(ctx, "create database "+m.name); err != nil {
		return err
	}
	db, err := postgres.Open(ctx, postgres.Config{URL: m.address(m.name), Namespace: m.namespace, MaxConns: maxConns})
	if err != nil {
		return err
	}
	err = m.prepare(ctx, db)
	db.Close()
	if err != nil {
		return err
	}
	_, err = m.exec(ctx, "alter database "+m.name+" allow_connections false")
	return err
}

// address is the URL of a database of the server.
func (m *Template) address(name string) string {
	u := *m.url
	u.Path = "/" + name
	return u.String()
}

// exec runs a statement on the server's own database and counts its rows.
func (m *Template) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil || m.conn.IsClosed() {
		if err := m.connect(ctx); err != nil {
			return 0, err
		}
	}
	done, err := m.conn.Exec(ctx, sql, args...)
	return done.RowsAffected(), err
}

// connect opens the connection. It lives as long as the test program, and so does the lock of the template's name.
// Templates without such a lock, which killed programs have left on a server that lives longer, are dropped.
func (m *Template) connect(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, m.url.String())
	if err != nil {
		return err
	}
	m.conn = conn
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtextextended($1, 0))`, m.name); err != nil {
		return err
	}
	rows, _ := conn.Query(ctx, `select datname from pg_database where starts_with(datname, $1)
		and pg_try_advisory_lock(hashtextextended($1 || split_part(substr(datname, length($1) + 1), '_', 1), 0))`,
		templates)
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range left {
		if name == m.name || strings.HasPrefix(name, m.name+"_") {
			continue // a session gets its own lock again
		}
		if _, err := conn.Exec(ctx, dropSQL+name); err != nil {
			return err
		}
	}
	return nil
}
