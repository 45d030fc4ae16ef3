package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
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
	SessionID          id.Session
	MustChangePassword bool
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
func accessToken(r *http.Request) string {
	if token, present := bearer(r); present {
		return token
	}
	if cookie, err := r.Cookie(CookieAccess); err == nil {
		return cookie.Value
	}
	return ""
}

// signIn sets the caller, who must belong to the host and have the route's role. Fails: unauthenticated,
// another_person, rate_limited, password_change_required, role_required.
func (s *Server) signIn(ctx context.Context, c *Call) error {
	if err := s.identify(ctx, c); err != nil {
		return err
	}
	if err := s.countCaller(ctx, c); err != nil {
		return err
	}
	if err := c.mayEnter(); err != nil {
		return err
	}
	return c.route.Access.Check(c.Caller.Role)
}

// identify sets the caller, who must belong to the host and be whom the request expects. Fails: unauthenticated,
// another_person.
func (s *Server) identify(ctx context.Context, c *Call) error {
	token := accessToken(c.Request)
	if token == "" {
		return usecases.ErrSignIn()
	}
	caller, err := s.cfg.Authenticator.Authenticate(ctx, token)
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

// mayEnter refuses a caller who has to choose a password first. Fails: password_change_required.
func (c *Call) mayEnter() error {
	if c.Caller.MustChangePassword && !c.route.AllowedWhilePasswordChange {
		return failure.NewDenied("password_change_required", "Please choose a password of your own first.")
	}
	return nil
}

// SignIn tells who calls a public route, for the few that treat the signed-in differently; a failure leaves Caller zero
// or is the caller's limit. Fails as a route with a role would.
func (c *Call) SignIn(ctx context.Context) error { return c.server.signIn(ctx, c) }

// Identify is SignIn without the caller's limit: for the end of a sign-in, which nobody can have twice.
func (c *Call) Identify(ctx context.Context) error { return c.server.identify(ctx, c) }

// ErrRoleRequired refuses a caller whose role is below the named one, or is not allowed for another reason.
func ErrRoleRequired(role events.Role) error {
	return failure.NewDenied("role_required", "This needs the role %s.", role)
}
