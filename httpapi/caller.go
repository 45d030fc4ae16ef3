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

// Cookies set on login. Source: docs/rules/identity.md#cookies.
const (
	CookieAccess  = "access_token"
	CookieRefresh = "refresh_token"
)

// Caller is who is signed in.
type Caller struct {
	Kind               events.ActorKind // user, or api_key
	UserID             id.User          // of the key when it is one
	OrgID              id.Organization  // of the session; zero for a super_admin
	Role               events.Role      // in that organization, now
	SessionID          id.Session
	MustChangePassword bool
}

// Authenticator proves who a token belongs to. It checks signature and age, and that session, user, membership and role
// hold at this moment (docs/rules/identity.md#access-ends-at-once), from memory: it is asked at every request. A token
// that proves nothing is failure.Unauthenticated.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (Caller, error)
}

// bearer is the token of the Authorization header; present tells whether the header is there at all.
func bearer(r *http.Request) (token string, present bool) {
	header := r.Header.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	return strings.TrimSpace(token), header != ""
}

// accessToken is the bearer token, else the cookie.
func accessToken(r *http.Request) string {
	if token, present := bearer(r); present {
		return token
	}
	if cookie, err := r.Cookie(CookieAccess); err == nil {
		return cookie.Value
	}
	return ""
}

// signIn sets the caller, who must belong to the host and have the route's role.
func (s *Server) signIn(ctx context.Context, c *Call) error {
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
	if platform := caller.OrgID.IsZero(); platform && caller.Role != events.RoleSuperAdmin ||
		!platform && caller.OrgID != c.Org.ID {
		return usecases.ErrSignIn() // docs/rules/identity.md#token-and-host
	}
	c.Caller = caller
	if err := s.limit(ctx, "user:"+caller.UserID.String(), s.cfg.Limits.User); err != nil {
		return err
	}
	if caller.MustChangePassword && !c.route.AllowedWhilePasswordChange {
		return failure.NewDenied("password_change_required", "Please choose a password of your own first.")
	}
	if !caller.Role.AtLeast(c.route.Access.role()) {
		return failure.NewDenied("role_required", "This needs the role %s.", c.route.Access)
	}
	return nil
}
