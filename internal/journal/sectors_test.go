package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// deadSectors is a file of which some sectors cannot be read any more.
type deadSectors struct {
	diskFile
	at *[]int64 // their places
}

// ReadAt reads what is before the first of them.
func (f deadSectors) ReadAt(octets []byte, at int64) (int, error) {
	for _, bad := range *f.at {
		if at < bad+sector && bad < at+int64(len(octets)) {
			n, _ := f.diskFile.ReadAt(octets[:max(0, bad-at)], at)
			return n, errors.New("input/output error")
		}
	}
	return f.diskFile.ReadAt(octets, at)
}

// dying is the configuration of a journal in a new directory whose first file has dead sectors.
func dying(t *testing.T, at *[]int64) Config {
	t.Helper()
	dir := t.TempDir()
	return Config{Dir: dir, open: func(path string, flags int) (file, error) {
		f, err := os.OpenFile(path, flags, 0o600)
		if filepath.Base(path) == "00000001" {
			return deadSectors{diskFile{f}, at}, err
		}
		return diskFile{f}, err
	}}
}

// openDying opens a queue until the end of the test.
func openDying(t *testing.T, cfg Config) *Queue {
	t.Helper()
	q, err := OpenQueue(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

// gives compares the first ten octets of what a queue gives.
func gives(t *testing.T, when string, q *Queue, want ...string) []Place {
	t.Helper()
	records, places, err := q.Next(100)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	var got []string
	for _, r := range records {
		got = append(got, string(r[:min(len(r), 10)]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", when, got, want)
	}
	return places
}

// TestJournal_ADeadSectorCostsOnlyWhatItHits: the disk cannot read one sector any more, of the head or of a record in
// the middle. When all others are taken the file is put aside, and it is read again under its old name.
func TestJournal_ADeadSectorCostsOnlyWhatItHits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bad, lost int64 }{{0, -1}, {1536, 1}, {512 + 19*1029, 19}} {
		var dead []int64
		cfg := dying(t, &dead)
		q := openDying(t, cfg)
		var all, want []string
		for i := range int64(20) {
			text := fmt.Sprintf("record %02d ", i)
			if all = append(all, text); i != c.lost {
				want = append(want, text)
			}
			if err := q.Append(append([]byte(text), make([]byte, 1000)...)); err != nil {
				t.Fatal(err)
			}
		}
		dead = []int64{c.bad}
		when := fmt.Sprintf("octet %d: ", c.bad)
		gives(t, when+"while it runs", q, want...)
		q.Close()
		q = openDying(t, cfg)
		places := gives(t, when+"at the next start", q, want...)
		if err := q.Append([]byte("and more  ")); err != nil {
			t.Fatal(err)
		}
		if err := q.Taken(places); err != nil {
			t.Fatal(err)
		}
		q.Close()
		q = openDying(t, cfg)
		if err := q.Taken(gives(t, when+"afterwards", q, "and more  ")); err != nil {
			t.Fatal(err)
		}
		q.Close()
		aside, err := filepath.Glob(filepath.Join(cfg.Dir, "*.unreadable"))
		if err != nil || len(aside) != 1 || os.Rename(aside[0], filepath.Join(cfg.Dir, "00000007")) != nil {
			t.Fatal(aside, err)
		}
		gives(t, when+"when it can be read again", openDying(t, cfg), all...)
	}
}

// TestJournal_AFileThatIsCutUnderTheProgramCostsOnlyItsEnd: somebody has made it shorter.
func TestJournal_AFileThatIsCutUnderTheProgramCostsOnlyItsEnd(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	q := openDying(t, cfg)
	for i := range 5 {
		if err := q.Append(fmt.Appendf(nil, "record %02d ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(cfg.Dir, "00000001"), segmentHead+3*30+5); err != nil {
		t.Fatal(err)
	}
	gives(t, "cut", q, "record 00 ", "record 01 ", "record 02 ")
	if err := q.Append([]byte("and more  ")); err != nil {
		t.Fatal(err)
	}
	gives(t, "afterwards", q, "record 00 ", "record 01 ", "record 02 ", "and more  ")
	q.Close()
	if _, _, err := q.Next(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed journal: %v", err)
	}
	gives(t, "after a restart", openDying(t, cfg), "record 00 ", "record 01 ", "record 02 ", "and more  ")
}

// TestJournal_WhatWasRemovedUnderTheProgramIsNotWrittenTo: somebody, or a cleaner of old files, removes or renames the
// journal. What waited there and what is acknowledged afterwards is found at the next start, also after a kill.
func TestJournal_WhatWasRemovedUnderTheProgramIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(dir string) error{
		"nothing":      func(string) error { return nil },
		"removed":      os.RemoveAll,
		"file removed": func(dir string) error { return os.Remove(filepath.Join(dir, "00000001")) },
		"file renamed": func(dir string) error {
			return os.Rename(filepath.Join(dir, "00000001"), filepath.Join(dir, "saved"))
		},
		"renamed": func(dir string) error { return os.Rename(dir, dir+".bak") },
		"above renamed": func(dir string) error {
			return os.Rename(filepath.Dir(dir), filepath.Dir(dir)+".bak")
		},
		"a copy instead": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".bak"), os.CopyFS(dir, os.DirFS(dir+".bak")))
		},
	} {
		cfg := Config{Dir: filepath.Join(t.TempDir(), "data", "a")}
		q := openDying(t, cfg)
		if err := q.Append([]byte("first     ")); err != nil {
			t.Fatal(err)
		}
		if err := change(cfg.Dir); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := q.Append([]byte("second    ")); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		want := []string{"first     ", "second    ", "second    "}
		gives(t, what, q, want...)
		killed := filepath.Join(t.TempDir(), "a")
		if err := os.CopyFS(killed, os.DirFS(cfg.Dir)); err != nil {
			t.Fatal(err)
		}
		if what == "a copy instead" {
			want = slices.Insert(want, 0, "first     ")
		}
		gives(t, what+", after a kill", openDying(t, Config{Dir: killed}), want...)
		q.Close()
		gives(t, what+", at the next start", openDying(t, cfg), want...)
	}
}

