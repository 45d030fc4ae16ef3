package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Revocation names sessions that end together, and why. A zero Only, Except or Org leaves nobody out.
type Revocation struct {
	Users  []id.User
	Only   id.Session      // no other session
	Except id.Session      // this one stays open
	Org    id.Organization // those opened at this organization
	Reason string          // one of those of events.SessionEnded
}

// Ended is a session that was revoked and whose end the log does not have yet, as far as the vault knows.
type Ended struct {
	Session
	// Reason is that of the first revocation. Programs that did not store it revoked ahead of the event only where a
	// token was used twice.
	Reason string
}

// SQL of revocations. Sessions are locked in the order of their ids, so that two revocations do not wait for each other
// in a ring.
const (
	revokeSessionsSQL = `
with chosen as (
	select id from {schema}.sessions
	where user_id = any(@users::uuid[]) and not end_recorded and (revoked_at is not null or expires_at > @at)
		and (@only::uuid is null or id = @only) and id is distinct from @except::uuid
		and (@org::uuid is null or org_id = @org)
	order by id for update
)
update {schema}.sessions s set
	revoked_at = coalesce(s.revoked_at, @at), end_reason = coalesce(s.end_reason, @reason)
from chosen where s.id = chosen.id
returning ` + sessionColumns + `, s.end_reason`
	unrecordedSessionsSQL = `
select ` + sessionColumns + `, coalesce(s.end_reason, 'refresh_token_reused') from {schema}.sessions s
where s.revoked_at <= $1 and not s.end_recorded order by s.revoked_at, s.id limit $2`
	recordedSessionSQL = `update {schema}.sessions set end_recorded = true where id = $1 and revoked_at is not null`
)

// Revoke ends sessions in one statement and makes their tokens invalid, all of them or, when it fails, none. It gives
// those of the named sessions whose end is not recorded yet, also those that were revoked before: so a repeat after a
// stop finds what is left. The caller records them and says so to EndRecorded.
func (r *RefreshTokens) Revoke(ctx context.Context, v Revocation) ([]Ended, error) {
	return r.core.revoke(ctx, r.core.db.Owner, v)
}

// revoke ends sessions on a pool, or together with what else a transaction does. Sign-ins that wait for a second factor
// end before, unless one session alone is meant.
func (c *core) revoke(ctx context.Context, q queryer, v Revocation) ([]Ended, error) {
	if v.Only.IsZero() {
		rows, err := q.Query(ctx, c.sql(revokeWaitingSQL), pgx.NamedArgs{"users": id.Texts(v.Users), "org": v.Org})
		if err == nil {
			rows.Close()
			err = rows.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("revoke sign-ins: %w", err)
		}
	}
	rows, _ := q.Query(ctx, c.sql(revokeSessionsSQL), pgx.NamedArgs{
		"users": id.Texts(v.Users), "only": v.Only, "except": v.Except, "org": v.Org, "reason": v.Reason, "at": c.now(),
	})
	ended, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Ended])
	if err != nil {
		return nil, fmt.Errorf("revoke sessions: %w", err)
	}
	return ended, nil
}

// Unrecorded lists sessions that were revoked at an instant or before it and whose end is not recorded yet, the oldest
// first, at most limit.
func (r *RefreshTokens) Unrecorded(ctx context.Context, until time.Time, limit int) ([]Ended, error) {
	rows, _ := r.core.db.Owner.Query(ctx, r.core.sql(unrecordedSessionsSQL), until, limit)
	ended, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Ended])
	if err != nil {
		return nil, fmt.Errorf("list ended sessions: %w", err)
	}
	return ended, nil
}

// EndRecorded says that the log has the end of a revoked session. An open session stays as it is.
func (r *RefreshTokens) EndRecorded(ctx context.Context, session id.Session) error {
	if _, err := r.core.db.Owner.Exec(ctx, r.core.sql(recordedSessionSQL), session); err != nil {
		return fmt.Errorf("mark session %s: %w", session, err)
	}
	return nil
}
