package journal_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/journal"
)

// head is the size of the head of a segment.
const head = 512

// open opens the queue in a directory until the end of the test.
func open(t *testing.T, dir string, segment int64) *journal.Queue {
	t.Helper()
	q, err := journal.OpenQueue(t.Context(), journal.Config{Dir: dir, Segment: segment})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

// add appends texts, each by itself.
func add(t *testing.T, q *journal.Queue, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := q.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// have compares what a queue gives with texts.
func have(t *testing.T, q *journal.Queue, want ...string) []journal.Place {
	t.Helper()
	records, places, err := q.Next(1000)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, string(r))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the queue has %q, want %q", got, want)
	}
	return places
}

func TestQueue_GivesRecordsInOrderUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "a")
	q := open(t, dir, 0)
	if !q.Empty() {
		t.Error("a new one is not empty")
	}
	add(t, q, "one", "two")
	if err := q.Append([]byte("three"), []byte("four")); err != nil {
		t.Fatal(err)
	}
	records, places, err := q.Next(2)
	if err != nil || len(records) != 2 || q.Len() != 4 {
		t.Fatal(records, q.Len(), err)
	}
	if err := q.Taken(places); err != nil {
		t.Fatal(err)
	}
	places = have(t, q, "three", "four")
	add(t, q, "five")
	if err := q.Taken(places); err != nil || q.Empty() || q.Len() != 1 {
		t.Fatal(err, q.Empty(), q.Len())
	}
	if err := q.Taken(have(t, q, "five")); err != nil || !q.Empty() || q.Len() != 0 || q.Bytes() != 0 {
		t.Error(err, q.Empty(), q.Len(), q.Bytes())
	}
	if q.Append(nil) == nil || q.Append(make([]byte, journal.MaxRecord+1)) == nil {
		t.Error("an impossible record was taken")
	}
	if stat, err := os.Stat(filepath.Join(dir, "00000001")); err != nil || stat.Mode().Perm() != 0o600 {
		t.Error(stat, err)
	}
	q.Close()
	have(t, open(t, dir, 0))
}

// TestQueue_IsWholeAfterAKill copies the files at each step of a write: a program that was killed there finds such
// ones. Taken records may come back, and none that was acknowledged is missing.
func TestQueue_IsWholeAfterAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	acknowledged, copies := 0, 0
	q, err := journal.OpenQueue(t.Context(), journal.Config{Dir: path, Segment: 1000, Step: func(string) {
		copies++
		found := filepath.Join(dir, fmt.Sprint("copy", copies))
		if err := os.CopyFS(found, os.DirFS(path)); err != nil {
			t.Fatal(err)
		}
		if n := open(t, found, 1000).Len(); n < acknowledged || n > acknowledged+1 {
			t.Errorf("%d records after a kill, %d were acknowledged", n, acknowledged)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for i := range 40 {
		add(t, q, fmt.Sprint("record ", i))
		acknowledged++
	}
	if copies < 82 { // several segments were begun
		t.Errorf("%d copies", copies)
	}
}

// TestQueue_SegmentsAreWrittenAgain: the disk has two of them, however many records went through.
func TestQueue_SegmentsAreWrittenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, 1000)
	for i := range 200 {
		add(t, q, fmt.Sprint("record ", i))
		if i == 0 {
			continue
		}
		if err := q.Taken(have(t, q, fmt.Sprint("record ", i-1), fmt.Sprint("record ", i))[:1]); err != nil {
			t.Fatal(err)
		}
	}
	q.Close() // it waits for the segment that is being made ready
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 2 || q.Disk() > 2000 {
		t.Errorf("%d files of %d octets, %v", len(files), q.Disk(), err)
	}
	q = open(t, dir, 1000)
	records, _, err := q.Next(1000)
	if n := len(records); err != nil || n == 0 || n > 20 || string(records[n-1]) != "record 199" {
		t.Errorf("%q, %v", records, err)
	}
}

func TestQueue_ATornEndIsCutOffAtEveryOctet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, 1000)
	add(t, q, "first")
	whole := head + q.Bytes()
	add(t, q, "second")
	end := head + q.Bytes()
	q.Close()
	file := filepath.Join(dir, "00000001")
	octets, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for size := whole; size < end; size++ {
		for _, rest := range [][]byte{nil, make([]byte, end-size), slices.Repeat([]byte{0xf1}, 60)} {
			again := filepath.Join(t.TempDir(), "again")
			if err := errors.Join(os.Mkdir(again, 0o700), os.WriteFile(filepath.Join(again, "00000001"),
				append(octets[:size:size], rest...), 0o600)); err != nil {
				t.Fatal(err)
			}
			q := open(t, again, 1000)
			have(t, q, "first")
			add(t, q, "third")
			have(t, q, "first", "third")
			q.Close()
			have(t, open(t, again, 1000), "first", "third")
		}
	}
}

func TestQueue_DamageCostsOnlyWhatItHits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, 1000)
	add(t, q, "first")
	from := head + q.Bytes()
	add(t, q, "second, which is damaged")
	until := head + q.Bytes()
	add(t, q, "third")
	file, err := os.OpenFile(filepath.Join(dir, "00000001"), os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	random := rand.New(rand.NewPCG(1, 2))
	for at := range until {
		want := []string{"first", "second, which is damaged", "third"}
		switch {
		case at >= from:
			want = []string{"first", "third"}
		case at >= head:
			want = want[1:]
		}
		var octet [1]byte
		if _, err := file.ReadAt(octet[:], at); err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt([]byte{octet[0] ^ byte(1+random.IntN(255))}, at); err != nil {
			t.Fatal(err)
		}
		if at == head || at == from {
			have(t, q, want...) // the disk has changed it under a running program
		}
		q.Close()
		q = open(t, dir, 1000) // and before a start
		have(t, q, want...)
		if _, err := file.WriteAt(octet[:], at); err != nil {
			t.Fatal(err)
		}
		q.Close()
		q = open(t, dir, 1000)
	}
	if err := q.Taken(have(t, q, "first", "second, which is damaged", "third")); err != nil || !q.Empty() {
		t.Error(err)
	}
}

func TestJournal_OneProgramHasTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := journal.OpenQueue(ctx, journal.Config{Dir: dir}); !errors.Is(err, journal.ErrTaken) {
		t.Errorf("a second program: %v", err)
	}
	q.Close()
	open(t, dir, 0)
}
