package identitycases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
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

// Prove joins all users of the address into one person, with the chosen password. What the records of the address were
// worth before ends first: all their passwords are void and their sessions are over before the first record is proven.
// After a stop in between, nobody enters with this address, and a repeat under the same command id does the rest; so
// does another proof. A repeat after the end changes nothing, also when the person has another password by then. A
// refused proof changes nothing either. Administrators of the platform are left alone, and so are records of their
// address. It gives the user that stands for the person.
//
// Fails: invalid_input, user_not_found when no organization knows the address, email_taken when it is that of an
// administrator of the platform, other_person when a user of the address was proven to be somebody else, sign_in_busy.
func (p Persons) Prove(ctx context.Context, asked usecases.Asked, in Proof) (id.User, error) {
	person, steps, err := p.prepare(ctx, asked, in)
	if err != nil {
		return id.User{}, err
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return id.User{}, err
		}
	}
	return person, nil
}

// step is a part of a proof that a stop can come behind.
type step func(ctx context.Context) error

// prepare decides about a proof, and lists the steps that are left of it. It changes nothing.
func (p Persons) prepare(ctx context.Context, asked usecases.Asked, in Proof) (id.User, []step, error) {
	var faults failure.Faults
	checkPassword(&faults, "password", in.Password)
	if err := faults.Err(); err != nil {
		return id.User{}, nil, err
	}
	users, err := p.users(ctx, commands.NormalizeEmail(in.Email.Reveal()))
	if err != nil {
		return id.User{}, nil, err
	}
	hash, err := p.Passwords.Hash(ctx, asked.Org(), in.Password)
	if err != nil {
		return id.User{}, nil, err
	}
	person := users[0].ID
	asked.Meta.OrgID = id.Organization{} // the proof is the person's, no organization's
	asked.Meta.Actor = events.Actor{Kind: events.ActorProcess, ID: "proof of an address"}
	chosen := asked.Step("password")
	acted, err := bus.Acted[identity.User](ctx, p.SignIns.Sessions.Bus, person, chosen.CommandID)
	if err != nil {
		return id.User{}, nil, err
	}
	if acted { // at most the password is left, which a later proof may have stored
		return person, []step{func(ctx context.Context) error { return p.Passwords.Fill(ctx, person, hash) }}, nil
	}
	if err := p.mayProve(ctx, users, person); err != nil {
		return id.User{}, nil, err
	}
	return person, p.steps(asked, users, hash), nil
}

// mayProve asks the log whether all users of an address can be joined to the person. Fails: user_not_found,
// other_person.
func (p Persons) mayProve(ctx context.Context, users []identityviews.UserRow, person id.User) error {
	for _, user := range users {
		// Unchecked, because the users belong to different organizations, and the person to none.
		state, _, err := bus.LoadUnchecked[identity.User](ctx, p.SignIns.Sessions.Bus, user.ID)
		if err != nil {
			return err
		}
		prove := commands.ProveAddress{UserID: user.ID, PersonID: person}
		if _, err := identity.Users().Decide(state, prove, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// steps lists all steps of a proof, in their order.
func (p Persons) steps(asked usecases.Asked, users []identityviews.UserRow, hash vault.PasswordHash) []step {
	person, sessions, ids := users[0].ID, p.SignIns.Sessions, idsOf(users)
	all := vault.Revocation{Users: ids, Reason: "password_changed"}
	list := []step{
		func(ctx context.Context) error { return p.Passwords.Void(ctx, ids, all) },
		func(ctx context.Context) error { return sessions.endAll(ctx, asked, all) },
	}
	for _, user := range ids { // the person first, whose claim decides between two proofs at once
		list = append(list, func(ctx context.Context) error {
			prove := commands.ProveAddress{UserID: user, PersonID: person}
			_, err := sessions.Bus.Execute(ctx, prove, asked.Step("prove "+user.String()))
			return err
		})
	}
	return append(list,
		func(ctx context.Context) error {
			_, err := sessions.Bus.Execute(ctx, commands.RecordPasswordChange{UserID: person}, asked.Step("password"))
			return err
		},
		func(ctx context.Context) error { return p.Passwords.Replace(ctx, person, hash, all) },
		// Whoever entered with the password of another proof that ran at the same time.
		func(ctx context.Context) error { return sessions.endAll(ctx, asked, all) },
	)
}

// users lists the users of an address in organizations, the one that stands for the person first.
func (p Persons) users(ctx context.Context, email string) ([]identityviews.UserRow, error) {
	if err := p.SignIns.catchUp(ctx); err != nil {
		return nil, err
	}
	all, err := p.SignIns.Users.OfAddress(ctx, email)
	switch {
	case err != nil:
		return nil, err
	case len(all) > 0 && !all[0].SuperAdmin:
		return all, nil
	case len(all) > 1:
		return nil, failure.NewConflict("email_taken", "This e-mail address is in use.")
	}
	return nil, commands.ErrNoUser()
}
