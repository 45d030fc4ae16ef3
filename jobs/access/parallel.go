package accessjobs

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// atOnce bounds the commands that one job executes at the same time. The log commits appends that come together as a
// group, so one after the other would be many times slower.
const atOnce = 16

// each calls do for all of a list, several at once, and gives the first error. One whose call failed comes again with
// the next attempt of the job.
func each[T any](ctx context.Context, list []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, s := range list {
		group.Go(func() error { return do(ctx, s) })
	}
	return group.Wait()
}
