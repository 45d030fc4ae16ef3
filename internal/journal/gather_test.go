package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/journal"
)

// killed opens a copy of a journal as it is at this moment, and gives what it has.
func killed(t *testing.T, dir string, segment int64) (found []string, j *journal.Journal) {
	t.Helper()
	left := filepath.Join(t.TempDir(), "a")
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), journal.Config{Dir: left, Segment: segment}, func(_ journal.Place, b []byte) {
		found = append(found, string(b))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return found, j
}

// TestJournal_WhatIsTakenIsNotGivenAgainAfterAKill: others wait before it, between it and behind it, or it is at the
// end, where further records come.
func TestJournal_WhatIsTakenIsNotGivenAgainAfterAKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a")
	j, err := journal.Open(t.Context(), journal.Config{Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	var places []journal.Place
	for i := range 10 {
		some, err := j.Append(fmt.Appendf(nil, "record %d", i))
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, some...)
	}
	last := places[5]
	for _, p := range places[6:] { // behind each other, as one place
		if !last.Join(p) {
			t.Fatal("another segment")
		}
	}
	if err := j.Taken(places[1], places[3], last); err != nil {
		t.Fatal(err)
	}
	want := []string{"record 0", "record 2", "record 4"}
	found, again := killed(t, dir, 0)
	if !slices.Equal(found, want) || again.Len() != 3 || again.Bytes() != 3*journal.Size([]byte(want[0])) {
		t.Errorf("%q, %d octets", found, again.Bytes())
	}
	again.Close()
	for range 2 {
		if _, err := j.Append([]byte("x")); err != nil { // shorter than what is taken
			t.Fatal(err)
		}
		want = append(want, "x")
		if found, again = killed(t, dir, 0); !slices.Equal(found, want) {
			t.Errorf("%q", found)
		}
		again.Close()
	}
	j.Close()
	j, err = journal.Open(t.Context(), journal.Config{Dir: dir}, func(journal.Place, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	if _, err := j.Append([]byte("more")); err != nil {
		t.Fatal(err)
	}
	if found, _ = killed(t, dir, 0); !slices.Equal(found, append(want, "more")) {
		t.Errorf("%q", found)
	}
}

// TestJournal_WhatWaitsForLongKeepsNoFileOfOthers: one record in a hundred waits.
func TestJournal_WhatWaitsForLongKeepsNoFileOfOthers(t *testing.T) {
	t.Parallel()
	const segment = 20_000
	dir := filepath.Join(t.TempDir(), "a")
	j, err := journal.Open(t.Context(), journal.Config{Dir: dir, Segment: segment}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	var waiting []journal.Place
	var want []string
	for n := range 100 { // two thirds of a segment each time
		group := [][]byte{fmt.Appendf(nil, "waits %03d", n)}
		for range 99 {
			group = append(group, make([]byte, 110))
		}
		places, err := j.Append(group...)
		if err != nil {
			t.Fatal(err)
		}
		waiting, want = append(waiting, places[0]), append(want, string(group[0]))
		if err := j.Taken(places[1:]...); err != nil {
			t.Fatal(err)
		}
		gather(t, j, waiting)
		if most := 2*j.Bytes() + 6*segment; j.Disk() > most {
			t.Fatalf("%d octets on the disk of %d that wait", j.Disk(), j.Bytes())
		}
	}
	for i, p := range waiting {
		if got, err := j.Read(p); err != nil || len(got) != 1 || string(got[0]) != want[i] {
			t.Fatalf("%q instead of %q, %v", got, want[i], err)
		}
	}
	if found, again := killed(t, dir, segment); !slices.Equal(found, want) || again.Len() != len(want) {
		t.Errorf("after a kill: %q", found)
	}
	if err := j.Taken(waiting...); err != nil || !j.Empty() || j.Bytes() != 0 {
		t.Error(j.Len(), j.Bytes(), err)
	}
	if found, again := killed(t, dir, segment); len(found) > 0 || again.Disk() > 2*segment {
		t.Errorf("when all is taken: %q, %d octets", found, again.Disk())
	}
}

// gather brings together what is scattered.
func gather(t *testing.T, j *journal.Journal, waiting []journal.Place) {
	t.Helper()
	scattered := j.Scattered()
	if scattered == nil {
		return
	}
	now, err := j.Gather(slices.DeleteFunc(slices.Clone(waiting), func(p journal.Place) bool { return !scattered(p) }))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range waiting {
		waiting[i] = now(p)
	}
}
