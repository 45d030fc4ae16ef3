package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// benchWriters is the number of concurrent writers. Each benchmark measures the node and, in turns with it, the same
// work done by the same PostgreSQL without a node. It reports both rates and their ratio.
const benchWriters = 64

// benchData is an event body of 400 bytes of JSON text.
var benchData = fmt.Appendf(nil, `{"text":%q}`, make([]byte, 96))[:400]

// bench is a node on a PostgreSQL server of its own with fsync, and a bare table like the node's.
type bench struct {
	node   *embedded.Node
	client *esdb.Client
	bare   *benchtest.Bare
	pool   *pgxpool.Pool // of the server
}

// bareRate is the limit of appends in groups of the given size.
func (s *bench) bareRate(b *testing.B, group int) float64 {
	b.Helper()
	return s.bare.AppendRate(b, group, benchtest.Row{Kind: "bench", Data: benchData, Metadata: []byte{}})
}

// benchPool starts a server with fsync, which stops at the end of the benchmark.
func benchPool(b *testing.B) *pgxpool.Pool {
	b.Helper()
	server, err := pgtest.StartScratch(b.Context(), pgtest.ScratchConfig{Durable: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Stop)
	pool, err := pgxpool.New(b.Context(), server.URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}

// newBench starts the server and the node; both stop at the end of the benchmark.
func newBench(b *testing.B) *bench {
	b.Helper()
	pool := benchPool(b)
	node := start(b, embedded.Config{Pool: pool, Schema: "bench", Addr: "127.0.0.1:0", Logger: quiet()})
	return &bench{
		node: node, client: contract.Connect(b, node.URL()), bare: benchtest.NewBare(b, pool, "bench"),
		pool: pool,
	}
}

// nodeRate returns the appends per second that the node acknowledges to the stock client, measured for one turn.
func (s *bench) nodeRate(b *testing.B, writers int) float64 {
	b.Helper()
	var count atomic.Int64
	var group sync.WaitGroup
	began, turn := time.Now(), benchtest.Turn(b)
	for range writers {
		stream := "bench-" + uuid.NewString()
		group.Go(func() {
			for time.Since(began) < turn {
				if err := s.append(b.Context(), stream); err != nil {
					b.Error(err)
					return
				}
				count.Add(1)
			}
		})
	}
	group.Wait()
	return float64(count.Load()) / time.Since(began).Seconds()
}

// append stores one event of benchData without an expected revision.
func (s *bench) append(ctx context.Context, stream string) error {
	_, err := s.client.AppendToStream(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}},
		esdb.EventData{
			EventID: uuid.New(), EventType: "bench", ContentType: esdb.ContentTypeJson, Data: benchData,
		})
	return err
}

// BenchmarkClient64Writers compares the durable appends per second of 64 concurrent writers, each append by a call of
// the stock client, with PostgreSQL, which commits the same bytes in groups of 64. The program appends in another way
// (eventstore.BenchmarkAppend64Writers).
func BenchmarkClient64Writers(b *testing.B) {
	s := newBench(b)
	benchtest.Compare(b, "events/s", benchtest.NoAim, func() float64 { return s.nodeRate(b, benchWriters) },
		func() float64 { return s.bareRate(b, benchWriters) })
}

// BenchmarkClientOneWriter compares the appends per second of a single writer with PostgreSQL, which commits single
// events.
func BenchmarkClientOneWriter(b *testing.B) {
	s := newBench(b)
	benchtest.Compare(b, "events/s", benchtest.NoAim, func() float64 { return s.nodeRate(b, 1) },
		func() float64 { return s.bareRate(b, 1) })
}

// BenchmarkReadAll compares the events per second of a read of the whole log, through the stock client, with a paged
// SELECT of the same rows. The client alone takes several times as long, so the aim is at BenchmarkReadAllOfMemory.
func BenchmarkReadAll(b *testing.B) {
	s := newBench(b)
	s.fill(b, benchtest.Size(b, "READ_EVENTS", 300_000))
	benchtest.Compare(b, "events/s", benchtest.NoAim, func() float64 { return s.readRate(b) },
		func() float64 { return s.bare.ReadRate(b) })
}

// fill appends so many events, in streams of 1,000.
func (s *bench) fill(b *testing.B, events int) {
	b.Helper()
	const batch = 1000
	for i := 0; i < events; i += batch {
		given := make([]esdb.EventData, batch)
		for j := range given {
			given[j] = esdb.EventData{
				EventID: uuid.New(), EventType: "bench", ContentType: esdb.ContentTypeJson, Data: benchData,
			}
		}
		stream := fmt.Sprintf("bench-%d", i)
		if _, err := s.client.AppendToStream(b.Context(), stream,
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, given...); err != nil {
			b.Fatal(err)
		}
	}
}

// rareWithin is the longest time until a subscription to a seldom type has its first event, however long the log is.
const rareWithin = 100 * time.Millisecond

// BenchmarkRareType measures the time from the start of a subscription until it has the one event of a type at the end
// of a log of 1,000,000 others, or BENCH_READ_EVENTS.
func BenchmarkRareType(b *testing.B) {
	s := newBench(b)
	s.fill(b, benchtest.Size(b, "READ_EVENTS", 1_000_000))
	rare := esdb.EventData{
		EventID: uuid.New(), EventType: "rare", ContentType: esdb.ContentTypeJson, Data: benchData,
	}
	if _, err := s.client.AppendToStream(b.Context(), "rare", esdb.AppendToStreamOptions{}, rare); err != nil {
		b.Fatal(err)
	}
	embedded.AwaitTypes(s.node)
	var took []time.Duration
	for range 20 {
		began := time.Now()
		filter := &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{"rare"}}
		sub, err := s.client.SubscribeToAll(b.Context(), esdb.SubscribeToAllOptions{From: esdb.Start{}, Filter: filter})
		if err != nil {
			b.Fatal(err)
		}
		for sub.Recv().EventAppeared == nil { // what comes before says how far it is
		}
		took = append(took, time.Since(began))
		_ = sub.Close()
	}
	benchtest.ReportTime(b, "first", benchtest.Quantile(took, 50), rareWithin, 1)
}

// readRate returns the events per second that a client reads, measured for one turn. At the end of the log it begins
// anew.
func (s *bench) readRate(b *testing.B) float64 {
	b.Helper()
	began, turn, count := time.Now(), benchtest.Turn(b), 0
	for time.Since(began) < turn {
		r, err := s.client.ReadAll(b.Context(), esdb.ReadAllOptions{}, math.MaxUint64)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil && (count%1000 > 0 || time.Since(began) < turn) {
			if _, err = r.Recv(); err == nil {
				count++
			}
		}
		r.Close()
		if err != nil && !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
	return float64(count) / time.Since(began).Seconds()
}
