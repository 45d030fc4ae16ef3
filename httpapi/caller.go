package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Names of the cookies that a sign-in sets. Source: docs/rules/identity.md#cookies.
const (
	CookieAccess  = "access_token"
	CookieRefresh = "refresh_token"
)

// Caller is the user or API key that is signed in. The zero value is nobody.
type Caller struct {
	Kind               events.ActorKind // events.ActorUser or ActorAPIKey
	UserID             id.User          // id of the key for an API key
	OrgID              id.Organization  // of the session; zero for a super_admin
	Role               events.Role      // in that organization, now
	SessionID          id.Session       // zero for an API key
	Scopes             []string         // of an API key; nil = all that the role may
	MustChangePassword bool
	// Own are the subscribers that a customer sees, who has the role subscriber. Nobody changes it.
	Own       []id.Subscriber
	MustEnrol bool // a second factor, before anything else
}

// isKey reports whether an API key calls, and no person.
func (c Caller) isKey() bool { return c.Kind == events.ActorAPIKey }

// actor is the caller as the metadata of events names it; without a sign-in it is public.
func (c Caller) actor() events.Actor {
	if c.UserID.IsZero() {
		return events.Actor{Kind: events.ActorPublic}
	}
	return events.Actor{Kind: c.Kind, ID: c.UserID.String(), Role: string(c.Role)}
}

// Authenticator finds out to whom a token belongs. It checks signature and age, and that session, user, membership and
// role hold at this moment (docs/rules/identity.md#access-ends-at-once). It is asked at every request, so it answers
// from memory. An invalid token is failure.Unauthenticated. Implementations are safe for concurrent use.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (Caller, error)
}

// bearer is the token of the Authorization header; present reports whether the request has that header, with any
// scheme.
func bearer(r *http.Request) (token string, present bool) {
	header := r.Header.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	return strings.TrimSpace(token), header != ""
}

// accessToken is the bearer token, else the cookie. A header without a bearer token hides the cookie.
func accessToken(r *http.Request) (token string, isBearer bool) {
	if token, present := bearer(r); present {
		return token, true
	}
	if cookie, err := r.Cookie(CookieAccess); err == nil {
		return cookie.Value, false
	}
	return "", false
}

// signIn sets the caller, who must belong to the host and have the route's role, and a key the route's scope. Fails:
// unauthenticated, another_person, rate_limited, password_change_required, second_factor_required, role_required, and
// with a key api_key_expired, api_key_revoked, api_key_stopped, api_key_address_refused, api_key_not_allowed,
// scope_required; and for a customer subscriber_not_found.
func (s *Server) signIn(ctx context.Context, c *Call) error {
	if err := s.identify(ctx, c); err != nil {
		if c.refusedKey.UserID.IsZero() {
			return err
		}
		return cmp.Or(s.countCaller(ctx, c, c.refusedKey), err)
	}
	if err := s.countCaller(ctx, c, c.Caller); err != nil {
		return err
	}
	if err := c.mayEnter(); err != nil {
		return err
	}
	if err := c.forPeople(); err != nil {
		return err
	}
	if err := c.route.Access.Check(c.Caller.Role); err != nil {
		return err
	}
	if err := c.checkScope(); err != nil {
		return err
	}
	return c.checkOwn()
}

// identify sets the caller, who must belong to the host and be whom the request expects. Fails: unauthenticated,
// another_person.
func (s *Server) identify(ctx context.Context, c *Call) error {
	caller, err := s.authenticate(ctx, c)
	if err != nil {
		return err
	}
	if caller.Kind == "" {
		caller.Kind = events.ActorUser
	}
	// Before the host: who has signed in at another organization, or at the platform, is somebody else on this page.
	if err := c.CheckExpected(caller.UserID); err != nil {
		return err
	}
	if platform := caller.OrgID.IsZero(); platform && caller.Role != events.RoleSuperAdmin ||
		!platform && caller.OrgID != c.Org.ID {
		return usecases.ErrSignIn() // docs/rules/identity.md#token-and-host
	}
	c.Caller = caller
	return nil
}

// authenticate finds out who calls: by an access token, or by an API key, which is a bearer token alone and no cookie.
// A right key that may not enter is noted, so that the audit log shows it.
func (s *Server) authenticate(ctx context.Context, c *Call) (Caller, error) {
	token, isBearer := accessToken(c.Request)
	if token == "" {
		return Caller{}, usecases.ErrSignIn()
	}
	if !isBearer || s.cfg.Keys == nil || !apikeys.Looks(token) {
		return s.cfg.Authenticator.Authenticate(ctx, token)
	}
	caller, err := s.cfg.Keys.AuthenticateKey(ctx, ShownKey{Text: secrets.Text(token), OrgID: c.Org.ID, IP: c.IP})
	if err != nil {
		c.refusedKey = caller
		return Caller{}, err
	}
	return caller, nil
}

// mayEnter refuses a caller who has to choose a password first, or to set up a second factor. Fails:
// password_change_required, second_factor_required.
func (c *Call) mayEnter() error {
	switch {
	case c.route.AllowedWhilePasswordChange:
		return nil
	case c.Caller.MustChangePassword:
		return failure.NewDenied("password_change_required", "Please choose a password of your own first.")
	case c.Caller.MustEnrol:
		return failure.NewDenied("second_factor_required",
			"You need a second factor here. Please set it up on the page of your account first.")
	}
	return nil
}

// SignIn tells who calls a public route, for the few that treat the signed-in differently; a failure leaves Caller zero
// or is the caller's limit. Fails as a route with a role would.
func (c *Call) SignIn(ctx context.Context) error { return c.server.signIn(ctx, c) }

// Identify is SignIn without the caller's limit: for the end of a sign-in, which nobody can have twice.
func (c *Call) Identify(ctx context.Context) error {
	if err := c.server.identify(ctx, c); err != nil {
		return err
	}
	return c.forPeople()
}

// ErrRoleRequired refuses a caller whose role is below the named one, or is not allowed for another reason.
func ErrRoleRequired(role events.Role) error {
	return failure.NewDenied("role_required", "This needs the role %s.", role)
}
