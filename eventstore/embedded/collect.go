package embedded

import "time"

// Bounds of one group: large enough that the fixed cost of a commit does not matter, small enough that a write does not
// wait long for the bytes of others.
const (
	groupWrites = 512
	groupEvents = 4096
	groupBytes  = 4 << 20
)

// gatherTime bounds the wait for a group to fill. A commit takes several times as long.
const gatherTime = 300 * time.Microsecond

// gathering is the group that collect is putting together, with its size so far.
type gathering struct {
	batch         []*write
	events, bytes int
}

// add takes a write into the group and drops a write whose caller has gone.
func (g *gathering) add(w *write) {
	if w.isAbandoned() {
		w.answer(outcome{err: errAbandoned})
		return
	}
	g.batch = append(g.batch, w)
	g.events += len(w.events)
	for i := range w.events {
		g.bytes += len(w.events[i].data) + len(w.events[i].metadata)
	}
}

// full reports whether the group has reached one of its bounds. The last write may pass a bound.
func (g *gathering) full() bool {
	return len(g.batch) >= groupWrites || g.events >= groupEvents || g.bytes >= groupBytes
}

// collect takes the writes that wait, up to the bounds of a group. After a large group it waits a moment for about as
// many again: writers that were answered come back at once but not all together, and if the first few were committed
// alone, the rest would wait for that commit. The wait doubled the rate at 64 writers; a single writer never waits.
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

// gather waits at most gatherTime for more writes, until the group has the usual number of them.
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
