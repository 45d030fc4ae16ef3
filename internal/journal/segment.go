package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"syscall"
)

// A segment begins with its head, which has a sector of the disk for itself: segmentMark, its generation as eight
// octets and their checksum. A segment that is written over again gets another generation, by which what it had before
// is known to be old.
const (
	segmentMark = "\xf1LMS"
	segmentHead = 512
	growth      = 1 << 20 // octets by which a segment grows, so that most writes find their place on the disk
)

// file has the operations that a journal needs; tests let them fail.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Size() (int64, error)
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

// Size is the length in octets.
func (f diskFile) Size() (int64, error) {
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return stat.Size(), nil
}

// segment is one file of a journal. The journal's lock guards what changes.
type segment struct {
	file       file
	number     int    // its name
	generation uint64 // 0 = it never had one
	end        int64  // where the last record ends
	length     int64  // of the file
	left       int64  // octets of the records that were not taken
	failed     bool   // a write has failed, so that it is not written again
}

// head gives the octets of the head.
func (s *segment) head() []byte {
	out := binary.BigEndian.AppendUint64([]byte(segmentMark), s.generation)
	out = binary.BigEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
	return append(out, make([]byte, segmentHead-len(out))...)
}

// identify reads the generation. When the head is damaged it is that of the newest record.
func (s *segment) identify() (err error) {
	if s.length, err = s.file.Size(); err != nil || s.length == 0 {
		return err
	}
	head := make([]byte, min(segmentHead, s.length))
	if _, err := s.file.ReadAt(head, 0); err != nil {
		return err
	}
	const sum = len(segmentMark) + 8
	if len(head) == segmentHead && bytes.HasPrefix(head, []byte(segmentMark)) &&
		crc32.Checksum(head[:sum], castagnoli) == binary.BigEndian.Uint32(head[sum:]) {
		s.generation = binary.BigEndian.Uint64(head[len(segmentMark):])
		return nil
	}
	octets, err := s.octets()
	s.generation = newest(octets)
	return err
}

// octets reads what is behind the head.
func (s *segment) octets() ([]byte, error) {
	out := make([]byte, max(0, s.length-segmentHead))
	_, err := s.file.ReadAt(out, segmentHead)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out, err
}

// load tells the records, and gives how many octets of damaged ones there are.
func (s *segment) load(found func(Place, []byte)) (lost int, err error) {
	octets, err := s.octets()
	if err != nil {
		return 0, err
	}
	if s.end = s.length; s.generation == 0 {
		return 0, nil
	}
	lost = eachRecord(octets, s.generation, func(at int, content []byte) {
		place := Place{in: s, at: segmentHead + int64(at), size: Size(content), Count: 1}
		s.left += place.size
		found(place, content)
	})
	return lost, nil
}

// write writes octets behind the end, makes them durable, and gives the length of the file. The first ones bring the
// head; those that the file has no place for yet bring zeros behind them, in whose place the next ones are written.
func (s *segment) write(octets []byte, whole int64, written func()) (length int64, err error) {
	at := s.end
	if at == segmentHead {
		at, octets = 0, append(s.head(), octets...)
	}
	if until := at + int64(len(octets)); until > s.length {
		octets = append(octets, make([]byte, max(0, min(growth, whole-until)))...)
	}
	if _, err := s.file.WriteAt(octets, at); err != nil {
		return 0, err
	}
	written()
	return max(s.length, at+int64(len(octets))), s.file.Sync()
}

// cut removes what is behind the end from the disk.
func (s *segment) cut() error {
	if err := errors.Join(s.file.Truncate(s.end), s.file.Sync()); err != nil {
		return err
	}
	s.length = s.end
	return nil
}

// empty makes all records old.
func (s *segment) empty(generation uint64) error {
	s.generation, s.end = generation, segmentHead
	if s.length == 0 {
		return nil
	}
	_, err := s.file.WriteAt(s.head(), 0)
	return err
}
