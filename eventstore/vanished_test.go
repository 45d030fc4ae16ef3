package eventstore_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// wiredHost is a loopback host of wires to nodes that listen at another one.
const wiredHost = "127.0.0.2"

// noticedWithin is how long a store may take to find the node that has taken over from one that vanished
// (docs/operations.md).
const noticedWithin = 30 * time.Second

// pair is two nodes for one log, of which the first serves and the second stands by. The store reaches each through a
// wire, and the first reaches the database through one.
type pair struct {
	db              *postgres.DB
	schema          string
	clients, stored *storetest.Wire // of the first node
	took            chan struct{}   // closed when the second node serves
	failed          chan struct{}   // closed when it cannot
	store           *eventstore.Store
}

// newPair starts both nodes and opens a store that knows the addresses of both.
func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{db: pgtest.New(t), took: make(chan struct{}), failed: make(chan struct{})}
	p.schema = p.db.Namespace.Schema("log")
	first, second := storetest.FreeAddr(t), storetest.FreeAddr(t)
	p.clients = storetest.NewNodeWire(t, first, wiredHost)
	other := storetest.NewNodeWire(t, second, wiredHost)
	stored, through := storetest.NewDatabaseWire(t, p.db.Owner)
	p.stored = stored
	node, err := embedded.Start(t.Context(), p.config(through, first))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		p.clients.Carry()
		p.stored.Carry()
		cancel()
		running.Wait()
		stopNode(t, node)
	})
	waits := make(chan struct{}, 100)
	standby := p.config(p.db.Owner, second)
	standby.Standby, standby.StandingBy = true, func(string) { waits <- struct{}{} }
	running.Go(func() {
		next, err := embedded.Start(ctx, standby)
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("the second node: %v", err)
			}
			close(p.failed)
			return
		}
		close(p.took)
		<-ctx.Done()
		stopNode(t, next)
	})
	p.await(t, waits, "the second node stands by")
	p.store, err = eventstore.Open(t.Context(), eventstore.Config{
		URL:   "esdb://" + p.clients.Addr() + "," + other.Addr() + "?tls=false",
		Codec: catalog.New(catalog.NewMemoryKeys()), Logger: storetest.Quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.store.Close)
	return p
}

// await waits for a signal.
func (p *pair) await(t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-p.failed:
		t.FailNow()
	case <-time.After(noticedWithin):
		t.Fatalf("not within %s: %s", noticedWithin, what)
	}
}

// config is that of a node of the pair.
func (p *pair) config(pool *pgxpool.Pool, addr string) embedded.Config {
	return embedded.Config{
		Pool: pool, Schema: p.schema, Addr: addr, AdvertiseHost: wiredHost, Logger: storetest.Quiet(),
		HolderSilence: time.Second,
	}
}

// stopNode stops a node within 10 s, or fails the test.
func stopNode(t *testing.T, n *embedded.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Errorf("stop a node: %v", err)
	}
}

// repeated appends until the outcome is known, as callers do, and signals it.
func (p *pair) repeated(t *testing.T, stream string, list []eventstore.New) <-chan eventstore.Appended {
	t.Helper()
	done := make(chan eventstore.Appended, 1)
	go func() {
		defer close(done)
		for {
			got, err := p.store.Append(t.Context(), stream, eventstore.NoStream, list)
			switch {
			case err == nil:
				done <- got
				return
			case t.Context().Err() != nil:
				return
			case !errors.Is(err, eventstore.ErrUnavailable):
				t.Errorf("append to %s: %v", stream, err)
				return
			}
		}
	}()
	return done
}

// until waits until a query of the database gives true.
func (p *pair) until(t *testing.T, sql string, args ...any) {
	t.Helper()
	for ok, begun := false, time.Now(); !ok; {
		if time.Since(begun) > noticedWithin {
			t.Fatalf("not within %s: %s", noticedWithin, sql)
		}
		if err := p.db.Owner.QueryRow(t.Context(), sql, args...).Scan(&ok); err != nil {
			t.Fatal(err)
		}
	}
}

// vanishes has the network of the first node swallow everything while it writes an append, which is stored: the answer
// is lost.
func (p *pair) vanishes(t *testing.T, stream string, list []eventstore.New) <-chan eventstore.Appended {
	t.Helper()
	tx, err := p.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `lock table `+p.schema+`.events in share mode`); err != nil {
		t.Fatal(err)
	}
	done := p.repeated(t, stream, list)
	p.until(t, `select exists (select from pg_locks where not granted and relation = $1::regclass)`,
		p.schema+".events")
	p.clients.Swallow()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.until(t, `select exists (select from `+p.schema+`.events e join `+p.schema+
		`.streams s on s.id = e.stream_id where s.name = $1)`, stream)
	p.stored.Swallow()
	return done
}

// TestVanished_AStoreGoesOnAtTheNodeThatTakesOver: the network of the node that serves swallows everything, towards
// its clients and towards the database, and no connection ends. An append whose answer is lost by that, and one that
// never arrives, are repeated with the same events, and are in the log once, within the time that operators are told.
// A subscription gets each event once and in order.
func TestVanished_AStoreGoesOnAtTheNodeThatTakesOver(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	sub := p.store.Subscribe(t.Context(), 0, nil)
	before := stream()
	if _, err := p.store.Append(t.Context(), before, eventstore.NoStream, several(3)); err != nil {
		t.Fatal(err)
	}
	for items := 0; items < 3; {
		if next(t, sub).Event != nil {
			items++
		}
	}
	unanswered, lost := stream(), stream()
	answers := map[string]<-chan eventstore.Appended{unanswered: p.vanishes(t, unanswered, several(2))}
	vanished := time.Now()
	answers[lost] = p.repeated(t, lost, several(2))
	p.await(t, p.took, "the second node serves")
	t.Logf("the other node serves after %s", time.Since(vanished))
	for name, answer := range answers {
		select {
		case done, ok := <-answer:
			if !ok || done.Revision != 1 {
				t.Errorf("the append gives %+v, %t", done, ok)
			}
		case <-time.After(2 * noticedWithin):
			t.Fatalf("the append has no answer after %s", time.Since(vanished))
		}
		list, err := p.store.Read(t.Context(), name, 0)
		if diff := cmp.Diff([]string{"0", "1"}, reasons(list)); err != nil || diff != "" {
			t.Errorf("the stream has %v, %v", reasons(list), err)
		}
	}
	took := time.Since(vanished)
	if t.Logf("the store goes on after %s", took); took > noticedWithin {
		t.Errorf("the store goes on at the other node after %s", took)
	}
	all, _, err := p.store.ReadAll(t.Context(), 0, 100, nil)
	if err != nil || len(all) != 7 {
		t.Fatalf("the log has %d events: %v", len(all), err)
	}
	for _, want := range all[3:] {
		item := next(t, sub)
		for item.Event == nil {
			item = next(t, sub)
		}
		if item.Event.Position != want.Position {
			t.Errorf("the subscription gives position %d, not %d", item.Event.Position, want.Position)
		}
	}
	t.Logf("the subscription has everything after %s", time.Since(vanished))
}
