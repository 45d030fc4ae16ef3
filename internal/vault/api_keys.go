package vault

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// APIKeyMemory is how long a secret of an API key is still recognised after its end, and how long the address of a
// key's last use is kept: who still uses an old key can be found in that time.
const APIKeyMemory = 90 * 24 * time.Hour

// APIKeyUsePause is the shortest time between two writes of the last use of one key.
const APIKeyUsePause = time.Minute

// apiKeysKnown bounds the number of secrets whose HMACs are in memory.
const apiKeysKnown = 1 << 16

// APIKeys holds the secrets of API keys as HMAC-SHA256 under a key of the installation. A secret has 256 random bits,
// which no slow hash makes harder to guess: argon2 is for passwords, and would cost each request 20 ms. An HMAC that
// was stored never changes, so the copies in memory are always right; who may enter is not decided here.
type APIKeys struct {
	core  *core
	key   []byte
	known *lru.Cache[id.APIKeySecret, [sha256.Size]byte]
}

// APIKeyUse is the last use of an API key.
type APIKeyUse struct {
	KeyID id.APIKey
	At    time.Time
	IP    string // "" when it is not known, or forgotten
}

// newAPIKeys makes the part with nothing in memory.
func newAPIKeys(c *core) *APIKeys {
	known, err := lru.New[id.APIKeySecret, [sha256.Size]byte](apiKeysKnown)
	if err != nil {
		panic(err) // the size is positive
	}
	return &APIKeys{core: c, key: secrets.Derive(c.root, secrets.APIKeys), known: known}
}

// SQL of API keys. A secret that is there is never replaced. The use of a key is written once in a while, whoever of
// several programs comes first.
const (
	putAPIKeySQL = `
insert into {schema}.api_keys (secret_id, key_id, hash, made_at, ends_at) values (@secret, @key, @hash, @at, @ends)
on conflict (secret_id) do nothing`
	getAPIKeySQL  = `select hash from {schema}.api_keys where secret_id = $1`
	openAPIKeySQL = `select secret_id, hash from {schema}.api_keys
where ends_at is null or ends_at > $1 order by made_at desc limit $2`
	endAPIKeySQL = `
update {schema}.api_keys set ends_at = least(ends_at, @ends::timestamptz)
where key_id = @key and secret_id is distinct from @except::uuid`
	purgeAPIKeysSQL = `delete from {schema}.api_keys where ends_at <= $1`
	noteUseSQL      = `
insert into {schema}.api_key_uses as u (key_id, used_at, ip, written_at) values (@key, @at, @ip, @now)
on conflict (key_id) do update set used_at = excluded.used_at, ip = excluded.ip, written_at = excluded.written_at
where excluded.used_at > u.used_at and excluded.written_at >= u.written_at + @pause::interval`
	listUsesSQL  = `select key_id, used_at, ip from {schema}.api_key_uses where key_id = any($1::uuid[])`
	purgeUsesSQL = `
delete from {schema}.api_key_uses u
where not exists (select from {schema}.api_keys k where k.key_id = u.key_id)`
	forgetUsePlacesSQL = `update {schema}.api_key_uses set ip = '' where used_at <= $1 and ip <> ''`
)

// mac is the HMAC of a secret. It covers the id, so that the HMAC of one row proves nothing at another.
func (k *APIKeys) mac(secret apikeys.Key) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, k.key)
	h.Write(secret.ID[:])
	h.Write([]byte(secret.Secret.Reveal()))
	h.Sum(sum[:0])
	return sum
}

// Put stores a new secret of a key, which ends at an instant; zero = as long as nobody ends it. It reports false, and
// changes nothing, when the secret has been stored before: a repeat cannot know what was told then.
func (k *APIKeys) Put(ctx context.Context, of id.APIKey, secret apikeys.Key, ends time.Time) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	sum := k.mac(secret)
	tag, err := k.core.db.Owner.Exec(ctx, k.core.sql(putAPIKeySQL), pgx.NamedArgs{
		"secret": secret.ID, "key": of, "hash": sum[:], "at": k.core.now(), "ends": null.Time(ends),
	})
	if err != nil {
		return false, fmt.Errorf("store API key %s: %w", of, err)
	}
	if tag.RowsAffected() == 0 {
		return false, nil
	}
	k.known.Add(secret.ID, sum)
	return true, nil
}

