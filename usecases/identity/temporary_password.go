package identitycases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// GivePassword replaces the password that a user of asked's organization has lost by a temporary one, which must be
// changed at the next sign-in. Every session of the user ends, and so does a lock after wrong passwords. The command
// decides first, so that a refused one writes no password. A repeat after a stop in between stores the password too,
// unless the user has chosen another one since: then it fails, so that nobody is told a password that does not work. A
// proof of the address at the same moment wins: what its owner chose is not replaced. When GivePassword returns, no
// request of an earlier session passes.
//
// Fails: invalid_input, user_not_found, own_password, password_of_person, password_chosen, sign_in_busy.
func (s Staff) GivePassword(
	ctx context.Context, asked usecases.Asked, c commands.GiveTemporaryPassword, password secrets.Text,
) (bus.Result, error) {
	var faults failure.Faults
	checkPassword(&faults, "temporaryPassword", password)
	if err := faults.Err(); err != nil {
		return bus.Result{}, err
	}
	hash, err := s.Registrations.Passwords.Hash(ctx, asked.Org(), password)
	if err != nil {
		return bus.Result{}, err
	}
	done, err := s.Sessions.Bus.Execute(ctx, c, asked.Meta)
	if err != nil {
		return bus.Result{}, err
	}
	end := vault.Revocation{Users: []id.User{c.UserID}, Reason: "password_changed"}
	user, err := s.replaceLost(ctx, c, hash, end)
	if err != nil {
		return bus.Result{}, err
	}
	if !user.Temporary {
		return bus.Result{}, failure.NewConflict("password_chosen",
			"This person has just chosen an own password. It was not replaced, and the temporary one does not work.")
	}
	if err := s.Lockouts.Succeed(ctx, lockKey(c.OrgID, user.Email.Reveal())); err != nil {
		return bus.Result{}, err
	}
	if err := s.Sessions.endAll(ctx, asked, end); err != nil {
		return bus.Result{}, err
	}
	return done, s.Sessions.DirectoryShows.WaitFor(ctx, done.Position)
}

// replaceLost stores the temporary password for as long as the log says that the user is to have one, and gives the
// user as the log had it. It looks at the password first and at the log second: whoever chooses a password records that
// before it is stored, so one that the log does not know yet comes later than the look, and is not replaced.
func (s Staff) replaceLost(
	ctx context.Context, c commands.GiveTemporaryPassword, hash vault.PasswordHash, end vault.Revocation,
) (identity.User, error) {
	passwords := s.Registrations.Passwords
	for {
		held, err := passwords.Held(ctx, c.UserID)
		if err != nil {
			return identity.User{}, err
		}
		user, _, err := bus.LoadOwned[identity.User](ctx, s.Sessions.Bus, c.OrgID, c.UserID)
		if err != nil || !user.Temporary {
			return user, err
		}
		if stored, err := passwords.ReplaceHeld(ctx, held, hash, end); err != nil || stored {
			return user, err
		}
	}
}
