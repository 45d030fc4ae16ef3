package postgres

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestSettings_BuffersAreAQuarterOfTheMemoryWithinBounds: also of the memory that a container has.
func TestSettings_BuffersAreAQuarterOfTheMemoryWithinBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		meminfo, cgroup string
		want            int64
	}{
		{"MemTotal:        8388608 kB\nMemFree: 1 kB\n", "max\n", 2 << 30},
		{"MemTotal:        8388608 kB\n", "1073741824\n", 256 << 20},
		{"MemTotal:        8388608 kB\n", "", 2 << 30},
		{"MemTotal:       67108864 kB\n", "9223372036854771712\n", mostBuffers},
		{"MemTotal:         262144 kB\n", "", leastBuffers},
		{"", "", unknownBuffers},
	} {
		root := t.TempDir()
		for file, text := range map[string]string{"proc/meminfo": c.meminfo, "sys/fs/cgroup/memory.max": c.cgroup} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := sharedBuffers(memoryLimit(root)); got != c.want {
			t.Errorf("%q, %q: %d MB, want %d MB", c.meminfo, c.cgroup, got>>20, c.want>>20)
		}
	}
}

// TestSettings_ADurableClusterWritesFewPagesToItsLog: pages in the write-ahead log are compressed by lz4 where the
// server can, and checkpoints are rare.
func TestSettings_ADurableClusterWritesFewPagesToItsLog(t *testing.T) {
	t.Parallel()
	c, err := StartCluster(t.Context(), ClusterConfig{DataDir: t.TempDir() + "/data", MaxConnections: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var able, compressed bool
	var pause string
	if err := conn.QueryRow(t.Context(), `select 'lz4' = any (enumvals), setting = 'lz4',
		current_setting('checkpoint_timeout') from pg_settings where name = 'wal_compression'`).
		Scan(&able, &compressed, &pause); err != nil {
		t.Fatal(err)
	}
	if able != compressed || pause != "15min" {
		t.Errorf("the server can use lz4: %t, uses it: %t; checkpoints every %s", able, compressed, pause)
	}
}
