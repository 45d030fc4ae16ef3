package clock

import (
	"context"
	"sync"
)

// Gate lets work through while time goes on, and keeps it out while the clock is moved, so that no request or job sees
// two times. The zero value is open; a nil gate is always open. Safe for concurrent use.
type Gate struct {
	mu      sync.Mutex
	inside  int
	shut    chan struct{} // closed when the gate opens again; nil while it is open
	emptied chan struct{} // closed when nobody is inside of the shut gate
	closing chan struct{} // closed at the next shutting; nil while nobody asked for it
}

// Enter waits while the gate is shut. The caller must call leave once, when its work is done. It fails when ctx ends
// first.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	for {
		g.mu.Lock()
		shut := g.shut
		if shut == nil {
			g.inside++
			g.mu.Unlock()
			return g.leave, nil
		}
		g.mu.Unlock()
		select {
		case <-shut:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryEnter is Enter for work that comes back later by itself: ok is false at once while the gate is shut.
func (g *Gate) TryEnter() (leave func(), ok bool) {
	if g == nil {
		return func() {}, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		return nil, false
	}
	g.inside++
	return g.leave, true
}

// Closing gives a channel that is closed when the gate is shut, for work inside that can make way. That of a nil gate
// is never closed.
func (g *Gate) Closing() <-chan struct{} {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing == nil {
		g.closing = make(chan struct{})
		if g.shut != nil {
			close(g.closing)
		}
	}
	return g.closing
}

// leave counts one less inside.
func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside == 0 && g.emptied != nil {
		close(g.emptied)
		g.emptied = nil
	}
}

// Shut keeps newcomers out and waits until nobody is inside. The caller must call open afterwards. It fails, and the
// gate is open again, when ctx ends first. One caller at a time shuts the gate; another one waits for it.
func (g *Gate) Shut(ctx context.Context) (open func(), err error) {
	if err := g.close(ctx); err != nil {
		return nil, err
	}
	g.mu.Lock()
	emptied := make(chan struct{})
	if g.inside == 0 {
		close(emptied)
	} else {
		g.emptied = emptied
	}
	g.mu.Unlock()
	select {
	case <-emptied:
		return g.open, nil
	case <-ctx.Done():
		g.open()
		return nil, ctx.Err()
	}
}

// close shuts the gate as soon as it is open.
func (g *Gate) close(ctx context.Context) error {
	for {
		g.mu.Lock()
		shut := g.shut
		if shut == nil {
			g.shut = make(chan struct{})
			if g.closing != nil {
				close(g.closing)
			}
			g.mu.Unlock()
			return nil
		}
		g.mu.Unlock()
		select {
		case <-shut:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// open lets those who wait in.
func (g *Gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
	g.shut, g.emptied, g.closing = nil, nil, nil
}
