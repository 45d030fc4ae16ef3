// Package journal keeps octets in a file, in order, until somebody has taken them: what a program must not lose while
// its database is away. A record that Append has taken without an error is on the disk and is given until it was taken;
// after a kill or a power failure it can be given again, so whoever takes records must do each once.
//
// A record in the file is a mark of four octets, its length and its checksum (CRC-32C of length and content), both of
// four octets, and its content. The mark lets a reader find the next record behind a damaged place.
package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// The parts of a record before its content.
const (
	mark     = "\xf1LMJ"
	headSize = 12
)

// MaxRecord is the size of the longest record.
const MaxRecord = 1 << 20

// How long, and how often, the file is asked for that another program has.
const (
	lockPatience = 2 * time.Second
	lockPause    = 20 * time.Millisecond
)

var (
	// ErrFull refuses records that would make the file longer than its limit.
	ErrFull = errors.New("the journal is full")
	// ErrTaken says that another program has the file.
	ErrTaken = errors.New("another program has the journal")
)

// castagnoli is the table of the checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // never written

// Config says where a journal is. Path and Limit are required.
type Config struct {
	Path   string // of the file; its directory is made, and nobody else may read either
	Limit  int64  // the greatest length of the file, in octets
	Logger *slog.Logger
	// Step is called between the steps of a write, by tests; nil = nothing.
	Step func(name string)
}

// Journal is an open file. Safe for concurrent use.
type Journal struct {
	cfg  Config
	file *os.File

	mu      sync.Mutex
	head    int64 // where the oldest record begins that was not taken
	size    int64 // where the last whole record ends
	records int   // between the two
}

