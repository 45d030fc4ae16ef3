package identitycases

import (
	"context"

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

// Persons joins the users of an address into one person once the address is proven. Safe for concurrent use.
type Persons struct {
	SignIns   SignIns
	Passwords *vault.Passwords
}

// Proof is an address whose owner has shown a code that was sent to it, with the password that the owner chose then.
// The caller has checked the code, and that it was used once.
type Proof struct {
	Email    personal.Text // in any spelling
	Password secrets.Text
}

// Prove joins all users of the address into one person, with the chosen password, and ends every session of them. The
// user that stands for the person comes first: its password is replaced at once, the others lose theirs when they are
// joined. After a stop in between, users that are not joined yet stay what they were, and the next proof joins them.
// Administrators of the platform are left alone. It gives the user that stands for the person.
//
// Fails: invalid_input, user_not_found when no organization knows the address, email_taken when another proof of the
// address came first, sign_in_busy.
func (p Persons) Prove(ctx context.Context, asked usecases.Asked, in Proof) (id.User, error) {
	var faults failure.Faults
	checkPassword(&faults, "password", in.Password)
	if err := faults.Err(); err != nil {
		return id.User{}, err
	}
	users, err := p.users(ctx, commands.NormalizeEmail(in.Email.Reveal()))
	if err != nil {
		return id.User{}, err
	}
	hash, err := p.Passwords.Hash(ctx, in.Password)
	if err != nil {
		return id.User{}, err
	}
	person := users[0].ID
	asked.Meta.OrgID = id.Organization{} // the proof is the person's, no organization's
	asked.Meta.Actor = events.Actor{Kind: events.ActorProcess, ID: "proof of an address"}
	if err := p.choose(ctx, asked, person, hash); err != nil {
		return id.User{}, err
	}
	for _, user := range users[1:] {
		if err := p.join(ctx, asked, user.ID, person); err != nil {
			return id.User{}, err
		}
	}
	return person, p.SignIns.Sessions.endUsers(ctx, asked, users, id.Session{}, "password_changed")
}

// users lists the users of an address in organizations, the one that stands for the person first.
func (p Persons) users(ctx context.Context, email string) ([]identityviews.UserRow, error) {
	if err := p.SignIns.catchUp(ctx); err != nil {
		return nil, err
	}
	all, err := p.SignIns.Users.OfAddress(ctx, email)
	if err != nil {
		return nil, err
	}
	if len(all) > 0 && all[0].SuperAdmin {
		all = all[1:]
	}
	if len(all) == 0 {
		return nil, commands.ErrNoUser()
	}
	return all, nil
}

// choose proves the user that stands for the person, and replaces the password by the chosen one.
func (p Persons) choose(ctx context.Context, asked usecases.Asked, person id.User, hash vault.PasswordHash) error {
	prove := commands.ProveAddress{UserID: person, PersonID: person}
	if _, err := p.execute(ctx, prove, asked.Step("prove "+person.String())); err != nil {
		return err
	}
	changed, err := p.execute(ctx, commands.RecordPasswordChange{UserID: person}, asked.Step("password"))
	if err != nil || !changed.Changed {
		return err
	}
	return p.Passwords.Replace(ctx, person, hash)
}

// join makes a user one of the person's, whose own password counts no more.
func (p Persons) join(ctx context.Context, asked usecases.Asked, user, person id.User) error {
	prove := commands.ProveAddress{UserID: user, PersonID: person}
	if _, err := p.execute(ctx, prove, asked.Step("prove "+user.String())); err != nil {
		return err
	}
	return p.Passwords.Delete(context.WithoutCancel(ctx), user)
}

// execute runs a command of the proof.
func (p Persons) execute(ctx context.Context, c commands.Command, meta commands.Meta) (bus.Result, error) {
	return p.SignIns.Sessions.Bus.Execute(ctx, c, meta)
}
