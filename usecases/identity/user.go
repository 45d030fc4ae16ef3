package identitycases

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
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

// AddSuperAdmin makes an administrator of the platform, who keeps the given password. Fails: invalid_input,
// email_taken, user_exists.
func (r Registrations) AddSuperAdmin(ctx context.Context, asked usecases.Asked, in SuperAdmin) (bus.Result, error) {
	command := NewMember{
		Email: in.Email, FirstName: in.FirstName, LastName: in.LastName, Role: events.RoleSuperAdmin,
	}.registration(in.UserID, id.Organization{})
	command.SuperAdmin, command.MustChangePassword = true, false
	var faults failure.Faults
	checkPassword(&faults, "password", in.Password)
	if err := failure.JoinFaults(command.Validate(), faults.Err()); err != nil {
		return bus.Result{}, err
	}
	return r.register(ctx, asked, command, in.Password)
}

// register makes a user with a password. The command decides first, so that a refused one writes no password, and the
// password is added only to a user without one. A repeat after a stop in between adds it: it has the same command id,
// which no other password can have.
func (r Registrations) register(
	ctx context.Context, asked usecases.Asked, command commands.RegisterUser, password secrets.Text,
) (bus.Result, error) {
	hash, err := r.Passwords.Hash(ctx, asked.Org(), password)
	if err != nil {
		return bus.Result{}, err
	}
	done, err := r.Bus.Execute(ctx, command, asked.Meta)
	if err != nil {
		return bus.Result{}, err
	}
	return done, r.Passwords.Add(ctx, command.UserID, hash)
}

// Staff adds people to organizations and ends their access. Safe for concurrent use.
type Staff struct {
	Registrations Registrations
	Users         identityviews.UsersQuery
	Sessions      Sessions
	Lockouts      *vault.Lockouts
}

