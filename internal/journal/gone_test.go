package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/journal"
)

// removedRoom is how many octets of the removed files of a directory this program keeps on the disk.
func removedRoom(t *testing.T, dir string) (octets int64) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("the system does not tell which files are open")
	}
	for _, entry := range open {
		path := "/proc/self/fd/" + entry.Name()
		to, _ := os.Readlink(path) // it may be closed by now
		if !strings.HasPrefix(to, dir) || !strings.HasSuffix(to, " (deleted)") {
			continue
		}
		if stat, err := os.Stat(path); err == nil {
			octets += stat.Size()
		}
	}
	return octets
}

// TestJournal_RemovedFilesGiveTheirRoomBack: an operator removes the files of a journal under the running program to
// make room. Their records have other files, and go on to be read; nothing of the old ones stays on the disk.
func TestJournal_RemovedFilesGiveTheirRoomBack(t *testing.T) {
	t.Parallel()
	const whole = 1 << 20
	dir := filepath.Join(t.TempDir(), "j")
	q, err := journal.OpenQueue(t.Context(), journal.Config{Dir: dir, Segment: whole})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	const records = 120
	add := func(count int) {
		for range count {
			if err := q.Append(make([]byte, 60_000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(80) // about five segments
	files, err := filepath.Glob(filepath.Join(dir, "0*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	add(records - 80)
	if held := removedRoom(t, dir); held > whole { // of one that is being made ready
		t.Errorf("%d octets of removed files stay on the disk", held)
	}
	list, places, err := q.Next(2 * records)
	if err != nil || len(list) != records {
		t.Fatalf("%d records of %d, %v", len(list), records, err)
	}
	if err := q.Taken(places); err != nil {
		t.Fatal(err)
	}
	if held := removedRoom(t, dir); held > whole {
		t.Errorf("all is taken, and %d octets of removed files stay on the disk", held)
	}
}
