package joined

import (
	"context"
	"sync"
)

// Many lets those who ask for different things at the same time share one reading of all of them, as Reads does for one
// thing: a caller gets the result of a reading that began after it asked. So one reading runs and one more waits,
// however many ask and whatever for. The zero value is ready. Safe for concurrent use.
type Many[K comparable, V any] struct {
	reads Reads[struct{}, gathered[K, V]]
	mu    sync.Mutex
	asked map[K]struct{} // of the reading that begins next
}

// gathered has what one reading was asked for, and what it found.
type gathered[K comparable, V any] struct {
	asked map[K]struct{}
	found map[K]V
}

// Of gives what read finds under a key; false when it finds nothing there. A reading is asked for each key once. The
// values are shared, so nobody may change them. Context and panics are as with Reads.
func (m *Many[K, V]) Of(
	ctx context.Context, key K, read func(ctx context.Context, keys []K) (map[K]V, error),
) (V, bool, error) {
	for {
		m.ask(key)
		all, err := m.reads.Of(ctx, struct{}{}, func(ctx context.Context) (gathered[K, V], error) {
			return m.read(ctx, read)
		})
		if err != nil {
			var none V
			return none, false, err
		}
		if _, is := all.asked[key]; is {
			value, found := all.found[key]
			return value, found, nil
		}
		// A reading that began between the question and the wait has taken the key: it is asked for again.
	}
}

// ask puts a key into the next reading.
func (m *Many[K, V]) ask(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil {
		m.asked = map[K]struct{}{}
	}
	m.asked[key] = struct{}{}
}

// read reads all that is asked for now.
func (m *Many[K, V]) read(
	ctx context.Context, read func(context.Context, []K) (map[K]V, error),
) (gathered[K, V], error) {
	m.mu.Lock()
	all := gathered[K, V]{asked: m.asked}
	m.asked = nil
	m.mu.Unlock()
	if len(all.asked) == 0 {
		return all, nil
	}
	keys := make([]K, 0, len(all.asked))
	for key := range all.asked {
		keys = append(keys, key)
	}
	var err error
	all.found, err = read(ctx, keys)
	return all, err
}
