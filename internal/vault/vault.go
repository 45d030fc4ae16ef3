// Package vault keeps what is neither event nor read model (docs/rules/engine.md#vault): keys, passwords, sessions,
// credentials, counters, idempotency marks, results of nightly checks and the raw inbox of provider callbacks. It lives
// in a schema of its own, which only the owner may touch. Secrets are sealed under the platform key and bound to their
// row.
package vault

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// migrations are goose files; {schema} in them stands for the vault's schema.
//
//go:embed migrations
var migrations embed.FS

// Config has what a vault needs. DB, Keyring and Clock are required.
type Config struct {
	DB      *postgres.DB
	Keyring *secrets.Keyring
	Clock   clock.Clock
	Logger  *slog.Logger // nil discards
	Argon2  Argon2       // of new password hashes; zero means DefaultArgon2
}

// Vault gives access to its parts. Each part owns one table or two. Safe for concurrent use.
type Vault struct {
	SubjectKeys     *SubjectKeys
	Secrets         *Secrets
	Passwords       *Passwords
	Lockouts        *Lockouts
	RefreshTokens   *RefreshTokens
	Idempotency     *Idempotency
	Limits          *Limits
	ProviderTokens  *ProviderTokens
	Inbox           *Inbox
	CallbackSecrets *CallbackSecrets
	ClockAhead      *ClockAhead
	BookChecks      *BookChecks
	Outbox          *Outbox
	Offers          *Offers
	Codes           *Codes
	SecondFactors   *SecondFactors
	Presence        *Presence
	Logos           *Logos
	Files           *Files
	Statements      *Statements
	Pulls           *Pulls
	APIKeys         *APIKeys

	core *core
}

// core is shared by all parts of a vault; immutable but for the cache of statements.
type core struct {
	db     *postgres.DB
	ring   *secrets.Keyring
	clock  clock.Clock
	logger *slog.Logger
	schema string
	root   []byte   // the installation's secret: it outlives rotations of the platform key
	claims []byte   // the key of claimed values, derived of it
	texts  sync.Map // SQL with {schema} to SQL
}

// Open migrates the vault's schema and opens it. The first call of an installation makes its root secret; a platform
// key that does not fit the stored one is an error.
func Open(ctx context.Context, cfg Config) (*Vault, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	if err := cfg.DB.Migrate(ctx, "vault", files); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Argon2 == (Argon2{}) {
		cfg.Argon2 = DefaultArgon2
	}
	c := &core{
		db: cfg.DB, ring: cfg.Keyring, clock: cfg.Clock, logger: cfg.Logger, schema: cfg.DB.Namespace.Schema("vault"),
	}
	if err := c.loadRoot(ctx); err != nil {
		return nil, err
	}
	return &Vault{
		SubjectKeys:     newSubjectKeys(c),
		Secrets:         &Secrets{c},
		Passwords:       newPasswords(c, cfg.Argon2),
		Lockouts:        &Lockouts{core: c, key: secrets.Derive(c.root, secrets.Lockouts)},
		RefreshTokens:   &RefreshTokens{c},
		Idempotency:     &Idempotency{core: c, key: secrets.Derive(c.root, secrets.Idempotency)},
		Limits:          &Limits{core: c, key: secrets.Derive(c.root, limitKeys)},
		ProviderTokens:  newProviderTokens(c),
		Inbox:           &Inbox{c},
		CallbackSecrets: &CallbackSecrets{core: c},
		ClockAhead:      &ClockAhead{c},
		BookChecks:      &BookChecks{c},
		Outbox:          &Outbox{c},
		Offers:          &Offers{c},
		Codes:           &Codes{core: c, key: secrets.Derive(c.root, codeKeys)},
		SecondFactors:   &SecondFactors{core: c, key: secrets.Derive(c.root, factorKeys)},
		Presence:        &Presence{c},
		Logos:           &Logos{c},
		Files:           &Files{c},
		Statements:      &Statements{c},
		Pulls:           &Pulls{c},
		APIKeys:         newAPIKeys(c),
		core:            c,
	}, nil
}

// Key is a 32-byte key for one purpose, the same in every replica and after every rotation of the platform key: for
// cursors, tokens and the like.
func (v *Vault) Key(purpose secrets.Purpose) []byte { return secrets.Derive(v.core.root, purpose) }

