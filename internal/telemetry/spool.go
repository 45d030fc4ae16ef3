package telemetry

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// spoolName is the file of the spool in its directory. It holds personal data, and nobody else may read it.
const spoolName = "accounting.spool"

// A record of the spool is its length, its checksum (CRC-32C), both as four bytes, and a report in JSON.
const (
	recordHead = 8
	maxRecord  = 1 << 16
)

// How long, and how often, the file is asked for that another program has.
const (
	lockPatience = 2 * time.Second
	lockPause    = 20 * time.Millisecond
)

var (
	// errSpoolFull refuses reports when the spool has reached its limit.
	errSpoolFull = errors.New("the spool is full")
	// errTorn marks the place from which on the file is not valid.
	errTorn = errors.New("the spool is torn")
)

// castagnoli is the table of the checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // never written

// spool keeps reports in a file, in order, while the database is away. What append has returned without an error is on
// the disk. After a kill the reports that were taken last can be there again. Safe for one goroutine that appends and
// another one that takes.
type spool struct {
	limit  int64
	logger *slog.Logger
	step   func(string)
	heard  func(Report) // is told what the file has when it is opened

	mu   sync.Mutex
	file *os.File
	head int64 // where the oldest report that was not taken begins
	size int64 // where the last whole record ends
}

// open opens the file of a directory, and cuts off what a crash left unfinished at its end. One program at a time has
// the file.
func (s *spool) open(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, spoolName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	s.file = file
	if err := errors.Join(s.lock(ctx), syncDirectory(dir), s.mend()); err != nil {
		_ = file.Close()
		return fmt.Errorf("open spool: %w", err)
	}
	return nil
}

// lock keeps other programs from the file until it is closed. A program that is ending has it for a moment yet, and so
// has a process that is being started.
func (s *spool) lock(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := syscall.Flock(int(s.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a small number
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

// mend tells the records, finds the end of the last whole one and cuts off the rest.
func (s *spool) mend() error {
	stat, err := s.file.Stat()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, stat.Size()), 1<<16)
	for {
		r, n, err := readRecord(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, errTorn) {
			s.logger.Warn("unfinished end of the accounting spool cut off", slog.Int64("bytes", stat.Size()-s.size))
			return errors.Join(s.file.Truncate(s.size), s.file.Sync())
		}
		if err != nil {
			return err
		}
		s.heard(r)
		s.size += n
	}
}

// readRecord reads one record and gives its size; io.EOF at the end, errTorn when what follows is not valid.
func readRecord(in io.Reader) (Report, int64, error) {
	var head [recordHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errTorn
		}
		return Report{}, 0, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length == 0 || length > maxRecord {
		return Report{}, 0, errTorn
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in, text); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = errTorn
		}
		return Report{}, 0, err
	}
	var r Report
	if crc32.Checksum(text, castagnoli) != binary.BigEndian.Uint32(head[4:]) || json.Unmarshal(text, &r) != nil {
		return Report{}, 0, errTorn
	}
	return r, recordHead + int64(length), nil
}

// encodeReports gives the records of reports, one behind the other.
func encodeReports(reports []Report) ([]byte, error) {
	var out []byte
	for _, r := range reports {
		text, err := json.Marshal(r)
		if err != nil || len(text) > maxRecord {
			return nil, fmt.Errorf("encode report of %d bytes: %w", len(text), err)
		}
		out = binary.BigEndian.AppendUint32(out, uint32(len(text))) //nolint:gosec // bounded
		out = binary.BigEndian.AppendUint32(out, crc32.Checksum(text, castagnoli))
		out = append(out, text...)
	}
	return out, nil
}

// append writes a group of reports through to the disk. After an error none of them is in the file.
func (s *spool) append(reports []Report) error {
	body, err := encodeReports(reports)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size+int64(len(body)) > s.limit {
		return errSpoolFull
	}
	s.step("before write")
	if _, err = s.file.WriteAt(body, s.size); err == nil {
		s.step("written")
		err = s.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write spool: %w", errors.Join(err, s.file.Truncate(s.size)))
	}
	s.size += int64(len(body))
	return nil
}

// empty reports whether all reports were taken.
func (s *spool) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head == s.size
}

// bytes is the size of the reports that were not taken.
func (s *spool) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size - s.head
}

// next gives the oldest reports that were not taken, and the place behind them for taken.
func (s *spool) next(most int) ([]Report, int64, error) {
	s.mu.Lock()
	head, size := s.head, s.size
	s.mu.Unlock()
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, head, size-head), 1<<16)
	var list []Report
	for len(list) < most {
		r, n, err := readRecord(in)
		switch {
		case errors.Is(err, io.EOF):
			return list, head, nil
		case errors.Is(err, errTorn): // the disk has changed what it was given
			s.logger.Error("accounting spool is damaged, the rest of it is lost", slog.Int64("bytes", size-head))
			return list, size, nil
		case err != nil:
			return nil, 0, fmt.Errorf("read spool: %w", err)
		}
		list, head = append(list, r), head+n
	}
	return list, head, nil
}

// taken forgets what lies before a place. When nothing is left the file is emptied.
func (s *spool) taken(before int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head = before
	if s.head < s.size {
		return nil
	}
	if err := s.file.Truncate(0); err != nil {
		return fmt.Errorf("empty spool: %w", err)
	}
	s.head, s.size = 0, 0
	return nil
}

// close frees the file.
func (s *spool) close() { _ = s.file.Close() }
