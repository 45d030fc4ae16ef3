package embedded

import (
	"container/list"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// Bounds of connections and calls.
const (
	connections     = 256     // further ones wait until one ends, or has had no call for unusedPatience
	connectionCalls = 512     // of one connection at the same time; its client waits with further ones
	allCalls        = 2048    // of all connections; further ones are refused, but for the next bound
	ownCalls        = 16      // that a connection may always have
	headerListBytes = 1 << 12 // of the headers of a call

	drainedCalls  = 256                // refused ones of which the rest is read at the same time
	drainedBytes  = 4 * maxRecordBytes // of each at most: more than any append has
	drainPatience = 10 * time.Second   // for its client
)

// unusedPatience is how long a connection has had no call that gives its place to another one. The stock client for Go
// leaves a connection behind, and keeps it alive, after each call that the node answers with Unavailable.
const unusedPatience = 5 * time.Second

// errTooManyCalls refuses a call that has done nothing.
var errTooManyCalls = &refusal{code: codes.Aborted, message: "too many calls at once; try again"}

// callCount counts the calls that run. Safe for concurrent use.
type callCount struct {
	mu       sync.Mutex
	all      int
	draining int // refused ones
}

// enter counts a call, until leave. It fails when there are too many.
func (c *callCount) enter(ctx context.Context) (leave func(), err error) {
	a := accountOf(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= allCalls && a.running.Load() >= ownCalls {
		return func() {}, errTooManyCalls
	}
	c.all++
	a.running.Add(1)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		a.restedAt.Store(patienceClock.Now())
		a.running.Add(-1)
	}, nil
}

// drain reads the rest of a request that will be refused: some clients that are still sending would otherwise see the
// end of their stream instead of the status. It decodes nothing and keeps nothing, because the caller may have shown no
// credentials. When many such calls are drained already, this one is not.
func (c *callCount) drain(ss grpc.ServerStream, stopping <-chan struct{}) {
	if !c.drains(1) {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer c.drains(-1)
		defer close(ended)
		for in, rest := (incoming{}), drainedBytes; rest > 0; rest -= in.bytes + eventOverhead {
			if ss.RecvMsg(&in) != nil {
				return
			}
		}
	}()
	patience := time.NewTimer(drainPatience)
	defer patience.Stop()
	select {
	case <-ended:
	case <-stopping: // reading ends with the call
	case <-patience.C:
	}
}

// drains counts a call that begins to be drained, or one fewer. It reports whether there is a place.
func (c *callCount) drains(by int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by > 0 && c.draining >= drainedCalls {
		return false
	}
	c.draining += by
	return true
}

// limitedListener gives a bounded number of connections a place. Further ones wait, and the one that is least missed is
// closed for them.
type limitedListener struct {
	net.Listener
	places chan struct{}
	done   chan struct{}
	once   sync.Once
	unused time.Duration // see unusedPatience

	mu     sync.Mutex
	placed list.List // of *placedConn, the oldest first
}

// newLimitedListener has so many places.
func newLimitedListener(l net.Listener, places int) *limitedListener {
	return &limitedListener{
		Listener: l, places: make(chan struct{}, places), done: make(chan struct{}), unused: unusedPatience,
	}
}

// Accept waits for a connection, then for a place.
func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if err := l.await(); err != nil {
		_ = c.Close()
		return nil, err
	}
	endUnacknowledged(c)
	placed := &placedConn{Conn: c}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.placed.PushBack(placed)
	placed.free = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.placed.Remove(at)
		<-l.places
	})
	return placed, nil
}

// await waits for a place, and makes one again and again.
func (l *limitedListener) await() error {
	select {
	case l.places <- struct{}{}:
		return nil
	default:
	}
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		l.makePlace()
		select {
		case l.places <- struct{}{}:
			return nil
		case <-l.done:
			return net.ErrClosed
		case <-again.C:
		}
	}
}

// makePlace closes the connection that is least missed.
func (l *limitedListener) makePlace() {
	if c := l.leastMissed(); c != nil {
		c.dismiss()
	}
}

// leastMissed is the oldest connection on which nobody has shown credentials, or else the one that has had no call for
// the longest time; nil = all have calls, or have had one lately.
func (l *limitedListener) leastMissed() (idle *placedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := patienceClock.Now().Add(-l.unused)
	for at := l.placed.Front(); at != nil; at = at.Next() {
		c := at.Value.(*placedConn)
		client := c.client.Load()
		if client == nil || !client.known.Load() {
			return c
		}
		rested, has := client.restedAt.Load().(time.Time)
		if has && client.running.Load() == 0 && !rested.After(since) {
			idle, since = c, rested
		}
	}
	return idle
}

// endUnacknowledged lets the connection fail when its client acknowledges nothing for some time. The server does so
// only with connections whose type it knows.
func endUnacknowledged(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
					int(keepaliveTimeout.Milliseconds()))
			})
		}
	}
}

// Close also ends the wait for a place, and closes connections that have not sent their first frames: the server would
// wait for these when it stops.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.done) })
	err := l.Listener.Close()
	for _, c := range l.silent() {
		_ = c.Close()
	}
	return err
}

// silent are those connections.
func (l *limitedListener) silent() (all []*placedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := l.placed.Front(); at != nil; at = at.Next() {
		if c := at.Value.(*placedConn); !c.greeted.Load() {
			all = append(all, c)
		}
	}
	return all
}

// placedConn is a connection that has a place.
type placedConn struct {
	net.Conn
	client  atomic.Pointer[connection] // nil until there is one
	greeted atomic.Bool                // its first frames have come
	free    func()
}

// SetDeadline notes that the server waits no longer for the first frames.
func (c *placedConn) SetDeadline(t time.Time) error {
	if t.IsZero() {
		c.greeted.Store(true)
	}
	return c.Conn.SetDeadline(t)
}

// Close gives the place back.
func (c *placedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// dismiss closes the connection for another one, and tells a client that is there.
func (c *placedConn) dismiss() {
	if client := c.client.Load(); client != nil {
		client.dismiss("there are too many connections, and this one is not used")
		return
	}
	_ = c.Close()
}
