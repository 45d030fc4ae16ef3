package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A record is a mark, the generation of its segment (eight octets), its length and its checksum (CRC-32C of generation,
// length and content), both of four octets, and its content. The mark lets a reader find the next record behind a
// damaged place. Of records behind each other that are taken the first one has another mark, the length of all of them
// behind its head, and the checksum of mark, generation and length. Both marks differ in their last octet.
const (
	mark      = "\xf1LMR"
	takenMark = "\xf1LMT"
	headSize  = 20
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

// takenHead is the head of records behind each other that are taken, of so many octets.
func takenHead(generation uint64, size uint32) []byte {
	out := binary.BigEndian.AppendUint64([]byte(takenMark), generation)
	out = binary.BigEndian.AppendUint32(out, size-headSize)
	return binary.BigEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// readTaken gives the number of octets of taken records at the beginning of octets; 0 when there are none.
func readTaken(octets []byte) int {
	const sum = headSize - 4
	if len(octets) < headSize || string(octets[:len(mark)]) != takenMark ||
		crc32.Checksum(octets[:sum], castagnoli) != binary.BigEndian.Uint32(octets[sum:]) {
		return 0
	}
	return min(headSize+int(binary.BigEndian.Uint32(octets[len(mark)+8:])), len(octets))
}

// nextHead gives where the next head of a generation begins, of either mark; -1 when there is none.
func nextHead(octets []byte, generation uint64) int {
	for from := 0; ; from++ {
		next := bytes.Index(octets[from:], []byte(mark[:len(mark)-1]))
		if next < 0 || len(octets)-from-next < headSize {
			return -1
		}
		from += next
		if which := string(octets[from : from+len(mark)]); (which == mark || which == takenMark) &&
			binary.BigEndian.Uint64(octets[from+len(mark):]) == generation {
			return from
		}
	}
}

// eachRecord tells the records of a generation that are not taken, and where they begin. It gives where the last record
// ends, and the number of octets between records that are none, and of those behind them from a head of that generation
// on: records that are damaged or were not finished.
func eachRecord(octets []byte, generation uint64, found func(at int, content []byte)) (end, lost int) {
	from, torn := 0, -1
	for {
		next := nextHead(octets[from:], generation)
		if next < 0 {
			break
		}
		at := from + next
		size := readTaken(octets[at:])
		if _, content := readRecord(octets[at:]); content != nil {
			size = headSize + len(content)
			found(at, content)
		}
		if size == 0 {
			if from = at + 1; torn < 0 {
				torn = at
			}
			continue
		}
		lost += at - end
		end = at + size
		from, torn = end, -1
	}
	if torn >= 0 {
		lost += len(bytes.TrimRight(octets[torn:], "\x00"))
	}
	return end, lost
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
