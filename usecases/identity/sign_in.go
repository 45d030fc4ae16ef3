package identitycases

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// SignIns begins sessions and renews them. The caller makes the access tokens. All fields are required. Safe for
// concurrent use.
type SignIns struct {
	Sessions  Sessions
	Users     identityviews.UsersQuery
	Directory *identityviews.Directory
	Access    *identityviews.Access // asked before Directory
	// Head gives the newest position of the log. A sign-in reads up to it, so that it sees a user whom another program
	// registered a moment ago.
	Head      func(ctx context.Context) (uint64, error)
	Passwords *vault.Passwords
	Lockouts  *vault.Lockouts
	Factors   *vault.SecondFactors // keep sign-ins that wait for theirs
	Clock     clock.Clock
}

// Credentials are an e-mail address and a password as a person typed them.
type Credentials struct {
	Email    personal.Text // in any spelling
	Password secrets.Text
	Browser  string // in which they were typed, in words; "" = not known
}

// SignedIn is a new session, or a sign-in that waits for its second factor.
type SignedIn struct {
	Waiting secrets.Text // stands for the sign-in that waits (SecondFactors.Complete); "" = there is a session
	User    identityviews.UserRow
	Role    events.Role // at the organization of Asked, or super_admin
	Session vault.Session
	Refresh secrets.Text // the first refresh token of the session
}

// SignIn checks the password and opens a session at the organization of asked, or at the platform when that is zero. At
// an organization's host the address is that of its own user, or of a proven person who is a member; whatever else is
// registered under the address does not exist there (docs/rules/identity.md#proven-addresses).
//
// The try is counted first, so that several guesses at the same moment all count. Only somebody who enters resets the
// count; the right password of a user who enters elsewhere takes back its own try. An unknown address and a person who
// is no member cost the same work as a member, a hash included, so that neither failure nor time shows which it was.
// After the password, the right to enter is checked. Then the session is recorded, SignIn waits for the directory, and
// the refresh token is made: a stop before that leaves a session that cannot be used. Last, SignIn looks whether the
// password still stands, so that a session cannot outlive one that was changed meanwhile. A repeat opens another
// session.
//
// Whoever has a second factor gets no session yet, but a token that stands for the password; the count of wrong
// passwords stays as it was before.
//
// The read model only finds the users of an address, once it shows the whole log. The log says who is a member, and
// the directory refuses the tokens of a person whose access has ended since.
//
// Fails: access_unknown, account_locked, wrong_credentials, super_admin_only, temporary_password_expired, sign_in_busy.
func (s SignIns) SignIn(ctx context.Context, asked usecases.Asked, in Credentials) (SignedIn, error) {
	if err := s.Access.Check(); err != nil {
		return SignedIn{}, err
	}
	email := commands.NormalizeEmail(in.Email.Reveal())
	of, proven, err := s.proven(ctx, asked, email, in.Password)
	if err != nil {
		return SignedIn{}, err
	}
	of.method, of.browser = "password", in.Browser
	counted := s.Lockouts.Succeed
	if !of.factor.IsZero() {
		counted = s.Lockouts.TakeBack
	}
	if err := counted(ctx, lockKey(asked.Org(), email)); err != nil {
		return SignedIn{}, err
	}
	entered, err := s.begin(ctx, asked, of)
	if err != nil {
		return SignedIn{}, err
	}
	stands, err := s.Passwords.Stands(ctx, proven)
	if err == nil && !stands {
		err = cmp.Or(s.undo(ctx, asked, entered), errWrongLogin())
	}
	if err != nil {
		return SignedIn{}, err
	}
	return entered, nil
}

// begin opens a session, or keeps the sign-in of somebody who has a second factor.
func (s SignIns) begin(ctx context.Context, asked usecases.Asked, of opening) (SignedIn, error) {
	if of.factor.IsZero() {
		return s.open(ctx, asked, of)
	}
	token, err := s.Factors.Wait(ctx, vault.WaitingSignIn{
		UserID: of.user.ID, FactorID: of.factor, OrgID: asked.Org(), Method: of.method, Browser: of.browser,
	})
	return SignedIn{Waiting: token, User: of.user, Role: of.role}, err
}

