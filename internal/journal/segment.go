package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A segment begins with its head, which has a sector of the disk for itself: segmentMark, its generation as eight
// octets and their checksum, its salt as eight octets and the checksum of all of it. A segment that is written over
// again gets another generation, by which segments have their order, and another salt, by which what it had before is
// known to be old. A head of the first form (ADR 0022) has no salt, and the records under it have the generation in its
// place.
const (
	segmentMark = "\xf1LMS"
	segmentHead = 512
	saltFrom    = len(segmentMark) + 8 + 4 // behind the first checksum
	saltTo      = saltFrom + 8             // and before the second one
)

// What a disk reads: a whole page at once, and some disks a sector alone.
const (
	page   = 4096
	sector = 512
)

// file has the operations that a journal needs; tests let them fail.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	// Reserve takes room on the disk for the first octets of the file, whose length stays as it is.
	Reserve(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Fd() uintptr
}

// diskFile is the file of every journal but those of tests.
type diskFile struct{ *os.File }

// openFile opens a file that nobody else may read.
func openFile(path string, flags int) (file, error) {
	f, err := os.OpenFile(path, flags, 0o600) //nolint:gosec // in the directory of the journal
	return diskFile{f}, err
}

// Sync makes the content durable, and the length if it has changed. It leaves out the time of the change, which would
// make the file system write to another place of the disk.
func (f diskFile) Sync() error { return syscall.Fdatasync(int(f.Fd())) } //nolint:gosec // a small number

// Truncate makes the length durable, too.
func (f diskFile) Truncate(size int64) error {
	return errors.Join(f.File.Truncate(size), f.File.Sync())
}

// Reserve takes room without writing to it, which costs nearly nothing. A signal to the program can interrupt it.
func (f diskFile) Reserve(size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size) //nolint:gosec // a small number
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// segment is one file of a journal. The journal's lock guards what changes.
type segment struct {
	file       file
	identity   identity
	number     int    // its name
	generation uint64 // 0 = it never had one
	salt       uint64 // which its records have
	end        int64  // where the last record ends
	length     int64  // of the file
	reserved   int64  // octets from the beginning on that have room on the disk, also behind the length
	left       int64  // octets of the records that were not taken
	records    int    // their number
	failed     bool   // a write has failed, or the file is gone, so that it is not written again
	bad, told  bool   // the disk could not read a part, and the log has it
	unnoted    bool   // the disk did not take that records are taken, and the log has it
}

// openSegment opens a file of which nothing is known but its length.
func openSegment(open func(string, int) (file, error), path string, flags int) (*segment, error) {
	f, err := open(path, flags)
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &segment{file: f, identity: identityOf(f), length: stat.Size()}, nil
}

// readFile reads octets from a place on. Those that the disk cannot read, or that are behind the end of the file, are
// zeros, and it reports whether there were such. Fails: when the file is closed.
func readFile(from file, octets []byte, at int64) (lost bool, err error) {
	n, err := from.ReadAt(octets, at)
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, os.ErrClosed):
		return false, err
	case errors.Is(err, io.EOF):
		clear(octets[n:])
		return true, nil
	case len(octets) <= sector:
		clear(octets)
		return true, nil
	}
	step := int64(page)
	if len(octets) <= page {
		step = sector
	}
	for len(octets) > 0 {
		n := min(step-at%step, int64(len(octets)))
		if _, err := readFile(from, octets[:n], at); err != nil {
			return true, err
		}
		octets, at = octets[n:], at+n
	}
	return true, nil
}

// head gives the octets of the head.
func (s *segment) head() []byte {
	out := binary.BigEndian.AppendUint64([]byte(segmentMark), s.generation)
	out = binary.BigEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
	if !s.former() {
		out = binary.BigEndian.AppendUint64(out, s.salt)
		out = binary.BigEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
	}
	return append(out, make([]byte, segmentHead-len(out))...)
}

// renew begins a generation, whose salt nobody can know before.
func (s *segment) renew(generation uint64) {
	s.generation, s.salt = generation, newSalt()
}

// newSalt draws a salt. A generation, which is in the place of one in the first form, is never that great.
func newSalt() uint64 {
	var octets [8]byte
	_, _ = rand.Read(octets[:]) // never fails
	return binary.BigEndian.Uint64(octets[:]) | formerSalts
}

// formerSalts is greater than all generations.
const formerSalts = 1 << 63

// former reports whether the segment is of the first form, which has no salt.
func (s *segment) former() bool { return s.salt < formerSalts }

// readHead gives what the head of a segment says; false when it is damaged.
func readHead(head []byte) (generation, salt uint64, whole bool) {
	const sum = saltFrom - 4
	if len(head) < segmentHead || !bytes.HasPrefix(head, []byte(segmentMark)) ||
		crc32.Checksum(head[:sum], castagnoli) != binary.BigEndian.Uint32(head[sum:]) {
		return 0, 0, false
	}
	generation = binary.BigEndian.Uint64(head[len(segmentMark):])
	if isZero(head[saltFrom : saltTo+4]) {
		return generation, generation, true
	}
	return generation, binary.BigEndian.Uint64(head[saltFrom:]),
		crc32.Checksum(head[:saltTo], castagnoli) == binary.BigEndian.Uint32(head[saltTo:])
}

