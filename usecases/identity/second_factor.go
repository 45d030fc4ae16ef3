package identitycases

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/totp"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// SecondFactors enrols second factors, asks for them and takes them off (docs/rules/identity.md#second-factor). All
// fields are required. Safe for concurrent use.
type SecondFactors struct {
	SignIns SignIns
	Vault   *vault.SecondFactors
	Limits  vault.Limiter
}

// factorTriesAnHour bounds the codes of a device that count for one user, over all sign-ins. Recovery codes are not
// counted: they cannot be guessed, so whoever knows the password and uses the tries up keeps nobody out.
const factorTriesAnHour = 10

// factorForm is that of a code of a device; everything else is read as a recovery code.
var factorForm = regexp.MustCompile(`^[0-9]{6}$`)

// SecondProof is a sign-in that waits, with the code that its person has typed.
type SecondProof struct {
	Token secrets.Text
	Code  secrets.Text // of the device, or a recovery code
}

// Complete opens the session of a sign-in that waits for the second factor, at the host where it was begun. The fifth
// wrong code spends the token, and so does a try at another host. The sign-in is over when the password was changed
// meanwhile, or the sessions of the user ended. Fails: access_unknown, sign_in_expired, wrong_second_factor,
// second_factor_limited.
func (s SecondFactors) Complete(ctx context.Context, asked usecases.Asked, in SecondProof) (SignedIn, error) {
	if err := s.SignIns.Access.Check(); err != nil {
		return SignedIn{}, err
	}
	w, err := s.Vault.Try(ctx, in.Token, asked.Org())
	if err != nil || w == nil {
		return SignedIn{}, cmp.Or(err, errSignInSpent())
	}
	if err := s.SignIns.catchUp(ctx); err != nil {
		return SignedIn{}, err
	}
	user, err := s.SignIns.Users.ByID(ctx, w.UserID)
	if err != nil || user == nil {
		return SignedIn{}, cmp.Or(err, errSignInSpent())
	}
	state, err := s.SignIns.state(ctx, w.UserID)
	if err != nil {
		return SignedIn{}, err
	}
	if state.SecondFactor != w.FactorID {
		return SignedIn{}, s.over(ctx, in.Token)
	}
	role, err := s.SignIns.mayEnter(ctx, asked, state)
	if kind := failure.KindOf(err); kind == failure.Unauthenticated || kind == failure.Denied {
		return SignedIn{}, s.over(ctx, in.Token)
	}
	if err != nil {
		return SignedIn{}, err
	}
	way, err := s.check(ctx, asked, state, in.Code)
	if err != nil {
		return SignedIn{}, err
	}
	if way == "" {
		return SignedIn{}, errWrongSecondFactor()
	}
	first, err := s.Vault.Spend(ctx, in.Token)
	if err != nil || !first {
		return SignedIn{}, cmp.Or(err, errSignInSpent())
	}
	return s.enter(ctx, asked, in.Token, opening{
		user: *user, role: role, method: w.Method + "+" + way, browser: w.Browser, factor: w.FactorID,
	})
}

// enter opens the session of a sign-in whose second factor was right. The session ends again when a revocation has
// taken the sign-in meanwhile.
func (s SecondFactors) enter(
	ctx context.Context, asked usecases.Asked, token secrets.Text, of opening,
) (SignedIn, error) {
	entered, err := s.SignIns.open(ctx, asked, of)
	if err != nil {
		return SignedIn{}, err
	}
	stands, err := s.Vault.End(ctx, token)
	if err == nil && !stands {
		err = cmp.Or(s.SignIns.Sessions.End(ctx, asked, entered.Session, "revoked"), errSignInSpent())
	}
	if err != nil {
		return SignedIn{}, err
	}
	return entered, s.SignIns.Lockouts.Succeed(ctx, lockKey(asked.Org(), of.user.Email))
}

// over forgets a sign-in that can lead to no session any more.
func (s SecondFactors) over(ctx context.Context, token secrets.Text) error {
	_, err := s.Vault.End(ctx, token)
	return cmp.Or(err, errSignInSpent())
}

