package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// ProviderTokenTTL is how long a provider's access token is used (docs/rules/payments.md#shared-token). The provider
// would accept it for an hour.
const ProviderTokenTTL = 290 * time.Second

// Bounds of fetching: each fetch holds a database connection for its lock.
const (
	fetchLimit  = 20 * time.Second
	fetchesOpen = 4
)

// ProviderTokens shares one access token for each credential set among all replicas
// (docs/rules/payments.md#shared-token): with the provider, a new token ends the one before.
type ProviderTokens struct {
	core    *core
	flights singleflight.Group
	turns   *semaphore.Weighted
}

// newProviderTokens makes the part; no token is read or fetched yet.
func newProviderTokens(c *core) *ProviderTokens {
	return &ProviderTokens{core: c, turns: semaphore.NewWeighted(fetchesOpen)}
}

// SQL of provider tokens.
const (
	getProviderTokenSQL = `select sealed from {schema}.provider_tokens where credentials = $1 and fetched_at > $2`
	putProviderTokenSQL = `
insert into {schema}.provider_tokens (credentials, sealed, token_hash, fetched_at) values ($1, $2, $3, $4)
on conflict (credentials) do update set
	sealed = excluded.sealed, token_hash = excluded.token_hash, fetched_at = excluded.fetched_at`
	dropProviderTokenSQL = `delete from {schema}.provider_tokens where credentials = $1 and token_hash = $2`
)

// Token gives the token of a credential set, from the table while it is fresh, else from fetch: one call at a time over
// all replicas. credentials names the set and must change when its key or secret does; it is not secret. fetch is not
// cut short when the caller gives up, since others wait for it too.
func (p *ProviderTokens) Token(
	ctx context.Context, credentials string, fetch func(context.Context) (secrets.Text, error),
) (secrets.Text, error) {
	token, err := p.stored(ctx, credentials)
	if err != nil || token != "" {
		return token, err
	}
	result := p.flights.DoChan(credentials, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
		defer cancel()
		return p.fetch(ctx, credentials, fetch)
	})
	select {
	case r := <-result:
		token, _ := r.Val.(secrets.Text)
		return token, r.Err
	case <-ctx.Done():
		return "", fmt.Errorf("wait for provider token: %w", ctx.Err())
	}
}

// Drop removes a token that the provider refused, unless another one has replaced it meanwhile.
func (p *ProviderTokens) Drop(ctx context.Context, credentials string, stale secrets.Text) error {
	if _, err := p.core.db.Owner.Exec(ctx, p.core.sql(dropProviderTokenSQL), credentials,
		hashToken(stale)); err != nil {
		return fmt.Errorf("drop provider token: %w", err)
	}
	return nil
}

// fetch asks the provider under the credential set's lock, unless another replica has just done so.
func (p *ProviderTokens) fetch(
	ctx context.Context, credentials string, fetch func(context.Context) (secrets.Text, error),
) (secrets.Text, error) {
	if err := p.turns.Acquire(ctx, 1); err != nil {
		return "", failure.NewUnavailable("provider_busy",
			"The payment provider is slow at the moment. Please try again.", fetchLimit,
			err)
	}
	defer p.turns.Release(1)
	lock, err := p.core.db.Lock(ctx, "provider token "+credentials)
	if err != nil {
		return "", fmt.Errorf("fetch provider token: %w", err)
	}
	defer lock.Unlock()
	token, err := p.stored(ctx, credentials)
	if err != nil || token != "" {
		return token, err
	}
	if token, err = fetch(ctx); err != nil {
		return "", err
	}
	if token == "" {
		return "", failure.NewUnavailable("provider_unavailable",
			"The payment provider cannot be reached at the moment. Try again later.", 0, nil)
	}
	sealed := p.core.ring.Seal(secrets.Sealing, []byte(token.Reveal()), providerTokenPlace(credentials))
	_, err = p.core.db.Owner.Exec(ctx, p.core.sql(putProviderTokenSQL), credentials, sealed, hashToken(token),
		p.core.now())
	if err != nil {
		return "", fmt.Errorf("store provider token: %w", err)
	}
	return token, nil
}

// stored reads a token that is still good; "" when there is none, or when the platform key that sealed it is missing.
func (p *ProviderTokens) stored(ctx context.Context, credentials string) (secrets.Text, error) {
	var sealed []byte
	err := p.core.db.Owner.QueryRow(ctx, p.core.sql(getProviderTokenSQL), credentials,
		p.core.now().Add(-ProviderTokenTTL)).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read provider token: %w", err)
	}
	token, err := p.core.ring.Open(secrets.Sealing, sealed, providerTokenPlace(credentials))
	if errors.Is(err, secrets.ErrUnknownKey) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read provider token: %w", err)
	}
	return secrets.Text(token), nil
}

// providerTokenPlace is the associated data of a sealed token: the name of its credential set.
func providerTokenPlace(credentials string) []byte { return []byte("provider_tokens " + credentials) }
