package identityapi

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// Auth serves /auth.
type Auth struct {
	SignIns  identitycases.SignIns
	Password identitycases.OwnPassword
	Users    identityviews.UsersQuery
	Tokens   Tokens
}

// Routes lists the endpoints of signing in.
func (a Auth) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/auth/login", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, LoginLimit: true,
			Summary: "Sign in with e-mail and password", Request: loginRequest{}, Response: signInResponse{},
			Handle: a.login,
		},
		{
			Method: "POST", Path: "/auth/refresh", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			RefreshLimit: true, Summary: "Exchange the refresh token for a new pair", Request: refreshRequest{},
			Response: refreshResponse{}, Handle: a.refresh,
		},
		{
			Method: "POST", Path: "/auth/logout", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			Summary: "Sign out, by the access token or the refresh cookie", Response: doneResponse{},
			Codes:  []string{"unauthenticated", "another_person", "rate_limited", "sign_out_unfinished"},
			Handle: a.logout, Failed: forget,
		},
		{
			Method: "GET", Path: "/auth/me", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "Who is signed in", Response: meResponse{}, Handle: a.me,
		},
		{
			Method: "POST", Path: "/auth/password", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "Choose a new password", Request: passwordRequest{}, Response: doneResponse{},
			Handle: a.changePassword,
		},
		{
			Method: "GET", Path: "/auth/sessions", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "The caller's sessions", Row: signInSession{}, Handle: a.sessions,
		},
		{
			Method: "DELETE", Path: "/auth/sessions/:id", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Summary: "End one of the caller's sessions", Status: 204, Handle: a.endSession,
		},
	}
}

// loginRequest is the body of POST /auth/login (docs/rules/identity.md#sign-in-answers).
type loginRequest struct {
	Email    string       `json:"email"`
	Password secrets.Text `json:"password"`
}

// orgResponse is an organization in short, as in the answer to a sign-in (docs/rules/identity.md#sign-in-answers).
type orgResponse struct {
	ID   id.Organization `json:"id"`
	Slug string          `json:"slug"`
	Name string          `json:"name"`
}

// userResponse is the signed-in person in the answer to a sign-in (docs/rules/identity.md#sign-in-answers).
type userResponse struct {
	ID        id.User     `json:"id"`
	Email     *string     `json:"email"`
	Phone     *string     `json:"phone"`
	FirstName string      `json:"firstName"`
	LastName  string      `json:"lastName"`
	Role      events.Role `json:"role"`
}

// loginResponse is the answer to a sign-in (docs/rules/identity.md#sign-in-answers).
type loginResponse struct {
	User               userResponse `json:"user"`
	Org                *orgResponse `json:"org"` // null on the root host
	MustChangePassword bool         `json:"mustChangePassword"`
	AccessToken        string       `json:"accessToken"`
	RefreshToken       string       `json:"refreshToken"`
}

// signInResponse is loginResponse, or says that the second factor is missing: then it says nothing else
// (docs/rules/identity.md#second-factor).
type signInResponse struct {
	User                 *userResponse `json:"user,omitempty"`
	Org                  *orgResponse  `json:"org"` // null on the root host
	MustChangePassword   bool          `json:"mustChangePassword"`
	AccessToken          string        `json:"accessToken,omitempty"`
	RefreshToken         string        `json:"refreshToken,omitempty"`
	RequiresSecondFactor bool          `json:"requiresSecondFactor,omitempty" doc:"show a code before anything else"`
	VerifiedToken        string        `json:"verifiedToken,omitempty" doc:"for POST /auth/second-factor"`
}

// showUser adds the role at one organization to a person, who may have others elsewhere.
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

// login opens a session and gives its tokens, as cookies and in the body.
func (a Auth) login(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[loginRequest](c)
	if err != nil {
		return err
	}
	credentials := identitycases.Credentials{
		Email: personal.Of(in.Email), Password: in.Password, Browser: browserOf(c.Request.UserAgent()),
	}
	signed, err := a.SignIns.SignIn(ctx, c.Asked(), credentials)
	if err != nil {
		return err
	}
	return a.signedIn(c, signed)
}

