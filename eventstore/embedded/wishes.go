package embedded

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// wish is memory that a holding waits for.
type wish struct {
	of    *holding
	bytes int64
	since time.Time
	// behind are other holdings of the same call, whose memory comes back no sooner; of is perhaps one of them.
	behind []*holding
	stands int64  // all this memory
	begun  int64  // the number of the oldest of these holdings; 0 = there is none
	ready  func() // called once, when the bytes are the holding's; must not block or use the budget
	// refused is called instead, when all would wait for each other; nil = it may not be refused. It must not block.
	refused func()
}

// errYield is the failure of a claim that was refused for others.
var errYield = errors.New("others go on first")

// look finds the memory that is not given back before the claim is served. It does not change until then. Call with the
// lock of the budget held.
func (c *wish) look() {
	add := func(h *holding) {
		if h.bytes > 0 {
			c.stands += h.bytes
			c.begun = min(cmp.Or(c.begun, h.begun), h.begun)
		}
	}
	add(c.of)
	for _, h := range c.behind {
		if h != c.of && h.budget == c.of.budget {
			add(h)
		}
	}
}

// knotted reports whether all memory is held by those who wait for more, so that nobody gives any back. Call with mu
// held.
func (b *budget) knotted() bool {
	waiting := int64(0)
	for _, o := range b.owners {
		for _, c := range o.claims {
			waiting += c.stands
		}
	}
	return waiting == b.held
}

// next is the claim that is served next: of the account that holds least. Once all have waited for each other it is the
// oldest one that has memory, until none waits. Call with mu held.
func (b *budget) next() *wish {
	var least *owner
	var oldest *wish
	for _, o := range b.owners {
		if len(o.claims) > 0 && (least == nil || o.held < least.held) {
			least = o
		}
		for _, c := range o.claims {
			if b.tied && c.begun > 0 && (oldest == nil || c.begun < oldest.begun) {
				oldest = c
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
	for _, o := range b.owners {
		for _, c := range o.claims {
			if c != to && c.refused != nil && c.begun > 0 && (youngest == nil || c.begun > youngest.begun) {
				youngest = c
			}
		}
	}
	if youngest != nil {
		b.remove(youngest)
		youngest.refused()
	}
}

// serveFitting gives memory to the claims that fit, though others come before them, first to the account that holds
// least, and reports whether there are any. Call with mu held.
func (b *budget) serveFitting() (served bool) {
	for {
		var least *owner
		var fitting *wish
		for _, o := range b.owners {
			i := slices.IndexFunc(o.claims, func(c *wish) bool { return b.fits(c.bytes) })
			if i >= 0 && (least == nil || o.held < least.held) {
				least, fitting = o, o.claims[i]
			}
		}
		if fitting == nil {
			return served
		}
		b.serveOne(fitting)
		served = true
	}
}

// serveOne gives memory to a claim. Call with mu held.
func (b *budget) serveOne(c *wish) {
	b.remove(c)
	b.give(c.of, c.bytes)
	b.moved, b.returned = b.now(), 0
	c.ready()
}

// serve gives memory to the claims that fit. When none can ever, the oldest goes first, if need be for the youngest.
// Call with mu held.
func (b *budget) serve() {
	for b.claims > 0 {
		c := b.next()
		switch {
		case b.fits(c.bytes):
			b.serveOne(c)
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
