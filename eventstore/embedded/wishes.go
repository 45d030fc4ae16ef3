package embedded

import (
	"errors"
	"time"
)

// wish is memory that a holding waits for.
type wish struct {
	of    *holding
	bytes int64
	since time.Time
	ready func() // called once, when the bytes are the holding's; must not block or use the budget
	// refused is called instead, when all would wait for each other; nil = it may not be refused. It must not block.
	refused func()
}

// errYield is the failure of a claim that was refused for others.
var errYield = errors.New("others go on first")

// yield refuses the youngest claim when nobody gives memory back before he has more: all of it is held by those who
// wait. The oldest ones go on then, and end. Call with mu held.
func (b *budget) yield() {
	var youngest *wish
	waiting := int64(0)
	for _, o := range b.owners {
		for _, c := range o.claims {
			waiting += c.of.bytes
			if c.refused != nil && c.of.bytes > 0 && (youngest == nil || c.of.begun > youngest.of.begun) {
				youngest = c
			}
		}
	}
	if youngest != nil && waiting == b.held {
		b.tied = true
		b.remove(youngest)
		youngest.refused()
	}
}

// next is the claim that is served next: of the account that holds least. Once some have waited for each other it is
// the oldest one that has memory, until none waits. Call with mu held.
func (b *budget) next() *wish {
	var least *owner
	var oldest *wish
	for _, o := range b.owners {
		if len(o.claims) > 0 && (least == nil || o.held < least.held) {
			least = o
		}
		for _, c := range o.claims {
			if b.tied && c.of.bytes > 0 && (oldest == nil || c.of.begun < oldest.of.begun) {
				oldest = c
			}
		}
	}
	if oldest != nil {
		return oldest
	}
	return least.claims[0]
}

// serve gives memory to the claims that fit. Call with mu held.
func (b *budget) serve() {
	for b.claims > 0 {
		c := b.next()
		if !b.fits(c.bytes) {
			if b.sent {
				b.yield()
			}
			return
		}
		b.remove(c)
		b.give(c.of, c.bytes)
		b.moved, b.returned = b.now(), 0
		c.ready()
	}
	b.tied = false
}
