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

// BenchmarkCommands measures the commands of one instance that are executed in a second while thousands of it wait, as
// after an outage. Executing them costs nothing here. The yardstick is the deletion of as many rows, one by one.
func BenchmarkCommands(b *testing.B) {
	bed := newBench(b)
	r := bed.open(b, "courier")
	if err := r.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	table := bed.db.Namespace.Schema("processes") + ".commands"
	waiting := benchtest.Size(b, "PROCESS_COMMANDS", 5000)
	fill := func(process string) {
		_, err := bed.db.Owner.Exec(b.Context(), `insert into `+table+` (id, process, key, name, body, cause)
			select gen_random_uuid(), $1, 'one', 'test.Deliver',
				jsonb_build_object('No', '1', 'Why', repeat('x', 200)), jsonb_build_object('orgId', $2::text)
			from generate_series(1, $3)`, process, meta.OrgID.String(), waiting)
		if err != nil {
			b.Fatal(err)
		}
	}
	fill("yardstick")
	fill("courier")
	for b.Loop() {
		began := time.Now()
		if err := r.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		for executed := 0; executed < waiting; {
			bed.office.mu.Lock()
			var changed <-chan struct{} = bed.office.changed
			executed = len(bed.office.acts)
			bed.office.mu.Unlock()
			if executed < waiting {
				<-changed
			}
		}
		executed := float64(waiting) / time.Since(began).Seconds()
		r.Stop()
		deletions := benchtest.Rate(b, 1, func(ctx context.Context, _ int) error {
			_, err := bed.db.Owner.Exec(ctx, `delete from `+table+` where id = (
				select id from `+table+` where process = 'yardstick' and key = 'one' order by seq limit 1)`)
			return err
		})
		benchtest.Report(b, "commands/s", executed, deletions, benchtest.NoAim)
	}
}
