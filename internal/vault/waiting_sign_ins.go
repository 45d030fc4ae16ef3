package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// How long a sign-in waits for its second factor, and how often that is tried (docs/rules/identity.md#second-factor).
const (
	WaitingTTL   = 5 * time.Minute
	WaitingTries = 5
)

// WaitingSignIn is a sign-in whose first factor was right.
type WaitingSignIn struct {
	UserID   id.User
	FactorID id.SecondFactor // as the log had it
	OrgID    id.Organization // at whose host; zero = the root host
	Method   string          // of the first factor
	Browser  string
}

// SQL of waiting sign-ins. A revocation of sessions removes those of its users first (revoke): so a sign-in that finds
// its row at the end has a session that the revocation sees, or none has come.
const (
	waitSQL = `
insert into {schema}.waiting_sign_ins (hash, user_id, factor_id, org_id, method, browser, expires_at)
values (@hash, @user, @factor, @org, @method, @browser, @until)`
	tryWaitingSQL = `
update {schema}.waiting_sign_ins set tries = tries + 1
where hash = $1 and expires_at > $2 and tries < $3 and not spent
returning user_id, factor_id, org_id, method, browser`
	spendWaitingSQL  = `update {schema}.waiting_sign_ins set spent = true where hash = $1 and not spent`
	endWaitingSQL    = `delete from {schema}.waiting_sign_ins where hash = $1`
	revokeWaitingSQL = `
delete from {schema}.waiting_sign_ins where user_id = any(@users::uuid[]) and (@org::uuid is null or org_id = @org)`
	purgeWaitingSQL = `delete from {schema}.waiting_sign_ins where expires_at <= $1`
)

// Wait keeps a sign-in until its second factor comes, and gives the token that stands for it.
func (f *SecondFactors) Wait(ctx context.Context, w WaitingSignIn) (secrets.Text, error) {
	token := newToken()
	_, err := f.core.db.Owner.Exec(ctx, f.core.sql(waitSQL), pgx.NamedArgs{
		"hash": hashToken(token), "user": w.UserID, "factor": w.FactorID, "org": w.OrgID, "method": w.Method,
		"browser": w.Browser, "until": f.core.now().Add(WaitingTTL),
	})
	if err != nil {
		return "", fmt.Errorf("keep sign-in: %w", err)
	}
	return token, nil
}

// Try counts a try of a waiting sign-in, and gives it; nil for a token that is unknown, used, too old, or was tried too
// often. One that is shown at another host is spent.
func (f *SecondFactors) Try(
	ctx context.Context, token secrets.Text, host id.Organization,
) (*WaitingSignIn, error) {
	if len(token.Reveal()) > maxToken {
		return nil, nil
	}
	var w WaitingSignIn
	err := f.core.db.Owner.QueryRow(ctx, f.core.sql(tryWaitingSQL), hashToken(token), f.core.now(), WaitingTries).
		Scan(&w.UserID, &w.FactorID, &w.OrgID, &w.Method, &w.Browser)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("try second factor: %w", err)
	case w.OrgID != host:
		_, err := f.End(ctx, token)
		return nil, err
	}
	return &w, nil
}

// Spend says that the second factor was right. Of two at the same moment one is told true.
func (f *SecondFactors) Spend(ctx context.Context, token secrets.Text) (bool, error) {
	return f.changed(ctx, spendWaitingSQL, token)
}

// End forgets a sign-in that has led to a session, or leads to none. It is false when the sign-in was revoked.
func (f *SecondFactors) End(ctx context.Context, token secrets.Text) (bool, error) {
	return f.changed(ctx, endWaitingSQL, token)
}

// changed runs a statement about one sign-in and reports whether it has changed it.
func (f *SecondFactors) changed(ctx context.Context, sql string, token secrets.Text) (bool, error) {
	done, err := f.core.db.Owner.Exec(ctx, f.core.sql(sql), hashToken(token))
	if err != nil {
		return false, fmt.Errorf("change waiting sign-in: %w", err)
	}
	return done.RowsAffected() == 1, nil
}
