package embedded_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// TestOutage_LostSessionsUnderLoad ends the node's database sessions, also the writing one, during appends.
func TestOutage_LostSessionsUnderLoad(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	pool := ownPool(t, pgtest.URL(t), cfg.Schema)
	cfg.Pool = pool
	n := start(t, cfg)
	follower := follow(t, n.URL())
	s := newStorm(t, n.URL(), 16)
	killer, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer killer.Close(context.Background())
	for range 8 {
		s.await(100)
		const end = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1`
		if _, err := killer.Exec(s.ctx, end, cfg.Schema); err != nil {
			t.Fatal(err)
		}
	}
	s.await(100)
	s.end()
	follower.wantAll(t)
	wantAlive(t, n)
}

// follower reads a live subscription to $all from the start and keeps the positions.
type follower struct {
	client    *esdb.Client
	positions chan uint64
}

// follow starts a follower. Its subscription must survive the outage, because the node does.
func follow(t *testing.T, url string) *follower {
	t.Helper()
	f := &follower{client: stormClient(t, url), positions: make(chan uint64, 1<<20)}
	sub, err := f.client.SubscribeToAll(context.Background(), esdb.SubscribeToAllOptions{From: esdb.Start{}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(f.positions)
		for {
			e := sub.Recv()
			switch {
			case e.SubscriptionDropped != nil:
				return
			case e.EventAppeared != nil:
				f.positions <- e.EventAppeared.Event.Position.Commit
			}
		}
	}()
	t.Cleanup(func() { _ = sub.Close(); <-ended })
	return f
}

// wantAll checks that the subscription got every position of the log once and in order.
func (f *follower) wantAll(t *testing.T) {
	t.Helper()
	r, err := f.client.ReadAll(t.Context(), esdb.ReadAllOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	end, err := r.Recv()
	if err != nil {
		t.Fatal(err)
	}
	giveUp := time.After(waittest.Limit)
	for want := uint64(1); want <= end.Event.Position.Commit; want++ {
		select {
		case got, ok := <-f.positions:
			if !ok || got != want {
				t.Fatalf("the subscription got position %d (%t), want %d", got, ok, want)
			}
		case <-giveUp:
			t.Fatalf("the subscription does not get position %d", want)
		}
	}
}

// ownPool is a pool whose sessions have their own application name, so that a test can end them alone.
func ownPool(t *testing.T, url, name string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = name
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// wantAlive checks that the node has not reported a fatal error.
func wantAlive(t *testing.T, n *embedded.Node) {
	t.Helper()
	select {
	case err := <-n.Err():
		t.Errorf("the node gave up: %v", err)
	default:
	}
}

// counted counts the lines of a log by their messages.
type counted struct {
	slog.Handler
	mu    sync.Mutex
	lines map[string]int
}

// Enabled implements slog.Handler.
func (*counted) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h *counted) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lines[r.Message]++; h.Handler.Enabled(ctx, r.Level) {
		return h.Handler.Handle(ctx, r)
	}
	return nil
}

// count gives the number of lines with a message.
func (h *counted) count(message string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[message]
}

// TestOutage_DatabaseRestartsUnderLoad restarts the database server during appends: first with an orderly shutdown,
// then with an immediate one, which is like a crash. Each outage is told once, however often the node tries in it.
func TestOutage_DatabaseRestartsUnderLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cluster, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{DataDir: filepath.Join(dir, "pg")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	pool := ownPool(t, cluster.URL(), "outage")
	log := &counted{Handler: quiet().Handler(), lines: map[string]int{}}
	n := start(t, embedded.Config{Pool: pool, Schema: "outage", Addr: "127.0.0.1:0", Logger: slog.New(log)})
	s := newStorm(t, n.URL(), 16)
	for _, crash := range []bool{false, true} {
		s.await(150)
		if crash {
			// immediate shutdown: nothing is flushed, recovery follows
			if err := syscall.Kill(cluster.PID(), syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
		}
		if err := cluster.Restart(s.ctx); err != nil {
			t.Fatal(err)
		}
	}
	s.await(150)
	s.end()
	wantAlive(t, n)
	away, back := log.count("event store database unreachable"), log.count("event store session restored")
	if away == 0 || away > back {
		t.Errorf("told %d times that the database is away, and %d times that it is back", away, back)
	}
}