// undo ends what begin has begun with a password that was changed meanwhile.
func (s SignIns) undo(ctx context.Context, asked usecases.Asked, entered SignedIn) error {
	if entered.Waiting.IsZero() {
		return s.Sessions.End(ctx, asked, entered.Session, "password_changed")
	}
	_, err := s.Factors.End(ctx, entered.Waiting)
	return err
}

// state is a user as the log has it. It is unchecked, because an administrator of the platform belongs to no
// organization; the zero id is nobody.
func (s SignIns) state(ctx context.Context, user id.User) (identity.User, error) {
	state, _, err := bus.LoadUnchecked[identity.User](ctx, s.Sessions.Bus, user)
	return state, err
}

// proven gives the user of an address whose password is right, with the role at the host and the second factor. All
// reads come before the try is counted and a password verified, so that time does not show whether it was right. Only
// who has proven the password of a user who may enter is told that its time is over. Fails: account_locked,
// wrong_credentials, super_admin_only, temporary_password_expired, sign_in_busy.
func (s SignIns) proven(
	ctx context.Context, asked usecases.Asked, email string, password secrets.Text,
) (opening, vault.Verified, error) {
	users, checks, err := s.candidates(ctx, asked.Org(), email)
	if err != nil {
		return opening{}, vault.Verified{}, err
	}
	var first identityviews.UserRow // the only one who may enter
	if len(users) > 0 {
		first = users[0]
	}
	state, err := s.state(ctx, first.ID) // nobody has no rights
	if err != nil {
		return opening{}, vault.Verified{}, err
	}
	key := lockKey(asked.Org(), email)
	if err := countTry(ctx, s.Lockouts, key); err != nil {
		return opening{}, vault.Verified{}, err
	}
	right, err := s.verify(ctx, asked.Org(), users, checks, password)
	if err != nil {
		return opening{}, vault.Verified{}, unlessWrong(ctx, s.Lockouts, key, err)
	}
	role, err := s.mayEnter(ctx, asked, state)
	if err != nil { // who may not enter an organization looks like a wrong password, at the next tries too
		return opening{}, vault.Verified{}, unlessWrong(ctx, s.Lockouts, key, err)
	}
	if state.PasswordExpired(s.Clock.Now()) {
		return opening{}, vault.Verified{}, errors.Join(commands.ErrPasswordExpired(), s.Lockouts.TakeBack(ctx, key))
	}
	return opening{user: first, role: role, factor: state.SecondFactor}, right, nil
}

// verify compares a password with those of users, of which the first one may enter. Fails: wrong_credentials,
// super_admin_only, sign_in_busy.
func (s SignIns) verify(
	ctx context.Context, org id.Organization, users []identityviews.UserRow, checks int, password secrets.Text,
) (right vault.Verified, err error) {
	tried := make([]vault.Verified, checks)
	for i := range tried {
		var owner id.User
		if i < len(users) {
			owner = users[i].PasswordOf()
		}
		if tried[i], err = s.Passwords.Verify(ctx, org, owner, password); err != nil {
			return vault.Verified{}, err
		}
	}
	switch {
	case tried[0].Right():
		return tried[0], nil
	case slices.ContainsFunc(tried, vault.Verified.Right):
		return vault.Verified{}, errSuperAdminOnly()
	}
	return vault.Verified{}, errWrongLogin()
}

// rootChecks is the number of passwords that a sign-in at the root host compares. There everybody with a right password
// is told to go to the own host, and several organizations can have users of one address, each with a password of its
// own: time must not show how many there are, so those of the newer ones are not compared.
const rootChecks = 3