// Purge removes what has expired in all tables; run it every few minutes, so that there is never much.
func (v *Vault) Purge(ctx context.Context) error {
	return errors.Join(v.Lockouts.Purge(ctx), v.RefreshTokens.Purge(ctx), v.Idempotency.Purge(ctx), v.Limits.Purge(ctx),
		v.Inbox.Purge(ctx, InboxKept, InboxWaits), v.CallbackSecrets.Purge(ctx, PromptSecretsKept), v.Outbox.Purge(ctx),
		v.Offers.Purge(ctx), v.Codes.Purge(ctx), v.SecondFactors.Purge(ctx),
		v.Files.Purge(ctx), v.Statements.Purge(ctx), v.APIKeys.Purge(ctx))
}

// SQL of the root secret.
const (
	insertRootSQL = `insert into {schema}.root_keys (sealed) values ($1) on conflict do nothing`
	selectRootSQL = `select sealed from {schema}.root_keys`
)

// loadRoot reads the installation's secret, making it if there is none. Replicas that start together agree.
func (c *core) loadRoot(ctx context.Context) error {
	fresh := make([]byte, secrets.KeySize)
	_, _ = rand.Read(fresh) // never fails
	sealed := c.ring.Seal(secrets.Wrapping, fresh, rootPlace())
	if _, err := c.db.Owner.Exec(ctx, c.sql(insertRootSQL), sealed); err != nil {
		return fmt.Errorf("make root secret: %w", err)
	}
	if err := c.db.Owner.QueryRow(ctx, c.sql(selectRootSQL)).Scan(&sealed); err != nil {
		return fmt.Errorf("load root secret: %w", err)
	}
	root, err := c.ring.Open(secrets.Wrapping, sealed, rootPlace())
	if err != nil {
		return fmt.Errorf("load root secret: the platform key does not fit this database: %w", err)
	}
	c.root, c.claims = root, secrets.Derive(root, secrets.Claims)
	return nil
}

// rootPlace is the associated data of the sealed root secret: the name of its table.
func rootPlace() []byte { return []byte("root_keys") }

// sql puts the schema's name into a statement in place of {schema}, and remembers the result.
func (c *core) sql(text string) string {
	if done, ok := c.texts.Load(text); ok {
		return done.(string) //nolint:forcetypeassert // only strings are stored
	}
	done := strings.ReplaceAll(text, "{schema}", c.schema)
	c.texts.Store(text, done)
	return done
}

// now gives the clock's time in microseconds, which is the precision of PostgreSQL.
func (c *core) now() time.Time { return c.clock.Now().Truncate(time.Microsecond) }

// mac gives the HMAC-SHA256 of the parts. Each goes in with its length, so that two different lists never give the same
// bytes.
func mac(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p) // a hash takes everything
	}
	return h.Sum(nil)
}

// macOf is mac of two parts, the second of which is given in pieces: a file that somebody sent is not copied.
func macOf(key []byte, first string, pieces ...[]byte) []byte {
	h, size := hmac.New(sha256.New, key), 0
	for _, p := range pieces {
		size += len(p)
	}
	_, _ = fmt.Fprintf(h, "%d:%s%d:", len(first), first, size)
	for _, p := range pieces {
		_, _ = h.Write(p)
	}
	return h.Sum(nil)
}

// newToken makes an opaque token of 256 random bits, safe in a URL.
func newToken() secrets.Text {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return secrets.Text(base64.RawURLEncoding.EncodeToString(b))
}

// newAddressToken makes a token of 256 random bits for an address that the payment provider or a router calls. It has
// hexadecimal digits only, because the provider refuses addresses in which certain words occur
// (docs/facts/mobile-money.md#forbidden-words), and these digits cannot form one.
func newAddressToken() secrets.Text {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return secrets.Text(hex.EncodeToString(b))
}

// hashToken gives the SHA-256 under which a random token is stored. It needs no key, since 256 bits cannot be guessed.
func hashToken(token secrets.Text) []byte {
	sum := sha256.Sum256([]byte(token.Reveal()))
	return sum[:]
}
