package radius

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// key names one request: who sent it and what it says. Two packets with the same key are the same octets, so a packet
// that reuses an identifier or an authenticator for something else is another request.
type key struct {
	from   netip.AddrPort
	header [headerSize]byte // code, identifier, length, request authenticator
	rest   uint64           // hash of the attributes
}

// entry is one request that was taken.
type entry struct {
	key    key
	at     time.Time
	reply  []byte // room for the octets is used again
	worked bool   // reply is complete
}

// replies keeps the answers of one socket for a while, so that a repeat is answered with the same octets. All packets
// of one source port come to one socket. Each NAS has a number of places of its own; its oldest answer goes first. Safe
// for concurrent use.
type replies struct {
	keep  time.Duration
	most  int // places of one NAS
	seed  maphash.Seed
	mu    sync.Mutex
	known map[key]*entry
	rings map[*state]*ring
	swept time.Time
}

// ring holds the entries of one NAS, the oldest first, and entries that can be used again.
type ring struct {
	list []*entry // circular
	from int
	n    int
	free []*entry
}

// newReplies makes an empty cache.
func newReplies(keep time.Duration, most int) *replies {
	return &replies{
		keep: keep, most: most, seed: maphash.MakeSeed(), known: map[key]*entry{}, rings: map[*state]*ring{},
	}
}

// keyOf makes the key of a packet that was cut; it hashes all of it.
func (c *replies) keyOf(packet []byte, from netip.AddrPort) key {
	return key{
		from: from, header: [headerSize]byte(packet[:headerSize]), rest: maphash.Bytes(c.seed, packet[headerSize:]),
	}
}

// look reports whether a request was taken already, and copies its answer into to. The answer is nil while there is
// none.
func (c *replies) look(k key, now time.Time, to []byte) (answer []byte, taken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.known[k]
	switch {
	case e == nil || c.old(e, now):
		return nil, false
	case !e.worked:
		return nil, true
	}
	return to[:copy(to, e.reply)], true
}

// old reports whether an entry does not count any more. One from the future is of a clock that was set back.
func (c *replies) old(e *entry, now time.Time) bool {
	age := now.Sub(e.at)
	return age >= c.keep || age < -c.keep
}

// begin takes a request of a NAS; its repeats are swallowed until finish or forget.
func (c *replies) begin(s *state, k key, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(s, k, now)
}

// record takes a request of a NAS together with its answer.
func (c *replies) record(s *state, k key, now time.Time, reply []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.enter(s, k, now)
	e.reply = append(e.reply, reply...)
	e.worked = true
}

// enter makes the entry of a request. An old entry of the same request stays in its ring, without a name. The lock is
// held.
func (c *replies) enter(s *state, k key, now time.Time) *entry {
	if c.sweepDue(now) {
		c.sweep(now)
	}
	r := c.rings[s]
	if r == nil {
		r = &ring{}
		c.rings[s] = r
	}
	for r.n > 0 && (r.n >= c.most || c.old(r.list[r.from], now)) {
		c.evict(r)
	}
	e := r.take()
	e.key, e.at, e.worked, e.reply = k, now, false, e.reply[:0]
	r.push(e)
	c.known[k] = e
	return e
}

// finish gives a request its answer, unless it is gone already.
func (c *replies) finish(k key, reply []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.known[k]; e != nil && !e.worked {
		e.reply = append(e.reply, reply...)
		e.worked = true
	}
}

// forget makes the next repeat of a request a new one.
func (c *replies) forget(k key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, k) // the entry stays in its ring until its turn to leave
}

// evict removes the oldest entry of a ring. The lock is held.
func (c *replies) evict(r *ring) {
	e := r.pop()
	if c.known[e.key] == e {
		delete(c.known, e.key)
	}
	r.free = append(r.free, e)
}

// sweepDue reports whether NAS that are silent may hold old entries. The lock is held.
func (c *replies) sweepDue(now time.Time) bool {
	age := now.Sub(c.swept)
	return age >= c.keep || age < 0
}

// sweep frees what silent NAS hold. The lock is held.
func (c *replies) sweep(now time.Time) {
	c.swept = now
	for s, r := range c.rings {
		for r.n > 0 && c.old(r.list[r.from], now) {
			c.evict(r)
		}
		if r.n == 0 {
			delete(c.rings, s)
		}
	}
}

// take is an entry to fill: one that was used before, or a new one.
func (r *ring) take() *entry {
	if last := len(r.free) - 1; last >= 0 {
		e := r.free[last]
		r.free = r.free[:last]
		return e
	}
	return &entry{}
}

// push appends an entry and makes the ring larger when it is full.
func (r *ring) push(e *entry) {
	if r.n == len(r.list) {
		larger := make([]*entry, max(16, 2*len(r.list)))
		for i := range r.n {
			larger[i] = r.list[(r.from+i)%len(r.list)]
		}
		r.list, r.from = larger, 0
	}
	r.list[(r.from+r.n)%len(r.list)] = e
	r.n++
}

// pop removes the oldest entry.
func (r *ring) pop() *entry {
	e := r.list[r.from]
	r.list[r.from] = nil
	r.from = (r.from + 1) % len(r.list)
	r.n--
	return e
}
