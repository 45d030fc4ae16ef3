package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// How long a refresh token can be used, which each rotation starts anew, and how long a session lasts at most, however
// often it is renewed (docs/rules/identity.md#token-lifetimes).
const (
	RefreshTokenTTL = 7 * 24 * time.Hour
	SessionTTL      = 30 * 24 * time.Hour
)

// sessionKept is how long the row of an ended session stays, so that the reuse of its tokens is still recognised.
const sessionKept = 24 * time.Hour

// Failures of refresh tokens. Both are answered 401.
var (
	// ErrTokenInvalid reports a token that is unknown, expired, or of an ended session.
	ErrTokenInvalid = failure.NewUnauthenticated("refresh_token_invalid",
		"The session has ended. Please sign in again.")
	// ErrReused reports a token that was used before. Its session has been ended by this second use.
	ErrReused = failure.NewUnauthenticated("refresh_token_reused",
		"The session was ended for safety. Please sign in again.")
)

// Session is one sign-in: the family of refresh tokens that follow each other.
type Session struct {
	ID        id.Session
	UserID    id.User
	OrgID     id.Organization // zero for a platform session
	StartedAt time.Time
	UsedAt    time.Time // of the last rotation
	ExpiresAt time.Time // of the newest refresh token; never later than SessionTTL after StartedAt
	IP        string    // from which it was begun; "" when that is not known
	Browser   string    // with which it was begun, in words; "" when that is not known
}

// RefreshTokens holds sessions and their tokens: 256 random bits each, stored as SHA-256, each good for one use.
type RefreshTokens struct{ core *core }

// Columns of a session, in the order of Session's fields; and the SQL of sessions and tokens. The session's row is
// locked before a token is judged, so that a rotation and a revocation never pass each other.
const (
	sessionColumns = `s.id, s.user_id, s.org_id, s.started_at, s.used_at, s.expires_at, s.ip, s.browser`

	insertSessionSQL = `
insert into {schema}.sessions (id, user_id, org_id, started_at, used_at, expires_at, ip, browser)
values (@id, @user, @org, @started_at, @used_at, @expires_at, @ip, @browser)`
	insertTokenSQL = `insert into {schema}.refresh_tokens (hash, session_id, expires_at) values ($1, $2, $3)`
	findSessionSQL = `
select ` + sessionColumns + `, s.revoked_at is not null as revoked
from {schema}.sessions s join {schema}.refresh_tokens t on t.session_id = s.id where t.hash = $1`
	tokenStateSQL    = `select used_at is not null, expires_at <= $2 from {schema}.refresh_tokens where hash = $1`
	useTokenSQL      = `update {schema}.refresh_tokens set used_at = $2 where hash = $1`
	extendSessionSQL = `update {schema}.sessions set used_at = $2, expires_at = $3 where id = $1`
	reuseSessionSQL  = `
update {schema}.sessions set revoked_at = $2, end_reason = 'refresh_token_reused' where id = $1`
	listSessionsSQL = `
select ` + sessionColumns + ` from {schema}.sessions s
where s.user_id = $1 and s.revoked_at is null and s.expires_at > $2 order by s.started_at desc, s.id`
	purgeSessionsSQL = `delete from {schema}.sessions where expires_at <= $1`
)

// Issue starts a session and gives its first token. The times of s are set here.
func (r *RefreshTokens) Issue(ctx context.Context, s Session) (secrets.Text, Session, error) {
	now, token := r.core.now(), newToken()
	s.StartedAt, s.UsedAt, s.ExpiresAt = now, now, now.Add(RefreshTokenTTL)
	batch := &pgx.Batch{} // one implicit transaction
	batch.Queue(r.core.sql(insertSessionSQL), pgx.NamedArgs{
		"id": s.ID, "user": s.UserID, "org": s.OrgID, "started_at": s.StartedAt, "used_at": s.UsedAt,
		"expires_at": s.ExpiresAt, "ip": s.IP, "browser": s.Browser,
	})
	batch.Queue(r.core.sql(insertTokenSQL), hashToken(token), s.ID, s.ExpiresAt)
	if err := r.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return "", Session{}, fmt.Errorf("start session %s: %w", s.ID, err)
	}
	return token, s, nil
}

