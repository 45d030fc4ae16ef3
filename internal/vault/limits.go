package vault

import (
	"context"
	_ "embed"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// limitKeys is the purpose of the HMAC key for callers' keys, which may hold IP addresses and so are not stored.
const limitKeys secrets.Purpose = "limits"

// localLimitsKept bounds the number of counters in memory. Beyond it the least recently used is dropped.
const localLimitsKept = 1 << 18

// Limiter admits at most limit calls of a key in a window. Both implementations count alike, by a sliding window: the
// calls of the present fixed window, and a share of those of the window before that shrinks with time. The first window
// begins with the key's first call. Refused calls are not counted.
type Limiter interface {
	// Allow counts the call and returns true, or returns false with the time to wait before the next try.
	Allow(ctx context.Context, key string, limit int,
		window time.Duration) (ok bool, retryAfter time.Duration, err error)
}

// Limits is the Limiter in PostgreSQL, for several replicas.
type Limits struct {
	core *core
	key  []byte
}

// allowLimitSQL counts a call. The row holds the counters after it. Times are compared in whole microseconds: epoch
// arithmetic on numeric.
//
//go:embed allow_limit.sql
var allowLimitSQL string

// purgeLimitsSQL drops the rows that no call can need.
const purgeLimitsSQL = `delete from {schema}.limits where expires_at <= $1`

// Allow implements Limiter with one statement, which counts and decides.
func (l *Limits) Allow(ctx context.Context, key string, limit int, window time.Duration) (bool, time.Duration, error) {
	var s slidingWindow
	var ok bool
	now := l.core.now()
	err := l.core.db.Owner.QueryRow(ctx, l.core.sql(allowLimitSQL), mac(l.key, key), now, window.Microseconds(), limit).
		Scan(&s.started, &s.previous, &s.current, &ok)
	if err != nil {
		return false, 0, fmt.Errorf("count against limit: %w", err)
	}
	if ok {
		return true, 0, nil
	}
	return false, s.wait(now, limit, window), nil
}

// Purge removes counters so old that they admit everything.
func (l *Limits) Purge(ctx context.Context) error {
	if _, err := l.core.db.Owner.Exec(ctx, l.core.sql(purgeLimitsSQL), l.core.now()); err != nil {
		return fmt.Errorf("purge limits: %w", err)
	}
	return nil
}

// LocalLimits is the Limiter in memory, for a single process.
type LocalLimits struct {
	clock clock.Clock
	mu    sync.Mutex
	kept  *lru.Cache[string, slidingWindow]
}

// NewLocalLimits makes a Limiter in which no call has been counted.
func NewLocalLimits(c clock.Clock) *LocalLimits {
	kept, err := lru.New[string, slidingWindow](localLimitsKept)
	if err != nil {
		panic(err) // the size is positive
	}
	return &LocalLimits{clock: c, kept: kept}
}

// Allow implements Limiter. The error is always nil.
func (l *LocalLimits) Allow(
	_ context.Context, key string, limit int, window time.Duration,
) (bool, time.Duration, error) {
	now := l.clock.Now().Truncate(time.Microsecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	s, found := l.kept.Get(key)
	if !found {
		s = slidingWindow{started: now}
	}
	s = s.rolled(now, window)
	ok := s.admits(now, limit, window)
	if ok {
		s.current++
	}
	l.kept.Add(key, s)
	if ok {
		return true, 0, nil
	}
	return false, s.wait(now, limit, window), nil
}

// slidingWindow counts the calls of the present window and of the one before.
type slidingWindow struct {
	started           time.Time
	previous, current int
}

// rolled gives the counters at an instant: a window that has ended becomes the one before, or is dropped.
func (s slidingWindow) rolled(now time.Time, window time.Duration) slidingWindow {
	switch gone := now.Sub(s.started) / window; {
	case gone <= 0:
		return s
	case gone == 1:
		return slidingWindow{s.started.Add(window), s.current, 0}
	default:
		return slidingWindow{started: now}
	}
}

// admits reports whether one more call fits. It counts in whole microseconds, as the SQL does.
func (s slidingWindow) admits(now time.Time, limit int, window time.Duration) bool {
	w, gone := window.Microseconds(), now.Sub(s.started).Microseconds()
	return int64(s.previous)*(w-gone)+int64(s.current+1)*w <= int64(limit)*w
}

// wait gives the time until a refused call would be admitted if no other call comes; at least one microsecond.
func (s slidingWindow) wait(now time.Time, limit int, window time.Duration) time.Duration {
	gone := now.Sub(s.started)
	fades := func(count, room int) time.Duration { // until count's share in its following window leaves that much room
		if count <= room {
			return 0
		}
		return time.Duration(float64(window) * (1 - float64(room)/float64(count)))
	}
	var at time.Duration
	switch {
	case limit < 1:
		at = gone + window // a limit of 0 admits no call ever: any time will do
	case s.current < limit:
		at = fades(s.previous, limit-1-s.current)
	default:
		at = window + fades(s.current, limit-1)
	}
	return max(at-gone, 0) + time.Microsecond
}
