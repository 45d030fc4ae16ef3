package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// drain appends records and takes them.
func drain(t *testing.T, j *Journal, records ...[]byte) {
	t.Helper()
	places, err := j.Append(records...)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Taken(places...); err != nil {
		t.Fatal(err)
	}
}

// TestJournal_WhatWasInsideATakenRecordIsNone: somebody has sent records inside of contents, one for each generation
// that the segment can have at the next start. All is taken by then, and their octets are still in the file.
func TestJournal_WhatWasInsideATakenRecordIsNone(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	for drains := range 3 {
		q := openDying(t, cfg)
		var guesses [][]byte
		for g := range uint64(100) {
			guess := appendRecord([]byte("a class: "), q.generation+g, []byte("forged    "))
			guesses = append(guesses, append(guess, "and more"...))
		}
		drain(t, q.Journal, guesses...)
		for range drains * 20 { // of others, which write over the first ones alone
			drain(t, q.Journal, []byte("of others "))
		}
		q.Close()
		q = openDying(t, cfg)
		gives(t, fmt.Sprintf("%d times taken", drains*20), q)
		q.Close()
	}
}

// TestJournal_WhatIsInsideADamagedRecordIsNone: the disk has lost the head of the segment, or that of a record. What
// somebody has sent inside of a content, as of the newest generation or of this one, is not given for it.
func TestJournal_WhatIsInsideADamagedRecordIsNone(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		wiped []int64 // heads of which nothing is left
		want  []string
	}{
		"the segment's":          {[]int64{0}, []string{"record 00 ", "record 01 ", "record 02 "}},
		"a record's":             {[]int64{segmentHead}, []string{"record 01 ", "record 02 "}},
		"both, nothing is known": {[]int64{0, segmentHead}, nil},
	} {
		cfg := Config{Dir: t.TempDir()}
		q := openDying(t, cfg)
		generation := q.generation + 1
		for i := range 3 {
			content := fmt.Appendf(nil, "record %02d ", i)
			for _, g := range []uint64{generation, 1 << 62, 1<<64 - 1} {
				content = appendRecord(content, g, []byte("forged    "))
			}
			if err := q.Append(content); err != nil {
				t.Fatal(err)
			}
		}
		q.Close()
		for _, at := range c.wiped {
			overwrite(t, filepath.Join(cfg.Dir, "00000001"), []byte("damaged by the disk."), at)
		}
		q = openDying(t, cfg)
		gives(t, what, q, c.want...)
		q.Close()
		aside, err := filepath.Glob(filepath.Join(cfg.Dir, "*.unreadable"))
		if err != nil || (len(aside) == 1) != (c.want == nil) {
			t.Errorf("%s: %q is put aside, %v", what, aside, err)
		}
	}
}

// overwrite writes octets to a file.
func overwrite(t *testing.T, path string, octets []byte, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(octets, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestJournal_SegmentsWithoutASaltAreGiven: those of the first form, whose records name the generation. Nothing is
// appended to them, so that none stays as soon as all that they had is taken.
func TestJournal_SegmentsWithoutASaltAreGiven(t *testing.T) {
	t.Parallel()
	const generation = 5<<32 + 7
	for _, damaged := range []bool{false, true} {
		cfg := Config{Dir: t.TempDir()}
		path := filepath.Join(cfg.Dir, "00000001")
		octets := binary.BigEndian.AppendUint64([]byte(segmentMark), generation)
		octets = binary.BigEndian.AppendUint32(octets, crc32.Checksum(octets, castagnoli))
		if damaged {
			octets[0] = 0
		}
		octets = append(octets, make([]byte, segmentHead-len(octets))...)
		for _, one := range []string{"taken     ", "record 01 ", "record 02 "} {
			octets = appendRecord(octets, generation, []byte(one))
		}
		octets = appendRecord(octets, generation-1, []byte("of before "))
		copy(octets[segmentHead:], takenHead(generation, headSize+10))
		overwrite(t, path, octets, 0)
		q := openDying(t, cfg)
		gives(t, "first start", q, "record 01 ", "record 02 ")
		if err := q.Append([]byte("and more  ")); err != nil {
			t.Fatal(err)
		}
		q.Close()
		q = openDying(t, cfg)
		places := gives(t, "next start", q, "record 01 ", "record 02 ", "and more  ")
		if err := q.Taken(places[:2]); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(q.segments, func(s *segment) bool { return s.end > segmentHead && s.former() }) {
			t.Error("a segment without a salt stays when all that it had is taken")
		}
		q.Close()
		gives(t, "afterwards", openDying(t, cfg), "and more  ")
	}
}

// TestJournal_ASegmentWhoseTurnIsDamagedIsGivenFirst: its head had the turn. Its record has the salt.
func TestJournal_ASegmentWhoseTurnIsDamagedIsGivenFirst(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir(), Segment: 2000}
	q := openDying(t, cfg)
	for _, name := range []string{"record 01 ", "record 02 "} {
		if err := q.Append(fmt.Appendf(nil, "%-1200s", name)); err != nil {
			t.Fatal(err)
		}
	}
	second := q.path(gives(t, "before", q, "record 01 ", "record 02 ")[1].in.number)
	q.Close()
	overwrite(t, second, []byte("damaged by the disk."), 0)
	gives(t, "the next start", openDying(t, cfg), "record 02 ", "record 01 ")
}
