package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJournal_WhatIsTakenWhileTheNextIsWrittenIsNoted: the segment has nothing else left, and is not emptied because of
// the next record.
func TestJournal_WhatIsTakenWhileTheNextIsWrittenIsNoted(t *testing.T) {
	t.Parallel()
	var q *Queue
	var taking []Place
	cfg := Config{Dir: t.TempDir(), Step: func(name string) {
		if name == "written" && len(taking) > 0 {
			if err := q.Taken(taking); err != nil {
				t.Error(err)
			}
		}
	}}
	q = openDying(t, cfg)
	for i := range 10 {
		if err := q.Append(fmt.Appendf(nil, "record %02d ", i)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if _, taking, err = q.Next(10); err != nil {
		t.Fatal(err)
	}
	if err := q.Append([]byte("waits     ")); err != nil {
		t.Fatal(err)
	}
	q.Close()
	gives(t, "the next start", openDying(t, Config{Dir: cfg.Dir}), "waits     ")
}

// stuckFile is a file that cannot be synced or made shorter any more.
type stuckFile struct {
	diskFile
	stuck *bool
}

// Sync implements file.
func (f stuckFile) Sync() error {
	if *f.stuck {
		return errDisk
	}
	return f.diskFile.Sync()
}

// Truncate implements file.
func (f stuckFile) Truncate(size int64) error {
	if *f.stuck {
		return errDisk
	}
	return f.diskFile.Truncate(size)
}

// TestJournal_WhatIsTakenAfterAFailedWriteIsNoted: the segment has nothing else left, and is not emptied as long as
// what the write has left cannot be cut off. The program is killed.
func TestJournal_WhatIsTakenAfterAFailedWriteIsNoted(t *testing.T) {
	t.Parallel()
	stuck := false
	cfg := Config{Dir: t.TempDir(), open: func(path string, flags int) (file, error) {
		f, err := os.OpenFile(path, flags, 0o600)
		return stuckFile{diskFile{f}, &stuck}, err
	}}
	q := openDying(t, cfg)
	if err := q.Append([]byte("record 01 "), []byte("record 02 ")); err != nil {
		t.Fatal(err)
	}
	stuck = true
	if err := q.Append([]byte("refused   ")); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	if err := q.Taken(gives(t, "before", q, "record 01 ", "record 02 ")); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "a")
	if err := os.CopyFS(killed, os.DirFS(cfg.Dir)); err != nil {
		t.Fatal(err)
	}
	gives(t, "after a kill", openDying(t, Config{Dir: killed}), "refused   ")
}

// TestJournal_APlaceOfSeveralRunsIsNotedWhole: records of two organizations lie between each other.
func TestJournal_APlaceOfSeveralRunsIsNotedWhole(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	j, err := Open(t.Context(), cfg, func(Place, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	places, err := j.Append([]byte("a"), []byte("b"), []byte("a"), []byte("b"), []byte("a"), []byte("b"))
	if err != nil {
		t.Fatal(err)
	}
	if !places[0].Join(places[2]) || !places[0].Join(places[4]) {
		t.Fatal("another segment")
	}
	if err := j.Taken(places[0]); err != nil {
		t.Fatal(err)
	}
	j.Close()
	found := ""
	j, err = Open(t.Context(), cfg, func(_ Place, content []byte) { found += string(content) })
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	if found != "bbb" {
		t.Errorf("%q is given again, want bbb", found)
	}
}

// TestJournal_ADamagedNoteOfWhatIsTakenHidesNothing: the disk has damaged the length in it. Whatever it says there,
// what lies behind is given.
func TestJournal_ADamagedNoteOfWhatIsTakenHidesNothing(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	q := openDying(t, cfg)
	for _, content := range []string{"taken     ", "record 01 ", "record 02 "} {
		if err := q.Append([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	places := gives(t, "before", q, "taken     ", "record 01 ", "record 02 ")
	if err := q.Taken(places[:1]); err != nil {
		t.Fatal(err)
	}
	q.Close()
	overwrite(t, filepath.Join(cfg.Dir, "00000001"), []byte{1}, segmentHead+headSize-6) // 256 octets more
	gives(t, "the next start", openDying(t, cfg), "record 01 ", "record 02 ")
}

// noteless is a file that does not take that records are taken.
type noteless struct{ diskFile }

// WriteAt implements file.
func (f noteless) WriteAt(octets []byte, at int64) (int, error) {
	if bytes.HasPrefix(octets, []byte(takenMark)) {
		return 0, errDisk
	}
	return f.diskFile.WriteAt(octets, at)
}

// TestJournal_WhatIsNotNotedIsToldOnce: for each file.
func TestJournal_WhatIsNotNotedIsToldOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	q := openDying(t, Config{
		Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		open: func(path string, flags int) (file, error) {
			f, err := os.OpenFile(path, flags, 0o600)
			return noteless{diskFile{f}}, err
		},
	})
	names := []string{"record 01 ", "record 02 ", "record 03 "}
	for _, name := range names {
		if err := q.Append([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	places := gives(t, "before", q, names...)
	for i := range 2 {
		if err := q.Taken(places[i : i+1]); err != nil {
			t.Error(err)
		}
	}
	q.Close()
	if n := strings.Count(log.String(), "are given again by the next start"); n != 1 {
		t.Errorf("it is told %d times:\n%s", n, log.String())
	}
}
