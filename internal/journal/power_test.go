package journal_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestQueue_APowerCutLosesNothingThatWasAppended: the power goes while several writers append, in the third segment or
// after it, and part of it was taken. What was appended and not taken is there, in directories that are new, too.
func TestQueue_APowerCutLosesNothingThatWasAppended(t *testing.T) {
	t.Parallel()
	const writers, segment = 4, 16 << 10
	disk := pgtest.NewDisk(t)
	dir := filepath.Join(disk.Dir, "new", "callbacks")
	wanted := map[string]bool{}
	for cut := range 3 {
		q := open(t, dir, segment)
		records, places, err := q.Next(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			delete(wanted, string(r))
		}
		if len(wanted) > 0 {
			t.Fatalf("cut %d: %d records that were appended are lost", cut, len(wanted))
		}
		if err := q.Taken(places); err != nil {
			t.Fatal(err)
		}
		wanted = appendUntilItFails(q, cut, writers, func(bytes int64) {
			if bytes > 3*segment {
				disk.Cut()
			}
		})
		q.Close()
		disk.Restore()
	}
	q := open(t, dir, segment)
	if records, _, err := q.Next(1 << 20); err != nil || len(records) < len(wanted) {
		t.Errorf("%d of %d records, %v", len(records), len(wanted), err)
	}
}

// appendUntilItFails has writers append until each meets a failure, and gives what was appended. grown is told how much
// the queue has, by one of them.
func appendUntilItFails(q *journal.Queue, round, writers int, grown func(bytes int64)) map[string]bool {
	var mu sync.Mutex
	var group sync.WaitGroup
	done := map[string]bool{}
	for writer := range writers {
		group.Go(func() {
			for n := 0; ; n++ {
				record := fmt.Sprintf("%d-%d-%d-%0100d", round, writer, n, n)
				if q.Append([]byte(record)) != nil {
					return
				}
				mu.Lock()
				done[record] = true
				mu.Unlock()
				if writer == 0 {
					grown(q.Bytes())
				}
			}
		})
	}
	group.Wait()
	return done
}
