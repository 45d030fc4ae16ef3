package telemetry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// How the rows of BenchmarkRefusals are spread: each customer was refused on ten days, with two codes a day, and had
// one session before.
const (
	refusalsOfCustomer = 20
	customersOfRouter  = 1_000
	codesOfDay         = 2
)

// BenchmarkRefusals measures the question of the auditor about the refused customers of one router, over many rows
// (BENCH_REFUSALS; 1000000 is the full size, of 50,000 customers). The limit is the newest refusal of each customer of
// the router, without a look at sessions and at other routers. Wanted is 100 ms: a router is asked about once in five
// minutes, and one of 50,000 customers has a thousand neighbours here.
func BenchmarkRefusals(b *testing.B) {
	k := open(b)
	rows := benchtest.Size(b, "REFUSALS", 200_000)
	customers := max(customersOfRouter, rows/refusalsOfCustomer)
	routers := max(1, customers/customersOfRouter)
	k.fillRefusals(b, rows, customers)
	since := noon.AddDate(0, 0, -7)
	k.compare(b, "unserved", func(n int) (int, error) {
		list, err := k.Unserved(b.Context(), numberedID[id.Device](n%routers), since, noon.AddDate(0, 0, 7))
		return len(list), err
	}, func(n int) (int, error) {
		found, err := k.db.Owner.Query(b.Context(), strings.ReplaceAll(`select distinct on (subscription_id) *
			from {schema}.refusals where device_id = $1 and at >= $2 order by subscription_id, at desc limit 1000`,
			"{schema}", k.schema()), numberedID[id.Device](n%routers).UUID(), since)
		if err != nil {
			return 0, err
		}
		count := 0
		for found.Next() {
			count++
		}
		return count, found.Err()
	})
}

// fillRefusals copies refusals and a session of each customer into the tables.
func (k *kit) fillRefusals(b *testing.B, rows, customers int) {
	b.Helper()
	k.copyIn(b, "refusals", rows, func(n int) []any {
		who, round := n%customers, n/customers
		at := noon.AddDate(0, 0, -(round / codesOfDay)).Add(-time.Duration(who%3600) * time.Second)
		return []any{
			k.org.UUID(), numberedID[id.Any](who / customersOfRouter), numberedID[id.Any](who), numberedID[id.Any](who),
			[codesOfDay]string{"unpaid", "wrong_password"}[round%codesOfDay], at, at.Add(-time.Hour), at, int64(n + 1),
		}
	}, "org_id", "device_id", "subscriber_id", "subscription_id", "code", "day", "first_at", "at", "count")
	k.copyIn(b, "sessions", customers, k.refusedSession(), "id", "org_id", "device_id", "session_key", "username",
		"calling", "mac", "called", "port", "service", "nas_port", "ip", "subscriber_id", "subscription_id", "access",
		"rate_down", "rate_up", "started_at", "updated_at", "ended_at", "ended_by", "end_reason", "bytes_down",
		"bytes_up", "seconds", "samples")
	for _, table := range []string{"refusals", "sessions"} {
		if _, err := k.db.Owner.Exec(b.Context(), "vacuum analyze "+k.schema()+"."+table); err != nil {
			b.Fatal(err)
		}
	}
}

// refusedSession gives the session of each customer, which ended before the first refusal.
func (k *kit) refusedSession() func(n int) []any {
	row := k.sessionRow(0, 1<<30)
	return func(n int) []any {
		values := row(n)
		started := noon.AddDate(0, 0, -30)
		values[17], values[18], values[19] = started, started.Add(time.Hour), started.Add(time.Hour)
		values[20], values[21] = 1, "user_request"
		return values
	}
}
