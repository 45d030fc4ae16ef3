package identitycases

import (
	"cmp"
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// lockKey is that under which wrong passwords of an address are counted: at each host apart, since the addresses of an
// organization are its own. Otherwise an administrator who registers a stranger's address could reset the count of that
// stranger's host by signing in at the own one. The zero organization is the root host.
func lockKey(org id.Organization, email string) string { return org.String() + " " + email }

// countTry counts an attempt to prove a password before the password is checked. It works the same for unknown
// addresses. Fails: account_locked, also for the right password.
func countTry(ctx context.Context, lockouts *vault.Lockouts, key string) error {
	try, err := lockouts.Try(ctx, key)
	if err == nil && !try.Allowed {
		err = failure.NewUnauthenticated("account_locked",
			"This account is temporarily locked after too many wrong passwords. Please try again later.")
	}
	return err
}

// unlessWrong takes back a try that failed for another reason than its password, such as a database that went away: an
// outage locks nobody out. One whose caller has gone stays counted. It gives err.
func unlessWrong(ctx context.Context, lockouts *vault.Lockouts, key string, err error) error {
	if failure.KindOf(err) == failure.Unauthenticated || ctx.Err() != nil {
		return err
	}
	return errors.Join(err, lockouts.TakeBack(ctx, key))
}

// OwnPassword changes the password of somebody who is signed in. Safe for concurrent use.
type OwnPassword struct {
	Sessions  Sessions
	Users     identityviews.UsersQuery
	Passwords *vault.Passwords
	Lockouts  *vault.Lockouts
}

// NewPassword is the request of a signed-in user to change the password.
type NewPassword struct {
	UserID  id.User
	Session id.Session // stays open; all others of the user end
	Current secrets.Text
	New     secrets.Text
}

// Validate checks the new password, and that it differs from the current one.
func (in NewPassword) Validate() error {
	var faults failure.Faults
	checkPassword(&faults, "newPassword", in.New)
	faults.Check(in.New != in.Current, "newPassword", "must differ from the current one")
	return faults.Err()
}

// Change replaces the password and ends every other session of the user, at all hosts where a proven person has one.
// The present password is proven first; wrong ones count like those of a sign-in, so that a stolen session cannot be
// used to guess. The new one is hashed, the change is recorded, and the vault replaces the password and revokes the
// other sessions, both or neither. So no password changes without an event, and no other session outlives it. Last, the
// ends of those sessions are recorded. After a stop a repeat under the same command id does the rest, whichever of the
// two passwords is valid then. When Change returns, requests of the other sessions are refused and those of this one
// pass.
//
// Fails: invalid_input, unauthenticated, account_locked, wrong_password, sign_in_busy.
func (p OwnPassword) Change(ctx context.Context, asked usecases.Asked, in NewPassword) (bus.Result, error) {
	if err := in.Validate(); err != nil {
		return bus.Result{}, err
	}
	user, err := p.Users.ByID(ctx, in.UserID)
	if err != nil || user == nil {
		return bus.Result{}, cmp.Or(err, usecases.ErrSignIn())
	}
	others, err := p.others(ctx, *user, in.Session)
	if err != nil {
		return bus.Result{}, err
	}
	org := asked.Org()
	asked.Meta.OrgID = user.Home
	meta := asked.Step("password")
	proven, err := p.prove(ctx, org, meta.CommandID, *user, in)
	if err != nil {
		return bus.Result{}, err
	}
	var hash vault.PasswordHash
	if !proven.replaced {
		if hash, err = p.Passwords.Hash(ctx, org, in.New); err != nil {
			return bus.Result{}, err
		}
	}
	done, err := p.Sessions.Bus.Execute(ctx, commands.RecordPasswordChange{UserID: user.ID}, meta)
	if err != nil {
		return bus.Result{}, err
	}
	if !proven.replaced {
		exchanged, err := p.Passwords.Exchange(ctx, proven.Verified, hash, others)
		if err == nil && !exchanged {
			err = errWrongPassword()
		}
		if err != nil {
			return bus.Result{}, err
		}
	}
	if err := p.Sessions.endAll(ctx, asked, others); err != nil {
		return bus.Result{}, err
	}
	return done, p.Sessions.DirectoryShows.WaitFor(ctx, done.Position)
}

// others names the sessions that a change of the password ends: all but one of everybody who shares the password.
func (p OwnPassword) others(
	ctx context.Context, user identityviews.UserRow, except id.Session,
) (vault.Revocation, error) {
	users := []identityviews.UserRow{user}
	if !user.Person.IsZero() {
		var err error
		if users, err = p.Users.OfPerson(ctx, user.Person); err != nil {
			return vault.Revocation{}, err
		}
	}
	return vault.Revocation{Users: idsOf(users), Except: except, Reason: "password_changed"}, nil
}

// idsOf lists users as the vault and the log name them, in the same order.
func idsOf(users []identityviews.UserRow) []id.User {
	ids := make([]id.User, len(users))
	for i, user := range users {
		ids[i] = user.ID
	}
	return ids
}

// provenPassword is a password that somebody has shown to be the user's.
type provenPassword struct {
	vault.Verified
	replaced bool // it is the new one: a first try of the same change has stored it
}

// prove checks the present password of a user, at the host of org; for a repeat of a change that has been recorded
// under the command's id, the new one does as well. Fails: account_locked, wrong_password, sign_in_busy.
func (p OwnPassword) prove(
	ctx context.Context, org id.Organization, change id.Command, user identityviews.UserRow, in NewPassword,
) (provenPassword, error) {
	key := lockKey(user.Home, user.Email)
	if err := countTry(ctx, p.Lockouts, key); err != nil {
		return provenPassword{}, err
	}
	var proven provenPassword
	var err error
	if proven.Verified, err = p.Passwords.Verify(ctx, org, user.PasswordOf(), in.Current); err != nil {
		return provenPassword{}, unlessWrong(ctx, p.Lockouts, key, err)
	}
	if !proven.Right() {
		if proven.replaced, err = bus.Acted[identity.User](ctx, p.Sessions.Bus, user.ID, change); err != nil {
			return provenPassword{}, unlessWrong(ctx, p.Lockouts, key, err)
		}
	}
	if proven.replaced {
		if proven.Verified, err = p.Passwords.Verify(ctx, org, user.PasswordOf(), in.New); err != nil {
			return provenPassword{}, unlessWrong(ctx, p.Lockouts, key, err)
		}
	}
	if !proven.Right() {
		return provenPassword{}, errWrongPassword()
	}
	return proven, p.Lockouts.Succeed(ctx, key)
}

// errWrongPassword is the failure of a present password that is wrong, or that was replaced meanwhile.
func errWrongPassword() error {
	return failure.NewInvalid("wrong_password", "currentPassword is wrong")
}
