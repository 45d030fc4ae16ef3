package cpejobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// TestHealth_TheLatestIsKept: a reading that overlaps the one before does not bring older words back, and a clock that
// was put back does not keep newer ones for ever.
func TestHealth_TheLatestIsKept(t *testing.T) {
	t.Parallel()
	informs, now := open(t)
	box, silent := id.New[id.CPE](), id.New[id.CPE]()
	said := func(after time.Duration, clients int64) cpeviews.Health {
		return cpeviews.Health{At: now.Now().Add(after), WifiClients: &clients}
	}
	first := said(0, 3)
	for _, step := range []struct{ says, want cpeviews.Health }{
		{first, first},
		{said(-time.Minute, 9), first},
		{said(time.Minute, 4), said(time.Minute, 4)},
		{said(-time.Hour, 5), said(-time.Hour, 5)},
	} {
		if err := informs.KeepHealth(t.Context(), map[id.CPE]cpeviews.Health{box: step.says}); err != nil {
			t.Fatal(err)
		}
		got, err := informs.Health(t.Context(), []id.CPE{box, silent})
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		if diff := cmp.Diff(step.want, got[box]); diff != "" {
			t.Error(diff)
		}
	}
}
