package identitycases

import (
	"cmp"
	"context"

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
// used to guess. The new one is hashed, the change is recorded, the vault replaces the password, and the other sessions
// end. So no password changes without an event. After a stop in between, the password of before is valid and a repeat
// does all of it. When Change returns, requests of the other sessions are refused and those of this one pass.
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
	key := lockKey(user.Home, user.Email)
	proven, err := p.prove(ctx, asked.Org(), key, *user, in.Current)
	if err != nil {
		return bus.Result{}, err
	}
	hash, err := p.Passwords.Hash(ctx, asked.Org(), in.New)
	if err != nil {
		return bus.Result{}, err
	}
	asked.Meta.OrgID = user.Home
	record := commands.RecordPasswordChange{UserID: user.ID}
	done, err := p.Sessions.Bus.Execute(ctx, record, asked.Step("password"))
	if err != nil {
		return bus.Result{}, err
	}
	exchanged, err := p.Passwords.Exchange(ctx, proven, hash)
	if err == nil && !exchanged {
		err = errWrongPassword()
	}
	if err != nil {
		return bus.Result{}, err
	}
	users, err := p.persons(ctx, *user)
	if err != nil {
		return bus.Result{}, err
	}
	if err := p.Sessions.endUsers(ctx, asked, users, in.Session, "password_changed"); err != nil {
		return bus.Result{}, err
	}
	return done, p.Sessions.DirectoryShows.WaitFor(ctx, done.Position)
}

// persons lists the users who share a password with this one, which is among them.
func (p OwnPassword) persons(ctx context.Context, user identityviews.UserRow) ([]identityviews.UserRow, error) {
	if user.Person.IsZero() {
		return []identityviews.UserRow{user}, nil
	}
	return p.Users.OfPerson(ctx, user.Person)
}

// prove checks the present password of a user, at the host of org. Fails: account_locked, wrong_password, sign_in_busy.
func (p OwnPassword) prove(
	ctx context.Context, org id.Organization, key string, user identityviews.UserRow, password secrets.Text,
) (vault.Verified, error) {
	if err := countTry(ctx, p.Lockouts, key); err != nil {
		return vault.Verified{}, err
	}
	proven, err := p.Passwords.Verify(ctx, org, user.PasswordOf(), password)
	if err != nil {
		return vault.Verified{}, err
	}
	if !proven.Right() {
		return vault.Verified{}, errWrongPassword()
	}
	return proven, p.Lockouts.Succeed(ctx, key)
}

// errWrongPassword is the failure of a present password that is wrong, or that was replaced meanwhile.
func errWrongPassword() error {
	return failure.NewInvalid("wrong_password", "currentPassword is wrong")
}
