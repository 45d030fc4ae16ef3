package telemetry_test

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// How the rows of BenchmarkRows are spread. The newest session of each customer is open.
const (
	rowsOfCustomer = 200
	daysOfCustomer = 62
	benchPage      = 26
)

// BenchmarkRows measures three questions over many rows (BENCH_SESSIONS; 10000000 is the full size): a customer's page
// of sessions, a page of live sessions, and the days of a month of a customer. The limit is the same indexed query by a
// connection of its own, without tenant and row-level security, whose rows are counted only. Wanted is 100 ms each.
func BenchmarkRows(b *testing.B) {
	k := open(b)
	rows := benchtest.Size(b, "SESSIONS", 200_000)
	customers := max(1, rows/rowsOfCustomer)
	k.fill(b, rows, customers)
	yes := true
	customer := func(n int) id.Subscriber { return numberedID[id.Subscriber](n * 7919 % customers) }
	march, april := calendar.Date{Year: 2026, Month: 3, Day: 1}, calendar.Date{Year: 2026, Month: 4, Day: 1}
	for name, q := range map[string]struct {
		ask  func(n int) (int, error)
		bare string
	}{
		"customer": {func(n int) (int, error) {
			list, err := k.List(b.Context(), k.org, telemetry.SessionFilter{Subscriber: customer(n)},
				telemetry.SessionKey{}, benchPage)
			return len(list), err
		}, `select * from {schema}.sessions where org_id = $1 and subscriber_id = $2
			order by started_at desc, id desc limit 26`},
		"live": {func(int) (int, error) {
			list, err := k.List(b.Context(), k.org, telemetry.SessionFilter{Online: &yes}, telemetry.SessionKey{},
				benchPage)
			return len(list), err
		}, `select * from {schema}.sessions where org_id = $1 and ended_at is null and $2::uuid is not null
			order by started_at desc, id desc limit 26`},
		"month": {func(n int) (int, error) {
			list, err := k.Usage(b.Context(), k.org, telemetry.UsageOf{Subscriber: customer(n)}, telemetry.Day,
				march, april)
			return len(list), err
		}, `select * from {schema}.usage where org_id = $1 and subscriber_id = $2 and step = 'day'
			and starts >= '2026-03-01' and starts < '2026-04-01'`},
	} {
		b.Run(name, func(b *testing.B) {
			k.compare(b, name, q.ask, func(n int) (int, error) {
				found, err := k.db.Owner.Query(b.Context(), strings.ReplaceAll(q.bare, "{schema}", k.schema()),
					k.org.UUID(), customer(n).UUID())
				if err != nil {
					return 0, err
				}
				count := 0
				for found.Next() {
					count++
				}
				return count, found.Err()
			})
		})
	}
}