// Rotate uses a token up and gives the next one. A used token ends its session, with the tokens that followed, and
// fails with ErrReused; the session is returned then too. Everything else is ErrTokenInvalid.
func (r *RefreshTokens) Rotate(ctx context.Context, token secrets.Text) (secrets.Text, Session, error) {
	var next secrets.Text
	var session Session
	var verdict error // kept apart from the transaction's error: the revocation must be committed
	err := pgx.BeginFunc(ctx, r.core.db.Owner, func(tx pgx.Tx) error {
		var err error
		next, session, verdict, err = r.rotate(ctx, tx, token)
		return err
	})
	if err != nil {
		return "", Session{}, fmt.Errorf("rotate refresh token: %w", err)
	}
	return next, session, verdict
}

// rotate judges and replaces the token inside the transaction of Rotate.
func (r *RefreshTokens) rotate(
	ctx context.Context, tx pgx.Tx, token secrets.Text,
) (secrets.Text, Session, error, error) {
	now, hash := r.core.now(), hashToken(token)
	session, revoked, err := r.find(ctx, tx, token, " for update of s")
	if errors.Is(err, pgx.ErrNoRows) || (err == nil && revoked) {
		return "", Session{}, ErrTokenInvalid, nil
	}
	if err != nil {
		return "", Session{}, nil, err
	}
	var used, expired bool
	if err := tx.QueryRow(ctx, r.core.sql(tokenStateSQL), hash, now).Scan(&used, &expired); err != nil {
		return "", Session{}, nil, err
	}
	if used {
		_, err := tx.Exec(ctx, r.core.sql(reuseSessionSQL), session.ID, now)
		return "", session, ErrReused, err
	}
	if expired {
		return "", Session{}, ErrTokenInvalid, nil
	}
	next := newToken()
	session.UsedAt, session.ExpiresAt = now, now.Add(RefreshTokenTTL)
	if end := session.StartedAt.Add(SessionTTL); end.Before(session.ExpiresAt) {
		session.ExpiresAt = end
	}
	batch := &pgx.Batch{}
	batch.Queue(r.core.sql(useTokenSQL), hash, now)
	batch.Queue(r.core.sql(insertTokenSQL), hashToken(next), session.ID, session.ExpiresAt)
	batch.Queue(r.core.sql(extendSessionSQL), session.ID, session.UsedAt, session.ExpiresAt)
	return next, session, nil, tx.SendBatch(ctx, batch).Close()
}

// Lookup gives the session of a token without using the token up. A used token still gives its session: only Rotate
// judges it. Fails: refresh_token_invalid.
func (r *RefreshTokens) Lookup(ctx context.Context, token secrets.Text) (Session, error) {
	session, revoked, err := r.find(ctx, r.core.db.Owner, token, "")
	if errors.Is(err, pgx.ErrNoRows) || (err == nil && (revoked || !session.ExpiresAt.After(r.core.now()))) {
		return Session{}, ErrTokenInvalid
	}
	if err != nil {
		return Session{}, fmt.Errorf("look up refresh token: %w", err)
	}
	return session, nil
}

// List gives a user's open sessions, the newest first.
func (r *RefreshTokens) List(ctx context.Context, user id.User) ([]Session, error) {
	rows, _ := r.core.db.Owner.Query(ctx, r.core.sql(listSessionsSQL), user, r.core.now())
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Session])
	if err != nil {
		return nil, fmt.Errorf("list sessions of user %s: %w", user, err)
	}
	return open, nil
}

// Purge removes sessions, with their tokens, that ended longer than sessionKept ago.
func (r *RefreshTokens) Purge(ctx context.Context) error {
	if _, err := r.core.db.Owner.Exec(ctx, r.core.sql(purgeSessionsSQL), r.core.now().Add(-sessionKept)); err != nil {
		return fmt.Errorf("purge sessions: %w", err)
	}
	return nil
}

// queryer lets a query run on a pool or inside a transaction.
type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// find reads the session of a token. suffix ends the statement and may lock the row, such as "for update".
func (r *RefreshTokens) find(ctx context.Context, q queryer, token secrets.Text, suffix string) (Session, bool, error) {
	type row struct {
		Session
		Revoked bool
	}
	rows, _ := q.Query(ctx, r.core.sql(findSessionSQL)+suffix, hashToken(token))
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[row])
	return found.Session, found.Revoked, err
}
