package runner_test

import (
	"fmt"
	"testing"
)

// BenchmarkEvents is how many events of 50 instances a process takes in a second, each with a change of its state.
func BenchmarkEvents(b *testing.B) {
	bed := newBench(b)
	r := bed.start(b, "courier")
	b.ResetTimer()
	var last uint64
	for i := range b.N {
		last = bed.happen(fmt.Sprint("p", i%50), "on")
	}
	taken(b, r, "courier", last)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
