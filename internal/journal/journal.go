// Package journal keeps records of octets on the disk until they are taken, in any order. A record that Append took
// without an error is on the disk and is given until it was taken. It can be given again after a kill before that is
// noted, or a power failure soon after, so whoever takes records must do each once. A record that Append refused does
// not come back, unless the disk took nothing any more until the program ended.
//
// A journal is a directory of segments (segment.go), which hold records behind each other (record.go). An open journal
// has the room of a segment on the disk (room.go), so that it takes records also when the disk is full by then.
// Segments are filled with zeros before records come to them, and written over again when all that they have is taken:
// a disk makes octets durable faster in the place of others than in room that has none yet. Where little waits in many
// segments, whoever takes records has it brought together (gather.go).
package journal

import (
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
const usualSegment = 4 << 20

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
	Segment int64  // octets after which another segment is begun; 0 = 4 MiB
	Logger  *slog.Logger
	// Step is called between the steps of a write, by tests; nil = nothing.
	Step func(name string)

	open func(path string, flags int) (file, error) // nil = a file of the disk; tests have others
}

// Journal is an open journal. Safe for concurrent use.
type Journal struct {
	cfg     Config
	loops   *loop.Group
	scarce  chan struct{} // signalled when the next segment has to be made ready
	appends sync.Mutex    // held by the one that appends

	mu         sync.Mutex
	dir        *os.File // locked
	home       identity // of dir
	segments   []*segment
	readers    map[file]int // how many read a file at this moment
	gone       []file       // that somebody reads, of segments that have another one since theirs was removed
	active     *segment     // is written; nil = none
	busy       *segment     // is being written at this moment
	broken     *segment     // has octets behind its end, which a failed write left and which must go
	generation uint64       // the greatest so far
	octets     int64        // of records that are not taken
	records    int
	closed     bool
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
	j := &Journal{
		cfg: cfg, loops: loop.Within(context.WithoutCancel(ctx), cfg.Logger), scarce: make(chan struct{}, 1),
		readers: map[file]int{},
	}
	if err := j.lock(ctx); err != nil {
		j.loops.Stop()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := j.load(found); err != nil {
		j.Close()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j.reserve(ctx)
	j.loops.Go("journal", func(ctx context.Context) {
		for loop.Wait(ctx, j.scarce) {
			j.prepare(ctx, (*segment).fill)
		}
	})
	return j, nil
}

// load tells what the segments have. Only the last one is appended to, so that its room counts on a disk that is full
// by then, and not when a write has ended in the middle.
func (j *Journal) load(found func(Place, []byte)) error {
	entries, err := os.ReadDir(j.cfg.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		number, err := strconv.Atoi(entry.Name())
		if err != nil || j.path(number) != filepath.Join(j.cfg.Dir, entry.Name()) {
			continue
		}
		s, err := openSegment(j.cfg.open, j.path(number), os.O_RDWR)
		if errors.Is(err, syscall.EIO) {
			j.cfg.Logger.Error("a file of a journal cannot be opened, and is left out",
				slog.String("file", j.path(number)), slog.String("error", err.Error()))
			continue
		}
		if err != nil {
			return err
		}
		s.number = number
		j.segments = append(j.segments, s)
		if err := s.identify(); err != nil {
			return err
		}
		j.generation = max(j.generation, s.generation)
	}
	slices.SortFunc(j.segments, older)
	for _, s := range j.segments {
		lost, err := s.load(func(p Place, content []byte) {
			j.records++
			found(p, content)
		})
		if err != nil {
			return err
		}
		j.damaged(lost)
		j.unreadable(s)
		j.octets += s.left
		j.active = nil
		if s.left > 0 && lost == 0 && !s.former() {
			j.active = s
		}
	}
	j.generation += 1 << 32          // behind those of the last heads, which a power failure can have taken
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

// unreadable tells the log once of a segment of which the disk could not read something.
func (j *Journal) unreadable(s *segment) {
	if s.bad && !s.told {
		s.told = true
		j.cfg.Logger.Error("the disk cannot read a part of a journal; records there are left out, and the file is kept",
			slog.String("file", j.path(s.number)))
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
	j.appends.Lock()
	defer j.appends.Unlock()
	s, err := j.claim(size)
	if err != nil {
		return nil, fmt.Errorf("write journal: %w", err)
	}
	places, octets := make([]Place, len(records)), make([]byte, 0, size)
	for i, content := range records {
		at := s.end + int64(len(octets))
		octets = appendRecord(octets, s.salt, content)
		places[i] = placeOf(s, at, s.end+int64(len(octets))-at)
	}
	zeros := s.zeros(size)
	octets = append(octets, make([]byte, zeros)...)
	j.cfg.Step("before write")
	forgot, err := s.write(octets, func() { j.cfg.Step("written") })
	j.mu.Lock()
	defer j.mu.Unlock()
	j.busy = nil
	if err != nil {
		s.failed, j.broken = forgot, s
		return nil, fmt.Errorf("write journal: %w", errors.Join(err, j.repair()))
	}
	if half := j.cfg.Segment / 2; s.end <= half && s.end+size > half {
		loop.Wake(j.scarce)
	}
	s.length, s.end, s.left = max(s.length, s.end+size+zeros), s.end+size, s.left+size
	s.records, j.octets, j.records = s.records+len(records), j.octets+size, j.records+len(records)
	return places, nil
}

// Taken forgets the records of places, each once. It fails when the disk does not take that they are gone: then they
// are given again after the next start.
func (j *Journal) Taken(places ...Place) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.forget(places)
}

// forget forgets the records of places. A segment that has others left, or cannot be emptied now, notes which are gone.
// The caller holds the lock.
func (j *Journal) forget(places []Place) error {
	for _, p := range places {
		p.in.left, p.in.records = p.in.left-p.size, p.in.records-p.Count
		j.octets, j.records = j.octets-p.size, j.records-p.Count
	}
	for _, p := range places {
		if tidied := p.in.left == 0 && p.in != j.busy && p.in != j.broken; tidied || p.in.bad {
			continue
		}
		if err := p.in.forget(p); err != nil && !p.in.unnoted {
			p.in.unnoted = true
			j.cfg.Logger.Warn("records of a journal that are taken are given again by the next start",
				slog.String("file", j.path(p.in.number)), slog.String("error", err.Error()))
		}
	}
	if err := j.tidy(); err != nil {
		return fmt.Errorf("empty journal: %w", err)
	}
	return nil
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
func (j *Journal) Disk() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.disk()
}

// disk counts for Disk. The caller holds the lock.
func (j *Journal) disk() (octets int64) {
	for _, s := range j.segments {
		octets += s.room()
	}
	return octets
}

// Empty reports whether all records were taken.
func (j *Journal) Empty() bool { return j.Len() == 0 }

// Close frees the directory. It may be called twice.
func (j *Journal) Close() {
	j.loops.Stop()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	j.closed = true
	j.rescue()
	for _, s := range j.segments {
		_ = s.file.Close()
	}
	for _, f := range j.gone {
		_ = f.Close()
	}
	_ = j.dir.Close()
}
