package accessjobs

import (
	"context"
	"sync/atomic"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// atOnce bounds the commands that one job executes at the same time. The log commits appends that come together as a
// group, so one after the other would be many times slower.
const atOnce = 16

// each calls do for all of a list, several at once. One whose call fails, or panics, stops no other: the first such
// error is given at the end, and whoever it was comes again with the next attempt of the job. Where the log or the
// database serves nobody, it ends at once.
func each[T any](ctx context.Context, list []T, do func(context.Context, T) error) error {
	var failed atomic.Pointer[error]
	err := loop.Each(ctx, atOnce, len(list), func(i int) error {
		err := loop.Try(func() error { return do(ctx, list[i]) })
		if err == nil || ctx.Err() != nil || postgres.Unserved(err) || failure.KindOf(err) == failure.Unavailable {
			return err
		}
		failed.CompareAndSwap(nil, &err)
		return nil
	})
	if first := failed.Load(); err == nil && first != nil {
		return *first
	}
	return err
}
