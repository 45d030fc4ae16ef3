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

// group is a set of writes that are decided one after another and committed with one statement. It keeps the heads and
// ids of its own events, so that nothing outside of it changes unless the commit succeeds.
type group struct {
	base    *group          // its events are being committed, and taken for written; nil = none are
	before  map[string]head // of the related streams, as prepare has read them; nil = the cache has them
	cache   *headCache
	recent  *recentEvents
	heads   map[string]head   // of the streams that it changes, as it leaves them
	known   map[identity]seat // events of this group
	rows    []record          // without the time, which comes last
	answers []answer
	next    int64 // position of the next event

	lastStream int64    // number of the stream that was named last
	names      []string // new streams; their numbers end at lastStream
}

// newGroup makes a group that follows another one, which is being committed; nil = all groups are published.
func (q *sequencer) newGroup(base *group) *group {
	g := &group{
		base: base, cache: q.heads, recent: q.recent, next: q.published + 1, lastStream: q.lastStream,
	}
	if base != nil {
		base.base = nil
		g.next, g.lastStream = base.next, base.lastStream
	}
	return g
}

// stamp gives the events their time, when they are sent.
func (g *group) stamp(at int64) {
	for i := range g.rows {
		g.rows[i].created = at
	}
}

// prepare decides a batch, or the beginning of it that can be decided now. It reads the heads that the cache lacks in
// one round trip; after an error nothing is decided. It gives the writes that are decided and those that are not. Those
// whose callers have gone while the database was asked are left out, and those that were refused, because their callers
// were told that it does not answer, and may do something else by now.
func (q *sequencer) prepare(ctx context.Context, batch []*write) (g *group, decided, left []*write, err error) {
	before, err := q.headsOf(ctx, batch)
	if err != nil {
		return nil, batch, nil, err
	}
	compared := map[*write]outcome{}
	for {
		batch = stillWanted(batch)
		g = q.newGroup(nil)
		g.before = before
		end, err := q.decideAll(ctx, g, batch, compared)
		if err != nil {
			return nil, batch, nil, err
		}
		if !(&gathering{batch: batch}).stale() {
			return g, batch[:end:end], batch[end:], nil
		}
	}
}

// decideAll decides the writes of a batch, up to an end: one that has to be compared with what the log does not have
// yet, or is not wanted any more. compared has the answers to those that were compared before.
func (q *sequencer) decideAll(
	ctx context.Context, g *group, batch []*write, compared map[*write]outcome,
) (end int, err error) {
	for i, w := range batch {
		if !g.revives(w) {
			g.decide(w)
			continue
		}
		if _, written := g.heads[w.stream]; written || w.answered.Load() || w.isAbandoned() {
			return i, nil
		}
		o, known := compared[w]
		if !known {
			if o, err = q.compareRevival(ctx, g, w, batch); err != nil {
				return i, err
			}
		}
		if w.differs {
			g.decide(w)
			continue
		}
		compared[w] = o
		g.answers = append(g.answers, answer{to: w, outcome: o})
	}
	return len(batch), nil
}

// revives reports whether a write may bring a soft-deleted stream back unless the log has its events. It is compared
// with the log by the sequencer, before the writes that came after it are decided: they may name what it leads to.
func (g *group) revives(w *write) bool {
	if w.kind != writeAppend || w.expected != expectNoStream || w.differs || len(w.events) == 0 ||
		g.head(w.stream).last < 0 {
		return false
	}
	state := stateOf(w.stream, g.head)
	return state.softDeleted && !state.tombstoned
}

// compareRevival compares a write of a batch with the log, and gives its answer unless it differs, which it notes.
func (q *sequencer) compareRevival(ctx context.Context, g *group, w *write, batch []*write) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	var repeat *seat
	_, err := q.attend(q.begin(func() (err error) {
		repeat, w.differs, err = w.compare(ctx, q.session.conn, q.queries.identities)
		return err
	}), outagePatience, batch, nil)
	if err == nil && repeat != nil {
		return repeat.again(), nil
	}
	return outcome{verdict: verdictWrong, current: g.head(w.stream).last}, err
}

