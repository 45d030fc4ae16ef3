package embedded_test

import (
	"context"
	"crypto/md5" //nolint:gosec // PostgreSQL's function for names that differ from their beginning on
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
)

// grownSQL fills a log with $1 events of benchData in streams of 4, as years have, behind what a node begins with.
const grownSQL = `
with last as (select (select max(position) from grown.events) as position, (select max(id) from grown.streams) as id),
named as (
	insert into grown.streams (id, name)
	select last.id + n, 'old-' || md5(n::text) from last, generate_series(1, $1::bigint / 4) n
)
insert into grown.events (position, stream_id, revision, record)
select e.position, stream, revision, grown.event_record(e.position, stream, revision, md5(n::text)::uuid, 'old', true,
	17600000000000000 + n, '', $2)
from last, generate_series(1, $1::bigint) n, lateral (
	select last.position + n, last.id + (n + 3) / 4, (n - 1) % 4) e (position, stream, revision)`

// grownBlocksSQL fills the types of its blocks.
const grownBlocksSQL = `
insert into grown.type_blocks (block, types)
select (position - 1) / 1024, array['old'] from grown.events group by 1 having count(*) = 1024`

// grownMemory is how many octets of memory more a node may keep for a log that has grown.
const grownMemory = 16 << 20

// BenchmarkGrown compares a node on a log of 5,000,000 events, or BENCH_GROWN_EVENTS, with one on an empty log of the
// same server: the appends a second of 64 writers, to streams of their own and to old streams, the time until it has
// started, and the memory that it keeps then. Aim 0.9 of the appends; a start within a quarter of a second.
func BenchmarkGrown(b *testing.B) {
	pool, events := benchPool(b), benchtest.Size(b, "GROWN_EVENTS", 5_000_000)
	on := func(schema string) embedded.Config {
		return embedded.Config{Pool: pool, Schema: schema, Addr: "127.0.0.1:0", Logger: quiet()}
	}
	before, err := embedded.Start(b.Context(), on("grown")) // makes the tables
	if err != nil {
		b.Fatal(err)
	}
	stop(b, before)
	grow(b, pool, events)
	without := heap()
	began := time.Now()
	grown := start(b, on("grown"))
	embedded.AwaitTypes(grown)
	took, kept := time.Since(began), heap()-without
	empty := start(b, on("empty"))
	old, young := &bench{client: contract.Connect(b, grown.URL())}, &bench{client: contract.Connect(b, empty.URL())}
	b.Run("appends", func(b *testing.B) {
		benchtest.Compare(b, "events/s", 0.9, func() float64 { return old.nodeRate(b, benchWriters) },
			func() float64 { return young.nodeRate(b, benchWriters) })
	})
	b.Run("old", func(b *testing.B) { appendOld(b, pool, old, young, events/4) })
	b.Run("start", func(b *testing.B) { benchtest.ReportTime(b, "start", took, 250*time.Millisecond, 1) })
	b.Run("memory", func(b *testing.B) { benchtest.ReportSize(b, "node", max(kept, 1), grownMemory, 1) })
}

// grow fills the log.
func grow(b *testing.B, pool *pgxpool.Pool, events int) {
	b.Helper()
	for _, fill := range []struct {
		sql  string
		args []any
	}{
		{grownSQL, []any{events, benchData}},
		{grownBlocksSQL, nil},
		{`vacuum analyze grown.events`, nil},
		{`vacuum analyze grown.streams`, nil},
	} {
		if _, err := pool.Exec(b.Context(), fill.sql, fill.args...); err != nil {
			b.Fatal(err)
		}
	}
}

// appendOld compares appends to streams drawn at random from those of the grown log with appends to streams that begin
// with them, on an empty log, and reports how much each event adds to the write-ahead log. The end of an old stream is
// read from the database, unless it is among those in memory, and its event belongs to a page of the index of streams
// that the events before it do not touch. Such a page is written whole when it changes first after a checkpoint, so
// wal_B depends on how long ago that was.
func appendOld(b *testing.B, pool *pgxpool.Pool, old, young *bench, streams int) {
	var wal, limit written
	benchtest.Compare(b, "events/s", benchtest.NoAim, wal.by(b, pool, func() float64 {
		return benchtest.Rate(b, benchWriters, func(ctx context.Context, _ int) error {
			return old.append(ctx, oldStream(1+rand.IntN(streams)))
		})
	}), limit.by(b, pool, func() float64 { return young.nodeRate(b, benchWriters) }))
	b.ReportMetric(wal.each(), "wal_B")
	b.ReportMetric(limit.each(), "limit_wal_B")
}

// oldStream is the name that grownSQL gives to a stream, from 1 on.
func oldStream(n int) string {
	return fmt.Sprintf("old-%x", md5.Sum(strconv.AppendInt(nil, int64(n), 10))) //nolint:gosec // a name, no secret
}

// written adds up what measurements write to the write-ahead log of a server that has nothing else to do.
type written struct{ bytes, events float64 }

// by is a measurement of one turn, which gives a rate, and is counted.
func (w *written) by(b *testing.B, pool *pgxpool.Pool, measured func() float64) func() float64 {
	var end float64
	at := func() float64 {
		if err := pool.QueryRow(b.Context(), `select pg_current_wal_insert_lsn() - '0/0'`).Scan(&end); err != nil {
			b.Fatal(err)
		}
		return end
	}
	return func() float64 {
		before := at()
		rate := measured()
		w.bytes += at() - before
		w.events += rate * benchtest.Turn(b).Seconds()
		return rate
	}
}

// each is the number of bytes for one event.
func (w *written) each() float64 { return w.bytes / w.events }

// heap is the memory in use after a collection, in octets.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