// candidates gives the users whose password an address can prove at a host, each password once, the user who may enter
// first, and the number of passwords to compare. The address of an administrator of the platform is that person's alone
// at the root host: what organizations have registered under it does not exist there, or whoever registers it could
// guess the platform's password. The read model shows the whole log before it is asked.
func (s SignIns) candidates(
	ctx context.Context, org id.Organization, email string,
) (users []identityviews.UserRow, checks int, err error) {
	if err := s.catchUp(ctx); err != nil {
		return nil, 0, err
	}
	if !org.IsZero() {
		user, err := s.Users.AtHost(ctx, org, email)
		if user != nil {
			users = []identityviews.UserRow{*user}
		}
		return users, 1, err
	}
	all, err := s.Users.OfAddress(ctx, email)
	if len(all) > 0 && all[0].SuperAdmin {
		all = all[:1]
	}
	for _, user := range all {
		same := func(u identityviews.UserRow) bool { return u.PasswordOf() == user.PasswordOf() }
		if len(users) < rootChecks && !slices.ContainsFunc(users, same) {
			users = append(users, user)
		}
	}
	return users, rootChecks, err
}

// ofAddress lists the users of an address, an e-mail or a phone: at an organization's host those who may be its own.
// The read model shows the whole log before it is asked.
func (s SignIns) ofAddress(ctx context.Context, org id.Organization, address string) ([]identityviews.UserRow, error) {
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	if !strings.Contains(address, "@") {
		return s.Users.OfPhone(ctx, org, address)
	}
	if org.IsZero() {
		return s.Users.OfAddress(ctx, address)
	}
	user, err := s.Users.AtHost(ctx, org, address)
	if err != nil || user == nil {
		return nil, err
	}
	return []identityviews.UserRow{*user}, nil
}

// catchUp waits until the read model of users shows the whole log. After 2 s it goes on with an older state.
func (s SignIns) catchUp(ctx context.Context) error {
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	err = s.Users.Views.WaitFor(ctx, identityviews.UsersName, head)
	if errors.Is(err, runner.ErrBehind) {
		return nil
	}
	return err
}

// mayEnter gives the role with which a user enters whose password is right, and accepts a pending membership of a
// proven person. The log says who is a member, not a read model: a membership that ended a moment ago opens nothing.
// Fails: super_admin_only, wrong_credentials.
func (s SignIns) mayEnter(ctx context.Context, asked usecases.Asked, user identity.User) (events.Role, error) {
	if asked.Org().IsZero() {
		if !user.SuperAdmin {
			return "", errSuperAdminOnly()
		}
		return events.RoleSuperAdmin, nil
	}
	member, known := user.MemberAt(asked.Org())
	if !known || user.SuperAdmin || user.Forgotten || !user.Apart || member.Disabled ||
		user.SeesNothing(asked.Org()) {
		return "", errWrongLogin()
	}
	if !member.Pending {
		return member.Role, nil
	}
	meta := asked.Step("accept")
	meta.Actor = events.Actor{Kind: events.ActorUser, ID: user.ID.String(), Role: string(member.Role)}
	accept := commands.AcceptMembership{UserID: user.ID, OrgID: asked.Org()}
	_, err := s.Sessions.Bus.Execute(ctx, accept, meta)
	if failure.KindOf(err) == failure.NotFound { // it was disabled a moment ago
		return "", errWrongLogin()
	}
	return member.Role, err
}

// opening says whose session is opened, and how that was proven.
type opening struct {
	user    identityviews.UserRow
	role    events.Role
	method  string // one of those of events.SessionStarted
	browser string
	factor  id.SecondFactor // that was shown; zero = the user had none
}

