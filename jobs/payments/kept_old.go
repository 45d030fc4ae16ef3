package paymentsjobs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/journal"
)

// Older programs kept callbacks in one file each, callbacks.journal, callbacks-2.journal and so on. A record there is
// oldKeptMark, its length and its checksum (CRC-32C of length and content), both of four octets, and its content. This
// file may go in the first version to which nobody comes from such a program directly: the second release after the
// first one with segments (ADR 0022).
const (
	oldKeptSuffix = ".journal"
	oldKeptMark   = "\xf1LMJ"
	oldKeptHead   = 12
)

// formerPlace gives the name that older programs gave a journal, from that which it has now: the machine and the path
// alone.
func formerPlace(place string) string { return place[:max(0, strings.LastIndex(place, " "))] }

// moveOld appends all callbacks of the file of an older program to the journal, and removes the file.
func (k *Kept) moveOld(ctx context.Context, path string) error {
	file, err := os.Open(path) //nolint:gosec // of the program's own
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := journal.Lock(ctx, file); err != nil {
		return err
	}
	octets, err := os.ReadFile(path) //nolint:gosec // of the program's own, at most keptLimit
	if err != nil {
		return err
	}
	if err := k.move(oldRecords(octets)); err != nil {
		return err
	}
	return os.Remove(path)
}

// oldRecords gives the whole records among octets; damaged ones are left out.
func oldRecords(octets []byte) (records [][]byte) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for {
		at := bytes.Index(octets, []byte(oldKeptMark))
		if at < 0 || len(octets)-at < oldKeptHead {
			return records
		}
		octets = octets[at:]
		length := binary.BigEndian.Uint32(octets[4:])
		if int64(length) > int64(len(octets)-oldKeptHead) {
			octets = octets[1:]
			continue
		}
		content := octets[oldKeptHead : oldKeptHead+length]
		sum := crc32.Update(crc32.Checksum(octets[4:8], table), table, content)
		if length == 0 || sum != binary.BigEndian.Uint32(octets[8:]) {
			octets = octets[1:]
			continue
		}
		records, octets = append(records, content), octets[oldKeptHead+length:]
	}
}
