package identityapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// accessLifetime is how long an access token is valid. Source: docs/rules/identity.md#token-lifetimes.
const accessLifetime = 15 * time.Minute

// Issuer and audience of our access tokens; a token that names others is refused.
const (
	tokenIssuer   = "lastmile"
	tokenAudience = "lastmile-api"
)

// claims are the content of an access token, with the session to which it belongs
// (docs/rules/identity.md#access-token).
type claims struct {
	Role      events.Role     `json:"role"`
	OrgID     id.Organization `json:"orgId"` // null for a platform session
	SessionID id.Session      `json:"sid"`
	jwt.RegisteredClaims
}

// Tokens issues access tokens and checks them. All fields but PlatformNeedsFactor are required. Safe for concurrent
// use.
type Tokens struct {
	Key       []byte // at least 32 bytes; the same on every replica
	Directory *identityviews.Directory
	Access    *identityviews.Access // asked before Directory
	Clock     clock.Clock
	Proofs    *Proofs
	// PlatformNeedsFactor says that administrators of the platform need a second factor.
	PlatformNeedsFactor bool
}

// needsFactor reports whether somebody needs a second factor, who may have one or not.
func (t Tokens) needsFactor(s identityviews.Standing) bool {
	return s.FactorRequired || t.PlatformNeedsFactor && s.Role == events.RoleSuperAdmin
}

// Issue makes an access token of a session, for the organization of the session. It is valid for 15 minutes, but not
// beyond the session's own end.
func (t Tokens) Issue(user id.User, role events.Role, session vault.Session) (string, error) {
	now := t.Clock.Now()
	until := now.Add(accessLifetime)
	if session.ExpiresAt.Before(until) {
		until = session.ExpiresAt
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		Role: role, OrgID: session.OrgID, SessionID: session.ID,
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenAudience}, Subject: user.String(),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(until),
		},
	}).SignedString(t.Key)
}

// Authenticate checks a token and asks the directory what its user may do at this moment
// (docs/rules/identity.md#access-ends-at-once). The present role counts, whatever the token says. Fails:
// unauthenticated, access_unknown.
func (t Tokens) Authenticate(_ context.Context, token string) (httpapi.Caller, error) {
	c, err := t.Proofs.claims(token, t.Key)
	if err == nil {
		err = jwt.NewValidator(jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience),
			jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(t.Clock.Now)).Validate(c)
	}
	if err != nil {
		return httpapi.Caller{}, usecases.ErrSignIn()
	}
	user, err := id.Parse[id.User](c.Subject)
	if err != nil || c.SessionID.IsZero() {
		return httpapi.Caller{}, usecases.ErrSignIn()
	}
	if err := t.Access.Check(); err != nil {
		return httpapi.Caller{}, err
	}
	standing, known := t.Directory.Standing(user, c.OrgID, c.SessionID)
	if !known {
		return httpapi.Caller{}, usecases.ErrSignIn()
	}
	return httpapi.Caller{
		Kind: events.ActorUser, UserID: user, OrgID: c.OrgID, Role: standing.Role, SessionID: c.SessionID,
		MustChangePassword: standing.MustChangePassword, Own: standing.Own,
		MustEnrol: t.needsFactor(standing) && standing.SecondFactor.IsZero(),
	}, nil
}

// OrganizationDirectory is httpapi.Organizations over the directory in memory.
type OrganizationDirectory struct {
	Directory *identityviews.Directory
	Access    *identityviews.Access // asked before Directory
}

// OrganizationBySlug finds a tenant by the first label of its host. Fails: access_unknown.
func (d OrganizationDirectory) OrganizationBySlug(_ context.Context, slug string) (httpapi.Organization, bool, error) {
	if err := d.Access.Check(); err != nil {
		return httpapi.Organization{}, false, err
	}
	t, found := d.Directory.BySlug(slug)
	return httpapi.Organization{ID: t.ID, Slug: t.Slug, Name: t.Name, Suspended: t.Suspended}, found, nil
}

// setCookies gives the browser both tokens of a session (docs/rules/identity.md#cookies).
func (a Auth) setCookies(c *httpapi.Call, access string, refresh secrets.Text, session vault.Session) {
	left := session.ExpiresAt.Sub(a.Tokens.Clock.Now()).Round(time.Second)
	setCookie(c, httpapi.CookieAccess, access, min(accessLifetime, left))
	setCookie(c, httpapi.CookieRefresh, refresh.Reveal(), left)
}

// clearCookies deletes both tokens from the browser.
func clearCookies(c *httpapi.Call) {
	setCookie(c, httpapi.CookieAccess, "", -time.Second)
	setCookie(c, httpapi.CookieRefresh, "", -time.Second)
}

// setCookie sets one cookie for the service's domain and all hosts below it; a negative lifetime deletes it.
func setCookie(c *httpapi.Call, name, value string, lifetime time.Duration) {
	maxAge := int(lifetime / time.Second)
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Domain: "." + c.ServiceDomain(), Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: c.Production(), SameSite: http.SameSiteLaxMode,
	})
}

// errShortKey refuses a key so short that tokens could be forged.
var errShortKey = errors.New("the signing key of access tokens needs at least 32 bytes")

// Check refuses a key of less than 32 bytes.
func (t Tokens) Check() error {
	if len(t.Key) < 32 {
		return errShortKey
	}
	return nil
}
