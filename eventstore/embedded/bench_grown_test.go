package embedded_test

import (
	"runtime"
	"testing"
	"time"

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

// BenchmarkGrown compares a node on a log of 1,000,000 events, or BENCH_GROWN_EVENTS, with one on an empty log of the
// same server: the appends a second of 64 writers, the time until it has started, and the memory that it keeps then.
// Aim 0.9 of the appends; a start within a quarter of a second.
func BenchmarkGrown(b *testing.B) {
	pool := benchPool(b)
	on := func(schema string) embedded.Config {
		return embedded.Config{Pool: pool, Schema: schema, Addr: "127.0.0.1:0", Logger: quiet()}
	}
	before, err := embedded.Start(b.Context(), on("grown")) // makes the tables
	if err != nil {
		b.Fatal(err)
	}
	stop(b, before)
	events := benchtest.Size(b, "GROWN_EVENTS", 1_000_000)
	for _, fill := range []struct {
		sql  string
		args []any
	}{{grownSQL, []any{events, benchData}}, {grownBlocksSQL, nil}, {`vacuum analyze grown.events`, nil}} {
		if _, err := pool.Exec(b.Context(), fill.sql, fill.args...); err != nil {
			b.Fatal(err)
		}
	}
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
	b.Run("start", func(b *testing.B) { benchtest.ReportTime(b, "start", took, 250*time.Millisecond, 1) })
	b.Run("memory", func(b *testing.B) { benchtest.ReportSize(b, "node", max(kept, 1), grownMemory, 1) })
}

// heap is the memory in use after a collection, in octets.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
