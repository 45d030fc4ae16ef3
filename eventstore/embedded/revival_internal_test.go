package embedded

import (
	"testing"

	"github.com/google/uuid"
)

// TestCompare_ARepeatOfWhatWasRemovedDoesNotDiffer: of a stream that was scavenged only the last event is left, which
// makes an append that ends with it a repeat, and nothing that may be written.
func TestCompare_ARepeatOfWhatWasRemovedDoesNotDiffer(t *testing.T) {
	t.Parallel()
	conn := testSession(t, testSessions(t))
	last, other := uuid.New(), uuid.New()
	for name, tc := range map[string]struct {
		ids             []uuid.UUID
		repeat, differs bool
	}{
		"a repeat":            {[]uuid.UUID{uuid.New(), uuid.New(), last}, true, false},
		"another last event":  {[]uuid.UUID{uuid.New(), uuid.New(), other}, false, true},
		"the last one before": {[]uuid.UUID{last}, false, true},
	} {
		w := &write{stream: "s", expected: expectNoStream}
		for _, id := range tc.ids {
			w.events = append(w.events, proposal{id: id})
		}
		repeat, differs, err := w.compare(t.Context(), conn, `select 2::bigint, '`+last.String()+`'::uuid, 9::bigint
			where $1::text = 's' and $2::bigint < 2 and $3::bigint >= 2`)
		if err != nil || (repeat != nil) != tc.repeat || differs != tc.differs {
			t.Errorf("%s: %v, differs %t, %v", name, repeat, differs, err)
		}
	}
}
