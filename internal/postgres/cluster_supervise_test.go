package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// told is a log handler that passes on the messages, so that a test can wait for them.
type told chan string

func (h told) Enabled(context.Context, slog.Level) bool { return true }
func (h told) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h told) WithGroup(string) slog.Handler            { return h }

// Handle never waits: a message for which there is no room is dropped.
func (h told) Handle(_ context.Context, r slog.Record) error {
	select {
	case h <- r.Message:
	default:
	}
	return nil
}

// await waits for a message, and passes over others.
func (h told) await(t *testing.T, message string) {
	t.Helper()
	for {
		select {
		case m := <-h:
			if m == message {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("%q was never logged", message)
		}
	}
}

// supervised starts a cluster that is supervised until the end of the test, and its log.
func supervised(t *testing.T) (*postgres.Cluster, string, told) {
	t.Helper()
	dir, log := clusterDir(t), make(told, 1000)
	c, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{
		DataDir: dir, MaxConnections: 20, Scratch: true, Logger: slog.New(log),
	})
	if err != nil {
		t.Fatal(err)
	}
	group := loop.Within(context.Background(), nil)
	group.Go("supervisor", c.Supervise)
	t.Cleanup(func() {
		group.Stop()
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	log.await(t, "private database started")
	query(t, c.URL(), "create table kept as select 'here' as n")
	return c, dir, log
}

// TestSupervise_AServerKilledWhileItRestoresIsStartedUntilItRuns: it is killed more often than a start that fails by
// itself would be tried.
func TestSupervise_AServerKilledWhileItRestoresIsStartedUntilItRuns(t *testing.T) {
	t.Parallel()
	c, _, log := supervised(t)
	for range 7 {
		// A server may end by itself while processes of the one before are still ending.
		if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		log.await(t, "private database starts")
	}
	log.await(t, "private database started")
	if got := query(t, c.URL(), "select n from kept"); got != "here" {
		t.Errorf("data lost: %q", got)
	}
}

// TestSupervise_AServerThatCannotStartIsTriedUntilItCan: a server that meets a full disk ends, and ends again at each
// start until there is room. Here a file of its data is away meanwhile.
func TestSupervise_AServerThatCannotStartIsTriedUntilItCan(t *testing.T) {
	t.Parallel()
	c, dir, log := supervised(t)
	control := filepath.Join(dir, "pgdata", "global", "pg_control")
	if err := os.Rename(control, control+".away"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	log.await(t, "private database does not start, is tried again")
	if err := os.Rename(control+".away", control); err != nil {
		t.Fatal(err)
	}
	log.await(t, "private database started")
	if got := query(t, c.URL(), "select n from kept"); got != "here" {
		t.Errorf("data lost: %q", got)
	}
}

// TestStart_AServerThatEndsByItselfIsStartedUntilItRuns: a disk that is full at the start is emptied later.
func TestStart_AServerThatEndsByItselfIsStartedUntilItRuns(t *testing.T) {
	t.Parallel()
	dir, log := clusterDir(t), make(told, 1000)
	cfg := postgres.ClusterConfig{
		DataDir: dir, MaxConnections: 20, Scratch: true, Logger: slog.New(log), Patient: true,
	}
	c, err := postgres.StartCluster(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	query(t, c.URL(), "create table kept as select 'here' as n")
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "pgdata", "postgresql.auto.conf")
	good, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, append(good, "\nno_such_setting = on\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	repaired := make(chan error, 1)
	go func() {
		log.await(t, "private database does not start, is tried again")
		repaired <- os.WriteFile(settings, good, 0o600)
	}()
	if c, err = postgres.StartCluster(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	if err := <-repaired; err != nil {
		t.Fatal(err)
	}
	query(t, c.URL(), "select n from kept")
}
