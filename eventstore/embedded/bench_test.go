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
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/postgres"
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
	pool   *pgxpool.Pool
	next   int64 // position in the bare table
}

// newBench starts the server and the node; both stop at the end of the benchmark.
func newBench(b *testing.B) *bench {
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
	node := start(b, embedded.Config{Pool: pool, Schema: "bench", Addr: "127.0.0.1:0", Logger: quiet()})
	if _, err := pool.Exec(b.Context(), `create table bare (like bench.events including all)`); err != nil {
		b.Fatal(err)
	}
	return &bench{node: node, client: contract.Connect(b, node.URL()), pool: pool}
}

// bareInsert is the node's insertGroup without the check of holder and epoch.
var bareInsert = postgres.MustStatement(`
	insert into bare (position, stream_id, revision, event_id, type, is_json, created, metadata, data)
	select * from unnest(@positions::bigint[], @streams::bigint[], @revisions::bigint[], @ids::uuid[],
		@kinds::text[], @json::boolean[], @created::bigint[], @metadata::bytea[], @data::bytea[])`,
	"positions", "streams", "revisions", "ids", "kinds", "json", "created", "metadata", "data")

// insertGroup commits n events with one statement, each in another stream.
func (s *bench) insertGroup(ctx context.Context, conn *pgx.Conn, n int) error {
	var (
		positions, streams, revisions, created []int64

		kinds          []string
		ids            [][16]byte
		json           []bool
		metadata, data [][]byte
	)
	for i := range n {
		s.next++
		positions = append(positions, s.next)
		streams = append(streams, int64(i))
		revisions = append(revisions, s.next)
		ids = append(ids, uuid.New())
		kinds = append(kinds, "bench")
		json = append(json, true)
		created = append(created, 17951601893646848)
		metadata = append(metadata, []byte{})
		data = append(data, benchData)
	}
	args, err := bareInsert.Arguments(pgx.NamedArgs{
		"positions": positions, "streams": streams, "revisions": revisions, "ids": ids, "kinds": kinds, "json": json,
		"created": created, "metadata": metadata, "data": data,
	})
	if err == nil {
		_, err = conn.Exec(ctx, bareInsert.Text, args...)
	}
	return err
}

// bareRate returns the events per second that PostgreSQL commits in groups of the given size, measured for one turn.
func (s *bench) bareRate(b *testing.B, group int) float64 {
	b.Helper()
	conn, err := s.pool.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Release()
	events, began := 0, time.Now()
	for time.Since(began) < benchtest.Turn(b) {
		if err := s.insertGroup(b.Context(), conn.Conn(), group); err != nil {
			b.Fatal(err)
		}
		events += group
	}
	return float64(events) / time.Since(began).Seconds()
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

// BenchmarkAppend64Writers compares the durable appends per second of 64 concurrent writers with PostgreSQL, which
// commits the same bytes in groups of 64. Aim 0.5.
func BenchmarkAppend64Writers(b *testing.B) {
	s := newBench(b)
	benchtest.Compare(b, "events/s", 0.5, func() float64 { return s.nodeRate(b, benchWriters) },
		func() float64 { return s.bareRate(b, benchWriters) })
}

// BenchmarkAppendOneWriter compares the appends per second of a single writer with PostgreSQL, which commits single
// events. Aim 0.5, that is twice the latency.
func BenchmarkAppendOneWriter(b *testing.B) {
	s := newBench(b)
	benchtest.Compare(b, "events/s", 0.5, func() float64 { return s.nodeRate(b, 1) },
		func() float64 { return s.bareRate(b, 1) })
}

// BenchmarkReadAll compares the events per second of a read of the whole log, through the stock client, with a paged
// SELECT of the same rows. Aim 0.5.
func BenchmarkReadAll(b *testing.B) {
	s := newBench(b)
	const batch = 1000
	events := benchtest.Size(b, "READ_EVENTS", 300_000)
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
	bare := benchtest.NewBare(b, s.pool, "bench")
	benchtest.Compare(b, "events/s", 0.5, func() float64 { return s.readRate(b) },
		func() float64 { return bare.ReadRate(b) })
}

// readRate reads $all once and returns the events per second.
func (s *bench) readRate(b *testing.B) float64 {
	b.Helper()
	began, count := time.Now(), 0
	r, err := s.client.ReadAll(b.Context(), esdb.ReadAllOptions{}, math.MaxUint64)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for {
		_, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return float64(count) / time.Since(began).Seconds()
		}
		if err != nil {
			b.Fatal(err)
		}
		count++
	}
}