// Matches reports whether a secret is the stored one. The first use in a program reads it once, and all others need
// memory alone. With exists false it does the same work for a secret that nobody has, and reports false.
func (k *APIKeys) Matches(ctx context.Context, secret apikeys.Key, exists bool) (bool, error) {
	if !exists {
		secret.ID = id.APIKeySecret{} // which Put never stores
	}
	want, held := k.known.Get(secret.ID)
	if !held && exists {
		var err error
		if want, held, err = k.load(ctx, secret.ID); err != nil {
			return false, err
		}
	}
	got := k.mac(secret)
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && held, nil
}

// load brings a stored secret into memory; false when there is none.
func (k *APIKeys) load(ctx context.Context, secret id.APIKeySecret) (sum [sha256.Size]byte, found bool, err error) {
	var stored []byte
	err = k.core.db.Owner.QueryRow(ctx, k.core.sql(getAPIKeySQL), secret).Scan(&stored)
	if errors.Is(err, pgx.ErrNoRows) {
		return sum, false, nil
	}
	if err != nil {
		return sum, false, fmt.Errorf("look for API key: %w", err)
	}
	copy(sum[:], stored)
	k.known.Add(secret, sum)
	return sum, true, nil
}

// Warm brings all secrets into memory that have not ended, so that a first use looks like any other one.
func (k *APIKeys) Warm(ctx context.Context) error {
	rows, _ := k.core.db.Owner.Query(ctx, k.core.sql(openAPIKeySQL), k.core.now(), apiKeysKnown)
	type row struct {
		Secret id.APIKeySecret
		Hash   []byte
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return fmt.Errorf("read API keys: %w", err)
	}
	for _, r := range open {
		var sum [sha256.Size]byte
		copy(sum[:], r.Hash)
		k.known.Add(r.Secret, sum)
	}
	return nil
}

// End notes that the secrets of a key end at an instant, all but one; zero = all. It only says when their rows can be
// removed: the log decides which secret opens something.
func (k *APIKeys) End(ctx context.Context, of id.APIKey, except id.APIKeySecret, at time.Time) error {
	args := pgx.NamedArgs{"key": of, "except": except, "ends": at}
	_, err := k.core.db.Owner.Exec(ctx, k.core.sql(endAPIKeySQL), args)
	if err != nil {
		return fmt.Errorf("end API key %s: %w", of, err)
	}
	return nil
}

// Used notes the last use of keys. Of all programs together each key is written once in APIKeyUsePause at most.
func (k *APIKeys) Used(ctx context.Context, uses []APIKeyUse) error {
	batch := &pgx.Batch{}
	for _, u := range uses {
		batch.Queue(k.core.sql(noteUseSQL), pgx.NamedArgs{
			"key": u.KeyID, "at": u.At.Truncate(time.Microsecond), "ip": u.IP, "now": k.core.now(),
			"pause": APIKeyUsePause,
		})
	}
	if err := k.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("note uses of API keys: %w", err)
	}
	return nil
}

// Uses gives the noted last uses of keys. Keys that nobody has used are missing.
func (k *APIKeys) Uses(ctx context.Context, keys []id.APIKey) (map[id.APIKey]APIKeyUse, error) {
	rows, _ := k.core.db.Owner.Query(ctx, k.core.sql(listUsesSQL), id.Texts(keys))
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[APIKeyUse])
	if err != nil {
		return nil, fmt.Errorf("read uses of API keys: %w", err)
	}
	out := make(map[id.APIKey]APIKeyUse, len(list))
	for _, u := range list {
		out[u.KeyID] = u
	}
	return out, nil
}

// Purge removes the secrets that ended longer than APIKeyMemory ago, the uses of keys without any, and the addresses of
// uses that are so old.
func (k *APIKeys) Purge(ctx context.Context) error {
	old := k.core.now().Add(-APIKeyMemory)
	batch := &pgx.Batch{}
	batch.Queue(k.core.sql(purgeAPIKeysSQL), old)
	batch.Queue(k.core.sql(purgeUsesSQL))
	batch.Queue(k.core.sql(forgetUsePlacesSQL), old)
	if err := k.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("purge API keys: %w", err)
	}
	return nil
}
