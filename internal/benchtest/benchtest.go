// Package benchtest is the common form of the benchmarks. Each benchmark measures the product and, in turns with it,
// the limit: what the same machine can do without the product. It reports the ratio of the two, so that a figure means
// the same on every machine. `make bench` collects the ratios; no figure makes a benchmark fail.
package benchtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/memory"
)

// NoAim is for a ratio without a promise.
const NoAim = 0

// Size is a number for a benchmark: the environment variable BENCH_<name>, or usual without the variable.
func Size(b *testing.B, name string, usual int) int {
	b.Helper()
	text := os.Getenv("BENCH_" + name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		b.Fatalf("BENCH_%s: %q is not a number above 0", name, text)
	}
	return n
}

// Turn is the time of one measurement of one side: BENCH_TURN_MS in milliseconds, by default 2 s.
func Turn(b *testing.B) time.Duration {
	b.Helper()
	return time.Duration(Size(b, "TURN_MS", 2000)) * time.Millisecond
}

// Rounds is the number of turns of each side: BENCH_ROUNDS, by default 3.
func Rounds(b *testing.B) int {
	b.Helper()
	return Size(b, "ROUNDS", 3)
}

// Rate runs so many concurrent callers of do for one turn and returns the calls per second. Callers are numbered from
// 0.
func Rate(b *testing.B, callers int, do func(ctx context.Context, caller int) error) float64 {
	b.Helper()
	turn := Turn(b)
	var count atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for caller := range callers {
		group.Go(func() {
			for time.Since(began) < turn {
				if err := do(b.Context(), caller); err != nil {
					b.Error(err)
					return
				}
				count.Add(1)
			}
		})
	}
	group.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return float64(count.Load()) / time.Since(began).Seconds()
}

// AsProgram collects garbage as the program does (cmd/lastmile).
var AsProgram = sync.OnceFunc(func() { memory.CollectSeldom(os.Environ(), memory.OfProgram) })

// Compare measures a rate and its limit in turns, the limit first, and reports the medians. aim is the wanted ratio.
func Compare(b *testing.B, unit string, aim float64, got, limit func() float64) {
	b.Helper()
	AsProgram()
	var gots, limits []float64
	for range Rounds(b) {
		limits = append(limits, limit())
		gots = append(gots, got())
	}
	Report(b, unit, Quantile(gots, 50), Quantile(limits, 50), aim)
}

// Report reports a rate, its limit and got/limit as their ratio. aim is the wanted ratio or NoAim.
func Report(b *testing.B, unit string, got, limit, aim float64) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // removes the time per round, which has no meaning here
	b.ReportMetric(got, unit)
	b.ReportMetric(limit, "limit_"+unit)
	report(b, got/limit, aim)
}

// ReportTime reports a duration, the least possible duration and limit/got as their ratio; 1 is the best.
func ReportTime(b *testing.B, what string, got, limit time.Duration, aim float64) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // removes the time per round, which has no meaning here
	b.ReportMetric(milliseconds(got), what+"_ms")
	b.ReportMetric(milliseconds(limit), "limit_"+what+"_ms")
	report(b, float64(limit)/float64(got), aim)
}

// ReportSize reports a number of bytes, the most that it may be and most/got as their ratio.
func ReportSize(b *testing.B, what string, got, most, aim float64) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // removes the time per round, which has no meaning here
	b.ReportMetric(got/1024, what+"_KiB")
	b.ReportMetric(most/1024, "limit_"+what+"_KiB")
	report(b, most/got, aim)
}

// Latencies reports the 50th and 99th percentile of durations. wanted is the upper bound for the 99th, 0 for no bound.
func Latencies(b *testing.B, what string, took []time.Duration, wanted time.Duration) {
	b.Helper()
	p50, p99 := Quantile(took, 50), Quantile(took, 99)
	b.ReportMetric(milliseconds(p50), what+"_p50_ms")
	b.ReportMetric(milliseconds(p99), what+"_p99_ms")
	text := ""
	if wanted > 0 {
		text = fmt.Sprintf(", aim: p99 under %v", wanted)
	}
	b.Logf("%s: p50 %v, p99 %v of %d%s", what, p50, p99, len(took), text)
}

// report ends both reports. Without an aim it leaves the metric "aim" out.
func report(b *testing.B, ratio, aim float64) {
	b.Helper()
	b.ReportMetric(ratio, "ratio")
	if aim == NoAim {
		b.Logf("ratio %.2f, no aim", ratio)
		return
	}
	b.ReportMetric(aim, "aim")
	b.Logf("ratio %.2f, aim %.2f", ratio, aim)
}

// milliseconds is a duration in milliseconds, exact to the microsecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Quantile is the value below which about so many percent of the list lie. The list must not be empty.
func Quantile[T float64 | time.Duration](list []T, percent int) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