// check uses up a code of a user's second factor, and says what it was: "second_factor" for the device, or
// "recovery_code", which is recorded; "" for a wrong one. Fails: second_factor_limited.
func (s SecondFactors) check(
	ctx context.Context, asked usecases.Asked, state identity.User, code secrets.Text,
) (way string, err error) {
	if factorForm.MatchString(code.Reveal()) {
		key := "second factor tried: " + state.ID.String()
		ok, wait, err := s.Limits.Allow(ctx, key, factorTriesAnHour, time.Hour)
		if err != nil {
			return "", err
		}
		if !ok {
			return "", failure.NewLimited("second_factor_limited",
				"Too many codes were tried. Use a recovery code, or try again later.", wait)
		}
		right, err := s.Vault.Use(ctx, state.SecondFactor, code)
		if err != nil || !right {
			return "", err
		}
		return "second_factor", nil
	}
	left, right, err := s.Vault.UseRecovery(ctx, state.SecondFactor, code)
	if err != nil || !right {
		return "", err
	}
	use := commands.UseRecoveryCode{UserID: state.ID, FactorID: state.SecondFactor, Left: left}
	_, err = s.SignIns.Sessions.Bus.Execute(ctx, use, own(asked, state, "recovery code"))
	return "recovery_code", err
}

// own is the metadata of what a user does with the own record, also before there is a session.
func own(asked usecases.Asked, state identity.User, word string) commands.Meta {
	asked.Meta.OrgID = state.Home
	meta := asked.Step(word)
	role := events.RoleSuperAdmin
	if !state.SuperAdmin {
		role = state.Memberships[state.Home].Role
	}
	meta.Actor = events.Actor{Kind: events.ActorUser, ID: state.ID.String(), Role: string(role)}
	return meta
}

// Owner is somebody who is signed in and changes the own second factor.
type Owner struct {
	UserID   id.User
	Session  id.Session // stays open when all others end
	Password secrets.Text
	Code     secrets.Text
	Issuer   string // how the application of the device names this place
}

// Offered is a secret that is shown once, as text and as an address for a QR code.
type Offered struct{ Secret, URI secrets.Text }

// Enrol makes the secret of a second factor. It counts once a code of it was shown: see Confirm. A secret that was
// offered before is void. Fails: unauthenticated, second_factor_enrolled, account_locked, wrong_password,
// temporary_password_expired, sign_in_busy.
func (s SecondFactors) Enrol(ctx context.Context, asked usecases.Asked, in Owner) (Offered, error) {
	user, state, err := s.owner(ctx, in.UserID)
	if err != nil {
		return Offered{}, err
	}
	if !state.SecondFactor.IsZero() {
		return Offered{}, identity.ErrSecondFactorEnrolled()
	}
	if err := s.password(ctx, asked, user, state, in.Password); err != nil {
		return Offered{}, err
	}
	secret, err := s.Vault.Offer(ctx, user.ID)
	if err != nil {
		return Offered{}, err
	}
	return Offered{Secret: totp.Text(secret), URI: totp.URI(secret, in.Issuer, user.Email)}, nil
}

// Confirm takes the first code of a secret that was offered. From then on nobody signs in as the user without one, and
// all other sessions, which have shown none, end. It gives the recovery codes, which are shown once. Fails:
// unauthenticated, second_factor_enrolled, wrong_factor_code.
func (s SecondFactors) Confirm(ctx context.Context, asked usecases.Asked, in Owner) ([]secrets.Text, error) {
	_, state, err := s.owner(ctx, in.UserID)
	if err != nil {
		return nil, err
	}
	if !state.SecondFactor.IsZero() {
		return nil, identity.ErrSecondFactorEnrolled()
	}
	confirmed, err := s.Vault.Confirm(ctx, in.UserID, in.Code)
	if err != nil || confirmed.ID.IsZero() {
		return nil, cmp.Or(err, errWrongFactorCode())
	}
	enrol := commands.EnrolSecondFactor{UserID: in.UserID, FactorID: confirmed.ID}
	done, err := s.SignIns.Sessions.Bus.Execute(ctx, enrol, own(asked, state, "enrol"))
	if err != nil {
		if failure.KindOf(err) == failure.Conflict { // another one was confirmed at the same moment
			err = errors.Join(err, s.Vault.Drop(ctx, confirmed.ID))
		}
		return nil, err
	}
	return confirmed.Codes, s.endOthers(ctx, asked, in, done)
}

