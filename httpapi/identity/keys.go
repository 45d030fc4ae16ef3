package identityapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Keys checks the API keys of requests. Safe for concurrent use.
type Keys struct {
	Form      apikeys.Form
	Directory *identityviews.Directory
	Access    *identityviews.Access // asked before Directory
	Secrets   *vault.APIKeys
	Uses      *KeyUses
	Clock     clock.Clock
}

// AuthenticateKey implements httpapi.KeyAuthenticator. A text that nobody has, a wrong secret and another
// organization's key cost the same work and get the same answer. Only whoever shows the right secret is told why it
// opens nothing (docs/rules/identity.md#use-of-api-keys). Fails: unauthenticated, access_unknown, api_key_revoked,
// api_key_expired, api_key_stopped, api_key_address_refused.
func (k Keys) AuthenticateKey(ctx context.Context, shown httpapi.ShownKey) (httpapi.Caller, error) {
	secret, formed := k.Form.Parse(shown.Text.Reveal())
	if !formed {
		return httpapi.Caller{}, usecases.ErrSignIn()
	}
	if err := k.Access.Check(); err != nil {
		return httpapi.Caller{}, err
	}
	standing, known := k.Directory.APIKey(secret.ID)
	here := known && !shown.OrgID.IsZero() && standing.OrgID == shown.OrgID
	right, err := k.Secrets.Matches(ctx, secret, here)
	if err != nil {
		return httpapi.Caller{}, err
	}
	if !right {
		return httpapi.Caller{}, usecases.ErrSignIn()
	}
	caller := httpapi.Caller{
		Kind: events.ActorAPIKey, UserID: id.As[id.User](standing.KeyID), OrgID: standing.OrgID, Role: standing.Role,
		Scopes: standing.Scopes,
	}
	if err := k.mayEnter(standing, shown.IP); err != nil {
		return caller, err
	}
	k.Uses.Note(standing.KeyID, shown.IP)
	return caller, nil
}

// mayEnter refuses a right key that opens nothing, or not from an address.
func (k Keys) mayEnter(s identityviews.KeyStanding, ip string) error {
	switch now := k.Clock.Now(); {
	case s.Over(now):
		return failure.NewUnauthenticated("api_key_revoked",
			"This API key was revoked, or replaced by another one.")
	case s.Expired(now):
		return failure.NewUnauthenticated("api_key_expired", "This API key has expired.")
	case s.Stopped():
		return failure.NewUnauthenticated("api_key_stopped", "This API key is stopped: who made it has no longer "+
			"its role. An administrator of the organization can replace it by another one.")
	case !s.Admits(ip):
		return failure.NewDenied("api_key_address_refused", "This API key does not work from this address.")
	}
	return nil
}