// headsOf gives the heads of all related streams: from the cache, which may forget them meanwhile, otherwise from the
// log.
func (q *sequencer) headsOf(ctx context.Context, batch []*write) (heads map[string]head, err error) {
	heads = make(map[string]head, 2*len(batch))
	var missing []string
	for _, w := range batch {
		for _, name := range related(w.stream) {
			if _, ok := heads[name]; ok {
				continue
			}
			h, ok := q.heads.Get(name)
			if !ok {
				missing = append(missing, name)
			}
			heads[name] = h
		}
	}
	if len(missing) == 0 {
		return heads, nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	var loaded map[string]head
	_, err = q.attend(q.begin(func() (err error) {
		loaded, err = loadHeads(ctx, q.session.conn, q.queries.heads, missing, true)
		return err
	}), outagePatience, batch, nil)
	if err != nil {
		return nil, err
	}
	for name, h := range loaded {
		heads[name] = h
		q.heads.put(name, h)
	}
	return heads, nil
}

// lacks reports whether the head of a related stream has to be read first.
func (g *group) lacks(stream string) bool {
	for _, name := range related(stream) {
		if _, ok := g.find(name); !ok {
			return true
		}
	}
	return false
}

// find gives the head of a stream as the group leaves it, if that is in memory.
func (g *group) find(stream string) (head, bool) {
	if h, ok := g.heads[stream]; ok {
		return h, true
	}
	if g.base != nil {
		if h, ok := g.base.heads[stream]; ok {
			return h, true
		}
	}
	if g.before != nil {
		h, ok := g.before[stream]
		return h, ok
	}
	return g.cache.Get(stream)
}

// head is the end of a stream as the group leaves it; emptyHead for an unknown stream. Those related to a write are
// known when it is decided.
func (g *group) head(stream string) head {
	if h, ok := g.find(stream); ok {
		return h
	}
	return emptyHead
}

// seat finds an event that was written lately, also by the group itself.
func (g *group) seat(event identity) (seat, bool) {
	if at, ok := g.known[event]; ok {
		return at, true
	}
	if g.base != nil {
		if at, ok := g.base.known[event]; ok {
			return at, true
		}
	}
	at, ok := g.recent.seats[event]
	return at, ok
}

// decide decides a write, of whose related streams the heads are in memory.
func (g *group) decide(w *write) { g.answers = append(g.answers, answer{to: w, outcome: g.outcome(w)}) }

// outcome applies the rules to one write and, if they allow the write, adds its events to the group.
func (g *group) outcome(w *write) outcome {
	state := stateOf(w.stream, g.head)
	if w.kind != writeAppend {
		v := decideDelete(state, w.expected, w.kind == writeTombstone)
		if v != verdictWrite {
			return outcome{verdict: v, current: state.last}
		}
		return outcome{verdict: v, current: state.last, position: g.addDeletion(w)}
	}
	stream := g.head(w.stream).id
	known := func(id uuid.UUID) (seat, bool) { return g.seat(identity{stream, id}) }
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
	described := ""
	if isMetastream(w.stream) && !isMetastream(originalOf(w.stream)) && // which has no deletion of its own
		stateOf(originalOf(w.stream), g.head).softDeleted {
		described = originalOf(w.stream)
	}
	var done outcome
	for i := range w.events {
		at := g.add(w.stream, &w.events[i])
		done = outcome{verdict: verdictWrite, current: at.revision, position: at.position}
	}
	if state.softDeleted {
		g.undelete(w.stream, state.last+1)
	}
	if described != "" {
		g.undelete(described, g.head(described).last+1)
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
	g.leave(w.stream, h)
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
	g.leave(stream, h)
	at := seat{revision: h.last, position: g.next}
	g.next++
	if g.known == nil {
		g.known = map[identity]seat{}
	}
	g.known[identity{h.id, p.id}] = at
	g.rows = append(g.rows, record{
		position: at.position, revision: at.revision, streamID: h.id, stream: stream, kind: p.kind, id: p.id,
		isJSON: p.isJSON, metadata: notNil(p.metadata), data: notNil(p.data),
	})
	return at
}

// leave changes the head of a stream. Most groups are empty: one is made whenever another is being committed.
func (g *group) leave(stream string, h head) {
	if g.heads == nil {
		g.heads = map[string]head{}
	}
	g.heads[stream] = h
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
