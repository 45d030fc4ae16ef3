// Package joined lets those who ask for the same thing at the same time share one reading of it.
package joined

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Reads shares readings by key. A caller gets the result of a reading that began after it asked, never of one that had
// begun before: whoever was told of a change finds it. So of a key one reading runs and one more waits, however many
// ask. The zero value is ready. Safe for concurrent use.
type Reads[K comparable, V any] struct {
	mu   sync.Mutex
	next map[K]*turn[V] // has the keys of which a reading runs, with the one after it; nil = nobody asked for it
}

// turn is one reading.
type turn[V any] struct {
	read    func() (V, error)
	cancel  context.CancelFunc
	waiting int           // callers; the lock of Reads guards it
	done    chan struct{} // closed when value and err are there
	value   V
	err     error
}

// Of gives what read gives, or what the read of somebody else gives who asks for the same key now. The value is shared,
// so nobody may change it. The reading has the values of the first caller's context, and ends when nobody waits for it
// any more. A panic in read is an error.
func (r *Reads[K, V]) Of(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	t := r.join(ctx, key, read)
	select {
	case <-t.done:
		return t.value, t.err
	case <-ctx.Done():
		r.leave(t)
		var none V
		return none, ctx.Err()
	}
}

// join puts a caller into the next reading of a key, which begins at once when none runs.
func (r *Reads[K, V]) join(ctx context.Context, key K, read func(context.Context) (V, error)) *turn[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, runs := r.next[key]
	if next != nil && next.waiting > 0 {
		next.waiting++
		return next
	}
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &turn[V]{
		read: func() (V, error) { return read(detached) }, cancel: cancel, waiting: 1, done: make(chan struct{}),
	}
	if runs {
		r.next[key] = t
		return t
	}
	if r.next == nil {
		r.next = map[K]*turn[V]{}
	}
	r.next[key] = nil
	go r.run(key, t)
	return t
}

// leave ends a reading that nobody waits for any more.
func (r *Reads[K, V]) leave(t *turn[V]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.waiting--; t.waiting == 0 {
		t.cancel()
	}
}

// run makes the readings of a key until nobody asks for another one.
func (r *Reads[K, V]) run(key K, t *turn[V]) {
	for t != nil {
		t.err = loop.Try(func() (err error) {
			t.value, err = t.read()
			return err
		})
		t.cancel()
		close(t.done)
		t = r.after(key)
	}
}

// after takes the next reading of a key; nil when nobody asked for one.
func (r *Reads[K, V]) after(key K) *turn[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.next[key]
	if t == nil {
		delete(r.next, key)
	} else {
		r.next[key] = nil
	}
	return t
}
