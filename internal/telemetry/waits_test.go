package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestTeller_OthersKnowWhatWaits: reports that wait for long, a program that tells nothing any more, and one that stops
// with and without reports on its disk. A program does not wait for itself.
func TestTeller_OthersKnowWhatWaits(t *testing.T) {
	t.Parallel()
	k := open(t)
	watch := clock.NewManual(noon)
	waits := time.Duration(0)
	teller := telemetry.NewTeller(telemetry.TellerConfig{
		Store: k.Store, Program: "a", Clock: watch, Logger: storetest.Quiet(),
		Waits: func() (time.Duration, bool) { return waits, waits > 0 },
	})
	tell := func(d time.Duration) {
		t.Helper()
		waits = d
		if err := teller.Tell(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	is := func(when, own string, want bool) {
		t.Helper()
		got, err := k.OthersWait(t.Context(), own, watch.Now().Add(-5*time.Second), watch.Now())
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", when, got, err)
		}
	}
	is("nobody hears routers", "b", false)
	tell(0)
	is("nothing waits", "b", false)
	tell(time.Second)
	is("a moment", "b", false)
	tell(time.Minute)
	is("for long", "b", true)
	is("for long", "", true)
	is("its own", "a", false)
	tell(0)
	watch.Advance(2 * time.Minute)
	is("silent for two minutes", "b", false)
	watch.Advance(time.Second)
	is("silent for longer", "b", true)
	tell(0)
	is("again", "b", false)
	tell(time.Minute)
	teller.Stop()
	is("stopped with reports on its disk", "b", true)
	waits = 0
	teller.Stop()
	is("stopped with nothing", "b", false)

	tell(time.Minute)
	watch.Advance(24 * time.Hour)
	if err := k.Purge(t.Context(), watch.Now(), telemetry.Retention{}); err != nil {
		t.Fatal(err)
	}
	is("within a day", "b", true)
	watch.Advance(time.Second)
	if err := k.Purge(t.Context(), watch.Now(), telemetry.Retention{}); err != nil {
		t.Fatal(err)
	}
	is("it never came again", "b", false)
}

// TestTeller_TellsByItself: every ten seconds, and again after it could not.
func TestTeller_TellsByItself(t *testing.T) {
	t.Parallel()
	k := open(t)
	watch := clock.NewManual(noon)
	asked := make(chan struct{})
	teller := telemetry.NewTeller(telemetry.TellerConfig{
		Store: k.Store, Program: "a", Clock: watch, Logger: storetest.Quiet(),
		Waits: func() (time.Duration, bool) {
			select {
			case asked <- struct{}{}:
			case <-t.Context().Done():
			}
			return time.Minute, true
		},
	})
	if err := teller.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	t.Cleanup(teller.Stop)
	for told := 0; told < 3; {
		select {
		case <-asked:
			told++
		default:
			watch.Advance(time.Second)
			loop.Sleep(ctx, time.Millisecond)
		}
	}
	for { // what was asked for before the last time is told
		got, err := k.OthersWait(ctx, "b", watch.Now(), watch.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got {
			break
		}
		loop.Sleep(ctx, time.Millisecond)
	}
}
