package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// lock makes the directory and keeps other programs from it until it is closed. Fails: ErrTaken, after a moment.
func (j *Journal) lock(ctx context.Context) error {
	if err := os.MkdirAll(j.cfg.Dir, 0o700); err != nil {
		return err
	}
	if err := SyncDirectory(filepath.Dir(j.cfg.Dir)); err != nil {
		return err
	}
	dir, err := os.Open(j.cfg.Dir)
	if err != nil {
		return err
	}
	if err := Lock(ctx, dir); err != nil {
		return errors.Join(err, dir.Close())
	}
	j.dir, j.home = dir, identityOf(dir)
	return nil
}

// Lock keeps other programs from a file or a directory until it is closed. Fails: ErrTaken, after a moment.
func Lock(ctx context.Context, file *os.File) error {
	limited, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a small number
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if !loop.Sleep(limited, lockPause) {
			return ErrTaken
		}
	}
}

// SyncDirectory makes the names in a directory durable.
func SyncDirectory(path string) error {
	dir, err := os.Open(path) //nolint:gosec // of the program's own
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// path is that of a segment.
func (j *Journal) path(number int) string {
	return filepath.Join(j.cfg.Dir, fmt.Sprintf("%08d", number))
}

// settle makes the directory again when it was removed or renamed under the running program: a file in the old one
// would not be found at the next start. Fails: ErrTaken, at once, when another program has the new one. The caller
// holds the lock.
func (j *Journal) settle() error {
	if j.home.isAt(j.cfg.Dir) {
		return nil
	}
	old := j.dir
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if err := j.lock(now); err != nil {
		return fmt.Errorf("make the directory again: %w", err)
	}
	j.cfg.Logger.Error("the directory of a journal was removed or renamed; another one is used from now on",
		slog.String("journal", j.cfg.Dir))
	return old.Close()
}

// create makes the file of a segment that no other one has, with its room if the disk has that, and makes its name
// durable. The caller holds the lock.
func (j *Journal) create() (*segment, error) {
	s, err := j.newSegment()
	if err != nil {
		return nil, err
	}
	if s.file.Reserve(j.cfg.Segment) == nil {
		s.reserved = j.cfg.Segment
	}
	return s, nil
}

// newSegment makes the file of a segment without its room. The caller holds the lock.
func (j *Journal) newSegment() (*segment, error) {
	if err := j.settle(); err != nil {
		return nil, err
	}
	number := 1
	for _, s := range j.segments {
		number = max(number, s.number+1)
	}
	s, err := openSegment(j.cfg.open, j.path(number), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	for errors.Is(err, fs.ErrExist) { // it is being made ready, or is of a copy that somebody has put here
		number++
		s, err = openSegment(j.cfg.open, j.path(number), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	}
	if err != nil {
		return nil, err
	}
	s.number, s.end = number, segmentHead
	if err := j.dir.Sync(); err != nil {
		return nil, errors.Join(err, s.file.Close(), os.Remove(j.path(number)))
	}
	return s, nil
}
