package catalog

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Key seals and opens the personal fields of one subject. associated is data that binds a text to its event and place:
// a text that is moved does not open.
type Key interface {
	Seal(plain, associated []byte) []byte
	Open(sealed, associated []byte) ([]byte, error)
}

// Keys has the keys of all subjects. It is safe for concurrent use.
type Keys interface {
	// Keys returns the keys of those subjects that have one; the others were never made or were destroyed.
	Keys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error)
	// EnsureKeys returns a key for every subject and makes missing ones. It fails with code subject_forgotten when the
	// key of one of them was destroyed.
	EnsureKeys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error)
}

// KeySource is a store of keys whose keys have their own type.
type KeySource[K Key] interface {
	Keys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]K, error)
	EnsureKeys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]K, error)
}

// From makes Keys of a store whose keys have their own type, such as the vault.
func From[K Key](source KeySource[K]) Keys { return adapter[K]{source} }

// adapter is the result of From; it only converts types.
type adapter[K Key] struct{ source KeySource[K] }

// Keys implements Keys with the store's keys.
func (a adapter[K]) Keys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	return widen(a.source.Keys(ctx, subjects))
}

// EnsureKeys implements Keys with the store's keys.
func (a adapter[K]) EnsureKeys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	return widen(a.source.EnsureKeys(ctx, subjects))
}

// widen converts a map of one type of key to a map of Key; an error passes through.
func widen[K Key](own map[uuid.UUID]K, err error) (map[uuid.UUID]Key, error) {
	if err != nil {
		return nil, err
	}
	out := make(map[uuid.UUID]Key, len(own))
	for subject, key := range own {
		out[subject] = key
	}
	return out, nil
}

// MemoryKeys keeps keys in memory, for tests. When it is gone, everything that it sealed is erased. It is safe for
// concurrent use.
type MemoryKeys struct {
	mu        sync.Mutex
	keys      map[uuid.UUID]Key
	destroyed map[uuid.UUID]bool
}

// NewMemoryKeys makes a store without keys; EnsureKeys adds them.
func NewMemoryKeys() *MemoryKeys {
	return &MemoryKeys{keys: make(map[uuid.UUID]Key), destroyed: make(map[uuid.UUID]bool)}
}

// Keys implements Keys.
func (m *MemoryKeys) Keys(_ context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[uuid.UUID]Key, len(subjects))
	for _, s := range subjects {
		if k, ok := m.keys[s]; ok {
			out[s] = k
		}
	}
	return out, nil
}

// EnsureKeys implements Keys.
func (m *MemoryKeys) EnsureKeys(_ context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[uuid.UUID]Key, len(subjects))
	for _, s := range subjects {
		if m.destroyed[s] {
			return nil, failure.NewConflict(forgottenCode, "This person was erased.")
		}
		if m.keys[s] == nil {
			raw := make([]byte, 32)
			_, _ = rand.Read(raw) // never fails
			key, err := newMemoryKey(raw)
			if err != nil {
				return nil, err
			}
			m.keys[s] = key
		}
		out[s] = m.keys[s]
	}
	return out, nil
}

// Destroy destroys the key of a subject; EnsureKeys then refuses the subject for ever.
func (m *MemoryKeys) Destroy(subject uuid.UUID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.destroyed[subject] = true
	delete(m.keys, subject)
}

// memoryKey is AES-256-GCM; each sealed text begins with its random nonce.
type memoryKey struct{ aead cipher.AEAD }

// newMemoryKey makes a key of 32 bytes; it fails for any other length.
func newMemoryKey(raw []byte) (Key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return memoryKey{aead}, nil
}

// errTampered reports a sealed text that was changed, or that was moved to another event or place.
var errTampered = errors.New("sealed text is damaged or belongs elsewhere")

// Seal implements Key.
func (k memoryKey) Seal(plain, associated []byte) []byte {
	return k.aead.Seal(nil, nil, plain, associated)
}

// Open implements Key.
func (k memoryKey) Open(sealed, associated []byte) ([]byte, error) {
	plain, err := k.aead.Open(nil, nil, sealed, associated)
	if err != nil {
		return nil, errTampered
	}
	return plain, nil
}