// Open opens the file, which one program at a time has, and cuts off what a crash left unfinished at its end. Fails:
// ErrTaken, after a moment, because a program that is ending has its file for a moment yet.
func Open(ctx context.Context, cfg Config) (*Journal, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Step == nil {
		cfg.Step = func(string) {}
	}
	dir := filepath.Dir(cfg.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	file, err := os.OpenFile(cfg.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{cfg: cfg, file: file}
	err = j.lock(ctx)
	if err == nil {
		err = errors.Join(syncDirectory(dir), j.mend())
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// lock keeps other programs from the file until it is closed.
func (j *Journal) lock(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := syscall.Flock(int(j.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a small number
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if !loop.Sleep(limited, lockPause) {
			return ErrTaken
		}
	}
}

// syncDirectory makes the name of a new file durable.
func syncDirectory(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the directory of the journal
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// mend finds the end of the last whole record and cuts off the rest, which was never acknowledged.
func (j *Journal) mend() error {
	stat, err := j.file.Stat()
	if err != nil {
		return err
	}
	length := stat.Size()
	for {
		at, content, err := j.find(j.size, length)
		if err != nil {
			return err
		}
		if content == nil {
			break
		}
		j.size = at + headSize + int64(len(content))
		j.records++
	}
	if j.size == length {
		return nil
	}
	j.cfg.Logger.Warn("unfinished end of a journal cut off", "file", filepath.Base(j.cfg.Path), "bytes", length-j.size)
	return errors.Join(j.file.Truncate(j.size), j.file.Sync())
}

// find gives the first whole record that begins at an offset or later and ends before the end, and where it begins; no
// content when there is none.
func (j *Journal) find(from, end int64) (int64, []byte, error) {
	for at := from; at+headSize <= end; {
		content, err := j.read(at, end)
		if err != nil || content != nil {
			return at, content, err
		}
		next, err := j.nextMark(at+1, end)
		if err != nil {
			return 0, nil, err
		}
		at = next
	}
	return end, nil, nil
}

// read gives the content of the record at an offset; nil when there is no whole one. An empty record does not exist.
func (j *Journal) read(at, end int64) ([]byte, error) {
	var head [headSize]byte
	if _, err := j.file.ReadAt(head[:], at); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(head[4:]))
	if string(head[:4]) != mark || length == 0 || length > MaxRecord || at+headSize+length > end {
		return nil, nil
	}
	content := make([]byte, length)
	if _, err := j.file.ReadAt(content, at+headSize); err != nil {
		return nil, err
	}
	if checksum(content) != binary.BigEndian.Uint32(head[8:]) {
		return nil, nil
	}
	return content, nil
}

// nextMark gives the offset of the first mark at an offset or later, or the end.
func (j *Journal) nextMark(from, end int64) (int64, error) {
	piece := make([]byte, 1<<16)
	for at := from; at+headSize <= end; at += int64(len(piece)) - headSize {
		n, err := j.file.ReadAt(piece[:min(int64(len(piece)), end-at)], at)
		if err != nil && n == 0 {
			return 0, err
		}
		if i := bytes.Index(piece[:n], []byte(mark)); i >= 0 {
			return at + int64(i), nil
		}
	}
	return end, nil
}

// checksum is that of a record's length and content.
func checksum(content []byte) uint32 {
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(content))) //nolint:gosec // bounded by MaxRecord
	return crc32.Update(crc32.Checksum(length[:], castagnoli), castagnoli, content)
}

// Append writes records through to the disk, all or none of them. Fails: ErrFull, and what the disk says.
func (j *Journal) Append(records ...[]byte) error {
	var octets []byte
	for _, content := range records {
		if len(content) == 0 || len(content) > MaxRecord {
			return fmt.Errorf("write journal: a record of %d bytes", len(content))
		}
		octets = append(octets, mark...)
		octets = binary.BigEndian.AppendUint32(octets, uint32(len(content))) //nolint:gosec // bounded
		octets = binary.BigEndian.AppendUint32(octets, checksum(content))
		octets = append(octets, content...)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.size+int64(len(octets)) > j.cfg.Limit {
		return ErrFull
	}
	j.cfg.Step("before write")
	_, err := j.file.WriteAt(octets, j.size)
	if err == nil {
		j.cfg.Step("written")
		err = j.file.Sync()
	}
	if err != nil { // a record that was written in part must not come back
		return fmt.Errorf("write journal: %w", errors.Join(err, j.file.Truncate(j.size)))
	}
	j.size += int64(len(octets))
	j.records += len(records)
	return nil
}

// Next gives the oldest records that were not taken, most of them at most, and the place behind them for Taken. A
// damaged record is left out, with a line in the log, and those behind it are given.
func (j *Journal) Next(most int) (records [][]byte, behind int64, err error) {
	j.mu.Lock()
	head, size := j.head, j.size
	j.mu.Unlock()
	for len(records) < most && head < size {
		at, content, err := j.find(head, size)
		if err != nil {
			return nil, 0, fmt.Errorf("read journal: %w", err)
		}
		if at != head {
			j.cfg.Logger.Error("damaged records of a journal are left out", "file", filepath.Base(j.cfg.Path),
				"bytes", at-head)
		}
		if head = at; content != nil {
			records, head = append(records, content), at+headSize+int64(len(content))
		}
	}
	return records, head, nil
}

// Taken forgets the n records before a place that Next gave. When nothing is left the file is emptied.
func (j *Journal) Taken(n int, behind int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if behind < j.head || behind > j.size {
		return fmt.Errorf("empty journal: place %d of %d", behind, j.size)
	}
	j.head, j.records = behind, j.records-n
	if j.head < j.size {
		return nil
	}
	if err := j.file.Truncate(0); err != nil {
		return fmt.Errorf("empty journal: %w", err)
	}
	j.head, j.size, j.records = 0, 0, 0
	return nil
}

// Len is the number of records that were not taken.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return max(j.records, 0)
}

// Bytes is the present length of the file, which also has the records that were taken since it was last empty.
func (j *Journal) Bytes() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// Empty reports whether all records were taken.
func (j *Journal) Empty() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head == j.size
}

// Close frees the file. It may be called twice.
func (j *Journal) Close() { _ = j.file.Close() }
