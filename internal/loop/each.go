package loop

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each calls do for the numbers below n, some of them side by side, until one of the calls fails; a panic is a failure.
// It fails as the first of them, or as ctx does.
func Each(ctx context.Context, crew, n int, do func(i int) error) error {
	var working sync.WaitGroup
	var next atomic.Int64
	var away atomic.Pointer[error]
	for range min(crew, n) {
		working.Go(func() {
			for i := next.Add(1); i <= int64(n) && away.Load() == nil && ctx.Err() == nil; i = next.Add(1) {
				if err := Try(func() error { return do(int(i) - 1) }); err != nil {
					away.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	working.Wait()
	if err := away.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}
