package usecases

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Await tries a condition each time that a read model has moved, for at most patience, and reports whether it held. A
// caller that goes away ends the wait with the error of its context.
func Await(
	ctx context.Context, views *runner.Views, projection string, patience time.Duration,
	cond func(ctx context.Context) (bool, error),
) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		held, err := views.WaitUntil(wait, projection, cond)
		switch {
		case held:
			return true, nil
		case wait.Err() != nil && ctx.Err() == nil && (err == nil || errors.Is(err, context.DeadlineExceeded)):
			return false, nil
		case err != nil:
			return false, err
		}
	}
}
