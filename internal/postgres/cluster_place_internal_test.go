package postgres

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCluster_TheNameOfItsDirectoryLasts: the directory above the cluster is written out after the cluster was moved to
// its place. Otherwise a power loss could leave the whole cluster under the name that the next start removes.
func TestCluster_TheNameOfItsDirectoryLasts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := findPlace(ClusterConfig{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var synced []string
	p.sync = func(dir string) error {
		if !p.made() {
			t.Error("the directory is written out before the cluster is in its place")
		}
		if _, err := os.Stat(p.data + ".new"); err == nil {
			t.Error("the cluster still has its first name")
		}
		synced = append(synced, dir)
		return syncDir(dir)
	}
	if err := p.initialise(t.Context(), clusterState{AdminPassword: "secret"}, false); err != nil {
		t.Fatal(err)
	}
	if len(synced) != 1 || synced[0] != filepath.Dir(p.data) {
		t.Errorf("written out: %v, want %s", synced, filepath.Dir(p.data))
	}
}
