package identitycases

import (
	"cmp"
	"context"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Lengths of passwords in characters: NIST SP 800-63B 5.1.1.2; the upper bound keeps hashing cheap.
const (
	minPassword = 8
	maxPassword = 128
)

// checkPassword adds a fault when a password that somebody chose is too short or too long.
func checkPassword(faults *failure.Faults, field string, password secrets.Text) {
	n := utf8.RuneCountInString(password.Reveal())
	faults.Check(n >= minPassword && n <= maxPassword, field, "must have %d to %d characters", minPassword, maxPassword)
}

// countTry counts an attempt to prove a password before the password is checked. It works the same for unknown
// addresses. Fails: account_locked, also for the right password.
func countTry(ctx context.Context, lockouts *vault.Lockouts, email string) error {
	try, err := lockouts.Try(ctx, email)
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

// Validate checks the length of the new password, and that it differs from the current one.
func (in NewPassword) Validate() error {
	var faults failure.Faults
	checkPassword(&faults, "newPassword", in.New)
	faults.Check(in.New != in.Current, "newPassword", "must differ from the current one")
	return faults.Err()
}

// Change replaces the password and ends every other session of the user. The present password is proven first; wrong
// ones count like those of a sign-in, so that a stolen session cannot be used to guess. Then the vault stores the new
// password, the change is recorded, and the other sessions end. After a stop in between, the new password is valid and
// a repeat fails with wrong_password; sessions that were not ended stay open until the next change. When Change
// returns, requests of the other sessions are refused and those of this one pass.
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
	if err := p.prove(ctx, user.Email, user.ID, in.Current); err != nil {
		return bus.Result{}, err
	}
	if err := p.Passwords.Set(ctx, user.ID, in.New); err != nil {
		return bus.Result{}, err
	}
	record := commands.RecordPasswordChange{UserID: user.ID}
	done, err := p.Sessions.Bus.Execute(ctx, record, asked.Step("password"))
	if err != nil {
		return bus.Result{}, err
	}
	others, err := p.Sessions.Refresh.RevokeUser(ctx, user.ID, in.Session)
	if err != nil {
		return bus.Result{}, err
	}
	if err := p.Sessions.endAll(ctx, asked, others, "password_changed"); err != nil {
		return bus.Result{}, err
	}
	return done, p.Sessions.DirectoryShows.WaitFor(ctx, done.Position)
}

// prove checks the present password. Fails: account_locked, wrong_password, sign_in_busy.
func (p OwnPassword) prove(ctx context.Context, email string, user id.User, password secrets.Text) error {
	if err := countTry(ctx, p.Lockouts, email); err != nil {
		return err
	}
	right, err := p.Passwords.Verify(ctx, user, password)
	if err != nil {
		return err
	}
	if !right {
		return failure.NewInvalid("wrong_password", "currentPassword is wrong")
	}
	return p.Lockouts.Succeed(ctx, email)
}
