package telemetry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// spoolName is the first file of the spool in its directory, which stays and is locked. Further ones have a number
// behind it. They hold personal data, and nobody else may read them.
const spoolName = "accounting.spool"

// How long, and how often, the file is asked for that another program has.
const (
	lockPatience = 2 * time.Second
	lockPause    = 20 * time.Millisecond
)

// load locks the first file, so that one program at a time has the spool, tells what all files have, and cuts off what
// a crash left unfinished.
func (s *spool) load(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	first, err := s.file(spoolName)
	if err != nil {
		return err
	}
	if err := errors.Join(lockFile(ctx, first.file), syncDirectory(s.dir)); err != nil {
		return err
	}
	names, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var numbers []int
	for _, entry := range names {
		if text, ok := strings.CutPrefix(entry.Name(), spoolName+"."); ok {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if _, err := s.file(numbered(n)); err != nil {
			return err
		}
		s.number = n
	}
	for _, one := range s.files {
		if err := s.mend(one); err != nil {
			return err
		}
	}
	return s.tidy()
}

// numbered is the name of a further file.
func numbered(n int) string { return fmt.Sprintf("%s.%08d", spoolName, n) }

// file opens a file, which is made if it is not there.
func (s *spool) file(name string) (*spooled, error) {
	file, err := os.OpenFile(filepath.Join(s.dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	one := &spooled{file: file}
	s.files = append(s.files, one)
	return one, nil
}

// begin makes the next file, whose name is durable. The caller holds the lock.
func (s *spool) begin() error {
	one, err := s.file(numbered(s.number + 1))
	if err != nil {
		return fmt.Errorf("begin a file of the spool: %w", err)
	}
	if err := syncDirectory(s.dir); err != nil {
		s.files = s.files[:len(s.files)-1]
		return fmt.Errorf("begin a file of the spool: %w", errors.Join(err, one.file.Close()))
	}
	s.number++
	return nil
}

// tidy removes files of which all is taken, and empties the first one when there is no other. The caller holds the
// lock, or nobody else has the spool yet.
func (s *spool) tidy() error {
	var failed error
	last := s.files[len(s.files)-1]
	idle := s.room.Used() == 0 && !s.writing
	s.files = slices.DeleteFunc(s.files, func(one *spooled) bool {
		if one == s.files[0] || one.left > 0 || one == last && !idle {
			return false
		}
		failed = errors.Join(failed, os.Remove(one.file.Name()), one.file.Close())
		return true
	})
	if first := s.files[0]; first.left == 0 && first.size > 0 && (len(s.files) > 1 || idle) {
		if err := first.file.Truncate(0); err != nil {
			return fmt.Errorf("empty spool: %w", errors.Join(err, failed))
		}
		first.size = 0
	}
	if failed != nil {
		return fmt.Errorf("remove a file of the spool: %w", failed)
	}
	return nil
}

// lockFile keeps other programs from a file until it is closed. A program that is ending has it for a moment yet, and
// so has a process that is being started.
func lockFile(ctx context.Context, file *os.File) error {
	limited, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a small number
		if !errors.Is(err, syscall.EWOULDBLOCK) || !loop.Sleep(limited, lockPause) {
			return err
		}
	}
}

// syncDirectory makes the name of a new file durable.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// mend tells the records of a file, finds the end of the last whole one and cuts off the rest.
func (s *spool) mend(one *spooled) error {
	stat, err := one.file.Stat()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(one.file, 0, stat.Size()), 1<<16)
	var list []stretch
	defer func() {
		for _, found := range list {
			s.room.Hold(found.org, found.size)
			s.waiting.Add(found.org, found)
			one.left += found.size
		}
	}()
	for now := s.now(); ; {
		r, n, err := readRecord(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, errTorn) {
			s.logger.Warn("unfinished end of the accounting spool cut off", slog.Int64("bytes", stat.Size()-one.size))
			return errors.Join(one.file.Truncate(one.size), one.file.Sync())
		}
		if err != nil {
			return err
		}
		s.heard(r)
		list = lengthen(list, stretch{r.Org, one, one.size, n, 1, now})
		one.size += n
	}
}
