package accessjobs

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/lastmile-isp/lastmile/events"
)

// atOnce bounds the commands that one job executes at the same time. The log commits appends that come together as a
// group, so one after the other would be many times slower.
const atOnce = 16

// each calls do for all subjects, several at once, and gives the first error. A subject whose call failed comes again
// with the next attempt of the job.
func each(
	ctx context.Context, list []events.DunningSubject, do func(context.Context, events.DunningSubject) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, s := range list {
		group.Go(func() error { return do(ctx, s) })
	}
	return group.Wait()
}
