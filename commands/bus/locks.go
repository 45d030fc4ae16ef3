package bus

import (
	"context"
	"sync"
)

// locks lets commands to one stream run one after the other within this process, which avoids lost races and their
// retries. It has entries only for streams in use.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

// lock is one stream in use.
type lock struct {
	free  chan struct{} // holds one token while the lock is free
	users int           // the holder and all waiters
}

// acquire waits for a stream. The caller must call unlock exactly once.
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

// leave removes the stream when its last user has left.
func (l *locks) leave(stream string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.held, stream)
	}
}
