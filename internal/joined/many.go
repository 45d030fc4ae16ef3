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
) (value V, found bool, err error) {
	all, err := m.All(ctx, []K{key}, read)
	value, found = all[key]
	return value, found, err
}

// All is Of for several keys; those under which nothing is found are left out.
func (m *Many[K, V]) All(
	ctx context.Context, keys []K, read func(ctx context.Context, keys []K) (map[K]V, error),
) (map[K]V, error) {
	found := make(map[K]V, len(keys))
	for len(keys) > 0 {
		m.ask(keys)
		all, err := m.reads.Of(ctx, struct{}{}, func(ctx context.Context) (gathered[K, V], error) {
			return m.read(ctx, read)
		})
		if err != nil {
			return nil, err
		}
		// A reading that began between the question and the wait has taken some keys: they are asked for again.
		var left []K
		for _, key := range keys {
			if _, is := all.asked[key]; !is {
				left = append(left, key)
			} else if value, is := all.found[key]; is {
				found[key] = value
			}
		}
		keys = left
	}
	return found, nil
}

// ask puts keys into the next reading.
func (m *Many[K, V]) ask(keys []K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil {
		m.asked = map[K]struct{}{}
	}
	for _, key := range keys {
		m.asked[key] = struct{}{}
	}
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
