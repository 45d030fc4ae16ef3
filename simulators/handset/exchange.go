package handset

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"layeh.com/radius"
)

// call is one request on its way.
type call struct {
	to      netip.AddrPort // zero: nobody is there, so there is no answer
	timeout time.Duration  // until it is repeated
	// genuine reports whether an answer is right for the request.
	genuine func(answer, request []byte) bool
	// build makes the octets. They stay the same in every repeat.
	build func(identifier byte) ([]byte, error)
	// done gets the genuine answer and the time since the first sending; nil = none came, or the request cannot be
	// made. It is called once, without locks.
	done func(answer []byte, roundTrip time.Duration)

	packet []byte
	tries  int
	sent   time.Time // real time of the first sending
}

// lane is a socket with its 256 identifiers.
type lane struct {
	conn  *net.UDPConn
	calls [256]*call // by identifier; nil = free
}

// slot is a free identifier of a lane.
type slot struct {
	lane       *lane
	identifier byte
}

// counts are the numbers of requests and answers of an exchange so far.
type counts struct {
	sent, repeated, bad, unanswered atomic.Uint64
}

// exchange sends requests of one kind and takes the answers. A request that finds no free identifier waits. Safe for
// concurrent use.
type exchange struct {
	agenda *agenda
	tries  int
	// lose reports whether an answer is to be thrown away, by a fault.
	lose   func() bool
	counts counts

	mu      sync.Mutex
	lanes   []*lane
	free    []slot // the identifier that has rested longest is the first
	waiting []*call
	flying  map[*call]slot
}

// open binds the sockets of an exchange to a local address.
func (x *exchange) open(local netip.Addr, sockets int) error {
	x.flying = map[*call]slot{}
	for range sockets {
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(local, 0)))
		if err != nil {
			x.close()
			return fmt.Errorf("open a socket for RADIUS at %s: %w", local, err)
		}
		_ = conn.SetReadBuffer(1 << 20) // answers to thousands come at once; the machine may allow less
		l := &lane{conn: conn}
		x.lanes = append(x.lanes, l)
		for identifier := range 256 {
			x.free = append(x.free, slot{l, byte(identifier)})
		}
	}
	return nil
}

// close closes the sockets, which ends their readers.
func (x *exchange) close() {
	for _, l := range x.lanes {
		_ = l.conn.Close()
	}
}

// post sends a request as soon as there is a free identifier.
func (x *exchange) post(c *call) {
	x.mu.Lock()
	if len(x.free) == 0 {
		x.waiting = append(x.waiting, c)
		x.mu.Unlock()
		return
	}
	s := x.free[0]
	x.free = x.free[1:]
	x.take(s, c)
	x.mu.Unlock()
	x.begin(s, c)
}

// take gives a slot to a request; the lock is held.
func (x *exchange) take(s slot, c *call) {
	s.lane.calls[s.identifier] = c
	x.flying[c] = s
}

// begin makes and sends a request that has a slot.
func (x *exchange) begin(s slot, c *call) {
	packet, err := c.build(s.identifier)
	if err != nil {
		x.finish(c, nil)
		return
	}
	x.mu.Lock()
	c.packet, c.sent = packet, time.Now()
	x.mu.Unlock()
	x.counts.sent.Add(1)
	x.send(s, c)
}

// send sends a request once, and again later while there is no answer. A packet that the machine does not take counts
// as lost.
func (x *exchange) send(s slot, c *call) {
	c.tries++
	if c.to.IsValid() {
		_, _ = s.lane.conn.WriteToUDPAddrPort(c.packet, c.to)
	}
	x.agenda.at(x.agenda.clock.Now().Add(c.timeout), func() { x.again(c) })
}

// again repeats a request that is unanswered, or gives it up.
func (x *exchange) again(c *call) {
	x.mu.Lock()
	s, flying := x.flying[c]
	x.mu.Unlock()
	switch {
	case !flying:
	case c.tries >= x.tries:
		x.counts.unanswered.Add(1)
		x.finish(c, nil)
	default:
		x.counts.repeated.Add(1)
		x.send(s, c)
	}
}

// finish ends a request and passes its slot on. Only the first call for a request counts.
func (x *exchange) finish(c *call, answer []byte) {
	x.mu.Lock()
	s, flying := x.flying[c]
	if !flying {
		x.mu.Unlock()
		return
	}
	delete(x.flying, c)
	s.lane.calls[s.identifier] = nil
	x.free = append(x.free, s)
	var next *call
	if len(x.waiting) > 0 {
		next, x.waiting = x.waiting[0], x.waiting[1:]
		s = x.free[0]
		x.free = x.free[1:]
		x.take(s, next)
	}
	x.mu.Unlock()
	c.done(answer, time.Since(c.sent))
	if next != nil {
		x.begin(s, next)
	}
}

// abandon gives up all requests at once, as a router does that loses its power.
func (x *exchange) abandon() {
	x.mu.Lock()
	calls := x.waiting
	x.waiting = nil
	for c, s := range x.flying {
		calls = append(calls, c)
		s.lane.calls[s.identifier] = nil
		x.free = append(x.free, s)
	}
	clear(x.flying)
	x.mu.Unlock()
	for _, c := range calls {
		c.done(nil, 0)
	}
}

// read takes the answers of one socket until it is closed.
func (x *exchange) read(_ context.Context, l *lane) {
	buffer := make([]byte, radius.MaxPacketLength)
	for {
		n, from, err := l.conn.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || n < 20 {
			continue // the server's machine refuses, or nonsense
		}
		x.mu.Lock()
		c := l.calls[buffer[1]]
		var request []byte
		if c != nil && c.to == netip.AddrPortFrom(from.Addr().Unmap(), from.Port()) {
			request = c.packet
		}
		x.mu.Unlock()
		switch {
		case request == nil || x.lose(): // late, from elsewhere, or lost
		case !c.genuine(buffer[:n], request):
			x.counts.bad.Add(1)
		default:
			x.finish(c, append([]byte(nil), buffer[:n]...))
		}
	}
}
