package journal

import (
	"fmt"
	"iter"
)

// Place is where records lie in one segment, for Read and Taken. The zero value is no place.
type Place struct {
	in    *segment
	first run
	more  []run // behind it, in their order, with other records between them
	size  int64 // of all
	Count int   // of records
}

// run is where records lie behind each other. Segments are shorter than 4 GiB.
type run struct{ at, size uint32 }

// placeOf is the place of one record.
func placeOf(in *segment, at, size int64) Place {
	return Place{in: in, first: run{uint32(at), uint32(size)}, size: size, Count: 1} //nolint:gosec // within a segment
}

// Size is the number of octets that the records take on the disk.
func (p Place) Size() int64 { return p.size }

// Join adds the records of another place, which were appended later; false when they are in another segment. What was
// joined is not used any more.
func (p *Place) Join(next Place) bool {
	if p.in != next.in {
		return false
	}
	last := &p.first
	if n := len(p.more); n > 0 {
		last = &p.more[n-1]
	}
	if last.at+last.size == next.first.at {
		last.size += next.first.size
	} else {
		p.more = append(p.more, next.first)
	}
	p.more, p.size, p.Count = append(p.more, next.more...), p.size+next.size, p.Count+next.Count
	return true
}

// runs are where the records lie behind each other, in their order.
func (p Place) runs() iter.Seq[run] {
	return func(yield func(run) bool) {
		if !yield(p.first) {
			return
		}
		for _, one := range p.more {
			if !yield(one) {
				return
			}
		}
	}
}

// Read gives the records of a place. One that is damaged, or that the disk cannot read, is left out, with a line in the
// log. Fails: when the journal is closed.
func (j *Journal) Read(p Place) (records [][]byte, err error) {
	for at := range p.runs() {
		some, err := j.readRun(p.in, at)
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		records = append(records, some...)
	}
	return records, nil
}

// readRun gives the records that lie behind each other.
func (j *Journal) readRun(in *segment, where run) (records [][]byte, err error) {
	octets := make([]byte, where.size)
	j.mu.Lock()
	from := in.file
	j.readers[from]++
	j.mu.Unlock()
	lost, err := readFile(from, octets, int64(where.at))
	j.mu.Lock()
	j.leave(from)
	if err == nil && lost {
		in.bad = true
		j.unreadable(in)
	}
	j.mu.Unlock()
	if err != nil {
		return nil, err
	}
	rest := len(octets)
	eachRecord(octets, in.salt, func(_ int, content []byte) {
		records = append(records, content)
		rest -= headSize + len(content)
	})
	j.damaged(rest)
	return records, nil
}
