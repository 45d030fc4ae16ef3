package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// BenchmarkCutOff measures the question of each look at routers that are down, over many sessions of one organization
// (BENCH_SESSIONS), while nobody is heard: all that were open are lost, the customer of another organization has signed
// off, and a router went away two months ago. Wanted is 100 ms.
func BenchmarkCutOff(b *testing.B) {
	k := open(b)
	rows := benchtest.Size(b, "SESSIONS", 200_000)
	k.fill(b, rows, max(1, rows/rowsOfCustomer))
	_, calm := k.neighbours(0)
	left := calm
	left.Kind, left.Online, left.At = telemetry.Stop, time.Minute, noon.Add(time.Minute)
	k.commit(b, k.at(telemetry.Start, 0, 0, 0), calm, left)
	if _, err := k.db.Owner.Exec(b.Context(), "update "+k.schema()+`.sessions set ended_at = updated_at, ended_by = 2,
		end_reason = 'lost' where ended_at is null`); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for range 200 {
		began := time.Now()
		cutOff, err := k.CutOff(b.Context(), k.org, noon.AddDate(0, -2, 0), noon.Add(12*time.Minute), 10*time.Minute)
		if err != nil || cutOff {
			b.Fatal(cutOff, err)
		}
		took = append(took, time.Since(began))
	}
	benchtest.Latencies(b, "cut_off", took, 100*time.Millisecond)
}
