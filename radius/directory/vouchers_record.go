package directory

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/radius"
)

// maxUnrecorded bounds the sign-ins with vouchers that wait to be recorded.
const maxUnrecorded = 10_000

// VoucherSignIn is a sign-in with a voucher that was accepted and has to be recorded.
type VoucherSignIn struct {
	Subject events.VoucherSubject
	PlanID  id.Plan
	Price   money.Amount
	MadeBy  id.User
	NAS     id.Device
	MAC     radius.MAC // zero = the router did not tell
	First   time.Time  // of the first sign-in
	Ends    time.Time
	At      time.Time // of this one
}

// queue makes the last sign-in of a voucher wait to be recorded. When too many wait, it is left to the accounting
// records of the session (Seen). The caller holds the lock.
func (b *voucherBook) queue(u *voucher) {
	if len(b.waiting) >= maxUnrecorded || !u.last.After(u.queued) {
		return
	}
	u.queued = u.last
	b.waiting = append(b.waiting, VoucherSignIn{
		Subject: events.VoucherSubject{VoucherID: u.id, OrgID: u.batch.org, BatchID: u.batch.id},
		PlanID:  u.batch.plan, Price: u.batch.price, MadeBy: u.batch.madeBy, NAS: u.nas, MAC: u.mac, First: u.first,
		Ends: u.ends, At: u.last,
	})
	loop.Wake(b.signal)
}

// Seen is told the Class of every accounting record. When it is a voucher's whose sign-in the log does not have,
// because the program was killed before it was recorded, the sign-in is recorded now with the instants at which it was
// accepted. To be told again changes nothing.
func (d *Directory) Seen(nas *radius.NAS, class []byte, mac radius.MAC) {
	pass, ok := readVoucherPass(d.cfg.ClassKey, class)
	if !ok {
		return
	}
	zone := d.Zone(nas.Org)
	b := d.vouchers
	b.mu.Lock()
	defer b.mu.Unlock()
	if batch := b.unused[pass.voucher]; batch != nil && batch.org == nas.Org {
		u := b.touch(events.VoucherSubject{VoucherID: pass.voucher})
		u.first, u.ends = pass.first, batch.terms.Period.Next(pass.first, 0, pass.first, zone)
		b.give(u, nas.ID, mac, pass.at)
		b.queue(u)
		return
	}
	u := b.used[pass.voucher]
	switch {
	case u == nil || u.batch.org != nas.Org || u.void || u.first.IsZero():
	case pass.at.After(u.last) && u.mac != mac:
		u.moved(pass.at)
		b.give(u, nas.ID, mac, pass.at)
		b.queue(u)
	case u.last.After(u.recorded):
		b.queue(u)
	}
}

// VoucherAccounting hands accounting records on and shows them to a directory first.
type VoucherAccounting struct {
	Directory *Directory
	Next      radius.Accounting
}

// Take implements radius.Accounting.
func (a VoucherAccounting) Take(r *radius.Record) {
	a.Directory.Seen(r.NAS, r.Class, r.MAC)
	a.Next.Take(r)
}

// VoucherRecorder records accepted sign-ins with vouchers, in their order.
type VoucherRecorder struct {
	directory *Directory
	record    func(context.Context, VoucherSignIn) error
	logger    *slog.Logger
	loops     *loop.Group
}

// NewVoucherRecorder makes a recorder that is not started. record must be idempotent; it is called again after a
// failure that may pass.
func NewVoucherRecorder(
	d *Directory, record func(context.Context, VoucherSignIn) error, logger *slog.Logger,
) *VoucherRecorder {
	return &VoucherRecorder{directory: d, record: record, logger: logger, loops: loop.New(logger)}
}

// Start begins to record.
func (r *VoucherRecorder) Start(ctx context.Context) error {
	return r.loops.Start(ctx, func(context.Context) error {
		r.loops.Go("vouchers", func(ctx context.Context) {
			for loop.Wait(ctx, r.directory.vouchers.signal) {
				r.recordAll(ctx)
			}
		})
		return nil
	})
}

// Stop ends recording. What still waits comes again with the accounting of the sessions.
func (r *VoucherRecorder) Stop() { r.loops.Stop() }

// recordAll records what waits, until nothing does or ctx ends.
func (r *VoucherRecorder) recordAll(ctx context.Context) {
	pause := loop.Backoff{Min: minBackoff, Max: maxBackoff}
	b := r.directory.vouchers
	for {
		b.mu.Lock()
		if len(b.waiting) == 0 {
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		next := b.waiting[0]
		b.mu.Unlock()
		err := r.record(ctx, next)
		failed := err != nil
		if failed {
			r.logger.WarnContext(ctx, "sign-in with a voucher is not recorded",
				slog.String("voucher_id", next.Subject.VoucherID.String()), slog.String("error", err.Error()))
			if !hopeless(err) {
				if !pause.Wait(ctx) {
					return
				}
				continue
			}
		}
		pause.Reset()
		b.mu.Lock()
		if u := b.used[next.Subject.VoucherID]; u != nil && failed {
			u.queued = time.Time{} // the next accounting record tries again
		}
		b.waiting = b.waiting[1:]
		b.mu.Unlock()
	}
}

// hopeless reports whether a refusal would come again.
func hopeless(err error) bool {
	switch failure.KindOf(err) { //nolint:exhaustive // all others can pass
	case failure.Conflict, failure.Invalid, failure.NotFound, failure.Malformed, failure.Denied:
		return true
	}
	return false
}
