package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A record is a mark, the generation of its segment (eight octets), its length and its checksum (CRC-32C of generation,
// length and content), both of four octets, and its content. The mark lets a reader find the next record behind a
// damaged place.
const (
	mark     = "\xf1LMR"
	headSize = 20
)

// MaxRecord is the size of the longest record.
const MaxRecord = 1 << 20

// castagnoli is the table of the checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // never written

// appendRecord appends a record to a buffer.
func appendRecord(out []byte, generation uint64, content []byte) []byte {
	out = append(out, mark...)
	at := len(out)
	out = binary.BigEndian.AppendUint64(out, generation)
	out = binary.BigEndian.AppendUint32(out, uint32(len(content))) //nolint:gosec // bounded by MaxRecord
	sum := crc32.Update(crc32.Checksum(out[at:], castagnoli), castagnoli, content)
	return append(binary.BigEndian.AppendUint32(out, sum), content...)
}

// readRecord reads the record at the beginning of octets; no content when there is no whole one.
func readRecord(octets []byte) (generation uint64, content []byte) {
	if len(octets) < headSize || string(octets[:len(mark)]) != mark {
		return 0, nil
	}
	head := octets[len(mark):headSize]
	length := int(binary.BigEndian.Uint32(head[8:]))
	if length == 0 || length > MaxRecord || length > len(octets)-headSize {
		return 0, nil
	}
	content = octets[headSize : headSize+length : headSize+length]
	if crc32.Update(crc32.Checksum(head[:12], castagnoli), castagnoli, content) != binary.BigEndian.Uint32(head[12:]) {
		return 0, nil
	}
	return binary.BigEndian.Uint64(head), content
}

// eachRecord tells the records of a generation and where they begin. It gives the number of octets between them that
// are none, and of those behind them from a mark of that generation on: records that are damaged or were not finished.
func eachRecord(octets []byte, generation uint64, found func(at int, content []byte)) (lost int) {
	ours := binary.BigEndian.AppendUint64([]byte(mark), generation)
	end, from, torn := 0, 0, -1
	for {
		next := bytes.Index(octets[from:], ours)
		if next < 0 {
			break
		}
		at := from + next
		_, content := readRecord(octets[at:])
		if content == nil {
			if from = at + 1; torn < 0 {
				torn = at
			}
			continue
		}
		found(at, content)
		lost += at - end
		end = at + headSize + len(content)
		from, torn = end, -1
	}
	if torn >= 0 {
		lost += len(bytes.TrimRight(octets[torn:], "\x00"))
	}
	return lost
}

// newest gives the greatest generation of whole records; 0 when there is none.
func newest(octets []byte) (generation uint64) {
	for at := 0; ; {
		next := bytes.Index(octets[at:], []byte(mark))
		if next < 0 {
			return generation
		}
		at += next
		found, content := readRecord(octets[at:])
		generation = max(generation, found)
		at += max(1, len(content))
	}
}

// Size is the number of octets that the record of a content takes.
func Size(content []byte) int64 { return int64(headSize + len(content)) }
