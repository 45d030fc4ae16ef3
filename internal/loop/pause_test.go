package loop_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

func TestEvery_RunsAtOnceThenByTimeAndWhenWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, wake, began := loop.Within(t.Context(), nil), make(chan struct{}, 1), time.Now()
		var at []time.Duration
		g.Go("rounds", func(ctx context.Context) {
			if err := loop.Every(ctx, 10*time.Second, wake, func(ctx context.Context) error {
				at = append(at, time.Since(began))
				if len(at) == 4 { // too long: three rounds are missed, and one replaces them
					loop.Sleep(ctx, 35*time.Second)
				}
				return nil
			}); err != nil {
				t.Errorf("the end of the context gave %v", err)
			}
		})
		time.Sleep(14 * time.Second)
		loop.Wake(wake)
		time.Sleep(61 * time.Second)
		g.Stop()
		s := time.Second
		want := []time.Duration{0, 10 * s, 14 * s, 20 * s, 55 * s, 60 * s, 70 * s}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("rounds (-want +got):\n%s", diff)
		}
	})
}

func TestEvery_WithoutATimeWaitsToBeWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, wake, rounds := loop.Within(t.Context(), nil), make(chan struct{}, 1), 0
		g.Go("rounds", func(ctx context.Context) {
			_ = loop.Every(ctx, 0, wake, func(context.Context) error { rounds++; return nil })
		})
		time.Sleep(time.Hour)
		loop.Wake(wake)
		synctest.Wait()
		g.Stop()
		if rounds != 2 {
			t.Errorf("%d rounds, want the first and the woken one", rounds)
		}
	})
}

func TestEvery_EndsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	lost, rounds := errors.New("lock lost"), 0
	err := loop.Every(t.Context(), time.Millisecond, nil, func(context.Context) error {
		if rounds++; rounds == 3 {
			return lost
		}
		return nil
	})
	if !errors.Is(err, lost) || rounds != 3 {
		t.Errorf("%d rounds gave %v, want 3 and %v", rounds, err, lost)
	}
}

func TestEvery_FailureByTheEndOfTheContextIsNone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	err := loop.Every(ctx, time.Hour, nil, func(ctx context.Context) error { cancel(); return ctx.Err() })
	if err != nil {
		t.Errorf("the end of the context gave %v", err)
	}
}

func TestBackoff_DoublesUpToItsBoundAndBeginsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, began := loop.Backoff{Min: 50 * time.Millisecond, Max: 300 * time.Millisecond}, time.Now()
		var at []time.Duration
		for n := range 7 {
			if n == 5 {
				b.Reset()
			}
			said, before := b.Pause(), time.Now()
			if !b.Wait(t.Context()) || time.Since(before) != said {
				t.Errorf("waited %s, announced %s", time.Since(before), said)
			}
			at = append(at, time.Since(began)/time.Millisecond)
		}
		if diff := cmp.Diff([]time.Duration{50, 150, 350, 650, 950, 1000, 1100}, at); diff != "" {
			t.Errorf("ends of the pauses in milliseconds (-want +got):\n%s", diff)
		}
	})
}

func TestWaits_EndWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := loop.Backoff{Min: time.Hour, Max: time.Hour}
	if loop.Sleep(ctx, time.Hour) || loop.Wait(ctx, nil) || loop.WaitFor(ctx, nil, time.Hour) || b.Wait(ctx) {
		t.Error("a wait went on although its context had ended")
	}
	signal := make(chan struct{}, 1)
	for range 20 {
		loop.Wake(signal)
		if loop.Sleep(ctx, 0) || loop.Wait(ctx, signal) || loop.WaitFor(ctx, signal, 0) {
			t.Error("a context that has ended gave way to a signal or to time")
		}
	}
	loop.Wake(signal)
	if !loop.Wait(t.Context(), signal) || !loop.WaitFor(t.Context(), signal, time.Nanosecond) {
		t.Error("a signal, or the end of the time, is no end of the context")
	}
}

func TestSleepFor_FollowsAMovedClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewMovable(clock.System(), 0)
		woken := make(chan bool, 2)
		go func() { woken <- loop.SleepFor(t.Context(), c, time.Hour) }()
		go func() { woken <- loop.WaitUntil(t.Context(), nil, c, c.Now().Add(time.Hour)) }()
		synctest.Wait()
		c.Advance(time.Hour - time.Minute)
		synctest.Wait()
		if len(woken) > 0 {
			t.Fatal("woken a minute early")
		}
		time.Sleep(time.Minute) // the clock also goes on by itself
		for range cap(woken) {
			if !<-woken {
				t.Error("ended although its context goes on")
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if loop.SleepFor(ended, c, -time.Hour) || loop.WaitUntil(ended, nil, c, c.Now().Add(-time.Hour)) {
			t.Error("an ended context counts as woken")
		}
	})
}

// machine is the machine's clock, and somebody sets it.
type machine struct{ by atomic.Int64 }

// Now implements clock.Clock.
func (m *machine) Now() time.Time { return clock.System().Now().Add(time.Duration(m.by.Load())) }

// TestWaits_WhenTheMachinesClockIsSet: a wait for a length stays what it was. One for an instant is not longer, and it
// ends soon after the instant has come.
func TestWaits_WhenTheMachinesClockIsSet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ by, until time.Duration }{
		"back": {-3 * time.Hour, 2 * time.Hour}, "ahead": {3 * time.Hour, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plain, below := &machine{}, &machine{}
				began, until, length := time.Now(), make(chan time.Duration, 2), make(chan time.Duration, 2)
				for _, c := range []clock.Clock{plain, clock.NewMovable(below, 0)} {
					go func() {
						loop.WaitUntil(t.Context(), nil, c, c.Now().Add(2*time.Hour))
						until <- time.Since(began)
					}()
					go func() {
						loop.SleepFor(t.Context(), c, 2*time.Hour)
						length <- time.Since(began)
					}()
				}
				synctest.Wait()
				plain.by.Store(int64(tc.by))
				below.by.Store(int64(tc.by))
				for range 2 {
					if got := <-until; got != tc.until {
						t.Errorf("the instant came after %s, want %s", got, tc.until)
					}
					if got := <-length; got != 2*time.Hour {
						t.Errorf("two hours took %s", got)
					}
				}
			})
		})
	}
}
