package directory

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// The journal of the notes in its directory. It has MACs. Its segments are small, because few notes wait at any time.
const (
	notesName    = "vouchers"
	notesSegment = 1 << 20
)

// noteSize is that of a note on the disk: organization, router, MAC, and the Class of the session.
const noteSize = 16 + 16 + 6 + voucherClassSize

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
	return append(out, n.pass.class(classKey)...)
}

// readNote reads a note in the form in which accounting brings a sign-in again; false when the octets are none.
func readNote(octets []byte) (telemetry.Report, bool) {
	if len(octets) != noteSize {
		return telemetry.Report{}, false
	}
	return telemetry.Report{
		Org: id.Organization(octets[:16]), Device: id.Device(octets[16:32]), MAC: radius.MAC(octets[32:38]).String(),
		Class: octets[38:],
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

// toNote takes the notes that wait.
func (b *voucherBook) toNote() (list []noteWaiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, b.unnoted = b.unnoted, nil
	return list
}

// needless takes the vouchers with sign-ins that were recorded, and gives those of them and of others of which none
// waits to be recorded any more.
func (b *voucherBook) needless(others []id.Voucher) []id.Voucher {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := append(others, b.finished...)
	b.finished = nil
	return slices.DeleteFunc(list, func(v id.Voucher) bool { return len(b.waiting[v]) > 0 })
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
	b.noting, b.unnoted, b.finished = on, nil, nil
}

// VoucherNotes keeps accepted sign-ins with vouchers on the disk until the log has them, so that neither a kill nor a
// power failure makes a voucher whole again (docs/rules/access-vouchers.md#recorded-afterwards).
type VoucherNotes struct {
	directory *Directory
	dir       string
	logger    *slog.Logger
	loops     *loop.Group
	journal   *journal.Journal
	places    map[id.Voucher][]journal.Place // of all notes
	fresh     []id.Voucher                   // with notes that may be needless already
	left      int                            // notes of organizations that are incomplete
}

// NewVoucherNotes makes the keeper of the notes in a directory of the disk, which one program at a time may use.
func NewVoucherNotes(d *Directory, dir string, logger *slog.Logger) *VoucherNotes {
	return &VoucherNotes{
		directory: d, dir: dir, logger: logger, loops: loop.New(logger), places: map[id.Voucher][]journal.Place{},
	}
}

// Start tells the directory what the disk has, which must be complete, and begins to take notes. It fails when they
// cannot be opened.
func (n *VoucherNotes) Start(ctx context.Context) error {
	return n.loops.Start(ctx, func(ctx context.Context) error {
		if err := n.open(ctx); err != nil {
			return fmt.Errorf("open voucher notes: %w", err)
		}
		if n.left > 0 {
			n.logger.WarnContext(ctx, "voucher sign-ins wait on the disk for organizations that cannot be read",
				slog.Int("sign_ins", n.left))
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
	if n.journal == nil {
		return
	}
	n.takeAll(context.Background())
	n.directory.vouchers.setNoting(false)
	n.journal.Close()
	n.journal = nil
}

// open opens the journal, tells its notes in their order, and takes over those of an older program.
func (n *VoucherNotes) open(ctx context.Context) error {
	j, err := journal.Open(ctx, journal.Config{
		Dir: filepath.Join(n.dir, notesName), Segment: notesSegment, Logger: n.logger,
	}, func(p journal.Place, octets []byte) { n.tell(p, octets) })
	if err != nil {
		return err
	}
	n.journal = j
	if err := n.takeOver(); err != nil {
		j.Close()
		n.journal = nil
		return err
	}
	return nil
}

// tell tells a note that the disk has. One of an organization that is incomplete stays on the disk until a start at
// which everything is known about it: its voucher may be unknown now, and the log may not have the sign-in.
func (n *VoucherNotes) tell(p journal.Place, octets []byte) {
	var v id.Voucher // none: it is forgotten at once
	if report, ok := readNote(octets); ok {
		if n.directory.Incomplete(report.Org) {
			n.left++
			return
		}
		n.directory.Heard(report)
		if pass, ok := readVoucherPass(n.directory.cfg.ClassKey, report.Class); ok {
			v = pass.voucher
		}
	}
	n.keep(v, p)
}

// keep notes where a note of a voucher is.
func (n *VoucherNotes) keep(v id.Voucher, p journal.Place) {
	n.places[v] = append(n.places[v], p)
	n.fresh = append(n.fresh, v)
}

// takeAll writes all notes that wait, and has their answers sent. Answers are sent also when the disk does not take the
// notes: accounting brings those sign-ins again, and a customer who has paid is not kept out. Then it forgets the notes
// of vouchers of which the log has all sign-ins.
func (n *VoucherNotes) takeAll(ctx context.Context) {
	b := n.directory.vouchers
	for ctx.Err() == nil {
		list := b.toNote()
		if len(list) == 0 {
			n.forget(ctx)
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

// write makes notes durable, all at once. After an error none of them counts.
func (n *VoucherNotes) write(list []noteWaiter) error {
	records := make([][]byte, len(list))
	for i, one := range list {
		records[i] = one.note.encode(n.directory.cfg.ClassKey)
	}
	places, err := n.journal.Append(records...)
	for i, p := range places {
		n.keep(list[i].note.pass.voucher, p)
	}
	return err
}

// forget takes the notes that are needless. A kill can bring them back, which changes nothing.
func (n *VoucherNotes) forget(ctx context.Context) {
	var places []journal.Place
	for _, v := range n.directory.vouchers.needless(n.fresh) {
		places = append(places, n.places[v]...)
		delete(n.places, v)
	}
	n.fresh = nil
	if len(places) == 0 {
		return
	}
	if err := n.journal.Taken(places...); err != nil {
		n.logger.WarnContext(ctx, "voucher notes are not forgotten", slog.String("error", err.Error()))
	}
}
