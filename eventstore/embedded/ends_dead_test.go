package embedded_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// deadly makes connections to PostgreSQL of which one dies without a word when it is armed, as behind a firewall that
// has forgotten it: what is written vanishes, and nothing comes.
type deadly struct {
	armed atomic.Bool
	died  atomic.Pointer[mute]
}

// bury ends the connection that has died, so that nobody waits for it any more.
func (d *deadly) bury() {
	if c := d.died.Load(); c != nil {
		_ = c.Conn.Close()
	}
}

// mute is a connection that may have died.
type mute struct {
	net.Conn
	of   *deadly
	dead atomic.Bool
}

// Write kills the connection when its like are armed, and loses everything from then on.
func (c *mute) Write(b []byte) (int, error) {
	if c.of.armed.CompareAndSwap(true, false) {
		c.of.died.Store(c)
		c.dead.Store(true)
	}
	if c.dead.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// deadlyNode starts a node whose reads go over such connections.
func deadlyNode(t *testing.T) (*embedded.Node, *deadly) {
	t.Helper()
	d, cfg := &deadly{}, testConfig(t)
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 16
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &mute{Conn: c, of: d}, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	t.Cleanup(d.bury)
	cfg.Pool = pool
	n, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n, d
}

// readFrom reads a stream from a revision; the time it took, and the error.
func readFrom(ctx context.Context, c *esdb.Client, stream string, from uint64) (time.Duration, error) {
	began := time.Now()
	in, err := c.ReadStream(ctx, stream, esdb.ReadStreamOptions{From: esdb.Revision(from)}, 10)
	if err != nil {
		return time.Since(began), err
	}
	defer in.Close()
	_, err = in.Recv()
	if err != nil && err.Error() == "EOF" {
		err = nil
	}
	return time.Since(began), err
}

// TestEnds_OneDeadConnectionHoldsNoOtherRead: a connection of the pool dies in silence with one read on it.
func TestEnds_OneDeadConnectionHoldsNoOtherRead(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]uint64{"from the start": 0, "what came after a revision": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, d := deadlyNode(t)
			client := stormClient(t, n.URL())
			stream := "s-" + uuid.NewString()
			mustAppend(t, client, stream, esdb.NoStream{}, oneEvent())
			mustAppend(t, client, stream, esdb.Revision(0), oneEvent())
			if _, err := readFrom(t.Context(), client, stream, from); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			d.armed.Store(true)
			var held, group sync.WaitGroup
			defer held.Wait()
			defer cancel()
			held.Go(func() { _, _ = readFrom(ctx, client, stream, from) })
			for d.armed.Load() {
				time.Sleep(time.Millisecond)
			}
			for range 8 {
				group.Go(func() {
					if took, err := readFrom(ctx, client, stream, from); err != nil || took > 2*time.Second {
						t.Errorf("another read: %v after %v", err, took)
					}
				})
			}
			group.Wait()
			go func() {
				limited, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_ = n.Stop(limited)
			}()
		})
	}
}

// TestEnds_AStopWaitsForNoDeadConnection: Stop cuts calls off when its context ends.
func TestEnds_AStopWaitsForNoDeadConnection(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]uint64{"from the start": 0, "what came after a revision": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, d := deadlyNode(t)
			client := stormClient(t, n.URL())
			stream := "s-" + uuid.NewString()
			mustAppend(t, client, stream, esdb.NoStream{}, oneEvent())
			mustAppend(t, client, stream, esdb.Revision(0), oneEvent())
			_, _ = readFrom(t.Context(), client, stream, from)
			var reading sync.WaitGroup // the client does not bear a call that ends after its Close
			defer reading.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			d.armed.Store(true)
			reading.Go(func() { _, _ = readFrom(ctx, client, stream, from) })
			for d.armed.Load() {
				time.Sleep(time.Millisecond)
			}
			limited, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			began := time.Now()
			_ = n.Stop(limited)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the stop with a limit of 1 s took %v", took)
			}
		})
	}
}
