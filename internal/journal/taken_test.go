package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
