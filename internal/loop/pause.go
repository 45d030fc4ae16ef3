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

// lookAgain is the longest time without a look at a clock whose instant is awaited.
const lookAgain = time.Minute

// SleepFor waits until d has gone by on the clock: at its own pace, or because it was moved ahead. Somebody who sets
// the machine's clock makes the wait neither longer nor shorter. It returns false when ctx has ended.
func SleepFor(ctx context.Context, c clock.Clock, d time.Duration) bool {
	pace := clock.Pace(c)
	end := pace.Now().Add(d)
	return waitWhile(ctx, nil, c, func() time.Duration { return end.Sub(pace.Now()) })
}

// WaitUntil waits until the clock reaches an instant, at its own pace or because it was moved, or for a signal. When
// the machine's clock is put back meanwhile, the wait ends as if it had not been: the caller looks at the clock again.
// It ends a minute late at most when the machine's clock is put ahead. It returns false when ctx has ended.
func WaitUntil(ctx context.Context, signal <-chan struct{}, c clock.Clock, at time.Time) bool {
	pace := clock.Pace(c)
	now := pace.Now() // read first: a move between the two ends the wait early, and not late
	end := now.Add(at.Sub(c.Now()))
	return waitWhile(ctx, signal, c, func() time.Duration { return min(end.Sub(pace.Now()), at.Sub(c.Now())) })
}

// waitWhile waits while time is left, looking again whenever the clock was moved, or until the signal.
func waitWhile(ctx context.Context, signal <-chan struct{}, c clock.Clock, left func() time.Duration) bool {
	for ctx.Err() == nil {
		moved := clock.Moved(c)
		rest := left()
		if rest <= 0 {
			return true
		}
		if waitMoved(ctx, signal, moved, min(rest, lookAgain)) {
			return ctx.Err() == nil
		}
	}
	return false
}

// waitMoved waits for d, or until the clock is moved, or for the signal, which alone gives true.
func waitMoved(ctx context.Context, signal, moved <-chan struct{}, d time.Duration) bool {
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
