package clock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// noon is the instant at which the examples begin.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestMovable_GoesWithItsBaseAndNeverBack(t *testing.T) {
	t.Parallel()
	base := clock.NewManual(noon)
	c := clock.NewMovable(base, time.Hour)
	base.Advance(time.Minute)
	c.Advance(36 * time.Hour)
	c.Advance(-time.Hour)
	c.Advance(0)
	if want := noon.Add(37*time.Hour + time.Minute); !c.Now().Equal(want) || c.Ahead() != 37*time.Hour {
		t.Errorf("now %v, ahead %v; want %v", c.Now(), c.Ahead(), want)
	}
}

// A clock that begins in the past can be brought to the present.
func TestMovable_BeginsBehindItsBaseAndCatchesUp(t *testing.T) {
	t.Parallel()
	base := clock.NewManual(noon)
	c := clock.NewMovable(base, -36*time.Hour)
	if want := noon.Add(-36 * time.Hour); !c.Now().Equal(want) || clock.Ahead(c) != -36*time.Hour {
		t.Errorf("now %v, ahead %v; want %v", c.Now(), clock.Ahead(c), want)
	}
	c.Advance(time.Hour)
	c.Advance(-c.Ahead())
	if !c.Now().Equal(noon) || c.Ahead() != 0 {
		t.Errorf("now %v, ahead %v after it has caught up", c.Now(), c.Ahead())
	}
}

func TestSteady_MeasuresWhateverTheClockIsSetTo(t *testing.T) {
	t.Parallel()
	manual := clock.NewManual(noon)
	movable := clock.NewMovable(manual, 0)
	steady := clock.Steady(movable)
	begun := steady.Now()
	movable.Advance(time.Hour)
	manual.Advance(time.Minute)
	if went := steady.Now().Sub(begun); went != time.Minute {
		t.Errorf("a minute went by, and it measures %v", went)
	}
	for _, c := range []clock.Clock{clock.System(), clock.NewMovable(clock.System(), time.Hour)} {
		if now := clock.Steady(c).Now(); !strings.Contains(now.String(), " m=") {
			t.Errorf("%v changes when the machine's clock is set", now)
		}
	}
}

// TestPace_GoesOnWhateverTheMachinesClockIsSetTo, and with the moves of a clock that can be moved.
func TestPace_GoesOnWhateverTheMachinesClockIsSetTo(t *testing.T) {
	t.Parallel()
	manual := clock.NewManual(noon)
	movable := clock.NewMovable(manual, time.Hour)
	pace := clock.Pace(movable)
	begun := pace.Now()
	manual.Set(noon.Add(-3 * time.Hour))
	manual.Advance(time.Minute)
	manual.Set(noon)
	manual.Set(noon.Add(-time.Hour))
	movable.Advance(time.Second)
	if went, want := pace.Now().Sub(begun), 3*time.Hour+time.Second; went != want {
		t.Errorf("%s went by, want %s", went, want)
	}
	for _, c := range []clock.Clock{clock.System(), clock.NewMovable(clock.System(), time.Hour)} {
		if now := clock.Pace(c).Now(); !strings.Contains(now.String(), " m=") {
			t.Errorf("%v changes when the machine's clock is set", now)
		}
	}
}

func TestMovable_AMoveEndsWaits(t *testing.T) {
	t.Parallel()
	c := clock.NewMovable(clock.NewManual(noon), 0)
	moved := clock.Moved(c)
	c.Advance(-1)
	select {
	case <-moved:
		t.Error("a refused move ended a wait")
	default:
	}
	c.Advance(1)
	<-moved
	if next := clock.Moved(c); next == moved {
		t.Error("the next wait has the channel of the last move")
	}
	if clock.Moved(clock.System()) != nil {
		t.Error("the machine's clock announces jumps")
	}
}

func TestManual_AMoveEndsWaits(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(noon)
	for _, move := range []func(){func() { c.Advance(time.Second) }, func() { c.Set(noon) }} {
		moved := clock.Moved(c)
		move()
		<-moved
	}
}

func TestGate_ShutsWhenNobodyIsInside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g clock.Gate
		leave, _ := g.Enter(t.Context())
		var shut, late atomic.Bool
		go func() {
			open, err := g.Shut(t.Context())
			shut.Store(err == nil)
			time.Sleep(time.Second)
			open()
		}()
		synctest.Wait()
		go func() {
			leave, err := g.Enter(t.Context())
			late.Store(err == nil)
			leave()
		}()
		synctest.Wait()
		if shut.Load() || late.Load() {
			t.Fatalf("with one inside: shut %v, another entered %v", shut.Load(), late.Load())
		}
		leave()
		synctest.Wait()
		if !shut.Load() || late.Load() {
			t.Fatalf("with nobody inside: shut %v, another entered %v", shut.Load(), late.Load())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !late.Load() {
			t.Error("nobody entered after the gate was opened")
		}
	})
}

func TestGate_GivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g clock.Gate
		leave, _ := g.Enter(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.Shut(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("shut with one inside gave %v", err)
		}
		again, err := g.Enter(t.Context())
		if err != nil {
			t.Fatalf("the gate stays shut: %v", err)
		}
		again()
		leave()
		open, err := g.Shut(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("enter while shut gave %v", err)
		}
		if _, err := g.Shut(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second shut gave %v", err)
		}
		open()
	})
	var none *clock.Gate
	if leave, err := none.Enter(t.Context()); err != nil {
		t.Error(err)
	} else {
		leave()
	}
}