// signedIn gives the tokens of a new session, as cookies and in the body, or asks for the second factor.
func (a Auth) signedIn(c *httpapi.Call, signed identitycases.SignedIn) error {
	if !signed.Waiting.IsZero() {
		return c.Send(200, signInResponse{RequiresSecondFactor: true, VerifiedToken: signed.Waiting.Reveal()})
	}
	access, err := a.Tokens.Issue(signed.User.ID, signed.Role, signed.Session)
	if err != nil {
		return err
	}
	a.setCookies(c, access, signed.Refresh, signed.Session)
	return c.Send(200, loginResponse{
		User: showUser(signed.User, signed.Role), Org: showOrg(c), MustChangePassword: signed.User.MustChangePassword,
		AccessToken: access, RefreshToken: signed.Refresh.Reveal(),
	})
}

// refreshRequest may have the refresh token; without it the cookie counts.
type refreshRequest struct {
	RefreshToken secrets.Text `json:"refreshToken,omitempty"`
}

// refreshResponse is the answer of POST /auth/refresh (docs/rules/identity.md#refresh-and-sign-out).
type refreshResponse struct {
	Message      string `json:"message"`
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
}

// doneResponse is the answer to an action that has no resource to show.
type doneResponse struct {
	Message string `json:"message"`
}

// refresh gives a new pair of tokens. A token that cannot be renewed is deleted from the browser. One that is shown at
// the wrong host is left there: it is still valid at its own. So is every other one that is not refused as a sign-in,
// because the browser may have a newer one by now.
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
		return usecases.ErrSignIn()
	}
	renewed, err := a.SignIns.Renew(ctx, c.Asked(), token)
	if err != nil {
		if failure.KindOf(err) == failure.Unauthenticated && !errors.Is(err, usecases.ErrSignIn()) {
			clearCookies(c)
		}
		return err
	}
	access, err := a.Tokens.Issue(renewed.Session.UserID, renewed.Role, renewed.Session)
	if err != nil {
		return err
	}
	a.setCookies(c, access, renewed.Refresh, renewed.Session)
	return c.Send(200, refreshResponse{
		Message: "The session was renewed.", AccessToken: access, RefreshToken: renewed.Refresh.Reveal(),
	})
}

// forget deletes the cookies of a browser whose sign-out failed or was limited: whoever asks for it leaves the
// machine, and nobody else may go on with what stays there. The session is alive, which the answer says. What a page
// of another host asks for deletes nothing, and neither does a refusal that says whose cookies they are.
func forget(c *httpapi.Call, f *failure.Error) *failure.Error {
	switch f.Kind {
	case failure.Limited, failure.Unavailable, failure.Internal, failure.Denied:
	default:
		return f
	}
	if !c.FromOwnPage() {
		return f
	}
	clearCookies(c)
	return &failure.Error{
		Kind: failure.Unavailable, Code: "sign_out_unfinished", Cause: f,
		Message: "This browser is signed out, but your session could not be ended. " +
			"Sign in again later and end it in the list of your sessions.",
	}
}

// logout ends the caller's session and deletes the cookies.
func (a Auth) logout(ctx context.Context, c *httpapi.Call) error {
	session, err := a.leaving(ctx, c)
	if err != nil {
		return err
	}
	if err := a.SignIns.Sessions.End(ctx, c.Asked(), session, "logout"); err != nil {
		return err
	}
	clearCookies(c)
	return c.Send(200, doneResponse{"You are signed out."})
}

