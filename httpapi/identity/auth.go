package identityapi

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Auth serves /auth.
type Auth struct {
	Bus       *bus.Bus
	Users     identityviews.UsersQuery
	Directory *identityviews.Directory
	// DirectoryShows waits until the directory has a position: access begins and ends with the answer, not soon after.
	DirectoryShows *runner.Memory
	// Head is the newest position of the log: signing in sees what was registered a moment ago, also by another
	// program.
	Head      func(ctx context.Context) (uint64, error)
	Tokens    Tokens
	Passwords *vault.Passwords
	Lockouts  *vault.Lockouts
	Refresh   *vault.RefreshTokens
}

// Routes lists the endpoints of signing in.
func (a Auth) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/auth/login", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, LoginLimit: true,
			Summary: "Sign in with e-mail and password", Request: loginRequest{}, Response: loginResponse{},
			Handle: a.login,
		},
		{
			Method: "POST", Path: "/auth/refresh", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			Summary: "Exchange the refresh token for a new pair", Request: refreshRequest{},
			Response: refreshResponse{}, Handle: a.refresh,
		},
		{
			Method: "POST", Path: "/auth/logout", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "Sign out", Response: messageResponse{}, Handle: a.logout,
		},
		{
			Method: "GET", Path: "/auth/me", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "Who is signed in", Response: meResponse{}, Handle: a.me,
		},
		{
			Method: "POST", Path: "/auth/password", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "Choose a new password", Request: passwordRequest{}, Response: messageResponse{},
			Handle: a.changePassword,
		},
		{
			Method: "GET", Path: "/auth/sessions", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "The caller's sessions", Row: sessionResponse{}, Handle: a.sessions,
		},
		{
			Method: "DELETE", Path: "/auth/sessions/:id", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "End one of the caller's sessions", Status: 204, Handle: a.endSession,
		},
	}
}

// loginRequest is spec.md's.
type loginRequest struct {
	Email    string       `json:"email"`
	Password secrets.Text `json:"password"`
}

// orgResponse is spec.md's Organization.
type orgResponse struct {
	ID   id.Organization `json:"id"`
	Slug string          `json:"slug"`
	Name string          `json:"name"`
}

// userResponse is spec.md's user of a login.
type userResponse struct {
	ID        id.User     `json:"id"`
	Email     *string     `json:"email"`
	Phone     *string     `json:"phone"`
	FirstName string      `json:"firstName"`
	LastName  string      `json:"lastName"`
	Role      events.Role `json:"role"`
}

// loginResponse is spec.md's answer to a login.
type loginResponse struct {
	User               userResponse `json:"user"`
	Org                *orgResponse `json:"org"` // null on the root host
	MustChangePassword bool         `json:"mustChangePassword"`
	AccessToken        string       `json:"accessToken"`
	RefreshToken       string       `json:"refreshToken"`
}

// showUser is a user with a role.
func showUser(u identityviews.UserRow, role events.Role) userResponse {
	return userResponse{
		ID: u.ID, Email: null.Of(u.Email), Phone: null.Of(u.Phone), FirstName: u.FirstName,
		LastName: u.LastName, Role: role,
	}
}

// showOrg is the host's organization, nil on the root host.
func showOrg(c *httpapi.Call) *orgResponse {
	if c.Org.ID.IsZero() {
		return nil
	}
	return &orgResponse{c.Org.ID, c.Org.Slug, c.Org.Name}
}

// errWrongLogin is the one answer to a wrong password, an unknown e-mail and somebody who is no member here.
func errWrongLogin() error {
	return failure.NewUnauthenticated("wrong_credentials", "E-mail or password is wrong.")
}

// login checks the password with the same work whether or not the account exists, then opens a session.
func (a Auth) login(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[loginRequest](c)
	if err != nil {
		return err
	}
	email := commands.NormalizeEmail(in.Email)
	user, member, err := a.proven(ctx, c, email, in.Password)
	if err != nil {
		return err
	}
	role, err := a.mayEnter(ctx, c, user, member)
	if failure.KindOf(err) == failure.Unauthenticated {
		return err // it must look like a wrong password, at the next tries too
	}
	if err := a.Lockouts.Succeed(ctx, email); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return a.open(ctx, c, *user, role)
}

