package embedded

import (
	"testing"

	"github.com/google/uuid"
)

// TestDecideAppend_Rules has one case for each expected-revision and idempotency rule.
func TestDecideAppend_Rules(t *testing.T) {
	t.Parallel()
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	seats := map[uuid.UUID]seat{a: {0, 10}, b: {1, 11}}
	known := func(id uuid.UUID) (seat, bool) { s, ok := seats[id]; return s, ok }
	two := streamState{last: 1}
	none := streamState{last: -1}
	deleted := streamState{last: 1, softDeleted: true, hasMetadata: true}
	gone := streamState{last: tombstoneRevision, tombstoned: true}
	described := streamState{last: -1, hasMetadata: true}
	for _, test := range []struct {
		name     string
		state    streamState
		expected int64
		ids      []uuid.UUID
		differs  bool
		want     verdict
	}{
		{"tombstoned, any", gone, expectAny, []uuid.UUID{c}, false, verdictDeleted},
		{"tombstoned, exact", gone, 1, []uuid.UUID{c}, false, verdictDeleted},
		{"any, new", two, expectAny, []uuid.UUID{c}, false, verdictWrite},
		{"any, nothing", two, expectAny, nil, false, verdictWrite},
		{"any, all known", two, expectAny, []uuid.UUID{a, b}, false, verdictRepeat},
		{"any, first known only", two, expectAny, []uuid.UUID{a, c}, false, verdictWrong},
		{"any, later known only", two, expectAny, []uuid.UUID{c, a}, false, verdictWrite},
		{"exists, none", none, expectExists, []uuid.UUID{c}, false, verdictWrong},
		{"exists, metadata only", described, expectExists, []uuid.UUID{c}, false, verdictWrite},
		{"exists, soft-deleted", deleted, expectExists, []uuid.UUID{c}, false, verdictDeleted},
		{"no stream, none", none, expectNoStream, []uuid.UUID{c}, false, verdictWrite},
		{"no stream, some: compare first", two, expectNoStream, []uuid.UUID{c}, false, verdictCompare},
		{"no stream, some, differs", two, expectNoStream, []uuid.UUID{c}, true, verdictWrong},
		{"no stream, soft-deleted, differs", deleted, expectNoStream, []uuid.UUID{c}, true, verdictWrite},
		{"exact, last", two, 1, []uuid.UUID{c}, false, verdictWrite},
		{"exact, beyond", two, 2, []uuid.UUID{c}, false, verdictWrong},
		{"exact, earlier: compare first", two, 0, []uuid.UUID{c}, false, verdictCompare},
		{"exact, earlier, nothing", two, 0, nil, false, verdictWrong},
		{"exact, earlier, soft-deleted, differs", deleted, 0, []uuid.UUID{c}, true, verdictWrong},
		{"exact, last, soft-deleted", deleted, 1, []uuid.UUID{c}, false, verdictWrite},
	} {
		if got, at := decideAppend(test.state, claim{test.expected, test.ids, test.differs}, known); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		} else if got == verdictRepeat && at != seats[b] {
			t.Errorf("%s: answered with %+v", test.name, at)
		}
	}
}

// TestDecideDelete_Rules: a soft delete needs something to delete, a tombstone does not.
func TestDecideDelete_Rules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		state    streamState
		expected int64
		hard     bool
		want     verdict
	}{
		{"soft, any, none", streamState{last: -1}, expectAny, false, verdictWrong},
		{"soft, no stream, none", streamState{last: -1}, expectNoStream, false, verdictWrong},
		{"soft, any", streamState{last: 3}, expectAny, false, verdictWrite},
		{"soft, exact", streamState{last: 3}, 3, false, verdictWrite},
		{"soft, earlier", streamState{last: 3}, 2, false, verdictWrong},
		{"soft, again", streamState{last: 3, softDeleted: true, hasMetadata: true}, expectAny, false, verdictWrite},
		{"hard, any, none", streamState{last: -1}, expectAny, true, verdictWrite},
		{"hard, no stream, none", streamState{last: -1}, expectNoStream, true, verdictWrite},
		{"hard, exists, none", streamState{last: -1}, expectExists, true, verdictWrong},
		{"hard, again", streamState{last: tombstoneRevision, tombstoned: true}, expectAny, true, verdictDeleted},
	} {
		if got := decideDelete(test.state, test.expected, test.hard); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}
