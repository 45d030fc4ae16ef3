package vault

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Wrong passwords that set the lock, and how long it lasts (docs/rules/identity.md#lockout).
const (
	LockoutTries = 5
	LockoutTime  = 15 * time.Minute
)

// Lockouts counts wrong passwords for each e-mail (docs/rules/identity.md#lockout), also for e-mails of no user: a lock
// would otherwise tell which exist. The e-mail itself is not stored, only its HMAC.
type Lockouts struct {
	core *core
	key  []byte
}

// Try is the answer to one sign-in attempt.
type Try struct {
	Allowed bool
	Until   time.Time // when not allowed: the end of the lock
}

// An attempt is counted before its password is checked, so that parallel guesses cannot pass uncounted. The fifth sets
// the lock at once; if its password is right, Succeed or TakeBack removes the lock. A counter without attempts for
// LockoutTime begins again from 0, and so does one whose last attempt is further ahead than that: the clock was put
// back, and nobody waits until it is there again.
const (
	tryLockoutSQL = `
insert into {schema}.lockouts as l (key, tries, last_at, locked_until) values ($1, 1, $2, null)
on conflict (key) do update set (tries, last_at, locked_until) = (
	select n, case when n > $3 then l.last_at else $2 end,
	       case when n > $3 then l.locked_until when n = $3 then $4::timestamptz end
	from (select case when l.last_at <= $5 or l.locked_until <= $2 or l.last_at > $4 then 1
	                  else least(l.tries, $3) + 1 end as n) as c)
returning tries, coalesce(locked_until, $2)`
	takeBackLockoutSQL = `
update {schema}.lockouts set tries = greatest(least(tries, $2) - 1, 0), locked_until = null where key = $1`
	succeedLockoutSQL = `delete from {schema}.lockouts where key = $1`
	purgeLockoutsSQL  = `delete from {schema}.lockouts where last_at <= $1`
)

// Try counts one attempt and reports whether its password may be checked. Call Succeed when somebody enters with it, or
// TakeBack when the password was right and opens nothing here; a wrong one needs no call.
func (l *Lockouts) Try(ctx context.Context, email string) (Try, error) {
	now := l.core.now()
	var tries int
	var until time.Time
	err := l.core.db.Owner.QueryRow(ctx, l.core.sql(tryLockoutSQL),
		l.keyOf(email), now, LockoutTries, now.Add(LockoutTime), now.Add(-LockoutTime)).Scan(&tries, &until)
	if err != nil {
		return Try{}, fmt.Errorf("count sign-in attempt: %w", err)
	}
	if tries <= LockoutTries {
		return Try{Allowed: true}, nil
	}
	return Try{Until: until.UTC()}, nil
}

// TakeBack removes one attempt that was allowed, and a lock that it or one after it has set. Wrong passwords of before
// stay counted.
func (l *Lockouts) TakeBack(ctx context.Context, email string) error {
	_, err := l.core.db.Owner.Exec(ctx, l.core.sql(takeBackLockoutSQL), l.keyOf(email), LockoutTries)
	if err != nil {
		return fmt.Errorf("take back sign-in attempt: %w", err)
	}
	return nil
}

// Succeed resets the counter after somebody entered.
func (l *Lockouts) Succeed(ctx context.Context, email string) error {
	if _, err := l.core.db.Owner.Exec(ctx, l.core.sql(succeedLockoutSQL), l.keyOf(email)); err != nil {
		return fmt.Errorf("reset sign-in attempts: %w", err)
	}
	return nil
}

// Purge removes counters without an attempt for LockoutTime.
func (l *Lockouts) Purge(ctx context.Context) error {
	if _, err := l.core.db.Owner.Exec(ctx, l.core.sql(purgeLockoutsSQL), l.core.now().Add(-LockoutTime)); err != nil {
		return fmt.Errorf("purge sign-in attempts: %w", err)
	}
	return nil
}

// keyOf gives the HMAC of an e-mail after it was brought into one spelling.
func (l *Lockouts) keyOf(email string) []byte {
	return mac(l.key, strings.ToLower(strings.TrimSpace(email)))
}
