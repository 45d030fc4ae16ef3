package mobilemoney

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TokenLife is how long a token may be reused, shorter than the provider's own limit. Source:
// docs/rules/payments.md#shared-token.
const TokenLife = 290 * time.Second

// TokenSource shares one token per credential set among all callers. The provider makes the previous token of a set
// invalid with each new one, so two caches would invalidate each other's (docs/rules/payments.md#shared-token).
type TokenSource interface {
	// Token gives the shared token; a new one is fetched when none is younger than TokenLife.
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
		Token string `json:"access_token"` // of any length; expires_in is not read, because TokenLife is shorter
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

// TokenCache is a TokenSource in memory, for one process only. Safe for concurrent use.
type TokenCache struct {
	fetch   func(context.Context, Credentials) (string, error)
	clock   clock.Clock
	flights singleflight.Group

	mu     sync.Mutex
	tokens map[[sha256.Size]byte]cachedToken
}

// cachedToken is reused until the instant until, exclusive.
type cachedToken struct {
	value string
	until time.Time
}

// NewTokenCache makes an empty cache; fetch is Endpoint.FetchToken.
func NewTokenCache(fetch func(context.Context, Credentials) (string, error), c clock.Clock) *TokenCache {
	return &TokenCache{fetch: fetch, clock: c, tokens: map[[sha256.Size]byte]cachedToken{}}
}

// Token gives the cached token or fetches one. Concurrent callers share one fetch, which continues when its caller
// leaves.
func (t *TokenCache) Token(ctx context.Context, c Credentials) (string, error) {
	if token, ok := t.cached(c); ok {
		return token, nil
	}
	id := c.Fingerprint()
	flight := t.flights.DoChan(hex.EncodeToString(id[:]), func() (any, error) {
		if token, ok := t.cached(c); ok { // an earlier fetch ended in between
			return token, nil
		}
		token, err := t.fetch(context.WithoutCancel(ctx), c)
		if err == nil {
			t.keep(id, token)
		}
		return token, err
	})
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case landed := <-flight:
		token, _ := landed.Val.(string)
		return token, landed.Err
	}
}

// keep stores a new token of a set, and drops those of all sets that are too old, among them sets that were replaced.
func (t *TokenCache) keep(id [sha256.Size]byte, token string) {
	now := t.clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.tokens, func(_ [sha256.Size]byte, old cachedToken) bool { return !now.Before(old.until) })
	t.tokens[id] = cachedToken{value: token, until: now.Add(TokenLife)}
}

// Drop forgets the token stale; a newer token stays.
func (t *TokenCache) Drop(_ context.Context, c Credentials, stale string) {
	id := c.Fingerprint()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tokens[id].value == stale {
		delete(t.tokens, id)
	}
}

// cached gives the token of a set if it is younger than TokenLife.
func (t *TokenCache) cached(c Credentials) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	token, ok := t.tokens[c.Fingerprint()]
	return token.value, ok && t.clock.Now().Before(token.until)
}
