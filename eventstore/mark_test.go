package eventstore

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestMark_IsStoredAndReadAgain: none is null.
func TestMark_IsStoredAndReadAgain(t *testing.T) {
	t.Parallel()
	for _, m := range []Mark{{}, {Position: 4920, ID: id.New[id.Event]()}} {
		stored, err := m.Value()
		if err != nil {
			t.Fatal(err)
		}
		got := Mark{Position: 1}
		if err := got.Scan(stored); err != nil || got != m || (stored == nil) != m.IsZero() {
			t.Errorf("%v became %v and %v, %v", m, stored, got, err)
		}
	}
	for _, bad := range []any{"", "12", "x " + id.New[id.Event]().String(), "12 x", 12} {
		if err := (&Mark{}).Scan(bad); err == nil {
			t.Errorf("%v was read as a mark", bad)
		}
	}
}
