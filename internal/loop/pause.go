package loop

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Every runs a round at once, and again every d and whenever wake is signalled. It returns nil when ctx ends, or the
// error of the first round that fails. With d = 0 only wake counts; with a nil wake only the time counts. Rounds never
// overlap: after a round that took longer than d, one round follows at once, not all the missed ones.
func Every(ctx context.Context, d time.Duration, wake <-chan struct{}, round func(ctx context.Context) error) error {
	var tick <-chan time.Time
	if d > 0 {
		ticker := time.NewTicker(d)
		defer ticker.Stop()
		tick = ticker.C
	}
	for ctx.Err() == nil {
		if err := round(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-tick:
		}
	}
	return nil
}

// Sleep waits for d. It returns false when ctx has ended.
func Sleep(ctx context.Context, d time.Duration) bool { return WaitFor(ctx, nil, d) }

// Wait waits for a signal or for the channel to be closed. It returns false when ctx has ended, even if both happened.
func Wait(ctx context.Context, signal <-chan struct{}) bool {
	select {
	case <-ctx.Done():
	case <-signal:
	}
	return ctx.Err() == nil
}

// WaitFor is Wait for at most d. It returns false only when ctx has ended.
func WaitFor(ctx context.Context, signal <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-signal:
	case <-timer.C:
	}
	return ctx.Err() == nil
}

// SleepUntil waits until the clock reaches an instant, at its own pace or because it was moved. It returns false when
// ctx has ended.
func SleepUntil(ctx context.Context, c clock.Clock, at time.Time) bool {
	return WaitUntil(ctx, nil, c, at)
}

// WaitUntil is SleepUntil that a signal ends, too.
func WaitUntil(ctx context.Context, signal <-chan struct{}, c clock.Clock, at time.Time) bool {
	for ctx.Err() == nil {
		moved := clock.Moved(c)
		left := at.Sub(c.Now())
		if left <= 0 {
			return true
		}
		if waitUntil(ctx, signal, moved, left) {
			return ctx.Err() == nil
		}
	}
	return false
}

// waitUntil waits for d, or until the clock is moved, or for the signal, which alone gives true.
func waitUntil(ctx context.Context, signal, moved <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-signal:
		return true
	case <-ctx.Done():
	case <-moved:
	case <-timer.C:
	}
	return false
}

// Wake signals without waiting. The channel should have a buffer, usually of one: further signals are dropped while one
// waits there.
func Wake(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// Backoff gives the pauses of work that fails repeatedly: first Min, then always twice the last pause, up to Max. For
// one goroutine.
type Backoff struct {
	Min, Max time.Duration

	next time.Duration // 0 = Min
}

// Pause is the time that the next Wait will take.
func (b *Backoff) Pause() time.Duration { return max(b.next, b.Min) }

// Next returns the pause and doubles the one after it, for work that waits elsewhere.
func (b *Backoff) Next() time.Duration {
	pause := b.Pause()
	b.next = min(2*pause, b.Max)
	return pause
}

// Wait waits for the pause and doubles the next one. It returns false when ctx has ended.
func (b *Backoff) Wait(ctx context.Context) bool { return Sleep(ctx, b.Next()) }

// Reset makes Min the next pause; call it after a success.
func (b *Backoff) Reset() { b.next = 0 }
