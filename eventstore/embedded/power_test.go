package embedded_test

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// TestPower_AcknowledgedAppendsSurviveACut cuts the power of the host several times during concurrent appends: of the
// node, of PostgreSQL, and of all that was not brought to the disk.
func TestPower_AcknowledgedAppendsSurviveACut(t *testing.T) {
	t.Parallel()
	disk := pgtest.NewDisk(t)
	addr := storetest.FreeAddr(t)
	cluster, node := powerOn(t, disk, addr)
	s := newStorm(t, node.url, 16)
	for range 3 {
		s.await(150)
		disk.Cut()
		node.kill(t)
		powerOff(t, cluster)
		disk.Restore()
		cluster, node = powerOn(t, disk, addr)
	}
	s.await(150)
	s.end()
	node.kill(t)
	powerOff(t, cluster)
}

// powerOn starts a database server with its data on a disk, and a node.
func powerOn(t *testing.T, disk *pgtest.Disk, addr string) (*postgres.Cluster, *child) {
	t.Helper()
	cluster, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{DataDir: filepath.Join(disk.Dir, "pg")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	return cluster, startChild(t, cluster.URL(), "eventstore", addr)
}

// powerOff ends a server that cannot write any more, unless it has noticed that and ended itself.
func powerOff(t *testing.T, cluster *postgres.Cluster) {
	t.Helper()
	if err := syscall.Kill(cluster.PID(), syscall.SIGQUIT); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
	_ = cluster.Stop(context.Background()) // it ended badly, as it should
}
