package postgres_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// startReplica starts a server whose log another one can follow. It is stopped at the end of the test.
func startReplica(t *testing.T, dir string) *postgres.Cluster {
	t.Helper()
	c, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{DataDir: dir, MaxConnections: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// startPair starts a server and a standby with a copy of its data. The address has both, the standby first.
func startPair(t *testing.T) (primary *postgres.Cluster, address string) {
	t.Helper()
	dir, copied := clusterDir(t), clusterDir(t)
	if err := startReplica(t, dir).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", dir, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(copied, "pgdata", "standby.signal"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	primary = startReplica(t, dir)
	standby, err := url.Parse(startReplica(t, copied).URL())
	if err != nil {
		t.Fatal(err)
	}
	both, err := url.Parse(primary.URL())
	if err != nil {
		t.Fatal(err)
	}
	both.Host = standby.Host + "," + both.Host
	return primary, both.String()
}

// TestOpen_OfSeveralHostsTheOneThatIsNoStandbyIsUsed by all pools, and for locks, which a standby would give as well.
func TestOpen_OfSeveralHostsTheOneThatIsNoStandbyIsUsed(t *testing.T) {
	t.Parallel()
	primary, address := startPair(t)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: address, Namespace: "hosts", MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, pool := range map[string]*pgxpool.Pool{"owner": db.Owner, "query": db.Query, "platform": db.Platform} {
		for range 3 {
			var standby bool
			if err := pool.QueryRow(t.Context(), `select pg_is_in_recovery()`).Scan(&standby); err != nil || standby {
				t.Errorf("%s reads from a standby: %v, %v", name, standby, err)
			}
			pool.Reset()
		}
	}
	lock, err := db.Lock(t.Context(), "name")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if got := query(t, primary.URL(), `select count(*)::text from pg_locks where locktype = 'advisory'`); got != "1" {
		t.Errorf("%s locks are held", got)
	}
}
