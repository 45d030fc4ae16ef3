package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestNode_LeavesNothingRunning compares the goroutines of the whole program before and after, so it is not parallel.
func TestNode_LeavesNothingRunning(t *testing.T) {
	cfg := testConfig(t)
	pool, err := pgxpool.New(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Pool = pool
	before := goleak.IgnoreCurrent()
	n, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("use", func(t *testing.T) { // clients are closed at its end
		client := contract.Connect(t, n.URL())
		mustAppend(t, client, "s", esdb.NoStream{}, oneEvent())
		_ = contract.OpenBatchCall(t, n.URL())
		sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{From: esdb.Start{}})
		if err != nil {
			t.Fatal(err)
		}
		for sub.Recv().CaughtUp == nil {
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	pool.Close()
	goleak.VerifyNone(t, before)
}