// open starts a session in a role and answers with its tokens.
func (a Auth) open(ctx context.Context, c *httpapi.Call, user identityviews.UserRow, role events.Role) error {
	session := vault.Session{ID: id.New[id.Session](), UserID: user.ID, OrgID: c.Org.ID}
	meta := c.Asked().Step("session")
	meta.Actor = events.Actor{Kind: events.ActorUser, ID: user.ID.String(), Role: string(role)}
	start := commands.StartSession{
		SessionID: session.ID, UserID: user.ID, OrgID: c.Org.ID, Role: role, Method: "password",
	}
	done, err := a.Bus.Execute(ctx, start, meta)
	if err != nil {
		return err
	}
	// The directory decides about the tokens: it must know the user by now. Far behind, it will soon.
	if err := a.DirectoryShows.WaitFor(ctx, done.Position); err != nil && !errors.Is(err, runner.ErrBehind) {
		return err
	}
	refresh, _, err := a.Refresh.Issue(ctx, session)
	if err != nil {
		return err
	}
	access, err := a.Tokens.Issue(user.ID, c.Org.ID, role, session.ID)
	if err != nil {
		return err
	}
	setCookies(c, access, refresh)
	return c.Send(200, loginResponse{
		User: showUser(user, role), Org: showOrg(c), MustChangePassword: user.MustChangePassword, AccessToken: access,
		RefreshToken: refresh.Reveal(),
	})
}

// errLocked is the answer while an e-mail is locked, whatever the password, known or not.
func errLocked() error {
	return failure.NewUnauthenticated("account_locked",
		"This account is temporarily locked after too many wrong passwords. Try again later.")
}

// proven is the user whose password it is, with the membership at the host's organization. Unknown addresses and
// strangers are counted, looked up and hashed for like members, so that neither answer nor time tells them apart.
func (a Auth) proven(
	ctx context.Context, c *httpapi.Call, email string, password secrets.Text,
) (*identityviews.UserRow, *identityviews.MemberRow, error) {
	try, err := a.Lockouts.Try(ctx, email)
	if err != nil {
		return nil, nil, err
	}
	if !try.Allowed {
		return nil, nil, errLocked()
	}
	if err := a.catchUp(ctx); err != nil {
		return nil, nil, err
	}
	user, err := a.Users.ByEmail(ctx, email)
	if err != nil {
		return nil, nil, err
	}
	var known id.User
	if user != nil {
		known = user.ID
	}
	var member *identityviews.MemberRow
	if !c.Org.ID.IsZero() {
		if member, err = a.Users.Member(ctx, c.Org.ID, known); err != nil {
			return nil, nil, err
		}
	}
	right, err := a.Passwords.Verify(ctx, known, password)
	if err != nil {
		return nil, nil, err
	}
	if !right || user == nil {
		return nil, nil, errWrongLogin()
	}
	return user, member, nil
}

// catchUp waits until the read model of users shows the whole log; one that is far behind is read as it is.
func (a Auth) catchUp(ctx context.Context) error {
	head, err := a.Head(ctx)
	if err != nil {
		return err
	}
	if err := a.Users.Views.WaitFor(ctx, identityviews.UsersName, head); err != nil &&
		!errors.Is(err, runner.ErrBehind) {
		return err
	}
	return nil
}