// leaving is the session that a request signs out of: that of the access token, else that of the refresh cookie, which
// outlives the access token by days. Cookies of a session that has ended are deleted from the browser, those of another
// host stay there. Fails: unauthenticated, another_person, rate_limited.
func (a Auth) leaving(ctx context.Context, c *httpapi.Call) (vault.Session, error) {
	err := c.Identify(ctx)
	if err == nil {
		return vault.Session{ID: c.Caller.SessionID, UserID: c.Caller.UserID, OrgID: c.Caller.OrgID}, nil
	}
	cookie, none := c.Request.Cookie(httpapi.CookieRefresh)
	if none != nil || failure.KindOf(err) != failure.Unauthenticated {
		return vault.Session{}, err
	}
	if err := c.CountSignOut(ctx); err != nil {
		return vault.Session{}, err
	}
	session, err := a.SignIns.Sessions.Refresh.Lookup(ctx, secrets.Text(cookie.Value))
	switch {
	case errors.Is(err, vault.ErrTokenInvalid):
		clearCookies(c)
		return vault.Session{}, usecases.ErrSignIn()
	case err == nil && !session.OrgID.IsZero() && session.OrgID != c.Org.ID:
		return vault.Session{}, usecases.ErrSignIn()
	case err == nil:
		err = c.CheckExpected(session.UserID)
	}
	return session, err
}

// signInSession is one sign-in of the caller.
type signInSession struct {
	ID        id.Session       `json:"id"`
	OrgID     *id.Organization `json:"orgId"`
	StartedAt time.Time        `json:"startedAt"`
	UsedAt    time.Time        `json:"usedAt"`
	ExpiresAt time.Time        `json:"expiresAt"`
	Current   bool             `json:"current"`
	Browser   *string          `json:"browser" doc:"with which it was begun: Firefox, Windows; null: not known"`
	IP        *string          `json:"ip" doc:"from which it was begun; null: not known"`
}

// sessionKey is the place of a session in the list, newest first.
type sessionKey struct {
	StartedAt time.Time  `json:"s"`
	ID        id.Session `json:"i"`
}

// sessionRow adds the Key that SendList asks for.
type sessionRow struct{ vault.Session }

// Key is the place of the session in the list.
func (r sessionRow) Key() sessionKey { return sessionKey{r.StartedAt, r.ID} }

// before reports whether k stands before the other key: the vault lists the newest start first, then the smaller id.
func (k sessionKey) before(other sessionKey) bool {
	if !k.StartedAt.Equal(other.StartedAt) {
		return other.StartedAt.Before(k.StartedAt)
	}
	return k.ID.String() < other.ID.String()
}

// sessions lists the caller's sessions, newest first. The vault gives all of them at once, since a person has few.
func (a Auth) sessions(ctx context.Context, c *httpapi.Call) error {
	show := func(s sessionRow) signInSession {
		return signInSession{
			ID: s.ID, OrgID: null.Of(s.OrgID), StartedAt: s.StartedAt, UsedAt: s.UsedAt, ExpiresAt: s.ExpiresAt,
			Current: s.ID == c.Caller.SessionID, Browser: null.Of(s.Browser), IP: null.Of(s.IP),
		}
	}
	return httpapi.SendList(ctx, c, show, func(ctx context.Context, after sessionKey, _ int) ([]sessionRow, error) {
		open, err := a.SignIns.Sessions.Refresh.List(ctx, c.Caller.UserID)
		rows := make([]sessionRow, 0, len(open))
		for _, s := range open {
			if row := (sessionRow{s}); after == (sessionKey{}) || after.before(row.Key()) {
				rows = append(rows, row)
			}
		}
		return rows, err
	})
}

// endSession ends one of the caller's sessions, at whichever host it was opened.
func (a Auth) endSession(ctx context.Context, c *httpapi.Call) error {
	session, err := httpapi.PathID[id.Session](c, "id", commands.ErrNoSession)
	if err != nil {
		return err
	}
	if err := a.SignIns.Sessions.Revoke(ctx, c.Asked(), c.Caller.UserID, session); err != nil {
		return err
	}
	if session == c.Caller.SessionID {
		clearCookies(c)
	}
	return c.NoContent()
}
