package telemetry_test

import (
	"sync"
	"testing"
	"time"

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
	if got := k.only(t); got.Down != 7 {
		t.Errorf("%+v", got)
	}
}
