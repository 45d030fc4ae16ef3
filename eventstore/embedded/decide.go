package embedded

import "github.com/google/uuid"

// Expected revisions below zero. The numbers are those of the protocol's error trailers.
const (
	expectNoStream = -1
	expectAny      = -2
	expectExists   = -4
)

// streamState holds the facts about one stream that the rules of appends and deletes need.
type streamState struct {
	last        int64 // last event number, -1 = none
	tombstoned  bool
	softDeleted bool
	hasMetadata bool // its metastream exists
}

// seat is the place of an event, in its stream and in $all.
type seat struct {
	revision int64
	position int64
}

// verdict is the decision of the expected-revision rules about a write.
type verdict int

// The verdicts. verdictCompare is not final: a comparison with the log shows whether the append is a repeat. One that
// could be written after all is compared before it is decided.
const (
	verdictWrite   verdict = iota // write it
	verdictRepeat                 // already written: answer with the original seat
	verdictWrong                  // wrong expected version
	verdictDeleted                // the stream has a tombstone, or was soft-deleted and StreamExists was demanded
	verdictCompare                // an earlier revision was named: a repeat if the log has the events there, else wrong
)

// claim holds the facts about an append that the rules need: where it wants to write, and which events.
type claim struct {
	expected int64 // a revision, or one of the expect constants
	ids      []uuid.UUID
	differs  bool // a comparison with the log did not find the first event at its place
}

// decideAppend applies the expected-revision and idempotency rules to an append. known finds the seat of a recently
// written event of this stream by its id.
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

// decideByRecent handles appends without an exact revision. The first id decides whether the append is a repeat; then
// all other ids must be known too.
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

// decideDelete applies the rules to a soft delete (hard = false) or a tombstone. A delete has no ids, so it never
// counts as a repeat.
func decideDelete(s streamState, expected int64, hard bool) verdict {
	unknown := func(uuid.UUID) (seat, bool) { return seat{}, false }
	v, _ := decideAppend(s, claim{expected: expected, ids: []uuid.UUID{{}}, differs: true}, unknown)
	if v == verdictWrite && !hard && s.last < 0 {
		return verdictWrong // nothing to delete
	}
	return v
}
