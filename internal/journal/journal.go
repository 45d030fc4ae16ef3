// Package journal keeps records of octets on the disk until they are taken, in any order. A record that Append took
// without an error is on the disk and is given until it was taken; after a kill or a power failure it can be given
// again, so whoever takes records must do each once. A record that Append refused does not come back, unless the disk
// took nothing any more until the program ended.
//
// A journal is a directory of segments (segment.go), which hold records behind each other (record.go). Segments are
// written over again when all that they have is taken, because a disk makes octets durable faster in the place of
// others than where it has to find room first.
package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// usualSegment is the size of a segment in octets, unless the configuration says another one.
const usualSegment = 16 << 20

// How long, and how often, the directory is asked for that another program has.
const (
	lockPatience = 2 * time.Second
	lockPause    = 20 * time.Millisecond
)

// ErrTaken says that another program has the directory.
var ErrTaken = errors.New("another program has the journal")

// Config says where a journal is. Dir is required.
type Config struct {
	Dir     string // is made; nobody else may read it
	Segment int64  // octets after which another segment is begun; 0 = 16 MiB
	Logger  *slog.Logger
	// Step is called between the steps of a write, by tests; nil = nothing.
	Step func(name string)

	open func(path string, flags int) (file, error) // nil = a file of the disk; tests have others
}

// Journal is an open journal. Safe for concurrent use.
type Journal struct {
	cfg Config
	dir *os.File // locked

	appending sync.Mutex // held by the one that appends

	mu         sync.Mutex
	segments   []*segment
	active     *segment // is written; nil = none
	busy       *segment // is being written at this moment
	broken     *segment // has octets behind its end, which a failed write left and which must go
	generation uint64   // the greatest so far
	octets     int64    // of records that are not taken
	records    int
}

// Place is where records lie behind each other, for Read and Taken. The zero value is no place.
type Place struct {
	in       *segment
	at, size int64
	Count    int // of records
}

// Size is the number of octets that the records take on the disk.
func (p Place) Size() int64 { return p.size }

// Join makes one place of two whose records lie behind each other; false when those of the second one do not.
func (p Place) Join(next Place) (Place, bool) {
	if p.in != next.in || p.at+p.size != next.at {
		return p, false
	}
	p.size, p.Count = p.size+next.size, p.Count+next.Count
	return p, true
}

