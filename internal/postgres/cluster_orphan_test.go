package postgres

import (
	"context"
	"testing"
)

// A server that outlived its program is stopped before the next one starts. Here the program "dies" by giving up only
// its lock.
func TestCluster_OrphanServerIsStoppedFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/data"
	first, err := StartCluster(t.Context(), ClusterConfig{DataDir: dir, MaxConnections: 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.lock.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := StartCluster(t.Context(), ClusterConfig{DataDir: dir, MaxConnections: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Stop(context.Background()) })
	<-first.Done()
	if first.PID() == second.PID() {
		t.Error("the second start gave the first one's process")
	}
}
