package directory

import (
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// voucherBatch has what the vouchers of a batch share. It does not change, except that its vouchers are forgotten.
type voucherBatch struct {
	id      id.VoucherBatch
	org     id.Organization
	plan    id.Plan
	version int // of the plan
	price   money.Amount
	madeBy  id.User
	terms   *events.PlanTerms // shared by all batches of the version
	known   int               // vouchers that are not forgotten
}

// voucherTerms are those of the batches of a version of a plan.
type voucherTerms struct {
	terms   *events.PlanTerms
	batches int // that are not forgotten
}

// voucher is one that somebody has signed in with, or that is void.
type voucher struct {
	id       id.Voucher
	batch    *voucherBatch
	nas      id.Device
	mac      radius.MAC
	first    time.Time           // of the first sign-in; zero = none is known, and it is void
	ends     time.Time           // first instant at which it is used up
	last     time.Time           // when the device that has it signed in first
	moves    []move              // to another device, the latest ones
	voided   time.Time           // zero = it is not void
	used     *entitlement.CapUse // nil = the cap is not reached
	recorded time.Time           // the latest sign-in that the log has
	queued   time.Time           // the latest sign-in that waits to be recorded
	noted    time.Time           // the latest sign-in that is on the disk
}

// move is one of a voucher to another device.
type move struct {
	at   time.Time
	from radius.MAC // of the device that had it before; zero = not known
}

// voucherBook has all vouchers. Unused ones take an entry of a map and nothing more, and so do those that ended a while
// ago. Safe for concurrent use; its lock is held for short moments only, because sockets wait for it.
type voucherBook struct {
	clock clock.Clock

	mu      sync.Mutex
	batches map[id.VoucherBatch]*voucherBatch
	terms   map[version]voucherTerms
	unused  map[id.Voucher]*voucherBatch
	used    map[id.Voucher]*voucher
	ended   map[id.Voucher]endedVoucher    // of used ones, a while ago
	byMAC   map[device][]*voucher          // a few with which a device signed in, the latest last, also lost ones
	passed  clock.Passed                   // by which those that have ended are shortened and forgotten
	guesses guesses[id.Device]             // wrong codes at routers
	waiting map[id.Voucher][]VoucherSignIn // to be recorded, the oldest of each voucher first; never an empty list
	ready   fair.Rota[id.Voucher]          // those that wait and that a recorder may try now
	trying  map[id.Organization]int        // those that are being recorded
	signal  chan struct{}                  // signalled when one gets ready

	noting   bool          // sign-ins are noted on the disk before they are answered
	unnoted  []noteWaiter  // those that wait for that
	finished []id.Voucher  // whose sign-ins were recorded, so that their notes are needless
	notes    chan struct{} // signalled when there are others of either
}

// newVoucherBook makes an empty book.
func newVoucherBook(machine clock.Clock) *voucherBook {
	return &voucherBook{
		clock: machine, batches: map[id.VoucherBatch]*voucherBatch{}, unused: map[id.Voucher]*voucherBatch{},
		terms: map[version]voucherTerms{}, used: map[id.Voucher]*voucher{}, ended: map[id.Voucher]endedVoucher{},
		byMAC: map[device][]*voucher{}, guesses: guesses[id.Device]{},
		waiting: map[id.Voucher][]VoucherSignIn{}, trying: map[id.Organization]int{},
		signal: make(chan struct{}, 1), notes: make(chan struct{}, 1),
	}
}

// apply applies an event about vouchers; false for other events.
func (b *voucherBook) apply(e events.Envelope) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch v := e.Event.(type) {
	case events.VoucherBatchMade:
		b.addBatch(v)
	case events.VouchersAdded:
		b.sweep(e.Meta.At)
		b.add(v)
	case events.VoucherRedeemed:
		b.sweep(e.Meta.At)
		b.redeemed(v)
	case events.VoucherBeganEarlier:
		if u := b.whole(v.VoucherID); u != nil {
			u.first, u.ends = v.At, v.EndsAt
		}
	case events.VoucherMoved:
		if u := b.whole(v.VoucherID); u != nil {
			b.moved(u, v)
		}
	case events.VoucherVoided:
		if u := b.touch(v.VoucherSubject); u != nil {
			u.voided = v.At
		}
	default:
		return false
	}
	return true
}