// Open opens a journal, which one program at a time has, and tells found the records that were not taken, in the order
// in which they were appended. A damaged one is left out, with a line in the log. Fails: ErrTaken, after a moment,
// because a program that is ending has its journal for a moment yet.
func Open(ctx context.Context, cfg Config, found func(Place, []byte)) (*Journal, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Step == nil {
		cfg.Step = func(string) {}
	}
	if cfg.Segment == 0 {
		cfg.Segment = usualSegment
	}
	if cfg.open == nil {
		cfg.open = openFile
	}
	j := &Journal{cfg: cfg}
	if err := j.lock(ctx); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := j.load(found); err != nil {
		j.Close()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// lock makes the directory and keeps other programs from it until it is closed.
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
	j.dir = dir
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

// load tells what the segments have. They are not appended to any more, because a write can have ended in the middle.
func (j *Journal) load(found func(Place, []byte)) error {
	entries, err := os.ReadDir(j.cfg.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		number, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		file, err := j.cfg.open(filepath.Join(j.cfg.Dir, entry.Name()), os.O_RDWR)
		if err != nil {
			return err
		}
		s := &segment{file: file, number: number}
		j.segments = append(j.segments, s)
		if err := s.identify(); err != nil {
			return err
		}
		j.generation = max(j.generation, s.generation)
	}
	slices.SortFunc(j.segments, func(a, b *segment) int { return cmp.Compare(a.generation, b.generation) })
	for _, s := range j.segments {
		lost, err := s.load(func(p Place, content []byte) {
			j.records++
			found(p, content)
		})
		if err != nil {
			return err
		}
		j.damaged(lost)
		j.octets += s.left
	}
	j.generation += 1 << 32          // those of the last heads, which a power failure can have taken, do not come again
	if err := j.tidy(); err != nil { // what is taken comes again at worst, so a full disk keeps nobody from starting
		j.cfg.Logger.Warn("segments of a journal are not emptied", slog.String("journal", filepath.Base(j.cfg.Dir)),
			slog.String("error", err.Error()))
	}
	return nil
}

// damaged tells the log of octets that are no records.
func (j *Journal) damaged(lost int) {
	if lost > 0 {
		j.cfg.Logger.Error("damaged or unfinished records of a journal are left out",
			slog.String("journal", filepath.Base(j.cfg.Dir)), slog.Int("bytes", lost))
	}
}

// Append writes records through to the disk in one write, all or none of them, and gives the place of each. It fails
// with what the disk says; how many records may wait is the caller's to judge.
func (j *Journal) Append(records ...[]byte) ([]Place, error) {
	if len(records) == 0 {
		return nil, nil
	}
	size := int64(0)
	for _, content := range records {
		if len(content) == 0 || len(content) > MaxRecord {
			return nil, fmt.Errorf("write journal: a record of %d bytes", len(content))
		}
		size += Size(content)
	}
	j.appending.Lock()
	defer j.appending.Unlock()
	s, err := j.claim(size)
	if err != nil {
		return nil, fmt.Errorf("write journal: %w", err)
	}
	places, octets := make([]Place, len(records)), make([]byte, 0, size)
	for i, content := range records {
		at := s.end + int64(len(octets))
		octets = appendRecord(octets, s.generation, content)
		places[i] = Place{in: s, at: at, size: s.end + int64(len(octets)) - at, Count: 1}
	}
	j.cfg.Step("before write")
	length, err := s.write(octets, j.cfg.Segment, func() { j.cfg.Step("written") })
	j.mu.Lock()
	defer j.mu.Unlock()
	j.busy = nil
	if err != nil {
		j.active, j.broken = nil, s
		return nil, fmt.Errorf("write journal: %w", errors.Join(err, j.repair()))
	}
	s.length, s.end, s.left = length, s.end+size, s.left+size
	j.octets, j.records = j.octets+size, j.records+len(records)
	return places, nil
}

// claim gives the segment for so many octets, which keeps its end until busy is nil again.
func (j *Journal) claim(size int64) (*segment, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.repair(); err != nil {
		return nil, err
	}
	if j.active == nil || j.active.end > segmentHead && j.active.end+size > j.cfg.Segment {
		if err := j.begin(); err != nil {
			return nil, err
		}
		j.cfg.Step("begun")
	}
	j.busy = j.active
	return j.busy, nil
}

// repair cuts off what a failed write has left. Until it succeeds nothing is appended: a record that was refused would
// come back beside one that was kept. Nothing is written to that segment again, whatever its next sync says: after a
// failed one the system may have forgotten octets that it could not write. The caller holds the lock.
func (j *Journal) repair() error {
	if j.broken == nil {
		return nil
	}
	if err := j.broken.cut(); err != nil {
		return fmt.Errorf("cut off a failed write: %w", err)
	}
	j.broken.failed, j.broken = true, nil
	return j.tidy()
}

// begin makes the next segment the active one: one of which all is taken, or a new one whose name is durable. The
// caller holds the lock.
func (j *Journal) begin() error {
	for _, s := range j.segments {
		if s.left == 0 && !s.failed && s != j.active {
			j.generation++
			s.generation = j.generation
			j.active = s
			return nil
		}
	}
	number := 1
	for _, s := range j.segments {
		number = max(number, s.number+1)
	}
	path := j.path(number)
	file, err := j.cfg.open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("begin a segment: %w", err)
	}
	if err := j.dir.Sync(); err != nil {
		return fmt.Errorf("begin a segment: %w", errors.Join(err, file.Close(), os.Remove(path)))
	}
	j.generation++
	j.active = &segment{file: file, number: number, generation: j.generation, end: segmentHead}
	j.segments = append(j.segments, j.active)
	return nil
}

// path is that of a segment.
func (j *Journal) path(number int) string {
	return filepath.Join(j.cfg.Dir, fmt.Sprintf("%08d", number))
}

// Read gives the records of a place. A damaged one is left out, with a line in the log.
func (j *Journal) Read(p Place) ([][]byte, error) {
	octets := make([]byte, p.size)
	if _, err := p.in.file.ReadAt(octets, p.at); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	var records [][]byte
	lost := len(octets)
	eachRecord(octets, p.in.generation, func(_ int, content []byte) {
		records = append(records, content)
		lost -= headSize + len(content)
	})
	j.damaged(lost)
	return records, nil
}

// Taken forgets the records of places, each once. It fails when the disk does not take that they are gone: then they
// are given again after the next start.
func (j *Journal) Taken(places ...Place) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range places {
		p.in.left -= p.size
		j.octets, j.records = j.octets-p.size, j.records-p.Count
	}
	if err := j.tidy(); err != nil {
		return fmt.Errorf("empty journal: %w", err)
	}
	return nil
}

// tidy empties segments of which all is taken. One is kept to be written over, beside the active one; the others, and
// those on which a write has failed, are removed. The caller holds the lock, or nobody else has the journal yet.
func (j *Journal) tidy() error {
	var failed error
	spare := j.active != nil && j.active.left == 0
	j.segments = slices.DeleteFunc(j.segments, func(s *segment) bool {
		if s.left > 0 || s == j.busy || s == j.broken {
			return false
		}
		var err error
		if s.end != segmentHead {
			j.generation++
			err = s.empty(j.generation)
		}
		if s == j.active || !s.failed && !spare {
			failed, spare = errors.Join(failed, err), true
			return false
		}
		failed = errors.Join(failed, os.Remove(j.path(s.number)), s.file.Close())
		return true
	})
	return failed
}

// Len is the number of records that were not taken.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.records
}

// Bytes is the number of octets of the records that were not taken.
func (j *Journal) Bytes() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.octets
}

// Disk is the number of octets that the journal has on the disk. A segment counts as long as one of its records is not
// taken, and so does what is kept to be written over.
func (j *Journal) Disk() (octets int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		octets += s.length
	}
	return octets
}

// Empty reports whether all records were taken.
func (j *Journal) Empty() bool { return j.Len() == 0 }

// Close frees the directory. It may be called twice.
func (j *Journal) Close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		_ = s.file.Close()
	}
	_ = j.dir.Close()
}
