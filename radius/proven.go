package radius

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// provenSlots is the number of places for ports, and of places for names, that an address has for the clients which
// proved themselves from there.
const provenSlots = 64

// proven keeps, for an address that several have claimed, who proved itself from there last: by the port that the
// packet came from, and by the name that a router gives itself. Neither is believed. They only say whose secret is
// tried first, so that the packets of a known router need no search. Safe for concurrent use.
type proven struct {
	ports, names [provenSlots]atomic.Pointer[client]
	next         atomic.Uint32 // place in the list of clients at which the next search begins
}

// namesSeed makes the places of names unforeseeable, so that nobody chooses a name for the place of another's.
var namesSeed = maphash.MakeSeed()

// slots gives the two places of a packet.
func (p *proven) slots(port uint16, name []byte) (byPort, byName *atomic.Pointer[client]) {
	return &p.ports[port%provenSlots], &p.names[maphash.Bytes(namesSeed, name)%provenSlots]
}

// keep takes over what an older table knew. Who is no longer at the address, or has another secret, is left out.
// bySecret has the clients of the address.
func (p *proven) keep(old *proven, bySecret map[string]*client) {
	p.next.Store(old.next.Load())
	for i := range provenSlots {
		p.ports[i].Store(still(old.ports[i].Load(), bySecret))
		p.names[i].Store(still(old.names[i].Load(), bySecret))
	}
}

// still is the present client that is the same router with the same secret as an older one; nil when there is none.
func still(c *client, bySecret map[string]*client) *client {
	if c == nil {
		return nil
	}
	if now := bySecret[string(c.Secret)]; now != nil && now.ID == c.ID && bytes.Equal(now.Secret, c.Secret) {
		return now
	}
	return nil
}

// proves reports whether a packet was made with the secret of a client. An Access-Request has a Message-Authenticator.
func (w *worker) proves(c *client, r *Request, accounting bool) bool {
	if accounting {
		return w.signer.accounted(c, r.raw)
	}
	return w.signer.authentic(c, r.raw, r.ma)
}

// prover finds the client of an address that made a packet; otherwise it returns why there is none. At an address that
// several have claimed it tries first who proved itself there before. The secrets of all others are tried within a
// number a second, so that packets that prove nothing cost a bounded work, however many claim the address.
func (w *worker) prover(from *source, r *Request, accounting bool) (*client, Result) {
	if from.proven == nil {
		for _, c := range from.clients {
			if w.proves(c, r, accounting) {
				return c, 0
			}
		}
		return nil, WrongSecret
	}
	byPort, byName := from.proven.slots(w.from.Port(), r.NASIdentifier)
	first, second := byPort.Load(), byName.Load()
	if first != nil && w.proves(first, r, accounting) {
		return first, 0
	}
	if second != nil && second != first && w.proves(second, r, accounting) {
		byPort.Store(second)
		return second, 0
	}
	for range from.clients {
		c := from.clients[int(from.proven.next.Load())%len(from.clients)]
		if c != first && c != second {
			if !from.shared.tries.allow(w.now, w.limits.Tries) {
				return nil, OverLimit
			}
			if w.proves(c, r, accounting) {
				byPort.Store(c)
				byName.Store(c)
				return c, 0
			}
		}
		from.proven.next.Add(1)
	}
	return nil, WrongSecret
}
