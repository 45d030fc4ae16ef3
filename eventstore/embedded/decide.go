package embedded

import "github.com/google/uuid"

// Expected revisions below zero, with the numbers that the error trailers use.
const (
	expectNoStream = -1
	expectAny      = -2
	expectExists   = -4
)

// streamState is what the rules need to know about one stream.
type streamState struct {
	last        int64 // last event number, -1 = none
	tombstoned  bool
	softDeleted bool
	hasMetadata bool // its metastream exists
}

// seat is where an event sits.
type seat struct {
	revision int64
	position int64
}

// verdict is what the expected-revision rules say about a write.
type verdict int

// Verdicts.
const (
	verdictWrite   verdict = iota // write it
	verdictRepeat                 // already written: answer with the original seat
	verdictWrong                  // wrong expected version
	verdictDeleted                // the stream has a tombstone, or was soft-deleted and StreamExists was demanded
	verdictCompare                // an earlier revision was named: compare the ids with the stored events, then decide
)

// claim is what an append says about its stream.
type claim struct {
	expected int64 // a revision, or one of the expect constants
	ids      []uuid.UUID
	differs  bool // the comparison that verdictCompare asks for found another event at the first place
}

// decideAppend applies the expected-revision and idempotency rules to an append. known finds events written recently,
// by id, in this stream.
func decideAppend(s streamState, c claim, known func(uuid.UUID) (seat, bool)) (verdict, seat) {
	switch {
	case s.tombstoned:
		return verdictDeleted, seat{}
	case c.expected == expectExists && s.softDeleted:
		return verdictDeleted, seat{}
	case c.expected == expectExists && s.last < 0 && !s.hasMetadata:
		return verdictWrong, seat{}
	case c.expected == expectAny, c.expected == expectExists:
		return decideByRecent(c.ids, known)
	case c.expected > s.last:
		return verdictWrong, seat{}
	case c.expected == s.last:
		return verdictWrite, seat{}
	case len(c.ids) == 0:
		return verdictWrong, seat{}
	case !c.differs:
		return verdictCompare, seat{}
	case c.expected == expectNoStream && s.softDeleted:
		return verdictWrite, seat{}
	}
	return verdictWrong, seat{}
}

// decideByRecent: the first id decides whether this is a repeat; a repeat must be one as a whole.
func decideByRecent(ids []uuid.UUID, known func(uuid.UUID) (seat, bool)) (verdict, seat) {
	var at seat
	for i, id := range ids {
		found, ok := known(id)
		switch {
		case !ok && i == 0:
			return verdictWrite, seat{}
		case !ok:
			return verdictWrong, seat{}
		}
		at = found
	}
	if len(ids) == 0 {
		return verdictWrite, seat{}
	}
	return verdictRepeat, at
}

// decideDelete applies the rules to a soft delete (hard = false) or a tombstone.
func decideDelete(s streamState, expected int64, hard bool) verdict {
	unknown := func(uuid.UUID) (seat, bool) { return seat{}, false }
	v, _ := decideAppend(s, claim{expected: expected, ids: []uuid.UUID{{}}, differs: true}, unknown)
	if v == verdictWrite && !hard && s.last < 0 {
		return verdictWrong // nothing to delete
	}
	return v
}