// logged gives a logger and what it has written.
func logged() (*slog.Logger, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelError})), out
}

// TestJournal_WhatWaitsInARemovedFileIsWrittenAgain: files go that nothing is appended to any more, and the program
// ends. Places of before stay good.
func TestJournal_WhatWaitsInARemovedFileIsWrittenAgain(t *testing.T) {
	t.Parallel()
	logger, log := logged()
	cfg := Config{Dir: t.TempDir(), Segment: 1000, Logger: logger}
	q := openDying(t, cfg)
	var want []string
	for i := range 60 { // in three segments
		want = append(want, fmt.Sprintf("record %02d ", i))
		if err := q.Append([]byte(want[i])); err != nil {
			t.Fatal(err)
		}
	}
	places := gives(t, "before", q, want...)
	if err := q.Taken(places[:20]); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(cfg.Dir, "*"))
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	q.Close()
	q = openDying(t, cfg)
	records, places, err := q.Next(100)
	if err != nil || len(records) < 40 || string(records[len(records)-40]) != "record 20 " {
		t.Errorf("%d records, %v", len(records), err)
	}
	if n := strings.Count(log.String(), "waiting_records="); n < 2 {
		t.Errorf("the log tells of %d files:\n%s", n, log)
	}
	if err := os.RemoveAll(cfg.Dir); err != nil {
		t.Fatal(err)
	}
	if err := q.Append([]byte("last      ")); err != nil {
		t.Fatal(err)
	}
	if err := q.Taken(places); err != nil || q.Len() != 1 {
		t.Fatal(q.Len(), err)
	}
	gives(t, "when all others are taken", q, "last      ")
}

// TestJournal_WhatARemovedFileHadIsCountedWhereItCannotBeWritten: the disk takes no other file.
func TestJournal_WhatARemovedFileHadIsCountedWhereItCannotBeWritten(t *testing.T) {
	t.Parallel()
	logger, log := logged()
	full := false
	cfg := Config{Dir: t.TempDir(), Logger: logger, open: func(path string, flags int) (file, error) {
		if full {
			return nil, syscall.ENOSPC
		}
		return openFile(path, flags)
	}}
	q := openDying(t, cfg)
	for range 3 {
		if err := q.Append([]byte("record    ")); err != nil {
			t.Fatal(err)
		}
	}
	if full = true; os.Remove(filepath.Join(cfg.Dir, "00000001")) != nil {
		t.Fatal("there is no file")
	}
	if err := q.Append([]byte("refused   ")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a record that no file has: %v", err)
	}
	gives(t, "while it runs", q, "record    ", "record    ", "record    ")
	if text := log.String(); !strings.Contains(text, "records are lost when the program ends") ||
		!strings.Contains(text, "waiting_records=3") {
		t.Errorf("the log has:\n%s", text)
	}
	full = false
	q.Close()
	gives(t, "the next start", openDying(t, cfg), "record    ", "record    ", "record    ")
}

// TestJournal_WhoeverFindsItsPlaceTakenRefuses: the directory was renamed, and another program has made it again.
func TestJournal_WhoeverFindsItsPlaceTakenRefuses(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: filepath.Join(t.TempDir(), "a")}
	q := openDying(t, cfg)
	if err := os.Rename(cfg.Dir, cfg.Dir+".bak"); err != nil {
		t.Fatal(err)
	}
	other := openDying(t, cfg)
	if err := q.Append([]byte("refused")); !errors.Is(err, ErrTaken) {
		t.Errorf("another program has the directory: %v", err)
	}
	other.Close()
	if err := q.Append(bytes.Repeat([]byte("k"), 10)); err != nil {
		t.Fatal(err)
	}
	q.Close()
	gives(t, "the next start", openDying(t, cfg), "kkkkkkkkkk")
}
