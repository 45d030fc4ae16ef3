package coa

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/fair"
)

// Bounds of late answers.
const (
	lateFor     = 30 * time.Second // how long an answer is waited for after its request has failed
	latePlaces  = 256              // requests whose answers are waited for at the same time; fair.Room shares them out
	mostPatient = 15 * time.Second // the longest wait for a router that is known to be late
	mostLate    = 10_000           // routers that are known to be late; one of the others is forgotten for one more
)

// late waits for the answers to requests that failed. The zero value waits for none. Safe for concurrent use.
type late struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	places fair.Room                        // of those that are open, by the organizations of the routers
	waits  map[netip.AddrPort]time.Duration // of routers that answered late
	closed bool
	group  sync.WaitGroup
}

// patience is how long the answer of a router is to be waited for, from the first sending on; 0 = as usual.
func (l *late) patience(of netip.AddrPort) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waits[of]
}

// keep waits for the answer to a request that failed, and closes the connection afterwards. It reports false when too
// many of the organization are waited for, or after close: then the connection stays the caller's.
func (l *late) keep(conn net.Conn, request []byte, to Router, began time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	machine := clock.Steady(clock.System())
	if l.open == nil {
		l.open, l.waits = map[net.Conn]bool{}, map[netip.AddrPort]time.Duration{}
		l.places.Capacity = latePlaces
	}
	if l.closed || conn.SetReadDeadline(machine.Now().Add(lateFor)) != nil || !l.places.Take(to.Org, 1) {
		return false
	}
	l.open[conn] = true
	l.group.Go(func() {
		_, came := await(conn, request, to.Secret)
		l.mu.Lock()
		delete(l.open, conn)
		l.places.Give(to.Org, 1)
		_ = conn.Close()
		if came {
			l.learn(to.Address, 2*machine.Now().Sub(began))
		}
		l.mu.Unlock()
		if came {
			to.Late()
		}
	})
	return true
}

// forget ends the patience with a router, which has answered in the usual time.
func (l *late) forget(router netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, router)
}

// learn keeps how late a router answers: the longest wait since it has answered in the usual time. The lock is held.
func (l *late) learn(router netip.AddrPort, wait time.Duration) {
	if _, known := l.waits[router]; !known && len(l.waits) >= mostLate {
		for other := range l.waits {
			delete(l.waits, other)
			break
		}
	}
	l.waits[router] = min(max(wait, l.waits[router]), mostPatient)
}

// Close ends the wait for late answers, and returns when none is waited for any more. Requests may be made afterwards.
func (c *Client) Close() {
	c.late.mu.Lock()
	c.late.closed = true
	for conn := range c.late.open {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	c.late.mu.Unlock()
	c.late.group.Wait()
}
