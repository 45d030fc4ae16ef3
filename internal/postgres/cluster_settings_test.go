package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestSettings_BuffersAreAQuarterOfTheMemoryWithinBounds(t *testing.T) {
	t.Parallel()
	for memory, want := range map[int64]int64{
		8 << 30: 2 << 30, 1 << 30: 256 << 20, 64 << 30: mostBuffers, 256 << 20: leastBuffers, 0: unknownBuffers,
	} {
		if got := sharedBuffers(memory); got != want {
			t.Errorf("of %d MB: %d MB, want %d MB", memory>>20, got>>20, want>>20)
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
	var pause, most string
	if err := conn.QueryRow(t.Context(), `select 'lz4' = any (enumvals), setting = 'lz4',
		current_setting('checkpoint_timeout'), current_setting('max_wal_size')
		from pg_settings where name = 'wal_compression'`).
		Scan(&able, &compressed, &pause, &most); err != nil {
		t.Fatal(err)
	}
	if able != compressed || pause != "15min" || most != "4GB" {
		t.Errorf("the server can use lz4: %t, uses it: %t; checkpoints every %s or %s", able, compressed, pause, most)
	}
}
