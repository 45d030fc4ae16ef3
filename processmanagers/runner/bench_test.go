package processrunner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
)

// The events belong to benchInstances instances; benchWorkers inputs are handled at the same time.
const (
	benchInstances = 50
	benchWorkers   = 4
)

// BenchmarkEvents measures the events that a process takes in a second, each with a change of its state. The yardstick
// is as many connections that each commit rows of that size.
func BenchmarkEvents(b *testing.B) {
	bed := newBench(b)
	r := bed.start(b, "courier")
	table := bed.db.Namespace.Schema("bench") + ".bare"
	_, err := bed.db.Owner.Exec(b.Context(),
		`create schema `+bed.db.Namespace.Schema("bench")+`; create table `+table+
			` (instance int primary key, n int, state text)`)
	if err != nil {
		b.Fatal(err)
	}
	events := benchtest.Size(b, "PROCESS_EVENTS", 5000)
	for b.Loop() {
		began := time.Now()
		var last uint64
		for i := range events {
			last = bed.happen(fmt.Sprint("p", i%benchInstances), "on")
		}
		if err := r.WaitFor(b.Context(), "courier", last); err != nil {
			b.Fatal(err)
		}
		taken := float64(events) / time.Since(began).Seconds()
		commits := benchtest.Rate(b, benchWorkers, func(ctx context.Context, worker int) error {
			_, err := bed.db.Owner.Exec(ctx,
				`insert into `+table+
					` values ($1, 1, repeat('x', 200)) on conflict (instance) do update set n = bare.n + 1`, worker)
			return err
		})
		benchtest.Report(b, "events/s", taken, commits, benchtest.NoAim)
	}
}
