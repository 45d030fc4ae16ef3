package embedded

import (
	"cmp"
	"errors"
	"time"
)

// wish is memory that a holding waits for.
type wish struct {
	of    *holding
	bytes int64
	since time.Time
	// behind are other holdings of the same call, whose memory comes back no sooner; of is perhaps one of them.
	behind []*holding
	ready  func() // called once, when the bytes are the holding's; must not block or use the budget
	// refused is called instead, when all would wait for each other; nil = it may not be refused. It must not block.
	refused func()
}

// errYield is the failure of a claim that was refused for others.
var errYield = errors.New("others go on first")

// stands is the memory that is not given back before the claim is served, and the number of its oldest holding; 0 =
// there is none. Call with the lock of the budget held.
func (c *wish) stands() (bytes, begun int64) {
	for _, h := range c.behind {
		if h != c.of && h.budget == c.of.budget && h.bytes > 0 {
			bytes += h.bytes
			begun = min(cmp.Or(begun, h.begun), h.begun)
		}
	}
	if c.of.bytes > 0 {
		bytes += c.of.bytes
		begun = min(cmp.Or(begun, c.of.begun), c.of.begun)
	}
	return bytes, begun
}

// knotted reports whether all memory is held by those who wait for more, so that nobody gives any back. Call with mu
// held.
func (b *budget) knotted() bool {
	waiting := int64(0)
	for _, o := range b.owners {
		for _, c := range o.claims {
			bytes, _ := c.stands()
			waiting += bytes
		}
	}
	return waiting == b.held
}

// next is the claim that is served next: of the account that holds least. Once all have waited for each other it is the
// oldest one that has memory, until none waits. Call with mu held.
func (b *budget) next() *wish {
	var least *owner
	var oldest *wish
	first := int64(0)
	for _, o := range b.owners {
		if len(o.claims) > 0 && (least == nil || o.held < least.held) {
			least = o
		}
		for _, c := range o.claims {
			if _, begun := c.stands(); b.tied && begun > 0 && (oldest == nil || begun < first) {
				oldest, first = c, begun
			}
		}
	}
	if oldest != nil {
		return oldest
	}
	return least.claims[0]
}

// yield refuses the youngest claim that has memory, for another one. Call with mu held.
func (b *budget) yield(to *wish) {
	var youngest *wish
	last := int64(0)
	for _, o := range b.owners {
		for _, c := range o.claims {
			if _, begun := c.stands(); c != to && c.refused != nil && begun > last {
				youngest, last = c, begun
			}
		}
	}
	if youngest != nil {
		b.remove(youngest)
		youngest.refused()
	}
}

// serve gives memory to the claims that fit. When none can ever, the oldest goes first, if need be for the youngest.
// Call with mu held.
func (b *budget) serve() {
	for b.claims > 0 {
		c := b.next()
		switch {
		case b.fits(c.bytes):
			b.remove(c)
			b.give(c.of, c.bytes)
			b.moved, b.returned = b.now(), 0
			c.ready()
		case !b.sent || !b.knotted():
			return
		case b.tied:
			b.yield(c)
			return
		default:
			b.tied = true
		}
	}
	b.tied = false
}