// Remove takes off the own second factor, by the password and a code. All other sessions end. Fails: unauthenticated,
// second_factor_missing, account_locked, wrong_password, temporary_password_expired, sign_in_busy, wrong_factor_code,
// second_factor_limited.
func (s SecondFactors) Remove(ctx context.Context, asked usecases.Asked, in Owner) error {
	user, state, err := s.owner(ctx, in.UserID)
	if err != nil {
		return err
	}
	if state.SecondFactor.IsZero() {
		return commands.ErrNoSecondFactor()
	}
	if err := s.password(ctx, asked, user, state, in.Password); err != nil {
		return err
	}
	way, err := s.check(ctx, asked, state, in.Code)
	if err != nil || way == "" {
		return cmp.Or(err, errWrongFactorCode())
	}
	remove := commands.RemoveSecondFactor{UserID: user.ID}
	done, err := s.SignIns.Sessions.Bus.Execute(ctx, remove, own(asked, state, "remove"))
	if err != nil {
		return err
	}
	if err := s.Vault.Drop(ctx, state.SecondFactor); err != nil {
		return err
	}
	return s.endOthers(ctx, asked, in, done)
}

// endOthers ends all sessions of a user but one, and waits until the directory knows of the change.
func (s SecondFactors) endOthers(ctx context.Context, asked usecases.Asked, in Owner, done bus.Result) error {
	err := s.SignIns.Sessions.endAll(ctx, asked, vault.Revocation{
		Users: []id.User{in.UserID}, Except: in.Session, Reason: "second_factor_changed",
	})
	return cmp.Or(err, s.SignIns.Sessions.DirectoryShows.WaitFor(ctx, done.Position))
}

// RemoveLost takes off the second factor of a member who has lost the device. Every session of the user at this
// organization ends: whoever found the device may have opened it. Fails: invalid_input, user_not_found,
// own_second_factor, second_factor_of_person, second_factor_missing.
func (s SecondFactors) RemoveLost(
	ctx context.Context, asked usecases.Asked, c commands.RemoveLostSecondFactor,
) (bus.Result, error) {
	state, err := s.SignIns.state(ctx, c.UserID)
	if err != nil {
		return bus.Result{}, err
	}
	meta := asked.Meta
	meta.Reason = c.Reason
	done, err := s.SignIns.Sessions.Bus.Execute(ctx, c, meta)
	if err != nil {
		return bus.Result{}, err
	}
	if err := s.Vault.Drop(ctx, state.SecondFactor); err != nil {
		return bus.Result{}, err
	}
	err = s.SignIns.Sessions.endAll(ctx, asked, vault.Revocation{
		Users: []id.User{c.UserID}, Org: c.OrgID, Reason: "second_factor_changed",
	})
	return done, cmp.Or(err, s.SignIns.Sessions.DirectoryShows.WaitFor(ctx, done.Position))
}

// owner reads a user who is signed in. Fails: unauthenticated.
func (s SecondFactors) owner(ctx context.Context, user id.User) (identityviews.UserRow, identity.User, error) {
	row, err := s.SignIns.Users.ByID(ctx, user)
	if err != nil || row == nil {
		return identityviews.UserRow{}, identity.User{}, cmp.Or(err, usecases.ErrSignIn())
	}
	state, err := s.SignIns.state(ctx, user)
	return *row, state, err
}

// password proves the present password of a user; wrong ones count like those of a sign-in. Fails: account_locked,
// wrong_password, temporary_password_expired, sign_in_busy.
func (s SecondFactors) password(
	ctx context.Context, asked usecases.Asked, user identityviews.UserRow, state identity.User, word secrets.Text,
) error {
	lockouts, key := s.SignIns.Lockouts, lockKey(user.Home, user.Email)
	if err := countTry(ctx, lockouts, key); err != nil {
		return err
	}
	right, err := s.SignIns.Passwords.Verify(ctx, asked.Org(), state.PasswordOf(), word)
	switch {
	case err != nil:
		return unlessWrong(ctx, lockouts, key, err)
	case !right.Right():
		return errWrongPassword()
	case state.PasswordExpired(s.SignIns.Clock.Now()):
		return errors.Join(commands.ErrPasswordExpired(), lockouts.TakeBack(ctx, key))
	}
	return lockouts.Succeed(ctx, key)
}

// errSignInSpent is the failure of a token that stands for no sign-in any more, or is used at another host.
func errSignInSpent() error {
	return failure.NewUnauthenticated("sign_in_expired",
		"This sign-in is not valid any more. Please begin again.")
}

// errWrongSecondFactor is the failure of a code at a sign-in that is wrong or was used before.
func errWrongSecondFactor() error {
	return failure.NewUnauthenticated("wrong_second_factor",
		"The code is wrong or was used before. Wait for the next one, or use a recovery code.")
}

// errWrongFactorCode is errWrongSecondFactor for somebody who is signed in.
func errWrongFactorCode() error {
	return failure.NewInvalid("wrong_factor_code", "code is wrong or was used before")
}