// mayEnter is the role in which a proven user enters the host. The first sign-in at an organization that added a user
// of another one is the acceptance of that membership (rules.md 16).
func (a Auth) mayEnter(
	ctx context.Context, c *httpapi.Call, user *identityviews.UserRow, member *identityviews.MemberRow,
) (events.Role, error) {
	if c.Org.ID.IsZero() {
		if !user.SuperAdmin {
			return "", failure.NewDenied("super_admin_only",
				"Only platform administrators sign in here. Use your organization's own address.")
		}
		return events.RoleSuperAdmin, nil
	}
	if member == nil || user.SuperAdmin || member.Status == "disabled" {
		return "", errWrongLogin()
	}
	if member.Status != "pending" {
		return member.Role, nil
	}
	meta := c.Asked().Step("accept")
	meta.Actor = events.Actor{Kind: events.ActorUser, ID: user.ID.String(), Role: string(member.Role)}
	_, err := a.Bus.Execute(ctx, commands.AcceptMembership{UserID: user.ID, OrgID: c.Org.ID}, meta)
	if failure.KindOf(err) == failure.NotFound { // it was disabled a moment ago
		return "", errWrongLogin()
	}
	return member.Role, err
}

// refreshRequest may bring the token; else the cookie does.
type refreshRequest struct {
	RefreshToken secrets.Text `json:"refreshToken,omitempty"`
}

// refreshResponse is spec.md's.
type refreshResponse struct {
	Message      string `json:"message"`
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
}

// messageResponse is spec.md's answer to actions without a resource.
type messageResponse struct {
	Message string `json:"message"`
}

// refresh gives a new pair. A token that was used before ends its whole session.
func (a Auth) refresh(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[refreshRequest](c)
	if err != nil {
		return err
	}
	token := in.RefreshToken
	if cookie, err := c.Request.Cookie(httpapi.CookieRefresh); token.IsZero() && err == nil {
		token = secrets.Text(cookie.Value)
	}
	if token.IsZero() {
		return httpapi.ErrSignIn()
	}
	session, err := a.Refresh.Lookup(ctx, token)
	if err != nil {
		clearCookies(c)
		return err
	}
	standing, known := a.Directory.Standing(session.UserID, session.OrgID, session.ID)
	if !known || session.OrgID != c.Org.ID && standing.Role != events.RoleSuperAdmin {
		return httpapi.ErrSignIn() // the token is not used up: at its own host it is still good
	}
	next, session, err := a.Refresh.Rotate(ctx, token)
	if err != nil {
		return a.refuseRefresh(ctx, c, session, err)
	}
	access, err := a.Tokens.Issue(session.UserID, session.OrgID, standing.Role, session.ID)
	if err != nil {
		return err
	}
	setCookies(c, access, next)
	return c.Send(200, refreshResponse{
		Message: "The session was renewed.", AccessToken: access, RefreshToken: next.Reveal(),
	})
}

// refuseRefresh records the end of a session whose token came twice.
func (a Auth) refuseRefresh(ctx context.Context, c *httpapi.Call, session vault.Session, err error) error {
	if errors.Is(err, vault.ErrReused) {
		if endErr := a.end(ctx, c, session, "refresh_token_reused"); endErr != nil {
			return endErr
		}
	}
	clearCookies(c)
	return err
}

// end ends a session everywhere: refresh token, access tokens, audit log.
func (a Auth) end(ctx context.Context, c *httpapi.Call, session vault.Session, reason string) error {
	return endSession(ctx, c, a.Bus, a.Refresh, a.DirectoryShows, session, reason)
}

// endSession revokes the tokens of a session and waits until requests see it.
func endSession(
	ctx context.Context, c *httpapi.Call, b *bus.Bus, refresh *vault.RefreshTokens, shows *runner.Memory,
	session vault.Session,
	reason string,
) error {
	if err := refresh.RevokeSession(ctx, session.ID); err != nil {
		return err
	}
	meta := c.Asked().Step("end " + session.ID.String())
	meta.OrgID = session.OrgID
	meta.Reason = reason
	if meta.Actor.Kind == events.ActorPublic {
		meta.Actor = events.Actor{Kind: events.ActorProcess, ID: "sessions"}
	}
	done, err := b.Execute(ctx, commands.EndSession{SessionID: session.ID, UserID: session.UserID, Reason: reason},
		meta)
	if err != nil {
		return err
	}
	return shows.WaitFor(ctx, done.Position)
}
