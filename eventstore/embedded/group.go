package embedded

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// answer is an outcome that its write gets after the group's commit.
type answer struct {
	to *write
	outcome
}

// group is a set of writes that are decided one after another against the same heads and committed with one statement.
// It keeps the heads and ids of its own events, so that nothing outside of it changes unless the commit succeeds.
type group struct {
	heads   map[string]head // related streams, as the writes decided so far leave them
	changed map[string]struct{}
	known   map[identity]seat // events of this group
	rows    []record
	answers []answer
	next    int64 // position of the next event
	created int64

	lastStream int64    // number of the stream that was named last
	names      []string // new streams; their numbers end at lastStream
}

// prepare decides a batch. It reads the heads that the cache lacks in one round trip; after an error nothing is
// decided. It gives the writes that are decided: those that were refused while the heads were read are left out,
// because their callers were told that the database does not answer, and may do something else by now.
func (q *sequencer) prepare(ctx context.Context, batch []*write) (*group, []*write, error) {
	g := &group{
		heads:   make(map[string]head, 2*len(batch)),
		changed: make(map[string]struct{}, len(batch)),
		known:   make(map[identity]seat, len(batch)),
		answers: make([]answer, 0, len(batch)),
		next:    q.published + 1,
		created: ticks(q.now()), lastStream: q.lastStream,
	}
	stalled, err := q.fillHeads(ctx, g, batch)
	if err != nil {
		return nil, batch, err
	}
	if stalled {
		batch = stillWanted(batch)
	}
	for _, w := range batch {
		g.answers = append(g.answers, answer{to: w, outcome: q.decide(g, w)})
	}
	return g, batch, nil
}

// fillHeads copies the heads of all related streams into the group: from the cache, otherwise from the log. It reports
// whether that took so long that the writes were refused.
func (q *sequencer) fillHeads(ctx context.Context, g *group, batch []*write) (stalled bool, err error) {
	var missing []string
	for _, w := range batch {
		for _, name := range related(w.stream) {
			if _, ok := g.heads[name]; ok {
				continue
			}
			h, ok := q.heads.lru.Get(name)
			if !ok {
				missing = append(missing, name)
			}
			g.heads[name] = h
		}
	}
	if len(missing) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	end := q.bounded(batch, outagePatience)
	loaded, err := loadHeads(ctx, q.session.conn, q.queries.heads, missing)
	if stalled = end(); err != nil {
		return stalled, err
	}
	for name, h := range loaded {
		g.heads[name] = h
		q.heads.put(name, h)
	}
	return stalled, nil
}

// head is the end of a stream as the group's own events leave it; emptyHead for an unknown stream.
func (g *group) head(stream string) head {
	if h, ok := g.heads[stream]; ok {
		return h
	}
	return emptyHead
}

// decide applies the rules to one write and, if they allow the write, adds its events to the group.
func (q *sequencer) decide(g *group, w *write) outcome {
	state := stateOf(w.stream, g.head)
	if w.kind != writeAppend {
		v := decideDelete(state, w.expected, w.kind == writeTombstone)
		if v != verdictWrite {
			return outcome{verdict: v, current: state.last}
		}
		return outcome{verdict: v, current: state.last, position: g.addDeletion(w)}
	}
	known := func(id uuid.UUID) (seat, bool) {
		key := identity{w.stream, id}
		if at, ok := g.known[key]; ok {
			return at, true
		}
		return q.recent.lru.Get(key)
	}
	v, at := decideAppend(state, claim{expected: w.expected, ids: idsOf(w.events), differs: w.differs}, known)
	switch {
	case v == verdictRepeat:
		return outcome{verdict: v, current: at.revision, position: at.position}
	case v != verdictWrite:
		return outcome{verdict: v, current: state.last}
	case len(w.events) == 0:
		return outcome{verdict: v, current: state.last, position: g.next - 1}
	}
	return g.addAppend(w, state)
}

// idsOf keeps the order of the events, because repeats are compared in order.
func idsOf(events []proposal) []uuid.UUID {
	ids := make([]uuid.UUID, len(events))
	for i := range events {
		ids[i] = events[i].id
	}
	return ids
}

// addAppend adds the events of an append and, for a soft-deleted stream, the metadata event that undeletes the stream.
func (g *group) addAppend(w *write, state streamState) outcome {
	// New metadata also brings a soft-deleted stream back, whatever $tb its body has.
	describesDeleted := isMetastream(w.stream) && stateOf(originalOf(w.stream), g.head).softDeleted
	var done outcome
	for i := range w.events {
		at := g.add(w.stream, &w.events[i])
		done = outcome{verdict: verdictWrite, current: at.revision, position: at.position}
	}
	if state.softDeleted {
		g.undelete(w.stream, state.last+1)
	}
	if describesDeleted {
		original := originalOf(w.stream)
		g.undelete(original, g.head(original).last+1)
	}
	return done
}

// undelete writes the stream's metadata again, with $tb at the revision of the first new event.
func (g *group) undelete(stream string, first int64) {
	meta := g.head(metastreamOf(stream))
	g.add(metastreamOf(stream), &proposal{
		id: uuid.New(), kind: metadataType, isJSON: true, data: undeleted(meta.isJSON, meta.body, first),
	})
}

// addDeletion adds the event that deletes a stream (metadata for a soft delete, else a tombstone) and returns its
// position.
func (g *group) addDeletion(w *write) int64 {
	if w.kind == writeDelete {
		p := proposal{id: uuid.New(), kind: metadataType, isJSON: true, data: []byte(softDeletion)}
		return g.add(metastreamOf(w.stream), &p).position
	}
	h := g.head(w.stream)
	h.last = tombstoneRevision - 1
	g.heads[w.stream] = h
	return g.add(w.stream, &proposal{id: uuid.New(), kind: tombstoneType}).position
}

// add puts one event at the end of its stream and of the log and updates the group's head.
func (g *group) add(stream string, p *proposal) seat {
	h := g.head(stream)
	h.last++
	if h.id == 0 {
		g.lastStream++
		g.names = append(g.names, stream)
		h.id = g.lastStream
	}
	if isMetastream(stream) {
		h.isJSON, h.body, h.meta = p.isJSON, p.data, parseStreamMeta(p.isJSON, p.data)
	}
	g.heads[stream] = h
	g.changed[stream] = struct{}{}
	at := seat{revision: h.last, position: g.next}
	g.next++
	g.known[identity{stream, p.id}] = at
	g.rows = append(g.rows, record{
		position: at.position, revision: at.revision, streamID: h.id, stream: stream, kind: p.kind, id: p.id,
		isJSON: p.isJSON, created: g.created, metadata: notNil(p.metadata), data: notNil(p.data),
	})
	return at
}

// notNil turns nil into an empty slice, since the columns allow no null.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// statementPatience bounds one statement of the sequencer. A statement that takes longer counts as a lost connection.
const statementPatience = 30 * time.Second
