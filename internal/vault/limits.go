package vault

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"

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

// Quota is one of several limits that a call must keep at once: at most Limit calls of Key in Window.
type Quota struct {
	Key    string
	Limit  int
	Window time.Duration
}

// SeveralLimiter is a Limiter that can also count one call against several limits.
type SeveralLimiter interface {
	Limiter
	// AllowAll counts the call against every quota and returns true. When one of them is used up, it counts the call
	// against none, and returns false with the time to wait for that one: it does not look at those behind it, and
	// leaves no row for any. All callers name quotas that they share in the same order: each is locked until the
	// others are counted.
	AllowAll(ctx context.Context, quotas ...Quota) (ok bool, retryAfter time.Duration, err error)
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
	return l.count(ctx, l.core.db.Owner, Quota{Key: key, Limit: limit, Window: window})
}

// AllowAll implements SeveralLimiter with one transaction, which a used-up quota rolls back.
func (l *Limits) AllowAll(ctx context.Context, quotas ...Quota) (ok bool, wait time.Duration, err error) {
	err = pgx.BeginFunc(ctx, l.core.db.Owner, func(tx pgx.Tx) error {
		for _, q := range quotas {
			if ok, wait, err = l.count(ctx, tx, q); err != nil {
				return err
			}
			if !ok {
				return errUsedUp
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, errUsedUp):
		return false, wait, nil
	case err != nil:
		return false, 0, err
	}
	return true, 0, nil
}

// errUsedUp rolls back the counts of a call that one of its quotas refuses. It never leaves AllowAll.
var errUsedUp = errors.New("a quota is used up")

// rowQuerier is the pool, or a transaction in it.
type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// count counts a call against one quota, or gives the time to wait.
func (l *Limits) count(ctx context.Context, db rowQuerier, q Quota) (bool, time.Duration, error) {
	var s slidingWindow
	var ok bool
	now := l.core.now()
	err := db.QueryRow(ctx, l.core.sql(allowLimitSQL), mac(l.key, q.Key), now, q.Window.Microseconds(), q.Limit).
		Scan(&s.started, &s.previous, &s.current, &ok)
	if err != nil {
		return false, 0, fmt.Errorf("count against limit: %w", err)
	}
	if ok {
		return true, 0, nil
	}
	return false, s.wait(now, q.Limit, q.Window), nil
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
	ctx context.Context, key string, limit int, window time.Duration,
) (bool, time.Duration, error) {
	return l.AllowAll(ctx, Quota{Key: key, Limit: limit, Window: window})
}

// AllowAll implements SeveralLimiter. The error is always nil.
func (l *LocalLimits) AllowAll(_ context.Context, quotas ...Quota) (bool, time.Duration, error) {
	now := l.clock.Now().Truncate(time.Microsecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	counted := make([]slidingWindow, len(quotas))
	for i, q := range quotas {
		s, found := l.kept.Get(q.Key)
		if !found {
			s = slidingWindow{started: now}
		}
		s = s.rolled(now, q.Window)
		if !s.admits(now, q.Limit, q.Window) {
			return false, s.wait(now, q.Limit, q.Window), nil
		}
		s.current++
		counted[i] = s
	}
	for i, q := range quotas {
		l.kept.Add(q.Key, counted[i])
	}
	return true, 0, nil
}

// slidingWindow counts the calls of the present window and of the one before.
type slidingWindow struct {
	started           time.Time
	previous, current int
}

// rolled gives the counters at an instant: a window that has ended becomes the one before, or is dropped. One that
// begins more than a window later is dropped, too: the clock was put back, and nobody waits until it is there again.
func (s slidingWindow) rolled(now time.Time, window time.Duration) slidingWindow {
	switch gone := now.Sub(s.started) / window; {
	case gone == 0:
		return s
	case gone == 1:
		return slidingWindow{s.started.Add(window), s.current, 0}
	default:
		return slidingWindow{started: now}
	}
}

// admits reports whether one more call fits. It counts in whole microseconds, as the SQL does.
func (s slidingWindow) admits(now time.Time, limit int, window time.Duration) bool {
	w, gone := window.Microseconds(), max(now.Sub(s.started).Microseconds(), 0)
	return int64(s.previous)*(w-gone)+int64(s.current+1)*w <= int64(limit)*w
}

// wait gives the time until a refused call would be admitted if no other call comes; at least one microsecond.
func (s slidingWindow) wait(now time.Time, limit int, window time.Duration) time.Duration {
	gone := max(now.Sub(s.started), 0)
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
