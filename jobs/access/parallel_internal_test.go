package accessjobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TestEach_OneThatFailsStopsNoOther, unless nobody is served: then the others would only wait, too.
func TestEach_OneThatFailsStopsNoOther(t *testing.T) {
	t.Parallel()
	list := make([]int, 1000)
	for i := range list {
		list[i] = i
	}
	damaged, away := errors.New("damaged"), failure.NewUnavailable("event_store_unavailable", "Away.", 0, nil)
	for want, least := range map[error]int64{damaged: 1000, away: 1} {
		var called atomic.Int64
		err := each(t.Context(), list, func(_ context.Context, n int) error {
			called.Add(1)
			if n == 3 {
				return want
			}
			return nil
		})
		if !errors.Is(err, want) || called.Load() < least {
			t.Errorf("%v after %d calls, want %v", err, called.Load(), want)
		}
	}
	if err := each(t.Context(), list[:5], func(_ context.Context, n int) error {
		if n == 2 {
			panic("at one")
		}
		return nil
	}); err == nil {
		t.Error("a panic is no error")
	}
}
