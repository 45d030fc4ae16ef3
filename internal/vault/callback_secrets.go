package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
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

// passingSecrets are the kinds of the tokens of payment attempts, and of questions to the provider and reversals: the
// only ones that are not needed for ever.
var passingSecrets = []string{"stk", "status_prompt", "status_receipt", "status_refund", "reversal"}

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

// mostKnownPrompts is how many tokens of payment attempts are remembered, at some 200 octets each: the ones that were
// used last.
const mostKnownPrompts = 200_000

// knownTokens are the tokens that this program has read or made, for the time without a database. Those of attempts
// give way to newer ones; all others are needed for ever, and there are as many as there are shortcodes and routers.
// The zero value has none. Safe for concurrent use.
type knownTokens struct {
	mu      sync.Mutex
	lasting map[tokenHash]knownToken
	prompts *simplelru.LRU[tokenHash, knownToken] // nil before the first
}

// tokenHash is the SHA-256 of a token; the token itself is kept nowhere in the memory.
type tokenHash [sha256.Size]byte

// knownToken has the facts about a token that are needed without the database.
type knownToken struct {
	kind string
	org  id.Organization // zero for the platform's
}

// add remembers a token by its hash.
func (k *knownTokens) add(hash []byte, kind string, org id.Organization) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(passingSecrets, kind) {
		if k.lasting == nil {
			k.lasting = map[tokenHash]knownToken{}
		}
		k.lasting[tokenHash(hash)] = knownToken{kind, org}
		return
	}
	if k.prompts == nil {
		k.prompts, _ = simplelru.NewLRU[tokenHash, knownToken](mostKnownPrompts, nil) // it fails for a size of 0 alone
	}
	k.prompts.Add(tokenHash(hash), knownToken{kind, org})
}

// find gives what is remembered of a token.
func (k *knownTokens) find(hash []byte) (knownToken, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t, ok := k.lasting[tokenHash(hash)]; ok || k.prompts == nil {
		return t, ok
	}
	return k.prompts.Get(tokenHash(hash))
}

// Remember reads the newest tokens of a kind, so that Known knows them.
func (s *CallbackSecrets) Remember(ctx context.Context, kind string, most int) error {
	var hash []byte
	var org id.Organization
	rows, _ := s.core.db.Owner.Query(ctx, s.core.sql(newestCallbackSecretsSQL), kind, most)
	_, err := pgx.ForEachRow(rows, []any{&hash, &org}, func() error {
		s.known.add(hash, kind, org)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read callback tokens: %w", err)
	}
	return nil
}

// Known gives the organization of a token that this program has read or made, zero for the platform's. It asks no
// database, so false says little.
func (s *CallbackSecrets) Known(kind string, token secrets.Text) (id.Organization, bool) {
	if token == "" || len(token) > maxToken {
		return id.Organization{}, false
	}
	t, ok := s.known.find(hashToken(token))
	if !ok || t.kind != kind {
		return id.Organization{}, false
	}
	return t.org, true
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
select token_hash, org_id from (
	select token_hash, org_id, created_at from {schema}.callback_secrets where kind = $1
	order by created_at desc limit $2) as newest order by created_at`
	ownerCallbackSecretSQL  = `select org_id, shortcode from {schema}.callback_secrets where kind = $1 and ref = $2`
	purgeCallbackSecretsSQL = `delete from {schema}.callback_secrets where kind = any($1) and created_at <= $2`
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
	s.known.add(hashToken(secrets.Text(plain)), owner.Kind, owner.OrgID)
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
	s.known.add(hashToken(token), o.Kind, o.OrgID)
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

// Purge removes the tokens of payment attempts, questions and reversals that were made longer ago than kept. Those of
// shortcodes and routers stay until they are revoked.
func (s *CallbackSecrets) Purge(ctx context.Context, kept time.Duration) error {
	_, err := s.core.db.Owner.Exec(ctx, s.core.sql(purgeCallbackSecretsSQL), passingSecrets, s.core.now().Add(-kept))
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
