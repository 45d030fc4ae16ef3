package identitycases

import (
	"context"
	"errors"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Registrations registers users who sign in with a password. Safe for concurrent use.
type Registrations struct {
	Bus       *bus.Bus
	Passwords *vault.Passwords
}

// SuperAdmin describes an administrator of the platform to be made.
type SuperAdmin struct {
	UserID    id.User       // chosen by the caller: a repeat with the same id makes no second user
	Email     personal.Text // in any spelling
	FirstName personal.Text
	LastName  personal.Text
	Password  secrets.Text
}

// AddSuperAdmin makes an administrator of the platform, who keeps the given password. The password is stored before the
// user is registered; a repeat for the same user stores it again. Fails: invalid_input, email_taken, user_exists.
func (r Registrations) AddSuperAdmin(ctx context.Context, asked usecases.Asked, in SuperAdmin) (bus.Result, error) {
	command := commands.RegisterUser{
		UserID: in.UserID, Email: personal.Of(commands.NormalizeEmail(in.Email.Reveal())), FirstName: in.FirstName,
		LastName: in.LastName, SuperAdmin: true, Role: events.RoleSuperAdmin,
	}
	var faults failure.Faults
	checkPassword(&faults, "password", in.Password)
	if err := failure.JoinFaults(command.Validate(), faults.Err()); err != nil {
		return bus.Result{}, err
	}
	return r.register(ctx, command, in.Password, asked.Meta)
}

// register makes a user with a password. The password is stored first, so that a registered user can always sign in. A
// stop in between leaves a password under an id that no user has. When the address is taken, the password is deleted
// again.
func (r Registrations) register(
	ctx context.Context, command commands.RegisterUser, password secrets.Text, meta commands.Meta,
) (bus.Result, error) {
	if err := r.Passwords.Set(ctx, command.UserID, password); err != nil {
		return bus.Result{}, err
	}
	done, err := r.Bus.Execute(ctx, command, meta)
	if failure.CodeOf(err) == "email_taken" {
		return done, errors.Join(err, r.Passwords.Delete(ctx, command.UserID))
	}
	return done, err
}

// Staff adds people to organizations and ends their access. Safe for concurrent use.
type Staff struct {
	Registrations Registrations
	Sessions      Sessions
	Users         identityviews.UsersQuery
}

// NewMember describes a person to be added to an organization.
type NewMember struct {
	Email     personal.Text // in any spelling
	Phone     personal.Text // in any spelling; empty for none
	FirstName personal.Text
	LastName  personal.Text
	Role      events.Role
	// TemporaryPassword must be changed at the first sign-in. It is ignored when the address already has a user.
	TemporaryPassword secrets.Text
}

// Validate checks the form and reports all faults together. Fields are named as in the API.
func (in NewMember) Validate() error {
	var faults failure.Faults
	checkPassword(&faults, "temporaryPassword", in.TemporaryPassword)
	return failure.JoinFaults(in.registration(id.User{}, id.Organization{}).Validate(), faults.Err())
}

// registration brings the texts into one form. The user must change the password at the first sign-in.
func (in NewMember) registration(user id.User, org id.Organization) commands.RegisterUser {
	trimmed := func(t personal.Text) personal.Text { return personal.Of(strings.TrimSpace(t.Reveal())) }
	phone := in.Phone
	if !phone.IsZero() {
		phone = personal.Of(commands.NormalizeContactPhone(phone.Reveal()))
	}
	return commands.RegisterUser{
		UserID: user, Email: personal.Of(commands.NormalizeEmail(in.Email.Reveal())), Phone: phone,
		FirstName: trimmed(in.FirstName), LastName: trimmed(in.LastName), MustChangePassword: true, OrgID: org,
		Role: in.Role,
	}
}

// newUserID makes a user's id that does not contain the time: that would show an organization that the person was
// registered before (docs/rules/identity.md#proven-addresses).
func newUserID(asked usecases.Asked, kind string) id.User {
	return id.Derive[id.User]("user", usecases.NewID[id.Any](asked, kind).String())
}

// Add adds a person to the organization of asked: as a new user with the temporary password, or with a membership that
// waits to be accepted when the address already has a user. Both take the same work, a hash included, so that the time
// does not show that the person is a user elsewhere. It gives the user's id.
//
// The claim of the address decides who has it. When it is taken and the read model does not show the owner yet, Add
// waits for the read model and then grants the membership. A repeat under the same key finds the user that the first
// try registered, and leaves the password as it is.
//
// Fails: invalid_input, already_member, email_taken when the read model is far behind, sign_in_busy.
func (s Staff) Add(ctx context.Context, asked usecases.Asked, in NewMember) (id.User, bus.Result, error) {
	if err := in.Validate(); err != nil {
		return id.User{}, bus.Result{}, err
	}
	command := in.registration(newUserID(asked, "user"), asked.Org())
	return s.add(ctx, asked.Step("user"), command, in.TemporaryPassword)
}

// add registers a user, or grants a membership to the user who has the e-mail address.
func (s Staff) add(
	ctx context.Context, meta commands.Meta, r commands.RegisterUser, password secrets.Text,
) (id.User, bus.Result, error) {
	meta.OrgID = r.OrgID
	b := s.Registrations.Bus
	known, err := s.Users.ByEmail(ctx, r.Email.Reveal())
	if err != nil {
		return id.User{}, bus.Result{}, err
	}
	// A repeat: the first try set the password, which may have been changed since.
	if known != nil && known.ID == r.UserID {
		done, err := b.Execute(ctx, r, meta)
		return r.UserID, done, err
	}
	if known == nil {
		done, err := s.Registrations.register(ctx, r, password, meta)
		if failure.CodeOf(err) != "email_taken" {
			return r.UserID, done, err
		}
		// Another request registered the address a moment ago; the read model shows it soon.
		if known, err = s.await(ctx, r.Email.Reveal()); err != nil {
			return id.User{}, bus.Result{}, err
		}
	} else if _, err := s.Registrations.Passwords.Verify(ctx, id.User{}, password); err != nil {
		return id.User{}, bus.Result{}, err // the same work as for a new user
	}
	done, err := b.Execute(ctx, commands.GrantMembership{
		UserID: known.ID, OrgID: r.OrgID, Role: r.Role, Phone: r.Phone, FirstName: r.FirstName, LastName: r.LastName,
	}, meta)
	return known.ID, done, err
}

// await waits until the read model shows the user of an address that is taken. Fails: email_taken.
func (s Staff) await(ctx context.Context, email string) (*identityviews.UserRow, error) {
	var known *identityviews.UserRow
	shown, err := s.Users.Views.WaitUntil(ctx, identityviews.UsersName, func(ctx context.Context) (bool, error) {
		var err error
		known, err = s.Users.ByEmail(ctx, email)
		return known != nil, err
	})
	if err == nil && !shown {
		err = failure.NewConflict("email_taken", "This e-mail address is in use.")
	}
	return known, err
}

// Disable ends a user's access to an organization at once. The membership is disabled first, so that a stop in between
// lets nobody sign in; then the sessions at this organization end, and those at others stay open. When Disable returns,
// no request of the person passes at this organization. A repeat ends the sessions that are left. An empty reason is
// replaced by a general one. Fails: user_not_found, own_account.
func (s Staff) Disable(ctx context.Context, asked usecases.Asked, c commands.DisableMember) (bus.Result, error) {
	if c.Reason == "" {
		c.Reason = "disabled by an administrator"
	}
	meta := asked.Meta
	meta.Reason = c.Reason
	done, err := s.Sessions.Bus.Execute(ctx, c, meta)
	if err != nil {
		return bus.Result{}, err
	}
	open, err := s.Sessions.Refresh.List(ctx, c.UserID)
	if err != nil {
		return bus.Result{}, err
	}
	here := open[:0]
	for _, session := range open {
		if session.OrgID == c.OrgID {
			here = append(here, session)
		}
	}
	if err := s.Sessions.endAll(ctx, asked, here, "disabled"); err != nil {
		return bus.Result{}, err
	}
	return done, s.Sessions.DirectoryShows.WaitFor(ctx, done.Position)
}
