package directory

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
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

const (
	// recorders is how many sign-ins are recorded at the same time, those of one organization fair.Share of them.
	recorders = 8
	// triesGap is the pause of a recorder after each failure before it tries another voucher, so that a database that
	// is away is asked 20 times a second by all of them.
	triesGap = recorders * 50 * time.Millisecond
)

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
		b.makeReady(in.Subject)
	}
}

// makeReady lets a recorder try a voucher. The caller holds the lock.
func (b *voucherBook) makeReady(v events.VoucherSubject) {
	b.ready.Add(v.OrgID, v.VoucherID)
	loop.Wake(b.signal)
}

// next takes the voucher whose turn it is and gives its oldest sign-in; false when none is ready. Organizations have
// their turns one after the other. Whoever takes one tells done or aside what became of it.
func (b *voucherBook) next() (VoucherSignIn, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	org, v, ok := b.ready.Next(func(org id.Organization) bool { return b.trying[org] < fair.Share(recorders) })
	if !ok {
		return VoucherSignIn{}, false
	}
	b.trying[org]++
	b.wakeNext()
	return b.waiting[v][0], true
}

// wakeNext wakes one more recorder when there is something left to record. The caller holds the lock.
func (b *voucherBook) wakeNext() {
	if !b.ready.Empty() {
		loop.Wake(b.signal)
	}
}

// tried ends the try of a voucher. The caller holds the lock.
func (b *voucherBook) tried(org id.Organization) {
	if b.trying[org]--; b.trying[org] == 0 {
		delete(b.trying, org)
	}
	b.wakeNext()
}

// done forgets the oldest sign-in of a voucher, which was recorded or refused for good. The next accounting record
// brings a refused one again.
func (b *voucherBook) done(v events.VoucherSubject, refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried(v.OrgID)
	if u := b.used[v.VoucherID]; u != nil && refused {
		u.queued = time.Time{}
	}
	if rest := b.waiting[v.VoucherID][1:]; len(rest) > 0 {
		b.waiting[v.VoucherID] = rest
		b.makeReady(v)
		return
	}
	delete(b.waiting, v.VoucherID)
	if b.noting {
		b.finished = append(b.finished, v.VoucherID)
		loop.Wake(b.notes)
	}
}

// aside ends the try of a voucher that failed. It stays aside until again.
func (b *voucherBook) aside(v events.VoucherSubject) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried(v.OrgID)
}

// again lets a recorder try a voucher that was set aside.
func (b *voucherBook) again(v events.VoucherSubject) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.makeReady(v)
}

// Heard is told every accounting report. When its Class is a voucher's whose sign-in the log does not have, because the
// program was killed before it was recorded, the sign-in is recorded now with the instants at which it was accepted,
// also when another program has recorded a later one meanwhile, or somebody has voided the voucher since. To be told
// again changes nothing. Notes of sign-ins are told in the same form. A start tells that its sign-in was not in vain.
func (d *Directory) Heard(r telemetry.Report) {
	if r.Kind == telemetry.Start {
		d.began(r)
	}
	d.heardGuest(r)
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
		b.touch(events.VoucherSubject{VoucherID: pass.voucher})
	}
	u := b.reported(pass)
	if u == nil || u.batch.org != r.Org || u.void() && !pass.first.Before(u.voided) {
		return
	}
	if u.first.IsZero() { // nobody has recorded a sign-in with it
		u.first, u.ends = pass.first, u.batch.terms.Period.Next(pass.first, 0, pass.first, zone)
		b.give(u, r.Device, mac, pass.at)
		b.queue(u)
		return
	}
	if pass.first.Before(u.first) { // somebody was let in before what the log has as the first sign-in
		u.first, u.ends = pass.first, u.batch.terms.Period.Next(pass.first, 0, pass.first, zone)
		b.wait(u, VoucherSignIn{NAS: r.Device, MAC: mac, At: pass.at})
	}
	switch {
	case pass.at.After(u.last) && u.mac != mac:
		b.leaves(u, u.mac, pass.at)
		b.give(u, r.Device, mac, pass.at)
		b.queue(u)
	case u.last.After(u.recorded):
		b.queue(u)
	}
}

// VoucherRecorder records accepted sign-ins with vouchers: several at the same time, those of one voucher in their
// order, and organizations in turn. A voucher that fails is set aside for a while, so that it holds up no other.
type VoucherRecorder struct {
	directory *Directory
	record    func(context.Context, VoucherSignIn) error
	logger    *slog.Logger
	loops     *loop.Group
	mu        sync.Mutex
	pauses    map[id.Voucher]*loop.Backoff // of vouchers that failed
}

// NewVoucherRecorder makes a recorder that is not started. record must be idempotent and safe for concurrent use; it is
// called again after a failure that may pass.
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
		for range recorders {
			r.loops.Go("vouchers", func(ctx context.Context) {
				for loop.Wait(ctx, r.directory.vouchers.signal) {
					r.recordAll(ctx)
				}
			})
		}
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
		err := loop.Try(func() error { return r.record(ctx, next) })
		if err != nil {
			r.logger.WarnContext(ctx, "sign-in with a voucher is not recorded",
				slog.String("voucher_id", voucher.String()), slog.String("error", err.Error()))
		}
		if err == nil || hopeless(err) {
			r.forgetPause(voucher)
			b.done(next.Subject, err != nil)
			continue
		}
		r.setAside(ctx, next.Subject)
		loop.Sleep(ctx, triesGap)
	}
}

// setAside tries a voucher again after a pause, which grows with each failure. At the end of ctx it is ready at once.
func (r *VoucherRecorder) setAside(ctx context.Context, v events.VoucherSubject) {
	b := r.directory.vouchers
	b.aside(v)
	if ctx.Err() != nil {
		b.again(v)
		return
	}
	wait := r.nextPause(v.VoucherID)
	r.loops.Go("voucher set aside", func(ctx context.Context) {
		loop.Sleep(ctx, wait)
		b.again(v)
	})
}

// nextPause gives the pause after one more failure of a voucher.
func (r *VoucherRecorder) nextPause(v id.Voucher) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pauses[v] == nil {
		r.pauses[v] = &loop.Backoff{Min: minAside, Max: maxAside}
	}
	return r.pauses[v].Next()
}

// forgetPause forgets the failures of a voucher.
func (r *VoucherRecorder) forgetPause(v id.Voucher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pauses, v)
}

// hopeless reports whether a refusal would come again.
func hopeless(err error) bool {
	switch failure.KindOf(err) { //nolint:exhaustive // all others can pass
	case failure.Conflict, failure.Invalid, failure.NotFound, failure.Malformed, failure.Denied:
		return true
	}
	return false
}
