package bus

import (
	"context"
	"sync"
)

// locks serialises by stream within this process: races that retrying would lose time on do not happen. It holds only
// the streams in use.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

// lock is one stream in use.
type lock struct {
	free  chan struct{} // holds one token when nobody has the lock
	users int           // holder and waiters
}

// acquire waits for a stream. The function it gives must be called once.
func (l *locks) acquire(ctx context.Context, stream string) (unlock func(), err error) {
	l.mu.Lock()
	k := l.held[stream]
	if k == nil {
		k = &lock{free: make(chan struct{}, 1)}
		k.free <- struct{}{}
		l.held[stream] = k
	}
	k.users++
	l.mu.Unlock()
	select {
	case <-k.free:
		return func() { k.free <- struct{}{}; l.leave(stream, k) }, nil
	case <-ctx.Done():
		l.leave(stream, k)
		return nil, ctx.Err()
	}
}

// leave forgets the stream after its last user.
func (l *locks) leave(stream string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.held, stream)
	}
}
