package directory

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
)

// oldNotes is the file in which older programs kept the notes: each with a checksum (CRC-32C) behind it. This file may
// go in the first version to which nobody comes from such a program directly: the second release after this one.
const oldNotes = "vouchers.notes"

// takeOver moves the notes of an older program into the journal, and removes their file. The program cannot run any
// more: the spool of accounting has its lock.
func (n *VoucherNotes) takeOver() error {
	path := filepath.Join(n.dir, oldNotes)
	octets, err := os.ReadFile(path) //nolint:gosec // of the program's own
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var records [][]byte
	table := crc32.MakeTable(crc32.Castagnoli)
	for ; len(octets) >= noteSize+4; octets = octets[noteSize+4:] {
		if crc32.Checksum(octets[:noteSize], table) != binary.BigEndian.Uint32(octets[noteSize:]) {
			break // the end of what was written before a power failure
		}
		records = append(records, octets[:noteSize])
	}
	places, err := n.journal.Append(records...)
	if err != nil {
		return err
	}
	for i, p := range places {
		n.tell(p, records[i])
	}
	return os.Remove(path)
}
