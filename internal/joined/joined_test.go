package joined_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// slow counts readings, each of which takes a second.
func slow(count *atomic.Int64) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		number := int(count.Add(1))
		if !loop.Sleep(ctx, time.Second) {
			return 0, ctx.Err()
		}
		return number, nil
	}
}

func TestReads_WhoAsksTogetherSharesAReadingThatBeganLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads joined.Reads[string, int]
		var all sync.WaitGroup
		var count, other atomic.Int64
		ask := func(key string, count *atomic.Int64, want int, took time.Duration) {
			all.Go(func() {
				begun := time.Now()
				got, err := reads.Of(t.Context(), key, slow(count))
				if err != nil || got != want || time.Since(begun) != took {
					t.Errorf("%s: reading %d after %v: %v, want %d after %v", key, got, time.Since(begun), err, want,
						took)
				}
			})
			synctest.Wait()
		}
		ask("a", &count, 1, time.Second)
		time.Sleep(time.Second / 2)
		for range 500 {
			ask("a", &count, 2, 3*time.Second/2)
		}
		ask("b", &other, 1, time.Second)
		time.Sleep(time.Second)
		ask("a", &count, 3, 3*time.Second/2)
		all.Wait()
		ask("a", &count, 4, time.Second)
		all.Wait()
		if count.Load() != 4 || other.Load() != 1 {
			t.Errorf("%d and %d readings", count.Load(), other.Load())
		}
	})
}

func TestReads_OneThatNobodyWaitsForEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads joined.Reads[int, int]
		var count atomic.Int64
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if _, err := reads.Of(ctx, 7, slow(&count)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a caller whose time is over gets %v", err)
			}
			cancel()
		}
		synctest.Wait()
		if got, err := reads.Of(t.Context(), 7, slow(&count)); err != nil || got != 4 {
			t.Errorf("reading %d: %v", got, err)
		}
	})
}

func TestReads_WhoGoesLeavesTheReadingToTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads joined.Reads[int, int]
		var all sync.WaitGroup
		var count atomic.Int64
		all.Go(func() { _, _ = reads.Of(t.Context(), 7, slow(&count)) })
		synctest.Wait()
		for _, patience := range []time.Duration{time.Millisecond, time.Hour} {
			time.Sleep(100 * time.Millisecond) // by the second time, the first caller has gone
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if _, err := reads.Of(ctx, 7, slow(&count)); (err != nil) != (patience < time.Second) {
					t.Errorf("with a patience of %v: %v", patience, err)
				}
			})
		}
		all.Wait()
		for range 2 {
			all.Go(func() { _, _ = reads.Of(t.Context(), 7, slow(&count)) })
			synctest.Wait()
		}
		hasty, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, _ = reads.Of(hasty, 7, slow(&count))
		before := count.Load()
		all.Wait()
		if count.Load() != before+1 {
			t.Errorf("the reading of one who waits is not made, or twice: %d after %d", count.Load(), before)
		}
	})
}

func TestReads_AFaultOrAPanicIsToldToAll(t *testing.T) {
	t.Parallel()
	var reads joined.Reads[int, int]
	fault := errors.New("no database")
	_, err := reads.Of(t.Context(), 7, func(context.Context) (int, error) { return 0, fault })
	if !errors.Is(err, fault) {
		t.Errorf("a fault is told as %v", err)
	}
	var panicked *loop.PanicError
	_, err = reads.Of(t.Context(), 7, func(context.Context) (int, error) { panic("boom") })
	if !errors.As(err, &panicked) {
		t.Errorf("a panic is told as %v", err)
	}
}
