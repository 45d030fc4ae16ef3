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
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// The pauses before a voucher is tried again whose sign-in could not be recorded.
const (
	minAside = 50 * time.Millisecond
	maxAside = time.Minute
)

// triesGap is the pause after each failure before another voucher is tried, so that a database that is away is not
// asked without end.
const triesGap = 50 * time.Millisecond

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

// queue makes the last sign-in of a voucher wait to be recorded. Each voucher waits with few of them, since moves are
// bounded. The caller holds the lock.
func (b *voucherBook) queue(u *voucher) {
	if !u.last.After(u.queued) {
		return
	}
	u.queued = u.last
	b.wait(u, VoucherSignIn{NAS: u.nas, MAC: u.mac, At: u.last})
}

// wait makes a sign-in with a voucher wait to be recorded. The caller holds the lock.
func (b *voucherBook) wait(u *voucher, in VoucherSignIn) {
	in.Subject = events.VoucherSubject{VoucherID: u.id, OrgID: u.batch.org, BatchID: u.batch.id}
	in.PlanID, in.Price, in.MadeBy = u.batch.plan, u.batch.price, u.batch.madeBy
	in.First, in.Ends = u.first, u.ends
	before := b.waiting[u.id]
	b.waiting[u.id] = append(before, in)
	if len(before) == 0 {
		b.makeReady(u.id)
	}
}

// makeReady lets the recorder try a voucher. The caller holds the lock.
func (b *voucherBook) makeReady(v id.Voucher) {
	b.ready = append(b.ready, v)
	loop.Wake(b.signal)
}

// next takes the voucher whose turn it is and gives its oldest sign-in; false when none is ready.
func (b *voucherBook) next() (VoucherSignIn, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		b.ready = nil
		return VoucherSignIn{}, false
	}
	v := b.ready[0]
	b.ready = b.ready[1:]
	return b.waiting[v][0], true
}

// done forgets the oldest sign-in of a voucher, which was recorded or refused for good. The next accounting record
// brings a refused one again.
func (b *voucherBook) done(v id.Voucher, refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if u := b.used[v]; u != nil && refused {
		u.queued = time.Time{}
	}
	if rest := b.waiting[v][1:]; len(rest) > 0 {
		b.waiting[v] = rest
		b.makeReady(v)
		return
	}
	delete(b.waiting, v)
	if b.noting {
		b.finished = append(b.finished, v)
		loop.Wake(b.notes)
	}
}

// again lets the recorder try a voucher that failed.
func (b *voucherBook) again(v id.Voucher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.makeReady(v)
}

// Heard is told every accounting report. When its Class is a voucher's whose sign-in the log does not have, because the
// program was killed before it was recorded, the sign-in is recorded now with the instants at which it was accepted,
// also when another program has recorded a later one meanwhile. To be told again changes nothing. Notes of sign-ins are
// told in the same form.
func (d *Directory) Heard(r telemetry.Report) {
	pass, ok := readVoucherPass(d.cfg.ClassKey, r.Class)
	if !ok {
		return
	}
	mac := parsedMAC(r.MAC)
	zone := d.Zone(r.Org)
	b := d.vouchers
	b.mu.Lock()
	defer b.mu.Unlock()
	if batch := b.unused[pass.voucher]; batch != nil && batch.org == r.Org {
		u := b.touch(events.VoucherSubject{VoucherID: pass.voucher})
		u.first, u.ends = pass.first, batch.terms.Period.Next(pass.first, 0, pass.first, zone)
		b.give(u, r.Device, mac, pass.at)
		b.queue(u)
		return
	}
	u := b.used[pass.voucher]
	if u == nil || u.batch.org != r.Org || u.void || u.first.IsZero() {
		return
	}
	if pass.first.Before(u.first) { // somebody was let in before what the log has as the first sign-in
		u.first, u.ends = pass.first, u.batch.terms.Period.Next(pass.first, 0, pass.first, zone)
		b.wait(u, VoucherSignIn{NAS: r.Device, MAC: mac, At: pass.at})
	}
	switch {
	case pass.at.After(u.last) && u.mac != mac:
		u.moved(pass.at, u.mac)
		b.give(u, r.Device, mac, pass.at)
		b.queue(u)
	case u.last.After(u.recorded):
		b.queue(u)
	}
}

// VoucherRecorder records accepted sign-ins with vouchers, those of one voucher in their order. A voucher that fails is
// set aside for a while, so that it holds up no other.
type VoucherRecorder struct {
	directory *Directory
	record    func(context.Context, VoucherSignIn) error
	logger    *slog.Logger
	loops     *loop.Group
	pauses    map[id.Voucher]*loop.Backoff // of vouchers that failed; the goroutine that records has it
}

// NewVoucherRecorder makes a recorder that is not started. record must be idempotent; it is called again after a
// failure that may pass.
func NewVoucherRecorder(
	d *Directory, record func(context.Context, VoucherSignIn) error, logger *slog.Logger,
) *VoucherRecorder {
	return &VoucherRecorder{
		directory: d, record: record, logger: logger, loops: loop.New(logger), pauses: map[id.Voucher]*loop.Backoff{},
	}
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

// Stop ends recording. What still waits comes again from the notes on the disk, or with the accounting of the sessions.
func (r *VoucherRecorder) Stop() { r.loops.Stop() }

// recordAll records what is ready, until nothing is or ctx ends.
func (r *VoucherRecorder) recordAll(ctx context.Context) {
	b := r.directory.vouchers
	for ctx.Err() == nil {
		next, ok := b.next()
		if !ok {
			return
		}
		voucher := next.Subject.VoucherID
		err := r.record(ctx, next)
		if err != nil {
			r.logger.WarnContext(ctx, "sign-in with a voucher is not recorded",
				slog.String("voucher_id", voucher.String()), slog.String("error", err.Error()))
		}
		if err == nil || hopeless(err) {
			delete(r.pauses, voucher)
			b.done(voucher, err != nil)
			continue
		}
		r.setAside(ctx, voucher)
		loop.Sleep(ctx, triesGap)
	}
}

// setAside tries a voucher again after a pause, which grows with each failure. At the end of ctx it is ready at once.
func (r *VoucherRecorder) setAside(ctx context.Context, v id.Voucher) {
	b := r.directory.vouchers
	if ctx.Err() != nil {
		b.again(v)
		return
	}
	pause := r.pauses[v]
	if pause == nil {
		pause = &loop.Backoff{Min: minAside, Max: maxAside}
		r.pauses[v] = pause
	}
	wait := pause.Next()
	r.loops.Go("voucher set aside", func(ctx context.Context) {
		loop.Sleep(ctx, wait)
		b.again(v)
	})
}

// hopeless reports whether a refusal would come again.
func hopeless(err error) bool {
	switch failure.KindOf(err) { //nolint:exhaustive // all others can pass
	case failure.Conflict, failure.Invalid, failure.NotFound, failure.Malformed, failure.Denied:
		return true
	}
	return false
}