// NewMember describes a person to be added to an organization.
type NewMember struct {
	Email     personal.Text // in any spelling
	Phone     personal.Text // in any spelling; empty for none
	FirstName personal.Text
	LastName  personal.Text
	Role      events.Role
	// TemporaryPassword must be changed at the first sign-in.
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
	trimmed := func(t personal.Text) personal.Text { return personal.Of(inputtext.Text(t.Reveal())) }
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

// newUserID makes a user's id that does not contain the time. It derives from the command's id, which under an
// Idempotency-Key is an HMAC: nobody can compute it from the request.
func newUserID(asked usecases.Asked, kind string) id.User {
	return id.Derive[id.User]("user", usecases.NewID[id.Any](asked, kind).String())
}

// Add adds a person to the organization of asked, as a new user with the temporary password, and gives the user's id.
// Nothing of anybody else's is looked up: an address that other organizations or the platform know gets a user of its
// own here, so that neither answer nor time nor id shows that it is known (docs/rules/identity.md#proven-addresses). A
// repeat under the same key finds the user that the first try registered, and leaves the password as it is.
//
// Fails: invalid_input, already_member, sign_in_busy.
func (s Staff) Add(ctx context.Context, asked usecases.Asked, in NewMember) (id.User, bus.Result, error) {
	if err := in.Validate(); err != nil {
		return id.User{}, bus.Result{}, err
	}
	command := in.registration(newUserID(asked, "user"), asked.Org())
	if err := s.mayRegister(ctx, command); err != nil {
		return id.User{}, bus.Result{}, err
	}
	done, err := s.add(ctx, asked, command, in.TemporaryPassword)
	return command.UserID, done, err
}

// mayRegister refuses an address under which the organization has registered another user, before a hash is computed.
// The organization knows its own users, so the short time shows nothing. The claim of the address decides; this check
// only spares the work, so it asks the log about what the read model shows. Fails: already_member.
func (s Staff) mayRegister(ctx context.Context, r commands.RegisterUser) error {
	row, err := s.Users.RegisteredBy(ctx, r.OrgID, r.Email.Reveal())
	if err != nil || row == nil || row.ID == r.UserID { // the same user: a repeat
		return err
	}
	// Unchecked, because a user of before records were kept apart can belong to several organizations.
	state, _, err := bus.LoadUnchecked[identity.User](ctx, s.Sessions.Bus, row.ID)
	if err != nil || state.Home != r.OrgID || !state.Email.Equal(r.Email) {
		return err
	}
	return failure.NewConflict("already_member", "This user belongs to the organization already.")
}

// add registers a user, and counts an administrator.
func (s Staff) add(
	ctx context.Context, asked usecases.Asked, r commands.RegisterUser, password secrets.Text,
) (bus.Result, error) {
	asked.Meta.OrgID = r.OrgID
	first := asked
	first.Meta = asked.Step("user")
	done, err := s.Registrations.register(ctx, first, r, password)
	if err != nil {
		return bus.Result{}, err
	}
	return s.settled(ctx, asked, r.UserID, done)
}

// settled counts a user of asked's organization who is an administrator at this moment, and stops to count anybody
// else. It comes behind every change and every refused one, which has perhaps released the seat before. A change that
// comes between the look and the count is seen by the second look, or settles the count itself when it comes still
// later. done is the outcome of the change, and gets the position of the last write.
func (s Staff) settled(
	ctx context.Context, asked usecases.Asked, user id.User, done bus.Result,
) (bus.Result, error) {
	for _, word := range []string{"", " again"} {
		// Unchecked, because a user of before records were kept apart can belong to several organizations.
		state, _, err := bus.LoadUnchecked[identity.User](ctx, s.Sessions.Bus, user)
		if err != nil {
			return bus.Result{}, err
		}
		var settle commands.Command = commands.ReleaseAdministrator{OrgID: asked.Org(), UserID: user}
		step := "left " + user.String() + word
		m, known := state.MemberAt(asked.Org())
		if known && !m.Disabled && !m.Pending && m.Role == events.RoleAdmin {
			settle = commands.SeatAdministrator{OrgID: asked.Org(), UserID: user}
			step = "seat " + user.String() + word
		}
		counted, err := s.Sessions.Bus.Execute(ctx, settle, asked.Step(step))
		if failure.CodeOf(err) == "last_administrator" {
			return bus.Result{}, errors.Join(err, s.restore(ctx, asked, user, m))
		}
		if err != nil {
			return bus.Result{}, err
		}
		done.Position = max(done.Position, counted.Position)
		if !counted.Changed {
			break
		}
	}
	return done, nil
}

// restore makes a member an able administrator again: the organization counts nobody else, because three changes at
// once have crossed.
func (s Staff) restore(ctx context.Context, asked usecases.Asked, user id.User, m identity.Membership) error {
	var err error
	if m.Disabled {
		_, err = s.enable(ctx, asked, user, asked.Step("restore access"))
	}
	if err == nil && m.Role != events.RoleAdmin {
		role := events.RoleAdmin
		correct := commands.CorrectUser{UserID: user, OrgID: asked.Org(), Role: &role}
		_, err = s.Sessions.Bus.Execute(ctx, correct, asked.Step("restore role"))
	}
	return err
}

// refused settles the count after a change that failed, and gives its failure. It ends also when the caller has gone.
func (s Staff) refused(ctx context.Context, asked usecases.Asked, user id.User, cause error) error {
	if _, err := s.settled(context.WithoutCancel(ctx), asked, user, bus.Result{}); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// unseat stops to count an administrator who is about to lose the role or the access. It comes before the loss, so that
// a stop in between never leaves an organization that counts somebody who cannot act. Fails: last_administrator.
func (s Staff) unseat(ctx context.Context, asked usecases.Asked, user id.User) error {
	leave := commands.ReleaseAdministrator{OrgID: asked.Org(), UserID: user}
	_, err := s.Sessions.Bus.Execute(ctx, leave, asked.Step("leave "+user.String()))
	return err
}

// Correct changes name, phone and role of a member. An administrator who gets another role stops to count first, and
// counts again when the change is refused. Fails: invalid_input, user_not_found, details_of_person, own_role,
// last_administrator.
func (s Staff) Correct(ctx context.Context, asked usecases.Asked, c commands.CorrectUser) (bus.Result, error) {
	if err := c.Validate(); err != nil {
		return bus.Result{}, err
	}
	leaves := c.Role != nil && *c.Role != events.RoleAdmin && c.By != c.UserID // for oneself it is refused as own_role
	if leaves {
		if err := s.unseat(ctx, asked, c.UserID); err != nil {
			return bus.Result{}, err
		}
	}
	done, err := s.Sessions.Bus.Execute(ctx, c, asked.Meta)
	if err != nil && leaves {
		return bus.Result{}, s.refused(ctx, asked, c.UserID, err)
	}
	if err != nil || c.Role == nil {
		return done, err
	}
	return s.settled(ctx, asked, c.UserID, done)
}

// Enable gives a member access again, and no session of before: those that a disabling which was cut off has left end
// first. Fails: user_not_found.
func (s Staff) Enable(ctx context.Context, asked usecases.Asked, user id.User) (bus.Result, error) {
	done, err := s.enable(ctx, asked, user, asked.Meta)
	if err != nil {
		return bus.Result{}, err
	}
	return s.settled(ctx, asked, user, done)
}

// enable enables a member of asked's organization. The sessions of one who has access go on.
func (s Staff) enable(
	ctx context.Context, asked usecases.Asked, user id.User, meta commands.Meta,
) (bus.Result, error) {
	// Unchecked, because a user of before records were kept apart can belong to several organizations.
	state, _, err := bus.LoadUnchecked[identity.User](ctx, s.Sessions.Bus, user)
	if err != nil {
		return bus.Result{}, err
	}
	if m, known := state.MemberAt(asked.Org()); known && m.Disabled {
		if err := s.Sessions.endAll(ctx, asked, disabling(user, asked.Org())); err != nil {
			return bus.Result{}, err
		}
	}
	return s.Sessions.Bus.Execute(ctx, commands.EnableMember{UserID: user, OrgID: asked.Org()}, meta)
}

// disabling names the sessions that end with a membership.
func disabling(user id.User, org id.Organization) vault.Revocation {
	return vault.Revocation{Users: []id.User{user}, Org: org, Reason: "disabled"}
}

// Disable ends a user's access to an organization at once. The membership is disabled first, so that a stop in between
// lets nobody sign in; then the sessions at this organization end together, and those at others stay open. When Disable
// returns, no request of the person passes at this organization. A repeat ends what is left, and so does Enable. An
// administrator stops to count first, and counts again when the request is refused. An empty reason is replaced by a
// general one. Fails: user_not_found, own_account, last_administrator.
func (s Staff) Disable(ctx context.Context, asked usecases.Asked, c commands.DisableMember) (bus.Result, error) {
	if c.Reason == "" {
		c.Reason = "disabled by an administrator"
	}
	if c.By != c.UserID { // for oneself it is refused as own_account
		if err := s.unseat(ctx, asked, c.UserID); err != nil {
			return bus.Result{}, err
		}
	}
	meta := asked.Meta
	meta.Reason = c.Reason
	done, err := s.Sessions.Bus.Execute(ctx, c, meta)
	if err != nil {
		return bus.Result{}, s.refused(ctx, asked, c.UserID, err)
	}
	if err := s.Sessions.endAll(ctx, asked, disabling(c.UserID, c.OrgID)); err != nil {
		return bus.Result{}, err
	}
	if err := s.Sessions.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return bus.Result{}, err
	}
	return s.settled(ctx, asked, c.UserID, done)
}
