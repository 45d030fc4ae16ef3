package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"syscall"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// growth is the number of octets by which a segment is made ready at once.
const growth = 1 << 20

// stride is the number of zeros that come with a record that makes its file longer, where their room is reserved.
const stride = 256 << 10

// claim gives the segment for so many octets, which keeps its end until busy is nil again.
func (j *Journal) claim(size int64) (*segment, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.repair(); err != nil {
		return nil, err
	}
	if j.active != nil && !j.active.identity.isAt(j.path(j.active.number)) {
		j.rescue()
	}
	if !j.fits(j.active, size) {
		if err := j.begin(); err != nil {
			return nil, fmt.Errorf("begin a segment: %w", err)
		}
		j.cfg.Step("begun")
	}
	j.busy = j.active
	return j.busy, nil
}

// fits reports whether the active segment takes so many octets. Where it would have to become longer, a free one that
// would not is better, unless it has the room. The caller holds the lock.
func (j *Journal) fits(active *segment, size int64) bool {
	switch {
	case active == nil || active.failed || active.bad:
		return false
	case active.end+size > j.cfg.Segment:
		return active.end == segmentHead
	}
	return active.end+size <= active.room() || !slices.ContainsFunc(j.segments, func(s *segment) bool {
		return j.free(s) && segmentHead+size <= s.room()
	})
}

// repair cuts off what a failed write has left. Until it succeeds nothing is appended: a record that was refused would
// come back beside one that was kept. The caller holds the lock.
func (j *Journal) repair() error {
	if j.broken == nil {
		return nil
	}
	if err := j.broken.cut(); err != nil {
		return fmt.Errorf("cut off a failed write: %w", err)
	}
	j.broken = nil
	return j.tidy()
}

// free reports whether a segment may be begun, because all that it had is taken.
func (j *Journal) free(s *segment) bool {
	return s.left == 0 && !s.failed && !s.bad && s != j.active && s != j.busy && s != j.broken
}

// begin makes another segment the active one: a free one, or a new one. The caller holds the lock.
func (j *Journal) begin() error {
	j.active = nil
	j.rescue() // and what is free and gone is free no more
	if at := slices.IndexFunc(j.segments, j.free); at >= 0 {
		j.active = j.segments[at]
	}
	if j.active == nil {
		s, err := j.create()
		if err != nil {
			return err
		}
		j.active, j.segments = s, append(j.segments, s)
		loop.Wake(j.scarce)
	}
	j.generation++
	j.active.renew(j.generation)
	return nil
}

// reserve takes the room of one free segment on the disk, and that of the rest of the active one. Zeros have time
// until records come, which most journals see seldom. Nobody else has the journal yet.
func (j *Journal) reserve(ctx context.Context) {
	if a := j.active; a != nil && a.file.Reserve(j.cfg.Segment) == nil {
		a.reserved = j.cfg.Segment
	}
	j.prepare(ctx, (*segment).reserve)
}

// prepare makes one free segment ready: how is segment.reserve, or segment.fill, after which records never change the
// length of the file. A disk that is full by now gives the room that was left. Records do not go to the segment
// meanwhile: they would wait for its zeros, and could miss the failure of a sync that somebody else was told.
func (j *Journal) prepare(ctx context.Context, how func(*segment, context.Context, int64) error) {
	if ctx.Err() != nil {
		return
	}
	s, err := j.withdraw()
	if s == nil && err == nil {
		return
	}
	if err == nil {
		err = how(s, ctx, j.cfg.Segment)
	}
	if err != nil {
		j.cfg.Logger.WarnContext(ctx, "a journal has no room of its own on the disk for what comes",
			slog.String("journal", j.cfg.Dir), slog.String("error", err.Error()))
	}
	if s == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s.failed = s.failed || s.room() == 0
	j.segments = append(j.segments, s)
	if err := j.tidy(); err != nil {
		j.cfg.Logger.WarnContext(ctx, "empty journal", slog.String("error", err.Error()))
	}
}

// withdraw takes the free segment that has to be made ready from the others, or makes one when none is free; nil when
// one is ready.
func (j *Journal) withdraw() (*segment, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := slices.IndexFunc(j.segments, j.free)
	if at < 0 {
		return j.create()
	}
	s := j.segments[at]
	if s.length >= j.cfg.Segment {
		return nil, nil
	}
	j.segments = slices.Delete(j.segments, at, at+1)
	return s, nil
}

// tidy empties segments of which all is taken. The one with the most room is kept to be written over, beside the active
// one. The others are removed, and so are those on which a write has failed; what the disk cannot read is put aside.
// The caller holds the lock, or nobody else has the journal yet.
func (j *Journal) tidy() error {
	var failed error
	var spare *segment
	for _, s := range j.segments {
		if j.free(s) && (spare == nil || s.room() > spare.room()) {
			spare = s
		}
	}
	j.segments = slices.DeleteFunc(j.segments, func(s *segment) bool {
		if s.left > 0 || s == j.busy || s == j.broken {
			return false
		}
		if usable := !s.failed && !s.bad; usable && (s == spare || s == j.active) {
			if s.end != segmentHead {
				j.generation++
				failed = errors.Join(failed, s.empty(j.generation))
			}
			return false
		}
		if s == j.active {
			j.active = nil
		}
		failed = errors.Join(failed, j.remove(s), s.file.Close())
		return true
	})
	return failed
}

// remove forgets a segment of which all is taken, and removes its file, unless somebody else has. The file of one of
// which the disk could not read a part gets a name by which no journal reads it: what is there was not taken.
func (j *Journal) remove(s *segment) (err error) {
	path := j.path(s.number)
	there := s.identity.isAt(path)
	if s.bad {
		if there {
			err = os.Rename(path, fmt.Sprintf("%s-%016x.unreadable", path, newSalt())) // as no other one is named
		}
		return err
	}
	if s.end != segmentHead {
		j.generation++
		err = s.empty(j.generation)
	}
	if there {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// isFull reports whether a disk had no room for a write, after which it works as before.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
