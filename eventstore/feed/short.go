package feed

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/eventstore"
)

// still asks the log for the newest event that was seen. It fails with an eventstore.OtherLogError when the log has
// another one there, and with a ShortLogError when it ends before: then nothing is read until it does not.
func (f *Feed) still(ctx context.Context) error {
	f.mu.Lock()
	newest, before := f.markLocked(f.position), f.short
	f.mu.Unlock()
	if newest.Position == 0 {
		return nil
	}
	has, err := f.log.EventAt(ctx, newest.Position)
	if err == nil {
		err = newest.Check(has)
	}
	switch {
	case isShort(err):
		f.hold(ctx, err)
	case err == nil:
		f.goOn(ctx, before)
	}
	return err
}

// hold ends reading for all consumers while the log ends before what was read. It has the log followed anew, from where
// it is known: the present cursor may be at positions that the log does not have.
func (f *Feed) hold(ctx context.Context, err error) {
	f.mu.Lock()
	first, again := f.short == nil, f.again
	f.short = err
	f.mu.Unlock()
	if first {
		f.logger.WarnContext(ctx, "the log is shorter than what was read of it", "error", err)
	}
	if again != nil {
		again()
	}
}

// goOn lets consumers read again, unless the log was found to be shorter since before was.
func (f *Feed) goOn(ctx context.Context, before error) {
	if before == nil {
		return
	}
	f.mu.Lock()
	passed := f.short == before //nolint:errorlint // the same finding, not one like it
	if passed {
		f.short = nil
		f.wake()
	}
	f.mu.Unlock()
	if passed {
		f.logger.InfoContext(ctx, "the log has what was read of it again")
	}
}

// Short is why consumers wait: the log ends before what was read of it. It is nil while they do not.
func (f *Feed) Short() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.short
}

// isShort reports whether the log ends before what was read.
func isShort(err error) bool {
	var short *eventstore.ShortLogError
	return errors.As(err, &short)
}
