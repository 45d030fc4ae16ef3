package vault

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// SubjectKeyTTL is how long a key stays in memory. A key that another program destroyed is used no longer than this;
// the program that destroys a key forgets it at once.
const SubjectKeyTTL = time.Minute

// subjectKeysKept bounds the number of keys in memory. Beyond it the least recently used is dropped.
const subjectKeysKept = 65536

// Key encrypts the personal fields of one subject (docs/rules/engine.md#personal-fields). Safe for concurrent use; the
// zero value is no key.
type Key struct {
	aead  cipher.AEAD
	fault error // why nothing can be opened; nil = it can
}

// newKey makes the cipher of 32 bytes; each sealed text carries its own random nonce.
func newKey(raw []byte) (Key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return Key{}, fmt.Errorf("make subject key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return Key{}, fmt.Errorf("make subject key: %w", err)
	}
	return Key{aead: aead}, nil
}

// Seal encrypts a text. associated says where the text belongs; Open needs the same bytes.
func (k Key) Seal(plain, associated []byte) []byte { return k.aead.Seal(nil, nil, plain, associated) }

// Open decrypts a text that Seal made with the same key and the same associated bytes.
func (k Key) Open(sealed, associated []byte) ([]byte, error) {
	if k.fault != nil {
		return nil, k.fault
	}
	plain, err := k.aead.Open(nil, nil, sealed, associated)
	if err != nil {
		return nil, secrets.ErrTampered
	}
	return plain, nil
}

// SubjectKeys holds one key for each person, wrapped by the platform key. Destroying it erases the person from the log.
type SubjectKeys struct {
	core  *core
	pace  clock.Clock // a key gets no older because somebody sets the machine's clock, and no younger
	cache *lru.Cache[uuid.UUID, cachedKey]

	// made lets those who write about new subjects at the same time share one statement and its commit.
	made joined.Many[uuid.UUID, subjectKey]

	mu        sync.Mutex // keeps read from putting a destroyed key back into the cache
	destroyed uint64     // counts destructions in this process
}

// cachedKey is a key with the time, by the pace, at which it was read from the database.
type cachedKey struct {
	key    Key
	readAt time.Time
}

// subjectKey is a key, or why it cannot be unwrapped.
type subjectKey struct {
	key Key
	err error
}

// newSubjectKeys makes the part. Keys are read on first use.
func newSubjectKeys(c *core) *SubjectKeys {
	cache, err := lru.New[uuid.UUID, cachedKey](subjectKeysKept)
	if err != nil {
		panic(err) // the size is positive
	}
	return &SubjectKeys{core: c, pace: clock.Pace(c.clock), cache: cache}
}

// SQL of subject keys.
const (
	selectSubjectKeysSQL = `
select subject, wrapped from {schema}.subject_keys where subject = any($1) and wrapped is not null`
	// ensureSubjectKeysSQL leaves out erased subjects, and those for which another program makes keys at this moment.
	ensureSubjectKeysSQL = `
with given as (select * from unnest($1::uuid[], $2::bytea[]) g (subject, wrapped)),
had as (select subject, k.wrapped from {schema}.subject_keys k join given using (subject)),
made as (
	insert into {schema}.subject_keys (subject, wrapped, created_at)
	select subject, wrapped, $3 from given where not exists (select from had where had.subject = given.subject)
	order by subject -- so that two programs do not wait for each other
	on conflict do nothing returning subject, wrapped
)
select subject, wrapped from had where wrapped is not null union all select subject, wrapped from made`
	destroySubjectKeySQL = `
insert into {schema}.subject_keys (subject, wrapped, created_at) values ($1, null, $2)
on conflict (subject) do update set wrapped = null`
	insertErasureSQL = `
insert into {schema}.subject_erasures (subject, erased_at) values ($1, $2) on conflict do nothing`
	listErasuresSQL = `select subject from {schema}.subject_erasures order by erased_at, subject`
)

// Keys gives the keys of the subjects that have one. A subject that is missing in the result never had a key, or was
// erased. A key that is damaged opens nothing: the events of that subject cannot be read, and all others can.
func (s *SubjectKeys) Keys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	found, missing := s.cached(subjects)
	if len(missing) == 0 {
		return found, nil
	}
	keys, err := s.read(ctx, selectSubjectKeysSQL, missing)
	for subject, k := range keys {
		if errors.Is(k.err, secrets.ErrTampered) {
			keys[subject] = subjectKey{key: Key{fault: k.err}}
		}
	}
	return found, into(found)(keys, err)
}

