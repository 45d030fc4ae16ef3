package directory

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// notesName is the file of the notes in its directory. It has MACs, and nobody else may read it.
const notesName = "vouchers.notes"

// The parts of a note on the disk: organization, router, MAC, the Class of the session, and a checksum (CRC-32C).
const (
	noteBody = 16 + 16 + 6 + voucherClassSize
	noteSize = noteBody + 4
)

// castagnoli is the table of the checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // never written

// note is an accepted sign-in with a voucher as the disk keeps it until the log has it.
type note struct {
	org  id.Organization
	nas  id.Device
	mac  radius.MAC // zero = the router did not tell
	pass voucherPass
}

// noteWaiter is a note that is not on the disk yet, and the answer that waits for it.
type noteWaiter struct {
	note note
	send func()
}

// encode gives the octets of a note.
func (n note) encode(classKey []byte) []byte {
	out := make([]byte, 0, noteSize)
	out = append(append(append(out, n.org[:]...), n.nas[:]...), n.mac[:]...)
	out = append(out, n.pass.class(classKey)...)
	return binary.BigEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// readNote reads a note in the form in which accounting brings a sign-in again; false when the octets are none, which
// is the end of what was written before a power failure.
func readNote(octets []byte) (telemetry.Report, bool) {
	if crc32.Checksum(octets[:noteBody], castagnoli) != binary.BigEndian.Uint32(octets[noteBody:]) {
		return telemetry.Report{}, false
	}
	return telemetry.Report{
		Org: id.Organization(octets[:16]), Device: id.Device(octets[16:32]), MAC: radius.MAC(octets[32:38]).String(),
		Class: octets[38:noteBody],
	}, true
}

// noteFirst has an answer sent when its sign-in is on the disk. When nobody takes notes it is sent at once.
func (b *voucherBook) noteFirst(n note, send func()) {
	b.mu.Lock()
	noting := b.noting
	if noting {
		b.unnoted = append(b.unnoted, noteWaiter{n, send})
	}
	b.mu.Unlock()
	if !noting {
		send()
		return
	}
	loop.Wake(b.notes)
}

// toNote takes the notes that wait, and reports whether none does and the log has all sign-ins.
func (b *voucherBook) toNote() (list []noteWaiter, allRecorded bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, b.unnoted = b.unnoted, nil
	return list, len(list) == 0 && len(b.waiting) == 0
}

// isNoted says that sign-ins are on the disk.
func (b *voucherBook) isNoted(list []noteWaiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range list {
		if u := b.used[one.note.pass.voucher]; u != nil {
			u.noted = later(u.noted, one.note.pass.at)
		}
	}
}

// setNoting begins or ends that answers wait for notes. At the end, answers that still wait are not sent.
func (b *voucherBook) setNoting(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noting, b.unnoted = on, nil
}

// VoucherNotes keeps accepted sign-ins with vouchers on the disk until the log has them, so that neither a kill nor a
// power failure makes a voucher whole again (docs/rules/access-vouchers.md#recorded-afterwards).
type VoucherNotes struct {
	directory *Directory
	dir       string
	logger    *slog.Logger
	loops     *loop.Group
	file      *os.File
	size      int64 // of the whole notes in the file
}

// NewVoucherNotes makes the keeper of the notes in a directory of the disk, which one program at a time may use: that
// of the spool of accounting, whose lock holds for both.
func NewVoucherNotes(d *Directory, dir string, logger *slog.Logger) *VoucherNotes {
	return &VoucherNotes{directory: d, dir: dir, logger: logger, loops: loop.New(logger)}
}

// Start tells the directory what the disk has, which must be complete, and begins to take notes. It fails when the file
// cannot be opened.
func (n *VoucherNotes) Start(ctx context.Context) error {
	return n.loops.Start(ctx, func(context.Context) error {
		if err := n.open(); err != nil {
			return fmt.Errorf("open voucher notes: %w", err)
		}
		n.directory.vouchers.setNoting(true)
		loop.Wake(n.directory.vouchers.notes)
		n.loops.Go("voucher notes", func(ctx context.Context) {
			for loop.Wait(ctx, n.directory.vouchers.notes) {
				n.takeAll(ctx)
			}
		})
		return nil
	})
}

// Stop takes the last notes, after the ports are closed. It may be called twice.
func (n *VoucherNotes) Stop() {
	n.loops.Stop()
	if n.file == nil {
		return
	}
	n.takeAll(context.Background())
	n.directory.vouchers.setNoting(false)
	_ = n.file.Close()
	n.file = nil
}

// open opens the file, tells its notes in their order, and finds the end of the last whole one.
func (n *VoucherNotes) open() error {
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(n.dir, notesName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	n.file, n.size = file, 0
	var octets [noteSize]byte
	for {
		_, err := io.ReadFull(file, octets[:])
		report, whole := readNote(octets[:])
		switch {
		case err == nil && whole:
			n.directory.Heard(report)
			n.size += noteSize
			continue
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return errors.Join(err, file.Close())
		}
		if err := errors.Join(file.Truncate(n.size), syncAll(file, n.dir)); err != nil {
			return errors.Join(err, file.Close())
		}
		return nil
	}
}

// syncAll makes the file and its name in the directory durable.
func syncAll(file *os.File, dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), d.Sync(), d.Close())
}

// takeAll writes all notes that wait, and has their answers sent. Answers are sent also when the disk does not take the
// notes: accounting brings those sign-ins again, and a customer who has paid is not kept out. When the log has all
// sign-ins, the file is emptied.
func (n *VoucherNotes) takeAll(ctx context.Context) {
	b := n.directory.vouchers
	for ctx.Err() == nil {
		list, allRecorded := b.toNote()
		if len(list) == 0 {
			if allRecorded && n.size > 0 {
				n.empty(ctx)
			}
			return
		}
		if err := n.write(list); err != nil {
			n.logger.ErrorContext(ctx, "voucher sign-ins are not noted on the disk", slog.String("error", err.Error()),
				slog.Int("sign_ins", len(list)))
		} else {
			b.isNoted(list)
		}
		for _, one := range list {
			one.send()
		}
	}
}

// write appends notes and makes them durable, all at once. After an error none of them counts.
func (n *VoucherNotes) write(list []noteWaiter) error {
	var octets []byte
	for _, one := range list {
		octets = append(octets, one.note.encode(n.directory.cfg.ClassKey)...)
	}
	_, err := n.file.WriteAt(octets, n.size)
	if err == nil {
		err = n.file.Sync()
	}
	if err != nil {
		return errors.Join(err, n.file.Truncate(n.size))
	}
	n.size += int64(len(octets))
	return nil
}

// empty forgets all notes. A power failure can bring them back, which changes nothing.
func (n *VoucherNotes) empty(ctx context.Context) {
	if err := n.file.Truncate(0); err != nil {
		n.logger.WarnContext(ctx, "voucher notes are not emptied", slog.String("error", err.Error()))
		return
	}
	n.size = 0
}
