package telemetry_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// start is a start of the session of another user of a router.
func (k *kit) start(device id.Device, n int, after time.Duration) telemetry.Report {
	r := k.at(telemetry.Start, after, 0, 0)
	r.Device, r.Online, r.User, r.Session = device, 0, fmt.Sprintf("user-%d", n), fmt.Sprintf("8200%04d", n)
	r.MAC = fmt.Sprintf("02:00:00:00:00:%02X", n)
	r.Calling = r.MAC
	return r
}

// now makes a directory whose clock shows an instant.
func (k *kit) now(at *time.Time) telemetry.Directory {
	d := k.directory()
	d.Now = func() time.Time { return *at }
	return d
}

func TestCommit_ARouterWithTooManySessionsGetsNoFurtherOnes(t *testing.T) {
	t.Parallel()
	k, clock := open(t), noon
	k.commit(t, k.start(k.device, 1, 0), k.start(k.device, 2, 0)) // as another program would
	again, err := telemetry.Open(t.Context(), k.db)
	if err != nil {
		t.Fatal(err)
	}
	again.Bound(3)
	commit := func(want int, reports ...telemetry.Report) {
		t.Helper()
		done, err := again.Commit(t.Context(), k.now(&clock), reports)
		if err != nil {
			t.Fatal(err)
		}
		if got := done.Crowded[k.device]; got != want {
			t.Errorf("%d reports were dropped, want %d", got, want)
		}
	}
	other := id.New[id.Device]()
	commit(2, k.start(k.device, 3, 0), k.start(k.device, 4, 0), k.start(k.device, 5, 0), k.start(other, 6, 0))
	if n := len(k.rows(t.Context(), t, k.device)); n != 3 {
		t.Fatalf("the router has %d sessions, want 3", n)
	}
	if n := len(k.rows(t.Context(), t, other)); n != 1 {
		t.Fatalf("another router has %d sessions, want 1", n)
	}

	stop := k.start(k.device, 1, time.Minute)
	stop.Kind, stop.Online = telemetry.Stop, time.Minute
	commit(0, stop)
	commit(1, k.start(k.device, 4, 2*time.Minute), k.start(k.device, 5, 2*time.Minute))

	same := k.start(k.device, 2, 3*time.Minute) // takes the place of the session that its user has
	same.Session = "83000000"
	commit(0, same)

	late := k.start(k.device, 9, 4*time.Minute) // of which the router had not told the start
	late.Kind, late.Online = telemetry.Stop, time.Minute
	commit(0, late)

	// The store does not hear of it.
	if _, err := k.CloseLost(t.Context(), telemetry.Silence{Since: noon.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	commit(1, k.start(k.device, 7, time.Hour))
	clock = clock.Add(2 * time.Minute)
	commit(0, k.start(k.device, 8, time.Hour))
}

func TestCommit_ARestartMakesRoomForNewSessions(t *testing.T) {
	t.Parallel()
	k, clock := open(t), noon
	k.Bound(2)
	restart := telemetry.Report{Kind: telemetry.On, Org: k.org, Device: k.device, At: noon.Add(time.Minute)}
	for round, group := range [][]telemetry.Report{
		{k.start(k.device, 1, 0), k.start(k.device, 2, 0)},
		{restart},
		{k.start(k.device, 3, 2*time.Minute), k.start(k.device, 4, 2*time.Minute)},
	} {
		done, err := k.Commit(t.Context(), k.now(&clock), group)
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Crowded) > 0 {
			t.Errorf("round %d: reports were dropped: %v", round, done.Crowded)
		}
	}
}

func TestRecorder_CountsReportsOfCrowdedRouters(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.Bound(1)
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir()})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if n := record(r, k.start(k.device, 1, 0), k.start(k.device, 2, 0), k.start(k.device, 3, 0)); n != 3 {
		t.Errorf("%d reports were acknowledged, want 3", n)
	}
	if got := r.Status().Crowded; got != 2 {
		t.Errorf("%d reports are counted, want 2", got)
	}
}

func TestRecorder_CountsThinnedSessions(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.BoundDay(1, 1, 4)
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir()})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	for n := range 20 {
		record(r, k.ended(k.device, n, 1, noon)...)
	}
	if rows, got := k.total(t), r.Status().Thinned; rows > 10 || got != uint64(20-rows) { //nolint:gosec // few
		t.Errorf("%d rows of 20, and %d counted", rows, got)
	}
}

// TestCommit_CountsOfOpenSessionsAreKeptWhenNothingWasWritten: a report that cannot be stored has no router counted
// again, and a database that goes away has.
func TestCommit_CountsOfOpenSessionsAreKeptWhenNothingWasWritten(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.start(k.device, 1, 0))
	bad := k.start(k.device, 2, 0)
	bad.At = time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC) // in a year that the database does not have
	if _, err := k.Commit(t.Context(), k.directory(), []telemetry.Report{bad}); err == nil || !k.Counted(k.device) {
		t.Errorf("%v, and the number is known: %v", err, k.Counted(k.device))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Commit(gone, k.directory(), []telemetry.Report{bad}); err == nil || k.Counted(k.device) {
		t.Errorf("%v, and the number is known: %v", err, k.Counted(k.device))
	}
}
