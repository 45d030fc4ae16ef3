package joined_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

func TestMany_WhoAsksTogetherSharesAReadingOfAllThatIsAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var many joined.Many[int, int]
		var all sync.WaitGroup
		var mu sync.Mutex
		var sizes []int
		squares := func(ctx context.Context, keys []int) (map[int]int, error) {
			mu.Lock()
			sizes = append(sizes, len(keys))
			mu.Unlock()
			if !loop.Sleep(ctx, time.Second) {
				return nil, ctx.Err()
			}
			found := map[int]int{}
			for _, key := range keys {
				if key >= 0 {
					found[key] = key * key
				}
			}
			return found, nil
		}
		ask := func(key int) {
			all.Go(func() {
				got, found, err := many.Of(t.Context(), key, squares)
				if err != nil || found != (key >= 0) || found && got != key*key {
					t.Errorf("%d: %d, found %v: %v", key, got, found, err)
				}
			})
			synctest.Wait()
		}
		begun := time.Now()
		ask(1)
		for key := range 100 {
			ask(key)
			ask(key)
		}
		ask(-1)
		all.Wait()
		if took := time.Since(begun); took != 2*time.Second || !slices.Equal(sizes, []int{1, 101}) {
			t.Errorf("readings of %v keys within %v, want of 1 and of 101 within 2s", sizes, took)
		}
	})
}

func TestMany_SeveralKeysAreOfOneReadingUnlessItHasBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var many joined.Many[int, int]
		var all sync.WaitGroup
		readings := 0
		ask := func(want map[int]int, keys ...int) {
			all.Go(func() {
				got, err := many.All(t.Context(), keys, func(ctx context.Context, keys []int) (map[int]int, error) {
					readings++
					loop.Sleep(ctx, time.Second)
					found := map[int]int{}
					for _, key := range keys {
						if key > 0 {
							found[key] = 10 * key
						}
					}
					return found, nil
				})
				if err != nil || !maps.Equal(got, want) {
					t.Errorf("%v: %v (%v), want %v", keys, got, err, want)
				}
			})
			synctest.Wait()
		}
		ask(map[int]int{1: 10, 2: 20}, 1, 2, -1)
		ask(map[int]int{2: 20, 3: 30}, 2, 3, 3)
		ask(map[int]int{1: 10, 4: 40}, 1, 4)
		ask(map[int]int{})
		all.Wait()
		if readings != 2 {
			t.Errorf("%d readings", readings)
		}
	})
}

func TestMany_WhoAsksAtRandomGetsWhatIsTrueAfterTheQuestion(t *testing.T) {
	t.Parallel()
	var many joined.Many[int, int64]
	var mu sync.Mutex
	var now int64
	tick := func() int64 {
		mu.Lock()
		defer mu.Unlock()
		now++
		return now
	}
	read := func(_ context.Context, keys []int) (map[int]int64, error) {
		at, found := tick(), map[int]int64{}
		for _, key := range keys {
			found[key] = at
		}
		return found, nil
	}
	var all sync.WaitGroup
	for key := range 16 {
		all.Go(func() {
			for range 2_000 {
				asked := tick()
				if got, found, err := many.Of(t.Context(), key, read); err != nil || !found || got <= asked {
					t.Errorf("%d: read at %d, asked at %d, found %v: %v", key, got, asked, found, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestMany_AFaultIsToldToThoseWhoAskedAndNobodyAfterThem(t *testing.T) {
	t.Parallel()
	var many joined.Many[int, int]
	fault := errors.New("away")
	for _, want := range []error{fault, nil} {
		_, found, err := many.Of(t.Context(), 1, func(context.Context, []int) (map[int]int, error) {
			return map[int]int{1: 1}, want
		})
		if !errors.Is(err, want) || found != (want == nil) {
			t.Errorf("found %v: %v, want %v", found, err, want)
		}
	}
}
