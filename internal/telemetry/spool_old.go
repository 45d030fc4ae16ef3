package telemetry

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/journal"
)

// Programs before the journal kept the spool in the file oldSpool, and in further ones with a number of eight digits
// behind the name. A record is its length and its checksum (CRC-32C), both of four bytes, and a report as decodeReport
// reads it. This file, and the form of reports in JSON, may go in the first version to which nobody comes from such a
// program directly: the second release after this one.
const (
	oldSpool = "accounting.spool"
	oldHead  = 8
)

// castagnoli is the table of the checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // never written

// takeOver moves what older programs have left in a directory into the journal, and removes their files.
func (s *spool) takeOver(ctx context.Context, dir string) error {
	first := filepath.Join(dir, oldSpool)
	file, err := os.Open(first) //nolint:gosec // of the program's own
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := journal.Lock(ctx, file); err != nil { // such a program can still run
		return err
	}
	names, err := filepath.Glob(first + ".????????")
	if err != nil {
		return err
	}
	slices.Sort(names)
	names = append([]string{first}, names...)
	for _, name := range names {
		err := s.takeOverFile(name)
		if err == nil {
			err = os.Truncate(name, 0) // so that the disk need not have all twice
		}
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	slices.Reverse(names) // the first one has the lock
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// takeOverFile moves one file, until its end or the place where a crash has ended a write.
func (s *spool) takeOverFile(name string) error {
	file, err := os.Open(name) //nolint:gosec // of the program's own
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReaderSize(file, 1<<16)
	for more := true; more; {
		var reports []Report
		var records [][]byte
		for len(records) < groupSize {
			body, err := readOldRecord(in)
			if err != nil {
				return err
			}
			if more = body != nil; !more {
				break
			}
			r, err := decodeReport(body)
			if err != nil {
				s.logger.Error("a report in the old spool cannot be read", slog.String("error", err.Error()))
				continue
			}
			reports, records = append(reports, r), append(records, body)
		}
		places, err := s.journal.Append(records...)
		if err != nil {
			return err
		}
		for i, r := range reports {
			s.heard(r)
			s.room.Hold(r.Org, places[i].Size())
			s.wait(r.Org, places[i], s.pace.Now())
		}
	}
	return nil
}

// readOldRecord reads one record; nil at the end of what is whole.
func readOldRecord(in io.Reader) ([]byte, error) {
	var head [oldHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, unlessEnd(err)
	}
	length := binary.BigEndian.Uint32(head[:])
	if length == 0 || length > maxReport {
		return nil, nil
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, unlessEnd(err)
	}
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return nil, nil
	}
	return body, nil
}

// unlessEnd gives an error unless it is the end of a file.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
