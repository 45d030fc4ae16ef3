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

// limit is that of the journals of these tests.
const limit = 1 << 16

// open opens the journal of a path until the end of the test.
func open(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Config{Path: path, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// add appends texts, each by itself.
func add(t *testing.T, j *journal.Journal, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := j.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// have compares what a journal gives with texts.
func have(t *testing.T, j *journal.Journal, want ...string) (behind int64) {
	t.Helper()
	records, behind, err := j.Next(1000)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, string(r))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the journal has %q, want %q", got, want)
	}
	return behind
}

func TestJournal_GivesRecordsInOrderUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "a.journal")
	j := open(t, path)
	if !j.Empty() {
		t.Error("a new journal is not empty")
	}
	add(t, j, "one", "two")
	if err := j.Append([]byte("three"), []byte("four")); err != nil {
		t.Fatal(err)
	}
	records, behind, err := j.Next(2)
	if err != nil || len(records) != 2 || j.Len() != 4 {
		t.Fatal(records, j.Len(), err)
	}
	if err := j.Taken(2, behind); err != nil {
		t.Fatal(err)
	}
	behind = have(t, j, "three", "four")
	add(t, j, "five")
	if err := j.Taken(2, behind); err != nil || j.Empty() || j.Len() != 1 {
		t.Fatal(err, j.Empty(), j.Len())
	}
	if err := j.Taken(1, have(t, j, "five")); err != nil || !j.Empty() || j.Len() != 0 || j.Bytes() != 0 {
		t.Error(err, j.Empty(), j.Len(), j.Bytes())
	}
	if stat, err := os.Stat(path); err != nil || stat.Size() != 0 || stat.Mode().Perm() != 0o600 {
		t.Error(stat, err)
	}
	if j.Append(nil) == nil || j.Append(make([]byte, journal.MaxRecord+1)) == nil {
		t.Error("an impossible record was taken")
	}
}

// TestJournal_IsWholeAfterAKill copies the file at each step of a write: a program that was killed there finds such a
// file. Taken records may come back, and none that was acknowledged is missing.
func TestJournal_IsWholeAfterAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.journal")
	acknowledged, copies := 0, 0
	j, err := journal.Open(t.Context(), journal.Config{Path: path, Limit: limit, Step: func(string) {
		octets, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copies++
		found := filepath.Join(dir, fmt.Sprint("copy", copies))
		if err := os.WriteFile(found, octets, 0o600); err != nil {
			t.Fatal(err)
		}
		if n := open(t, found).Len(); n < acknowledged || n > acknowledged+1 {
			t.Errorf("%d records after a kill, %d were acknowledged", n, acknowledged)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for i := range 20 {
		add(t, j, fmt.Sprint("record ", i))
		acknowledged++
	}
	if copies != 40 {
		t.Errorf("%d copies", copies)
	}
}

func TestJournal_ATornEndIsCutOffAtEveryOctet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.journal")
	j := open(t, path)
	add(t, j, "first")
	whole := j.Bytes()
	add(t, j, "second")
	end := j.Bytes()
	j.Close()
	octets, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := whole; size < end; size++ {
		if err := os.WriteFile(path, octets[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		j := open(t, path)
		have(t, j, "first")
		add(t, j, "third")
		have(t, j, "first", "third")
		j.Close()
	}
	if err := os.WriteFile(path, append(octets[:whole:whole], make([]byte, 4096)...), 0o600); err != nil { // zeroes
		t.Fatal(err)
	}
	have(t, open(t, path), "first")
}

func TestJournal_DamageInTheMiddleCostsOnlyWhatItHits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.journal")
	j := open(t, path)
	add(t, j, "first")
	from := j.Bytes()
	add(t, j, "second, which is damaged")
	until := j.Bytes()
	add(t, j, "third")
	file, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	random := rand.New(rand.NewPCG(1, 2))
	for at := from; at < until; at++ {
		var octet [1]byte
		if _, err := file.ReadAt(octet[:], at); err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt([]byte{octet[0] ^ byte(1+random.IntN(255))}, at); err != nil {
			t.Fatal(err)
		}
		have(t, j, "first", "third") // the disk has changed it under a running program
		j.Close()
		j = open(t, path) // and before a start
		have(t, j, "first", "third")
		if _, err := file.WriteAt(octet[:], at); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Taken(2, have(t, j, "first", "second, which is damaged", "third")); err != nil || !j.Empty() {
		t.Error(err)
	}
}

func TestJournal_AFullOneRefusesAndKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "a.journal"))
	n := 0
	for ; ; n++ {
		err := j.Append(make([]byte, 1000))
		if errors.Is(err, journal.ErrFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n != 64 || j.Len() != n {
		t.Errorf("%d records fit, %d are there", n, j.Len())
	}
}

func TestJournal_OneProgramHasTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.journal")
	j := open(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := journal.Open(ctx, journal.Config{Path: path, Limit: limit}); !errors.Is(err, journal.ErrTaken) {
		t.Errorf("a second program: %v", err)
	}
	j.Close()
	open(t, path)
}
