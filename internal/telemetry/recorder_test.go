package telemetry_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// record records reports and waits until all are answered; it returns how many are durable.
func record(r *telemetry.Recorder, reports ...telemetry.Report) int {
	var wait sync.WaitGroup
	var mu sync.Mutex
	durable := 0
	for _, report := range reports {
		wait.Add(1)
		r.Record(report, func(ok bool) {
			mu.Lock()
			defer mu.Unlock()
			if ok {
				durable++
			}
			wait.Done()
		})
	}
	wait.Wait()
	return durable
}

func TestRecorder_AnswersWhenReportsAreDurable(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir()})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	var list []telemetry.Report
	for i := range 5000 {
		list = append(list, k.at(telemetry.Interim, time.Duration(i)*time.Second, uint64(i), 0))
	}
	if n := record(r, list...); n != len(list) {
		t.Errorf("%d of %d are durable", n, len(list))
	}
	settle(t, r)
	if got := k.only(t); got.Down != 4999 {
		t.Errorf("%+v", got)
	}
}

func TestRecorder_OneReportThatCannotBeStoredHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir()})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	bad := k.at(telemetry.Start, 0, 0, 0)
	bad.Session, bad.At = "bad", time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)
	if n := record(r, k.at(telemetry.Start, 0, 0, 0), bad, k.at(telemetry.Interim, time.Hour, 7, 7)); n != 3 {
		t.Errorf("%d are answered, want 3", n)
	}
	settle(t, r)
	if got := k.only(t); got.Down != 7 || r.Status().Dropped != 1 {
		t.Errorf("%+v, %+v", got, r.Status())
	}
	var rows int // of others, from when it was looked whether the tables take any reports
	if err := k.db.Owner.QueryRow(t.Context(), strings.ReplaceAll(`select count(*)
		from (select device_id from {schema}.sessions union all select device_id from {schema}.routers) x
		where device_id <> $1`, "{schema}", k.schema()), k.device.UUID()).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d other rows, %v", rows, err)
	}
}

// TestRecorder_TheSpoolGivesWayToAnswersWhileLargeGroupsCome: each group of the spool takes 100 ms.
func TestRecorder_TheSpoolGivesWayToAnswersWhileLargeGroupsCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late time.Duration // of the oldest report
		more int           // groups of the spool while which others come
		want []time.Duration
	}{
		"the tables are a little behind": {0, 3, slices.Repeat([]time.Duration{300 * time.Millisecond}, 3)},
		"the tables are far behind":      {5 * time.Second, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, clocks, filled, commits := open(t), clock.NewManual(noon), make(chan struct{}), 0
			k.BoundDay(1, 1, 2000) // all are of one subscription
			var rests []time.Duration
			r := telemetry.NewRecorder(telemetry.Config{
				Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Clock: clocks,
			})
			r.AlwaysSpool()
			r.Watch(func(step string) {
				if step != "before commit" {
					return
				}
				<-filled
				if commits++; commits <= c.more { // routers go on to report
					record(r, k.stops(k.device, 2000+commits, 1)...)
					clocks.Advance(100 * time.Millisecond)
				}
			}, func(d time.Duration) { rests = append(rests, d) })
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.Stop)
			record(r, k.stops(k.device, 0, 1200)...)
			clocks.Advance(c.late)
			close(filled)
			settle(t, r)
			r.Stop()
			if !slices.Equal(rests, c.want) {
				t.Errorf("rested %v, want %v", rests, c.want)
			}
			if n := len(k.rows(t.Context(), t, k.device)); n != 1200+c.more {
				t.Errorf("%d sessions", n)
			}
		})
	}
}
