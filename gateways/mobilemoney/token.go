package mobilemoney

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TokenSource shares one token per credential set among all callers. The provider makes the previous token of a set
// invalid with each new one, so two caches would invalidate each other's (docs/rules/payments.md#shared-token).
type TokenSource interface {
	// Token gives the shared token; a new one is fetched when it is too old
	// (docs/rules/payments.md#shared-token).
	Token(ctx context.Context, c Credentials) (string, error)
	// Drop forgets a token that the provider refused. A newer one than stale stays.
	Drop(ctx context.Context, c Credentials, stale string)
}

// FetchToken asks the provider for a new token, which ends the previous one of the same credentials: only a TokenSource
// calls it. Fails: provider_credentials_refused, provider_unavailable.
func (e *Endpoint) FetchToken(ctx context.Context, c Credentials) (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/oauth/v1/generate?grant_type=client_credentials",
		nil)
	if err != nil {
		return "", fmt.Errorf("make token request: %w", err)
	}
	r.SetBasicAuth(c.ConsumerKey, c.ConsumerSecret)
	r.Header.Set("Accept", "application/json")
	res := e.exchange(ctx, "token", r)
	var body struct {
		Token string `json:"access_token"` // of any length; expires_in is not read: a TokenSource drops it earlier
	}
	switch {
	case res.err == nil && (res.status == http.StatusBadRequest || res.status == http.StatusUnauthorized):
		refusal := res.refusal()
		if refusal == nil {
			refusal = &Refusal{Status: res.status, Code: fmt.Sprint(res.status), Message: "no token was issued"}
		}
		return "", &failure.Error{Kind: failure.Refused, Code: "provider_credentials_refused",
			Message: "The payment provider does not accept these credentials.", Cause: refusal}
	case res.err == nil && res.status == http.StatusOK && json.Unmarshal(res.body, &body) == nil && body.Token != "":
		return body.Token, nil
	case res.err == nil && res.refusal() != nil: // another refusal does not concern the credentials: try again later
		return "", unavailable(fmt.Errorf("fetch token: %w", res.refusal()))
	}
	return "", res.failed("fetch token")
}
