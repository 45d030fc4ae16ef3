package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A record is a mark, the salt of its segment (eight octets), its length and its checksum (CRC-32C of salt, length and
// content), both of four octets, and its content. The mark lets a reader find the next record behind a damaged place,
// and nobody who sends contents can write the salt into one, so that none of what he sends is taken for a record. Of
// records behind each other that are taken the first one has another mark, the length of all of them behind its head,
// and the checksum of mark, salt and length. Both marks differ in their last octet.
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
func appendRecord(out []byte, salt uint64, content []byte) []byte {
	out = append(out, mark...)
	at := len(out)
	out = binary.BigEndian.AppendUint64(out, salt)
	out = binary.BigEndian.AppendUint32(out, uint32(len(content))) //nolint:gosec // bounded by MaxRecord
	sum := crc32.Update(crc32.Checksum(out[at:], castagnoli), castagnoli, content)
	return append(binary.BigEndian.AppendUint32(out, sum), content...)
}

// readRecord gives the content of the record at the beginning of octets; nil when there is no whole one.
func readRecord(octets []byte) (content []byte) {
	if len(octets) < headSize || string(octets[:len(mark)]) != mark {
		return nil
	}
	head := octets[len(mark):headSize]
	length := int(binary.BigEndian.Uint32(head[8:]))
	if length == 0 || length > MaxRecord || length > len(octets)-headSize {
		return nil
	}
	content = octets[headSize : headSize+length : headSize+length]
	if crc32.Update(crc32.Checksum(head[:12], castagnoli), castagnoli, content) != binary.BigEndian.Uint32(head[12:]) {
		return nil
	}
	return content
}

// takenHead is the head of records behind each other that are taken, of so many octets.
func takenHead(salt uint64, size uint32) []byte {
	out := binary.BigEndian.AppendUint64([]byte(takenMark), salt)
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

// saltAt gives the salt of the head at the beginning of octets, of either mark; 0 when there is none.
func saltAt(octets []byte) uint64 {
	if len(octets) < headSize {
		return 0
	}
	if which := string(octets[:len(mark)]); which != mark && which != takenMark {
		return 0
	}
	return binary.BigEndian.Uint64(octets[len(mark):])
}

// nextHead gives where the next head with a salt begins, of either mark; -1 when there is none.
func nextHead(octets []byte, salt uint64) int {
	for from := 0; ; from++ {
		next := bytes.Index(octets[from:], []byte(mark[:len(mark)-1]))
		if next < 0 || len(octets)-from-next < headSize {
			return -1
		}
		from += next
		if saltAt(octets[from:]) == salt {
			return from
		}
	}
}

// eachRecord tells the records with a salt that are not taken, and where they begin. It gives where the last record
// ends, and the number of octets between records that are none, and of those behind them from a head with that salt on:
// records that are damaged or were not finished.
func eachRecord(octets []byte, salt uint64, found func(at int, content []byte)) (end, lost int) {
	from, torn := 0, -1
	for {
		next := nextHead(octets[from:], salt)
		if next < 0 {
			break
		}
		at := from + next
		size := readTaken(octets[at:])
		if content := readRecord(octets[at:]); content != nil {
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

// Size is the number of octets that the record of a content takes.
func Size(content []byte) int64 { return int64(headSize + len(content)) }