// cached gives the keys that are in memory, and the subjects of the others.
func (s *SubjectKeys) cached(subjects []uuid.UUID) (found map[uuid.UUID]Key, missing []uuid.UUID) {
	found = make(map[uuid.UUID]Key, len(subjects))
	now := s.pace.Now()
	for _, subject := range subjects {
		c, ok := s.cache.Get(subject)
		if ok && now.Sub(c.readAt) < SubjectKeyTTL {
			found[subject] = c.key
		} else {
			missing = append(missing, subject)
		}
	}
	return found, missing
}

// into adds keys that were read to others. It fails where one cannot be unwrapped.
func into(found map[uuid.UUID]Key) func(map[uuid.UUID]subjectKey, error) error {
	return func(keys map[uuid.UUID]subjectKey, err error) error {
		for subject, k := range keys {
			if k.err != nil {
				return k.err
			}
			found[subject] = k.key
		}
		return err
	}
}

// EnsureKeys gives a key for every subject and makes those that are missing. Fails: subject_forgotten, when one of them
// was erased; nothing personal can be written about that subject any more.
func (s *SubjectKeys) EnsureKeys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	found, missing := s.cached(subjects)
	if len(missing) == 0 {
		return found, nil
	}
	if err := into(found)(s.made.All(ctx, missing, s.makeAll)); err != nil {
		return nil, err
	}
	for _, subject := range missing {
		if _, ok := found[subject]; !ok {
			return nil, failure.NewConflict("subject_forgotten", "This person was erased.")
		}
	}
	return found, nil
}

// makeAll makes the keys that are missing, and reads the others. The stored key counts, whoever was first.
func (s *SubjectKeys) makeAll(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]subjectKey, error) {
	wrapped := make([][]byte, len(subjects))
	for n, subject := range subjects {
		raw := make([]byte, secrets.KeySize)
		_, _ = rand.Read(raw) // never fails
		wrapped[n] = s.core.ring.Seal(secrets.Wrapping, raw, subject[:])
	}
	found, err := s.read(ctx, ensureSubjectKeysSQL, subjects, wrapped, s.core.now())
	if err != nil || len(found) == len(subjects) {
		return found, err
	}
	return s.read(ctx, selectSubjectKeysSQL, subjects)
}

// read reads keys by a statement, into the cache, too.
func (s *SubjectKeys) read(ctx context.Context, sql string, args ...any) (map[uuid.UUID]subjectKey, error) {
	now := s.pace.Now()
	s.mu.Lock()
	before := s.destroyed
	s.mu.Unlock()
	type row struct {
		Subject uuid.UUID
		Wrapped []byte
	}
	rows, _ := s.core.db.Owner.Query(ctx, s.core.sql(sql), args...)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
	if err != nil {
		return nil, fmt.Errorf("read subject keys: %w", err)
	}
	found := make(map[uuid.UUID]subjectKey, len(list))
	for _, r := range list {
		raw, err := s.core.ring.Open(secrets.Wrapping, r.Wrapped, r.Subject[:])
		if err != nil {
			found[r.Subject] = subjectKey{err: fmt.Errorf("unwrap key of subject %s: %w", r.Subject, err)}
			continue
		}
		key, err := newKey(raw)
		found[r.Subject] = subjectKey{key, err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroyed == before { // otherwise one of these keys may have been destroyed meanwhile
		for subject, k := range found {
			if k.err == nil {
				s.cache.Add(subject, cachedKey{k.key, now})
			}
		}
	}
	return found, nil
}

// Destroy erases a subject: its key is deleted, no new one can be made, and the erasure is noted. A repetition changes
// nothing. Old backups hold the key until they are discarded; after a restore `keys erase` calls it for each person of
// the list that `keys erasures` has printed.
func (s *SubjectKeys) Destroy(ctx context.Context, subject uuid.UUID) error {
	now := s.core.now()
	batch := &pgx.Batch{} // one implicit transaction
	batch.Queue(s.core.sql(insertErasureSQL), subject, now)
	batch.Queue(s.core.sql(destroySubjectKeySQL), subject, now)
	if err := s.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("destroy subject key: %w", err)
	}
	s.forget(subject)
	return nil
}

// Erasures lists the erased subjects, the oldest first. The list has to be kept apart from the backups, since a restore
// brings older keys back.
func (s *SubjectKeys) Erasures(ctx context.Context) ([]uuid.UUID, error) {
	rows, _ := s.core.db.Owner.Query(ctx, s.core.sql(listErasuresSQL))
	list, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("list erasures: %w", err)
	}
	return list, nil
}

// forget removes a key from memory, and makes loads that are under way not put it back.
func (s *SubjectKeys) forget(subject uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.destroyed++
	s.cache.Remove(subject)
}
