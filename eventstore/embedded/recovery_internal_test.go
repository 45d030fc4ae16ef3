package embedded

import (
	"context"
	"errors"
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

// TestAwait_AWriteThatWasDroppedIsToldWhyAtTheEndToo: whatever else has happened by then.
func TestAwait_AWriteThatWasDroppedIsToldWhyAtTheEndToo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := &sequencer{ended: make(chan struct{})}
	close(q.ended)
	for range 100 {
		w := &write{reply: make(chan reply, 1)}
		w.answer(outcome{err: errAbandoned})
		if _, err := q.await(ctx, w); errors.Is(err, errAbandoned) {
			t.Fatalf("got %v", err)
		}
	}
}