// isZero reports whether octets are nothing but zeros.
func isZero(octets []byte) bool { return len(bytes.TrimRight(octets, "\x00")) == 0 }

// identify reads generation and salt. When the head is damaged the first record has the salt: no content is ever where
// it begins. Its records are given before those of others then, because nothing tells their turn. When it is damaged,
// too, records could not be told from what somebody has written into one, and the file is kept for a person.
func (s *segment) identify() error {
	octets := make([]byte, segmentHead+headSize)
	octets = octets[:min(int64(len(octets)), s.length)]
	lost, err := readFile(s.file, octets, 0)
	if err != nil {
		return err
	}
	s.bad = lost
	head := octets[:min(segmentHead, len(octets))]
	whole := false
	if s.generation, s.salt, whole = readHead(head); whole {
		return nil
	}
	s.generation, s.salt = 0, saltAt(octets[len(head):])
	switch {
	case s.salt == 0:
		s.bad = s.bad || !isZero(head) // a head of zeros had no record
	case s.former():
		s.generation = s.salt
	default:
		s.generation = 1
	}
	return nil
}

// octets reads what is behind the head.
func (s *segment) octets() ([]byte, error) {
	out := make([]byte, max(0, s.length-segmentHead))
	lost, err := readFile(s.file, out, segmentHead)
	s.bad = s.bad || lost
	return out, err
}

// load tells the records that are not taken, and gives how many octets of damaged ones there are. Where there are some,
// the segment ends behind all of them.
func (s *segment) load(found func(Place, []byte)) (lost int, err error) {
	octets, err := s.octets()
	if err != nil {
		return 0, err
	}
	if s.end = s.length; s.generation == 0 {
		return len(bytes.TrimRight(octets, "\x00")), nil
	}
	end, lost := eachRecord(octets, s.salt, func(at int, content []byte) {
		place := placeOf(s, segmentHead+int64(at), Size(content))
		s.left, s.records = s.left+place.size, s.records+1
		found(place, content)
	})
	if end > 0 && lost == 0 && !s.bad {
		s.end = segmentHead + int64(end)
	}
	return lost, nil
}

// zeros is how many of them are written behind so many octets of records: when these make the file longer, the next
// ones do not.
func (s *segment) zeros(size int64) int64 {
	end := s.end + size
	if end <= s.length {
		return 0
	}
	return max(0, min(end+stride, s.reserved)-end)
}

// write writes octets behind the end and makes them durable. The first ones bring the head. After a failure it reports
// whether the system may have forgotten octets that it could not write, whatever the next sync says. A disk that was
// full from the start has forgotten none.
func (s *segment) write(octets []byte, written func()) (forgot bool, err error) {
	at := s.end
	if at == segmentHead {
		at, octets = 0, append(s.head(), octets...)
	}
	if _, err := s.file.WriteAt(octets, at); err != nil {
		return !isFull(err), err
	}
	written()
	err = s.file.Sync()
	return err != nil, err
}

// reserve takes room for whole octets. Where the disk has less, or the system cannot do it, zeros are written now.
func (s *segment) reserve(ctx context.Context, whole int64) error {
	if s.room() >= whole {
		return nil
	}
	if s.file.Reserve(whole) != nil {
		return s.fill(ctx, whole)
	}
	s.reserved = whole
	return nil
}

// fill writes zeros behind what the file has, as far as there is room, until it is whole octets long or ctx ends.
func (s *segment) fill(ctx context.Context, whole int64) error {
	zeros := make([]byte, min(growth, max(0, whole-s.length)))
	for s.length < whole && ctx.Err() == nil {
		_, full := s.file.WriteAt(zeros[:min(growth, whole-s.length)], s.length)
		if err := s.file.Sync(); err != nil || full != nil && !isFull(full) {
			s.failed = true
			return errors.Join(full, err)
		}
		stat, err := s.file.Stat()
		if err != nil {
			return err
		}
		if s.length = stat.Size(); full != nil {
			return full
		}
	}
	return nil
}

// forget notes in the file that records are taken, so that no start gives them again. It is not synced: a kill loses
// nothing of it, and after a power failure they are given again.
func (s *segment) forget(p Place) error {
	for at := range p.runs() {
		if _, err := s.file.WriteAt(takenHead(s.salt, at.size), int64(at.at)); err != nil {
			return err
		}
	}
	return nil
}

// room is how many octets find room in the file, whatever the disk has.
func (s *segment) room() int64 { return max(s.length, s.reserved) }

// cut removes what is behind the end from the disk.
func (s *segment) cut() error {
	if err := errors.Join(s.file.Truncate(s.end), s.file.Sync()); err != nil {
		return err
	}
	s.length, s.reserved = s.end, 0
	return nil
}

// empty makes all records old.
func (s *segment) empty(generation uint64) error {
	s.renew(generation)
	s.end = segmentHead
	if s.length == 0 {
		return nil
	}
	_, err := s.file.WriteAt(s.head(), 0)
	return err
}
