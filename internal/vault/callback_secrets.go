package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// maxToken is the length in bytes of the longest token of ours. A longer one is refused before it is hashed.
const maxToken = 64

// PromptSecretsKept is how long the token of a payment attempt is known. The attempt has ended long before; a later
// callback is judged by its sender and the attempt's id at the provider.
const PromptSecretsKept = 30 * 24 * time.Hour

// promptSecrets is the kind of the tokens of payment attempts, the only ones that are not needed for ever.
const promptSecrets = "stk"

// CallbackOwner is the payment attempt, the shortcode or the router that a token in a callback address belongs to
// (docs/rules/payments.md#secret-addresses).
type CallbackOwner struct {
	Kind      string          // "stk", "c2b", or the kind that another user of the package chose
	Ref       uuid.UUID       // id of the payment attempt, the shortcode or the router
	OrgID     id.Organization // zero for the platform's
	Shortcode string
}

// CallbackSecrets holds the tokens in callback addresses, one for each owner. A token tells both whom a callback is
// about and that it is genuine. It is found by its hash; a sealed copy serves to give the same address again.
type CallbackSecrets struct {
	core  *core
	known knownTokens
}

// mostKnown is how many tokens are remembered, at 32 octets each. When there are more, all but the newest are
// forgotten.
const mostKnown = 200_000

// knownTokens are the hashes of tokens that this program has read or made, for the time without a database. The zero
// value has none. Safe for concurrent use.
type knownTokens struct {
	mu     sync.Mutex
	hashes map[[sha256.Size]byte]bool
}

// add remembers the hash of a token.
func (k *knownTokens) add(hash []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hashes == nil || len(k.hashes) >= mostKnown {
		k.hashes = map[[sha256.Size]byte]bool{}
	}
	k.hashes[[sha256.Size]byte(hash)] = true
}

// Remember reads the newest tokens of a kind, so that Known knows them.
func (s *CallbackSecrets) Remember(ctx context.Context, kind string, most int) error {
	rows, _ := s.core.db.Owner.Query(ctx, s.core.sql(newestCallbackSecretsSQL), kind, most)
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return fmt.Errorf("read callback tokens: %w", err)
	}
	for _, hash := range hashes {
		s.known.add(hash)
	}
	return nil
}

// Known reports whether a token is one that this program has read or made. It asks no database, so false says little.
func (s *CallbackSecrets) Known(token secrets.Text) bool {
	if token == "" || len(token) > maxToken {
		return false
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	return s.known.hashes[[sha256.Size]byte(hashToken(token))]
}

// SQL of callback secrets. The update in the insert changes nothing: it makes an existing row come back.
const (
	issueCallbackSecretSQL = `
insert into {schema}.callback_secrets as c (token_hash, kind, ref, org_id, shortcode, sealed, created_at)
values (@hash, @kind, @ref, @org, @shortcode, @sealed, @at)
on conflict (kind, ref) do update set kind = c.kind
returning sealed`
	lookupCallbackSecretSQL = `
select kind, ref, org_id, shortcode from {schema}.callback_secrets where token_hash = $1`
	newestCallbackSecretsSQL = `
select token_hash from {schema}.callback_secrets where kind = $1 order by created_at desc limit $2`
	ownerCallbackSecretSQL  = `select org_id, shortcode from {schema}.callback_secrets where kind = $1 and ref = $2`
	purgeCallbackSecretsSQL = `delete from {schema}.callback_secrets where kind = $1 and created_at <= $2`
	revokeCallbackSecretSQL = `delete from {schema}.callback_secrets where kind = $1 and ref = $2`
)

// Issue gives the token of an owner and makes it on the first call. A repeated call gives the same token.
func (s *CallbackSecrets) Issue(ctx context.Context, owner CallbackOwner) (secrets.Text, error) {
	token := newAddressToken()
	sealed := s.core.ring.Seal(secrets.Sealing, []byte(token.Reveal()), callbackSecretPlace(owner.Kind, owner.Ref))
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(issueCallbackSecretSQL), pgx.NamedArgs{
		"hash": hashToken(token), "kind": owner.Kind, "ref": owner.Ref, "org": owner.OrgID,
		"shortcode": owner.Shortcode, "sealed": sealed, "at": s.core.now(),
	}).Scan(&sealed)
	if err != nil {
		return "", fmt.Errorf("issue callback token: %w", err)
	}
	plain, err := s.core.ring.Open(secrets.Sealing, sealed, callbackSecretPlace(owner.Kind, owner.Ref))
	if err != nil {
		return "", fmt.Errorf("issue callback token: %w", err)
	}
	s.known.add(hashToken(secrets.Text(plain)))
	return secrets.Text(plain), nil
}

// Lookup finds the owner of a token. Fails: callback_token_unknown.
func (s *CallbackSecrets) Lookup(ctx context.Context, token secrets.Text) (CallbackOwner, error) {
	var o CallbackOwner
	if token == "" || len(token) > maxToken {
		return o, errCallbackToken()
	}
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(lookupCallbackSecretSQL), hashToken(token)).
		Scan(&o.Kind, &o.Ref, &o.OrgID, &o.Shortcode)
	if errors.Is(err, pgx.ErrNoRows) {
		return CallbackOwner{}, errCallbackToken()
	}
	if err != nil {
		return CallbackOwner{}, fmt.Errorf("look up callback token: %w", err)
	}
	s.known.add(hashToken(token))
	return o, nil
}

// Owner gives what is known of the owner of a token, nil when none was issued or it was removed.
func (s *CallbackSecrets) Owner(ctx context.Context, kind string, ref uuid.UUID) (*CallbackOwner, error) {
	o := CallbackOwner{Kind: kind, Ref: ref}
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(ownerCallbackSecretSQL), kind, ref).Scan(&o.OrgID, &o.Shortcode)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find owner of callback token: %w", err)
	}
	return &o, nil
}

// Revoke makes an owner's token unknown. An owner without a token is no error. The next Issue makes a new token.
func (s *CallbackSecrets) Revoke(ctx context.Context, kind string, ref uuid.UUID) error {
	if _, err := s.core.db.Owner.Exec(ctx, s.core.sql(revokeCallbackSecretSQL), kind, ref); err != nil {
		return fmt.Errorf("revoke callback token: %w", err)
	}
	return nil
}

// Purge removes the tokens of payment attempts that were made longer ago than kept. Those of shortcodes and routers
// stay until they are revoked.
func (s *CallbackSecrets) Purge(ctx context.Context, kept time.Duration) error {
	_, err := s.core.db.Owner.Exec(ctx, s.core.sql(purgeCallbackSecretsSQL), promptSecrets, s.core.now().Add(-kept))
	if err != nil {
		return fmt.Errorf("purge callback tokens: %w", err)
	}
	return nil
}

// errCallbackToken answers an unknown token like an address that does not exist.
func errCallbackToken() error {
	return failure.NewNotFound("callback_token_unknown", "There is nothing at this address.")
}

// callbackSecretPlace is the associated data of a sealed token: kind and id of its owner.
func callbackSecretPlace(kind string, ref uuid.UUID) []byte {
	return []byte("callback_secrets " + kind + " " + ref.String())
}
