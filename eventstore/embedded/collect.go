package embedded

// Bounds of one group: large enough that the fixed cost of a commit does not matter, small enough that a write does not
// wait long for the bytes of others.
const (
	groupWrites = 512
	groupEvents = 4096
	groupBytes  = 4 << 20
)

// gathering puts together the group that is committed next, in the order in which the writes come.
type gathering struct {
	batch         []*write
	events, bytes int
	// group has the decisions on the batch; nil when one needs the log, which is read when the session is free.
	group *group
}

// gather begins to put together the group after base, which is being committed; nil = all groups are published.
func (q *sequencer) gather(base *group) *gathering { return &gathering{group: q.newGroup(base)} }

// take adds a write, or drops one whose caller has gone.
func (g *gathering) take(w *write) {
	if w.isAbandoned() {
		w.answer(outcome{err: errAbandoned})
		return
	}
	g.batch = append(g.batch, w)
	g.events += len(w.events)
	for i := range w.events {
		g.bytes += len(w.events[i].data) + len(w.events[i].metadata)
	}
	switch {
	case g.group == nil:
	case g.group.lacks(w.stream) || g.group.revives(w):
		g.group = nil
	default:
		g.group.decide(w)
	}
}

// takeQueued adds the writes that wait, up to the bounds of a group.
func (g *gathering) takeQueued(queue <-chan *write) {
	for !g.full() {
		select {
		case w := <-queue:
			g.take(w)
		default:
			return
		}
	}
}

// full reports whether the group has reached one of its bounds. The last write may pass a bound.
func (g *gathering) full() bool {
	return len(g.batch) >= groupWrites || g.events >= groupEvents || g.bytes >= groupBytes
}

// takesMore reports whether writes may be added now. Those behind one that needs the log wait for the session, too.
func (g *gathering) takesMore() bool { return g != nil && g.group != nil && !g.full() }

// taken gives the writes so far.
func (g *gathering) taken() []*write {
	if g == nil {
		return nil
	}
	return g.batch
}

// stale reports whether a write has its answer meanwhile, or its caller has gone.
func (g *gathering) stale() bool {
	for _, w := range g.batch {
		if w.answered.Load() || w.isAbandoned() {
			return true
		}
	}
	return false
}