// use takes an event about the cap of a voucher. The value that u.used points to never changes.
func (b *voucherBook) use(e events.UsageEvent, recorded id.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if u := b.used[id.As[id.Voucher](events.UsageSubjectOf(e).SubscriptionID)]; u != nil {
		u.used = u.used.After(e, recorded)
	}
}

// add makes the vouchers of a block known. One that was known keeps what it is.
func (b *voucherBook) add(v events.VouchersAdded) {
	batch := b.batches[v.BatchID]
	if batch == nil {
		return
	}
	for _, one := range v.Vouchers {
		if b.batchOf(one) == nil {
			b.unused[one] = batch
			batch.known++
		}
	}
}

// batchOf is the batch of a voucher; nil when it is not known.
func (b *voucherBook) batchOf(v id.Voucher) *voucherBatch {
	if u := b.used[v]; u != nil {
		return u.batch
	}
	if e, ended := b.ended[v]; ended {
		return e.batch
	}
	return b.unused[v]
}

// touch finds a voucher among the used ones, or moves it there from the unused ones; nil when it is not known, because
// it was forgotten.
func (b *voucherBook) touch(about events.VoucherSubject) *voucher {
	if u := b.whole(about.VoucherID); u != nil {
		return u
	}
	batch := b.unused[about.VoucherID]
	if batch == nil {
		return nil
	}
	u := &voucher{id: about.VoucherID, batch: batch}
	b.used[u.id] = u
	delete(b.unused, u.id)
	return u
}

// redeemed takes what the log says about the first sign-in: it counts, even when this server had accepted another one
// before it knew. A device that has moved the voucher since keeps it.
func (b *voucherBook) redeemed(v events.VoucherRedeemed) {
	u := b.touch(v.VoucherSubject)
	if u == nil {
		return
	}
	u.first, u.ends = v.At, v.EndsAt
	if !v.At.Before(u.last) {
		b.give(u, v.DeviceID, parsedMAC(v.MAC.Reveal()), v.At)
	}
	u.recorded = later(u.recorded, v.At)
}

// moved takes a recorded move.
func (b *voucherBook) moved(u *voucher, v events.VoucherMoved) {
	if !slices.ContainsFunc(u.moves, func(m move) bool { return m.at.Equal(v.At) }) {
		b.leaves(u, parsedMAC(v.FormerMAC.Reveal()), v.At)
	}
	if !v.At.Before(u.last) {
		b.give(u, v.DeviceID, parsedMAC(v.MAC.Reveal()), v.At)
	}
	u.recorded = later(u.recorded, v.At)
}

// give lets another device have a voucher: the one before can no longer sign in by its MAC alone.
func (b *voucherBook) give(u *voucher, nas id.Device, mac radius.MAC, at time.Time) {
	before := u.mac
	u.nas, u.mac, u.last = nas, mac, at
	b.leadTo(u, at)
	b.lose(u, before)
}

// leaves notes one more move, away from a device, and forgets the oldest one that is too many.
func (b *voucherBook) leaves(u *voucher, from radius.MAC, at time.Time) {
	u.moves = append(u.moves, move{at, from})
	if len(u.moves) > maxMoves {
		oldest := u.moves[0].from
		u.moves = u.moves[1:]
		b.lose(u, oldest)
	}
}

// lose forgets that a device had a voucher, unless the voucher knows the device still: so one voucher takes a bounded
// number of entries, which go with it.
func (b *voucherBook) lose(u *voucher, mac radius.MAC) {
	if mac != u.mac && !u.knew(mac) {
		b.unlead(u, mac)
	}
}

// knew reports whether one of the latest moves was away from a device.
func (u *voucher) knew(mac radius.MAC) bool {
	return slices.ContainsFunc(u.moves, func(m move) bool { return m.from == mac })
}

// void reports whether it gives nothing any more.
func (u *voucher) void() bool { return !u.voided.IsZero() }

// over is the first instant at which it gives nothing any more.
func (u *voucher) over() time.Time {
	if u.void() {
		return u.voided
	}
	return u.ends
}

// parsedMAC reads the MAC of an event; zero when there is none or it was erased.
func parsedMAC(text string) radius.MAC {
	mac, _ := radius.ParseMAC([]byte(text))
	return mac
}

// later is the later one of two instants.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
