package journal

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
)

// spread is how many segments a journal may have beside twice what waits before records are brought together: the
// active one, one that is free, and two that wait for a neighbour. Some that are made ready can come beside them.
const spread = 4

// older compares segments by the order in which their records were appended.
func older(a, b *segment) int {
	return cmp.Or(cmp.Compare(a.generation, b.generation), cmp.Compare(a.number, b.number))
}

// Scattered gives places that Gather should bring together: all that waits in two neighbouring segments that are little
// used, when the journal has much more on the disk than twice what waits. nil = there are none.
func (j *Journal) Scattered() func(Place) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.disk() <= 2*j.octets+spread*j.cfg.Segment {
		return nil
	}
	return j.littleUsed()
}

// littleUsed gives the places in those two neighbouring segments which together have least, if that fits into one, or
// takes half of their room at most; nil when there are none. The caller holds the lock.
func (j *Journal) littleUsed() func(Place) bool {
	list := slices.DeleteFunc(slices.Clone(j.segments), func(s *segment) bool { return s.left == 0 })
	slices.SortFunc(list, older)
	stays := func(s *segment) bool { return s.bad || s == j.active || s == j.busy || s == j.broken }
	var first, second *segment
	for i := range len(list) - 1 {
		a, b := list[i], list[i+1]
		fits := segmentHead+a.left+b.left <= max(j.cfg.Segment, (a.room()+b.room())/2)
		if fits && !stays(a) && !stays(b) && (first == nil || a.left+b.left < first.left+second.left) {
			first, second = a, b
		}
	}
	if first == nil {
		return nil
	}
	return func(p Place) bool { return p.in == first || p.in == second }
}

// Gather writes what waits in places to a segment of its own, which has the turn of the newest of theirs, and takes it
// where it was. It gives a function that tells where a place has come to; one of which something cannot be read stays.
// A kill in the middle can make the records be given twice. Nobody reads or takes them meanwhile.
func (j *Journal) Gather(places []Place) (now func(Place) Place, err error) {
	stay := func(p Place) Place { return p }
	if len(places) == 0 {
		return stay, nil
	}
	places = slices.Clone(places)
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(older(a.in, b.in), cmp.Compare(a.first.at, b.first.at))
	})
	to := &segment{}
	to.renew(places[len(places)-1].in.generation)
	octets := to.head()
	var left []Place
	moved := map[spot]Place{}
	for _, p := range places {
		records, err := j.Read(p)
		if err != nil {
			return stay, fmt.Errorf("gather journal: %w", err)
		}
		at := int64(len(octets))
		for _, content := range records {
			octets = appendRecord(octets, to.salt, content)
		}
		if int64(len(octets))-at != p.size {
			octets = octets[:at]
			j.keep(p.in)
			continue
		}
		left, moved[spotOf(p)] = append(left, p), Place{
			in: to, first: run{uint32(at), uint32(p.size)}, size: p.size, Count: p.Count, //nolint:gosec // in a segment
		}
	}
	if err := j.replace(left, to, octets); err != nil {
		return stay, fmt.Errorf("gather journal: %w", err)
	}
	return func(p Place) Place {
		if to, is := moved[spotOf(p)]; is {
			return to
		}
		return p
	}, nil
}

// keep keeps the file of a segment that has a damaged record, as it does one that the disk cannot read.
func (j *Journal) keep(s *segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.bad, s.told = true, true // the log has the damage
}

// spot is where a place begins.
type spot struct {
	in *segment
	at uint32
}

// spotOf is where a place begins.
func spotOf(p Place) spot { return spot{p.in, p.first.at} }

// replace writes a segment that has what places had, and takes them.
func (j *Journal) replace(places []Place, to *segment, octets []byte) error {
	if len(places) == 0 {
		return nil
	}
	j.mu.Lock()
	made, err := j.newSegment()
	j.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = made.file.WriteAt(octets, 0)
	if err = errors.Join(err, made.file.Sync()); err != nil {
		return errors.Join(err, made.file.Close(), os.Remove(j.path(made.number)))
	}
	made.generation, made.salt = to.generation, to.salt
	made.end, made.length = int64(len(octets)), int64(len(octets))
	for _, p := range places {
		made.left, made.records = made.left+p.size, made.records+p.Count
	}
	*to = *made
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments, j.octets, j.records = append(j.segments, to), j.octets+to.left, j.records+to.records
	if err := j.forget(places); err != nil { // they are given again after the next start, beside where they are now
		j.cfg.Logger.Warn("empty journal", slog.String("error", err.Error()))
	}
	return nil
}