// compare measures a question and its limit, and how long single answers take.
func (k *kit) compare(b *testing.B, name string, ask, bare func(n int) (int, error)) {
	b.Helper()
	serial := 0
	rate := func(do func(n int) (int, error)) func() float64 {
		return func() float64 {
			return benchtest.Rate(b, 1, func(context.Context, int) error {
				serial++
				_, err := do(serial)
				return err
			})
		}
	}
	same, err := ask(1)
	if other, wrong := bare(1); err != nil || wrong != nil || same == 0 || same != other {
		b.Fatalf("%d rows and %d: %v %v", same, other, err, wrong)
	}
	var took []time.Duration
	for n := range 200 {
		began := time.Now()
		if _, err := ask(n); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	benchtest.Latencies(b, name, took, 100*time.Millisecond)
	benchtest.Compare(b, name+"/s", benchtest.NoAim, rate(ask), rate(bare))
}

// numberedID is the id of a number, in the order of the numbers.
func numberedID[I ~[16]byte](n int) I {
	var text [16]byte
	binary.BigEndian.PutUint64(text[:8], uint64(n)+1) //nolint:gosec // not negative
	text[6], text[8] = text[6]&0x0f|0x70, 0x80
	binary.BigEndian.PutUint64(text[8:], uint64(n)|1<<63) //nolint:gosec // not negative
	return I(text)
}

// fill copies sessions and usage into the tables without their indexes, which are made afterwards.
func (k *kit) fill(b *testing.B, rows, customers int) {
	b.Helper()
	run := func(sql string) {
		if _, err := k.db.Owner.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	found, err := k.db.Owner.Query(b.Context(), `select indexname::text, indexdef from pg_indexes
		where schemaname = $1 and indexname !~ 'pkey$'`, k.schema())
	if err != nil {
		b.Fatal(err)
	}
	indexes, err := pgx.CollectRows(found, pgx.RowToStructByPos[struct{ Name, SQL string }])
	if err != nil {
		b.Fatal(err)
	}
	for _, index := range indexes {
		run("drop index " + k.schema() + "." + index.Name)
	}
	k.copyIn(b, "sessions", rows, k.sessionRow(rows, customers), "id", "org_id", "device_id", "session_key", "username",
		"calling", "mac", "called", "port", "service", "nas_port", "ip", "subscriber_id", "subscription_id", "access",
		"rate_down", "rate_up", "started_at", "updated_at", "ended_at", "ended_by", "end_reason", "bytes_down",
		"bytes_up", "seconds", "samples")
	k.copyIn(b, "usage", customers*daysOfCustomer, func(n int) []any {
		who := n / daysOfCustomer
		return []any{
			k.org.UUID(), numberedID[id.Any](who), numberedID[id.Any](who), "day",
			noon.AddDate(0, 0, n%daysOfCustomer-daysOfCustomer/2), int64(n), int64(n), int64(n),
		}
	}, "org_id", "subscriber_id", "subscription_id", "step", "starts", "bytes_down", "bytes_up", "seconds")
	for _, index := range indexes {
		run(index.SQL)
	}
	run("vacuum analyze " + k.schema() + ".sessions")
	run("vacuum analyze " + k.schema() + ".usage")
}

// copyIn fills a table by COPY.
func (k *kit) copyIn(b *testing.B, table string, rows int, row func(n int) []any, columns ...string) {
	b.Helper()
	n := 0
	source := pgx.CopyFromFunc(func() ([]any, error) {
		if n++; n > rows {
			return nil, nil
		}
		return row(n - 1), nil
	})
	secure := func(on string) { // PostgreSQL refuses to copy into a table under row-level security
		if _, err := k.db.Owner.Exec(b.Context(), "alter table "+k.schema()+"."+table+" "+on+
			" row level security"); err != nil {
			b.Fatal(err)
		}
	}
	secure("disable")
	if _, err := k.db.Owner.CopyFrom(b.Context(), pgx.Identifier{k.schema(), table}, columns, source); err != nil {
		b.Fatal(err)
	}
	secure("enable")
}

// sessionRow gives the sessions, the oldest first: each customer has one after the other.
func (k *kit) sessionRow(rows, customers int) func(n int) []any {
	mac, samples := "AA:BB:CC:00:11:22", make([]byte, 40)
	return func(n int) []any {
		who := n % customers
		started := noon.Add(time.Duration(n-rows) * time.Second)
		var ended *time.Time
		by, why := int16(0), ""
		if n < rows-customers {
			ended, by, why = new(started.Add(time.Hour)), 1, "user_request"
		}
		b := binary.BigEndian.AppendUint32(nil, 0x64400000+uint32(who)) //nolint:gosec // few customers
		address, _ := netip.AddrFromSlice(b)
		return []any{
			numberedID[id.Any](n), k.org.UUID(), k.device.UUID(), "81" + mac[n%10:], mac[who%9:], mac, mac, "pppoe1",
			"ether3", "pppoe", int64(0), address, numberedID[id.Any](who), numberedID[id.Any](who), "full",
			int64(10_000), int64(5_000), started, started, ended, by, why, int64(n), int64(n), int64(3600), samples,
		}
	}
}
