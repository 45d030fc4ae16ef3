package vault

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// The rule of the lock (docs/rules/identity.md#lockout).
const (
	LockoutTries = 5
	LockoutTime  = 15 * time.Minute
)

// Lockouts counts wrong passwords for each e-mail, known or not (docs/rules/identity.md#lockout). It stores an HMAC of
// the e-mail.
type Lockouts struct {
	core *core
	key  []byte
}

// Try is the verdict on one sign-in attempt.
type Try struct {
	Allowed bool
	Until   time.Time // when not allowed: the end of the lock
}

// A try is counted before the password is looked at, so that parallel guesses cannot slip through. The fifth sets the
// lock at once; if its password is right, Succeed removes it. A counter without tries for the lock's time starts
// afresh.
const (
	tryLockoutSQL = `
insert into {schema}.lockouts as l (key, tries, last_at, locked_until) values ($1, 1, $2, null)
on conflict (key) do update set (tries, last_at, locked_until) = (
	select n, case when n > $3 then l.last_at else $2 end,
	       case when n > $3 then l.locked_until when n = $3 then $4::timestamptz end
	from (select case when l.last_at <= $5 or l.locked_until <= $2 then 1 else least(l.tries, $3) + 1 end as n) as c)
returning tries, coalesce(locked_until, $2)`
	succeedLockoutSQL = `delete from {schema}.lockouts where key = $1`
	purgeLockoutsSQL  = `delete from {schema}.lockouts where last_at <= $1`
)

// Try counts one attempt and tells whether its password may be looked at. Call Succeed when it was right; a wrong one
// needs no call.
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

// Succeed resets the counter after a right password.
func (l *Lockouts) Succeed(ctx context.Context, email string) error {
	if _, err := l.core.db.Owner.Exec(ctx, l.core.sql(succeedLockoutSQL), l.keyOf(email)); err != nil {
		return fmt.Errorf("reset sign-in attempts: %w", err)
	}
	return nil
}

// Purge removes counters without meaning.
func (l *Lockouts) Purge(ctx context.Context) error {
	if _, err := l.core.db.Owner.Exec(ctx, l.core.sql(purgeLockoutsSQL), l.core.now().Add(-LockoutTime)); err != nil {
		return fmt.Errorf("purge sign-in attempts: %w", err)
	}
	return nil
}

// keyOf is the HMAC of an e-mail in its one spelling.
func (l *Lockouts) keyOf(email string) []byte {
	return mac(l.key, strings.ToLower(strings.TrimSpace(email)))
}
