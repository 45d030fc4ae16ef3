package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// round lets a keeper do what is due; a failure ends the test.
func round(t *testing.T, k *telemetry.Keeper) {
	t.Helper()
	if err := k.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestKeeper_NobodyIsLostWhileNobodyCouldBeHeard(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	watch := clock.NewManual(noon.Add(24 * time.Hour))
	recorder := telemetry.NewRecorder(telemetry.Config{
		Store: k.away(t), Directory: k.directory(), SpoolDir: t.TempDir(), Clock: watch,
	})
	if err := recorder.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Stop)
	keeper := telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: k.Store, Recorder: recorder, Clock: watch, LostAfter: 15 * time.Minute,
	})
	round(t, keeper)
	if got := k.only(t); got.Reason != "" {
		t.Errorf("closed at the start: %+v", got)
	}
	if n := record(recorder, k.at(telemetry.Interim, time.Hour, 1, 1)); n != 1 || !recorder.Spooled() {
		t.Fatal("nothing is spooled")
	}
	watch.Advance(15 * time.Minute)
	round(t, keeper)
	if got := k.only(t); got.Reason != "" {
		t.Errorf("closed although reports are spooled: %+v", got)
	}
	alone := telemetry.NewKeeper(telemetry.KeeperConfig{Store: k.Store, Clock: watch, LostAfter: 15 * time.Minute})
	heard := k.recorder(t, k.Store, t.TempDir(), nil)
	hears := telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: k.Store, Recorder: heard, Clock: watch, LostAfter: 15 * time.Minute,
	})
	watch.Advance(15 * time.Minute)
	round(t, alone)
	if got := k.only(t); got.Reason != "" {
		t.Errorf("closed by a program that hears no routers: %+v", got)
	}
	round(t, hears)
	if got := k.only(t); got.Reason != telemetry.ReasonLost {
		t.Errorf("not closed: %+v", got)
	}
}

func TestKeeper_DeletesWhatIsOver(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Stop, time.Hour, 5, 5))
	watch := clock.NewManual(noon.Add(2 * time.Hour))
	keeper := telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: k.Store, Clock: watch, LostAfter: 15 * time.Minute,
		Keep: telemetry.Retention{Sessions: 24 * time.Hour, Addresses: 24 * time.Hour},
	})
	round(t, keeper)
	if got := k.rows(t.Context(), t, k.device); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	watch.Advance(24 * time.Hour)
	round(t, keeper)
	if got := k.rows(t.Context(), t, k.device); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestKeeper_WhenTheMachinesClockIsPutBack: nothing waits for as long.
func TestKeeper_WhenTheMachinesClockIsPutBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	watch := clock.NewManual(noon.Add(24 * time.Hour))
	keeper := telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: k.Store, Recorder: k.recorder(t, k.Store, t.TempDir(), nil), Clock: watch, LostAfter: 15 * time.Minute,
		Keep: telemetry.Retention{Sessions: 24 * time.Hour, Addresses: 24 * time.Hour},
	})
	round(t, keeper)
	watch.Set(noon.Add(21 * time.Hour))
	round(t, keeper)
	watch.Advance(15 * time.Minute)
	round(t, keeper)
	if got := k.only(t); got.Reason != telemetry.ReasonLost {
		t.Errorf("not closed: %+v", got)
	}
	watch.Advance(26 * time.Hour)
	round(t, keeper)
	watch.Set(noon.Add(20 * time.Hour))
	watch.Advance(26 * time.Hour)
	round(t, keeper)
	if got := k.rows(t.Context(), t, k.device); len(got) != 0 {
		t.Errorf("not deleted: %+v", got)
	}
}

// machine is the machine's clock, and the test sets it.
type machine struct{ at time.Time }

// Now implements clock.Clock.
func (m *machine) Now() time.Time { return m.at }

// TestKeeper_NobodyIsLostBecauseTheMachinesClockIsPutAhead: who was heard a minute ago was so hours ago by the clock.
func TestKeeper_NobodyIsLostBecauseTheMachinesClockIsPutAhead(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	watch := &machine{noon}
	keeper := telemetry.NewKeeper(telemetry.KeeperConfig{
		Store: k.Store, Recorder: k.recorder(t, k.Store, t.TempDir(), nil), Clock: watch, LostAfter: time.Nanosecond,
	})
	round(t, keeper)
	watch.at = noon.Add(3 * time.Hour)
	round(t, keeper)
	if got := k.only(t); got.Reason != "" {
		t.Errorf("closed: %+v", got)
	}
	round(t, keeper)
	if got := k.only(t); got.Reason != telemetry.ReasonLost {
		t.Errorf("nobody has heard of it since, and it is not closed: %+v", got)
	}
}

// TestKeeper_NobodyOfAnOrganizationIsLostWhoseReportsWaitOrAreRefused: others' sessions are closed meanwhile.
func TestKeeper_NobodyOfAnOrganizationIsLostWhoseReportsWaitOrAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit int64 // of the spool
		kept  int
	}{"wait": {1 << 20, 1}, "refused": {10, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, watch := open(t), clock.NewManual(noon.Add(24*time.Hour))
			_, calm := k.neighbours(0)
			k.commit(t, k.at(telemetry.Start, 0, 0, 0), calm)
			recorder := telemetry.NewRecorder(telemetry.Config{
				Store: k.away(t), Directory: k.directory(), SpoolDir: t.TempDir(), SpoolLimit: c.limit, Clock: watch,
			})
			if err := recorder.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(recorder.Stop)
			keeper := telemetry.NewKeeper(telemetry.KeeperConfig{
				Store: k.Store, Recorder: recorder, Clock: watch, LostAfter: 15 * time.Minute,
			})
			if n := record(recorder, k.at(telemetry.Interim, time.Hour, 1, 1)); n != c.kept {
				t.Fatalf("%d kept", n)
			}
			watch.Advance(15 * time.Minute)
			round(t, keeper)
			if own, other := keeper.HeardFor(k.org), keeper.HeardFor(calm.Org); own != 0 || other != 15*time.Minute {
				t.Errorf("heard for %s, another organization's routers for %s", own, other)
			}
			if got := k.only(t); got.Reason != "" {
				t.Errorf("closed: %+v", got)
			}
			if got := k.rows(t.Context(), t, calm.Device); got[0].Reason != telemetry.ReasonLost {
				t.Errorf("another organization's is not closed: %+v", got)
			}
			watch.Advance(15 * time.Minute)
			round(t, keeper)
			if got := k.only(t); (got.Reason == "") != (c.kept == 1) {
				t.Errorf("later: %+v", got)
			}
		})
	}
}
