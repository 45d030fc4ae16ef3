package journal

import (
	"errors"
	"log/slog"
	"os"
	"slices"
)

// rescue looks for segments whose file was removed or renamed under the running program, and gives their records
// another file: the open one has them, but no start would find them. The caller holds the lock.
func (j *Journal) rescue() {
	for _, s := range j.segments {
		if s == j.busy || s.identity.isAt(j.path(s.number)) {
			continue
		}
		path, waiting := j.path(s.number), slog.Int("waiting_records", s.records)
		if s.records == 0 {
			s.failed = true
			continue
		}
		if err := j.move(s); err != nil {
			s.failed = true
			j.cfg.Logger.Error("a file of a journal was removed or renamed; records are lost when the program ends "+
				"before they are taken", slog.String("file", path), waiting, slog.String("error", err.Error()))
			continue
		}
		j.cfg.Logger.Error("a file of a journal was removed or renamed; its records have another one from now on",
			slog.String("file", path), slog.String("now", j.path(s.number)), waiting)
	}
}

// move writes what a segment has to a new file, in the same places. The caller holds the lock.
func (j *Journal) move(s *segment) error {
	octets := make([]byte, s.end)
	lost, err := readFile(s.file, octets, 0)
	if err != nil {
		return err
	}
	to, err := j.create()
	if err != nil {
		return err
	}
	_, err = to.file.WriteAt(octets, 0)
	if err = errors.Join(err, to.file.Sync()); err != nil {
		return errors.Join(err, to.file.Close(), os.Remove(j.path(to.number)))
	}
	old := s.file
	s.file, s.identity, s.number, s.length, s.reserved = to.file, to.identity, to.number, s.end, to.reserved
	s.bad = s.bad || lost
	j.unreadable(s)
	if j.readers[old] > 0 {
		j.gone = append(j.gone, old)
		return nil
	}
	_ = old.Close() // its room on the disk is free from now on
	return nil
}

// leave notes that somebody has read a file. The last one closes it when it is gone. The caller holds the lock.
func (j *Journal) leave(from file) {
	if j.readers[from]--; j.readers[from] > 0 {
		return
	}
	delete(j.readers, from)
	if at := slices.Index(j.gone, from); at >= 0 {
		j.gone = slices.Delete(j.gone, at, at+1)
		_ = from.Close()
	}
}
