package embedded

import "time"

// Bounds of one group: enough that the commit's fixed cost does not matter, small enough that nobody waits long for the
// others' bytes.
const (
	groupWrites = 512
	groupEvents = 4096
	groupBytes  = 4 << 20
)

// gatherTime bounds the wait for a group to fill up. A commit takes several times as long.
const gatherTime = 300 * time.Microsecond

// gathering is a batch on its way to becoming a group.
type gathering struct {
	batch         []*write
	events, bytes int
}

// add takes a write, unless nobody waits for it any more.
func (g *gathering) add(w *write) {
	if w.isAbandoned() {
		return
	}
	g.batch = append(g.batch, w)
	g.events += len(w.events)
	for i := range w.events {
		g.bytes += len(w.events[i].data) + len(w.events[i].metadata)
	}
}

// full tells whether one more would pass a bound.
func (g *gathering) full() bool {
	return len(g.batch) >= groupWrites || g.events >= groupEvents || g.bytes >= groupBytes
}

// collect takes what waits, up to the bounds of a group. After a group of many it waits a moment for about as many
// again: writers that were answered come back at once but not all together, and committing the first few alone would
// make the rest wait for it. This doubled the rate at 64 writers; a lone writer never waits.
func (q *sequencer) collect(first *write) []*write {
	g := &gathering{}
	g.add(first)
	for !g.full() {
		select {
		case w := <-q.queue:
			g.add(w)
			continue
		default:
		}
		break
	}
	if len(g.batch) < q.usual {
		q.gather(g)
	}
	q.usual = len(g.batch) * 3 / 4
	return g.batch
}

// gather waits for more until the batch is as large as usual, for a bounded time.
func (q *sequencer) gather(g *gathering) {
	patience := time.NewTimer(gatherTime)
	defer patience.Stop()
	for len(g.batch) < q.usual && !g.full() {
		select {
		case w := <-q.queue:
			g.add(w)
		case <-patience.C:
			return
		}
	}
}

// isAbandoned tells whether the caller has gone.
func (w *write) isAbandoned() bool {
	select {
	case <-w.abandoned:
		return true
	default:
		return false
	}
}
