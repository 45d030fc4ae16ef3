package embedded

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// TestSession_CommitsDurably: the node replaces what is weaker than "on" by it; what is stronger stays.
func TestSession_CommitsDurably(t *testing.T) {
	t.Parallel()
	for configured, want := range map[string]string{
		"off": "on", "on": "on", "local": "on", "remote_write": "on", "remote_apply": "remote_apply",
	} {
		config, err := pgx.ParseConfig(pgtest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		config.RuntimeParams["synchronous_commit"] = configured
		s := &sessions{config: config}
		conn, err := s.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := conn.QueryRow(t.Context(), `show synchronous_commit`).Scan(&got); err != nil || got != want {
			t.Errorf("configured %s: %s, %v; want %s", configured, got, err, want)
		}
		_ = conn.Close(t.Context())
	}
}

// testSessions opens sessions on the test server.
func testSessions(t *testing.T) *sessions {
	t.Helper()
	config, err := pgx.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	return &sessions{config: config}
}

// testSession opens one session, closed at the end of the test.
func testSession(t *testing.T, s *sessions) *pgx.Conn {
	t.Helper()
	conn, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// TestSession_TheLockOfAVanishedNodeIsFreed: the server ends the session of a node that says nothing any more, although
// its connection stands, and the next node gets the lock.
func TestSession_TheLockOfAVanishedNodeIsFreed(t *testing.T) {
	t.Parallel()
	holder, next := testSessions(t), testSessions(t)
	holder.silence, holder.lock = 200*time.Millisecond, lockKey(t.Name())
	vanished := testSession(t, holder)
	if taken, err := holder.tryLock(t.Context(), vanished); err != nil || !taken {
		t.Fatal(taken, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	if _, err := testSession(t, next).Exec(ctx, `select pg_advisory_lock($1)`, holder.lock); err != nil {
		t.Errorf("the lock is not freed: %v", err)
	}
}

// TestSession_TheLockOfANodeThatVanishedInATransactionIsFreed: such a session is not an idle one to the server.
func TestSession_TheLockOfANodeThatVanishedInATransactionIsFreed(t *testing.T) {
	t.Parallel()
	holder, next := testSessions(t), testSessions(t)
	holder.silence, holder.lock = 200*time.Millisecond, lockKey(t.Name())
	vanished := testSession(t, holder)
	if taken, err := holder.tryLock(t.Context(), vanished); err != nil || !taken {
		t.Fatal(taken, err)
	}
	if _, err := vanished.Exec(t.Context(), `begin`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	if _, err := testSession(t, next).Exec(ctx, `select pg_advisory_lock($1)`, holder.lock); err != nil {
		t.Errorf("the lock is not freed: %v", err)
	}
}

// TestGossip_ANodeWithoutItsDatabaseIsNoLeader: another node may have taken the log over, and clients that know both
// then ask that one.
func TestGossip_ANodeWithoutItsDatabaseIsNoLeader(t *testing.T) {
	t.Parallel()
	n := &Node{config: Config{Clock: clock.System()}, sequencer: &sequencer{}, stopping: make(chan struct{})}
	for _, away := range []bool{false, true} {
		n.sequencer.down.Store(away)
		info, err := (&gossipService{node: n}).Read(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		m := info.GetMembers()[0]
		if leads := m.GetIsAlive() && m.GetState() == gossip.MemberInfo_Leader; leads == away {
			t.Errorf("with its database away: %t, it says that it leads: %t", away, leads)
		}
	}
}

// TestSession_TheServerLooksForTheNodeBelowTCP: a host that vanishes answers no keepalive and acknowledges no bytes.
func TestSession_TheServerLooksForTheNodeBelowTCP(t *testing.T) {
	t.Parallel()
	s := testSessions(t)
	if s.silence = holderSilence; strings.HasPrefix(s.config.Host, "/") {
		s.config.Host = "127.0.0.1" // a socket has no TCP below it
	}
	conn := testSession(t, s)
	for name, want := range map[string]string{
		"idle_session_timeout": "10s", "tcp_user_timeout": "10000", "tcp_keepalives_idle": "4",
		"tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "client_connection_check_interval": "1s",
		"idle_in_transaction_session_timeout": "10s",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), `show `+name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", name, got, err, want)
		}
	}
}

// TestSession_RefusalsAreDefiniteInEveryLanguage: the server writes the severity in the language of its messages.
func TestSession_RefusalsAreDefiniteInEveryLanguage(t *testing.T) {
	t.Parallel()
	conn := testSession(t, testSessions(t))
	for _, severity := range []string{"ERROR", "ERREUR", "FEHLER", "ОШИБКА"} {
		refused := &pgconn.PgError{Severity: severity, SeverityUnlocalized: "ERROR", Code: "23514"}
		if !definite(conn, refused) {
			t.Errorf("%s: not taken for a refusal", severity)
		}
	}
	if definite(conn, &pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "FATAL", Code: "57P01"}) {
		t.Error("the end of a session is taken for a refusal")
	}
}

// TestSession_AServerThatMayNotWriteIsNotTaken: a standby, or a primary that was set read-only.
func TestSession_AServerThatMayNotWriteIsNotTaken(t *testing.T) {
	t.Parallel()
	s := testSessions(t)
	s.config.RuntimeParams["default_transaction_read_only"] = "on"
	for name, known := range map[string]pgconn.ValidateConnectFunc{
		"": nil, "of the pool": pgconn.ValidateConnectTargetSessionAttrsPrimary,
	} {
		s.config.ValidateConnect = known
		if conn, err := s.connect(t.Context()); err == nil {
			_ = conn.Close(t.Context())
			t.Errorf("a node would write to a read-only server, with a check %q", name)
		}
	}
}

// TestSession_AnotherOnesWithTheNumberOfTheLostOneGoesOn: the numbers of backends begin anew with the server.
func TestSession_AnotherOnesWithTheNumberOfTheLostOneGoesOn(t *testing.T) {
	t.Parallel()
	s := testSessions(t)
	s.lock, s.schema = lockKey(t.Name()), "unmade"
	holder, next := testSession(t, testSessions(t)), testSession(t, s)
	if _, err := holder.Exec(t.Context(), `select pg_advisory_lock($1)`, s.lock); err != nil {
		t.Fatal(err)
	}
	lost := backend{pid: holder.PgConn().PID(), began: s.last.began.Add(-time.Hour)}
	if _, err := s.relock(t.Context(), next, lost); err == nil {
		t.Fatal("two hold the lock")
	}
	if err := holder.Ping(t.Context()); err != nil {
		t.Errorf("the session of another node is ended: %v", err)
	}
}

// told signals each line of a log.
type told struct {
	slog.Handler
	lines chan string
}

func (told) Enabled(context.Context, slog.Level) bool { return true }

// Handle passes the text of a line on.
func (h told) Handle(_ context.Context, line slog.Record) error {
	h.lines <- line.Message
	return nil
}

// TestSession_WaitsForTheHolderThatMigratesAndNamesAnyOther: to stop "another node" would be wrong advice while the
// database copies the log for a node that was killed.
func TestSession_WaitsForTheHolderThatMigratesAndNamesAnyOther(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 10)
	s := testSessions(t)
	s.lock, s.patience, s.schema, s.log = lockKey(t.Name()), 100*time.Millisecond, "unmade",
		slog.New(told{lines: lines})
	s.queries = newQueries(s.schema)
	holder, next := testSession(t, testSessions(t)), testSession(t, s)
	if _, err := holder.Exec(t.Context(), `select pg_advisory_lock($1)`, s.lock); err != nil {
		t.Fatal(err)
	}
	if err := s.waitForLock(t.Context(), next); err == nil || !strings.Contains(err.Error(), "another node holds") {
		t.Errorf("beside a node that serves: %v", err)
	}
	if _, err := holder.Exec(t.Context(), `set application_name = '`+migrationName+`'`); err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	go func() { taken <- s.waitForLock(t.Context(), next) }()
	select {
	case err := <-taken:
		t.Fatalf("beside a migration: %v", err)
	case line := <-lines:
		if !strings.Contains(line, "a migration of the log is still running in the database") {
			t.Errorf("the log says %q", line)
		}
	}
	if _, err := holder.Exec(t.Context(), `select pg_advisory_unlock($1)`, s.lock); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("after the migration: %v", err)
	}
}
