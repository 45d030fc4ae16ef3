package usecases

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// faulty is the code of an item at which the program itself failed (docs/errors.md).
const faulty = "internal"

// Items says how the items of a batch are worked. All fields are required.
type Items struct {
	Logger *slog.Logger
	Batch  fmt.Stringer // its id, for the log
	Crew   int          // items that are worked side by side
}

// EachItem calls do for each item of a part of a batch, and gives the code of each failure, "" for what succeeded. So
// the items are worked independently: one that cannot be read, or at which the program panics, has the code `internal`
// and a line in the log, and the others go on. It fails only where a repeat of the whole part may succeed: when ctx
// ends, when what it needs is away, and when another change came first.
func EachItem[I fmt.Stringer](ctx context.Context, of Items, ids []I, do func(i int) error) ([]string, error) {
	codes := make([]string, len(ids))
	err := loop.Each(ctx, of.Crew, len(ids), func(i int) error {
		err := loop.Try(func() error { return do(i) })
		if err == nil {
			return nil
		}
		if Away(ctx, err) || failure.CodeOf(err) == "concurrent_change" {
			return err
		}
		codes[i] = ItemCode(err)
		if failure.KindOf(err) == failure.Internal {
			of.Logger.ErrorContext(ctx, "an item of a batch failed", "batch", of.Batch.String(),
				"item", ids[i].String(), "error", err, "stack", loop.StackOf(err))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// Away reports whether an error says nothing about the thing that was worked on: ctx has ended, or the log, the
// database or another system did not serve. A repeat may succeed.
func Away(ctx context.Context, err error) bool {
	return ctx.Err() != nil || failure.KindOf(err) == failure.Unavailable ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || postgres.Unserved(err)
}

// ItemCode is the code with which a failure is recorded: its own, or `internal` for a fault of the program.
func ItemCode(err error) string {
	if code := failure.CodeOf(err); code != "" {
		return code
	}
	return faulty
}
