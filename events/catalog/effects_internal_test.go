package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEffects_EveryTypeOfEventSaysWhatItCanChange: a new type of event has a row, so that nobody who has to handle it
// is forgotten.
func TestEffects_EveryTypeOfEventSaysWhatItCanChange(t *testing.T) {
	t.Parallel()
	var have []string
	for _, row := range effects {
		for _, e := range row.of {
			have = append(have, e.EventType())
		}
	}
	slices.Sort(have)
	if diff := cmp.Diff(Types(), have); diff != "" {
		t.Errorf("types (-catalog +effects)\n%s", diff)
	}
}
