package embedded

import (
	"testing"
	"time"
)

// TestPatience_ALargeStatementHasLonger: it is not taken for a database that is away, and always ends before the limit
// of all statements.
func TestPatience_ALargeStatementHasLonger(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows        []record
		least, most time.Duration
	}{
		"a small one":  {make([]record, 3), outagePatience, outagePatience + time.Second/10},
		"large events": {[]record{{data: make([]byte, maxRecordBytes)}}, 12 * time.Second, 13 * time.Second},
		"many events":  {make([]record, maxProposals), 9 * time.Second, 12 * time.Second},
		"the largest one": {
			[]record{{data: make([]byte, groupBytes+writeBytes)}}, 20 * time.Second, statementPatience - 5*time.Second,
		},
	} {
		if got := (&group{rows: c.rows}).patience(); got < c.least || got > c.most {
			t.Errorf("%s has %v, not %v to %v", name, got, c.least, c.most)
		}
	}
}
