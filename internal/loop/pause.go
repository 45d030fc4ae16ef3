package loop

import (
	"context"
	"time"
)

// Every runs a round at once, then every d and whenever wake is signalled, until ctx ends (nil) or a round fails (its
// error). With a zero d only wake counts, with a nil wake only the time. Rounds never overlap: one that takes longer
// than d is followed by one round at once, not by all that were missed.
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

// Sleep waits for d; false when ctx has ended.
func Sleep(ctx context.Context, d time.Duration) bool { return WaitFor(ctx, nil, d) }

// Wait waits for a signal, or for a channel to be closed; false when ctx has ended, whatever else happened.
func Wait(ctx context.Context, signal <-chan struct{}) bool {
	select {
	case <-ctx.Done():
	case <-signal:
	}
	return ctx.Err() == nil
}

// WaitFor is Wait for d at most; false only when ctx has ended.
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

// Wake signals without waiting. The channel has a buffer, usually of one: a signal that nobody took yet stands for all
// that follow it.
func Wake(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// Backoff is the pauses of work that fails again and again: Min first, then twice the one before, up to Max. It belongs
// to one goroutine.
type Backoff struct {
	Min, Max time.Duration

	next time.Duration // 0 = Min
}

// Pause is how long the next Wait takes.
func (b *Backoff) Pause() time.Duration { return max(b.next, b.Min) }

// Wait waits for the pause and doubles it; false when ctx has ended.
func (b *Backoff) Wait(ctx context.Context) bool {
	pause := b.Pause()
	b.next = min(2*pause, b.Max)
	return Sleep(ctx, pause)
}

// Reset makes Min the next pause: something succeeded.
func (b *Backoff) Reset() { b.next = 0 }
