package embedded_test

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// quiet logs errors only: tests that cause outages would fill the output with warnings.
func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// testConfig is for a node on a free port with an empty log.
func testConfig(t testing.TB) embedded.Config {
	t.Helper()
	db := pgtest.New(t)
	return embedded.Config{
		Pool: db.Owner, Schema: db.Namespace.Schema("eventstore"), Addr: "127.0.0.1:0", Logger: quiet(),
	}
}

// start starts a node and stops it at the end of the test.
func start(t testing.TB, cfg embedded.Config) *embedded.Node {
	t.Helper()
	n, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	return n
}

// stop ends a node within 10 s, or fails the test.
func stop(t testing.TB, n *embedded.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Errorf("stop the node: %v", err)
	}
}

// TestNode_KeepsTheContract runs the suite that a real cluster must pass too (package contract). Afterwards no call
// holds memory, however it ended.
func TestNode_KeepsTheContract(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	t.Cleanup(func() {
		for giveUp := time.After(waittest.Limit); !embedded.NoMemory(n); runtime.GC() {
			select {
			case <-giveUp:
				t.Fatal("calls that have ended hold memory")
			default:
			}
		}
	})
	contract.Run(t, n.URL())
}