// open starts a session with a role and gives its first refresh token. Last it looks whether the second factor is
// still the one that was shown: who enrols one ends the sessions that have shown none, and one that is just beginning,
// too.
func (s SignIns) open(ctx context.Context, asked usecases.Asked, of opening) (SignedIn, error) {
	user, role := of.user, of.role
	session := vault.Session{
		ID: id.New[id.Session](), UserID: user.ID, OrgID: asked.Org(), IP: asked.Meta.IP, Browser: of.browser,
	}
	meta := asked.Step("session")
	meta.Actor = events.Actor{Kind: events.ActorUser, ID: user.ID.String(), Role: string(role)}
	start := commands.StartSession{
		SessionID: session.ID, UserID: user.ID, OrgID: session.OrgID, Role: role, Method: of.method,
	}
	done, err := s.Sessions.Bus.Execute(ctx, start, meta)
	if err != nil {
		return SignedIn{}, err
	}
	// The directory decides about the tokens, so it must have the session. When it is far behind, the tokens work a
	// moment later.
	err = s.Sessions.DirectoryShows.WaitFor(ctx, done.Position)
	if err != nil && !errors.Is(err, runner.ErrBehind) {
		return SignedIn{}, err
	}
	refresh, session, err := s.Sessions.Refresh.Issue(ctx, session)
	if err != nil {
		return SignedIn{}, err
	}
	state, err := s.state(ctx, user.ID)
	if err == nil && state.SecondFactor != of.factor {
		err = cmp.Or(s.Sessions.End(ctx, asked, session, "second_factor_changed"), errSignInSpent())
	}
	if err != nil {
		return SignedIn{}, err
	}
	return SignedIn{User: user, Role: role, Session: session, Refresh: refresh}, nil
}

// Renewed is a session with its next refresh token.
type Renewed struct {
	Session vault.Session
	Role    events.Role  // at this moment
	Refresh secrets.Text // replaces the one that was given, which is used up
}

// Renew uses up a refresh token and gives the next one. It checks the user's access first, so that a token which is
// used at a wrong host stays valid for its own, and asks the log whether the session has ended. A token that was used
// before shows that somebody has a copy: its whole session ends, and that is recorded
// (docs/rules/identity.md#token-lifetimes). A repeat after a lost answer is such a second use, too.
//
// Fails: access_unknown, refresh_token_invalid, refresh_token_reused; unauthenticated when the user has no access here,
// with the token left valid.
func (s SignIns) Renew(ctx context.Context, asked usecases.Asked, token secrets.Text) (Renewed, error) {
	if err := s.Access.Check(); err != nil {
		return Renewed{}, err
	}
	session, err := s.Sessions.Refresh.Lookup(ctx, token)
	if err != nil {
		return Renewed{}, err
	}
	standing, known := s.Directory.Standing(session.UserID, session.OrgID, session.ID)
	if !known || session.OrgID != asked.Org() && standing.Role != events.RoleSuperAdmin {
		return Renewed{}, usecases.ErrSignIn()
	}
	if err := s.goesOn(ctx, session); err != nil {
		return Renewed{}, err
	}
	next, session, err := s.Sessions.Refresh.Rotate(ctx, token)
	if errors.Is(err, vault.ErrReused) {
		if endErr := s.Sessions.End(ctx, asked, session, "refresh_token_reused"); endErr != nil {
			return Renewed{}, endErr
		}
	}
	if err != nil {
		return Renewed{}, err
	}
	return Renewed{Session: session, Role: standing.Role, Refresh: next}, nil
}

// goesOn asks the log whether a session has ended, since the directory forgets that after some minutes. The vault is
// then told, which a program of before did last. Fails: refresh_token_invalid.
func (s SignIns) goesOn(ctx context.Context, session vault.Session) error {
	// the token proves whose it is
	state, _, err := bus.LoadUnchecked[identity.Session](ctx, s.Sessions.Bus, session.ID)
	if err != nil || !state.Ended {
		return err
	}
	_, err = s.Sessions.Refresh.Revoke(ctx, vault.Revocation{Users: []id.User{session.UserID}, Only: session.ID})
	if err == nil {
		err = s.Sessions.Refresh.EndRecorded(ctx, session.ID)
	}
	return cmp.Or(err, error(vault.ErrTokenInvalid))
}

// errWrongLogin is the same failure for a wrong password, an unknown e-mail address and a person who is no member here.
func errWrongLogin() error {
	return failure.NewUnauthenticated("wrong_credentials", "E-mail or password is wrong.")
}

// errSuperAdminOnly is the failure at the root host of somebody else's right password.
func errSuperAdminOnly() error {
	return failure.NewDenied("super_admin_only",
		"Only platform administrators sign in here. Use your organization's own address.")
}
