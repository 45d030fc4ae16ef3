package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// How long vouchers that are used up or void are remembered at least (docs/rules/access-vouchers.md#batches): all of
// them while routers may report their sessions, and then what tells a sign-in why it is refused and a session whose it
// is.
const (
	keepWhole = 7 * 24 * time.Hour
	keepUsed  = 30 * 24 * time.Hour
)

// endedVoucher has the little that is kept of a voucher that ended a while ago, because there can be very many.
// Instants are in nanoseconds since 1970.
type endedVoucher struct {
	batch *voucherBatch
	first int64               // of the first sign-in; 0 = none is known
	over  int64               // first instant at which it gave nothing any more
	last  int64               // when the device that has it signed in first; 0 = never
	used  *entitlement.CapUse // counts again where it turns out that it has not ended
	mac   radius.MAC
	void  bool
}

// shorten keeps what is needed of a voucher that has ended.
func (u *voucher) shorten() endedVoucher {
	return endedVoucher{
		batch: u.batch, first: nanoseconds(u.first), over: nanoseconds(u.over()), last: nanoseconds(u.last),
		used: u.used, mac: u.mac, void: u.void(),
	}
}

// voucher is a voucher of which all is recorded.
func (e endedVoucher) voucher(v id.Voucher) *voucher {
	u := &voucher{
		id: v, batch: e.batch, mac: e.mac, first: instant(e.first), ends: instant(e.over), last: instant(e.last),
		used: e.used,
	}
	if u.recorded, u.queued, u.noted = u.last, u.last, u.last; e.void {
		u.voided = u.ends
	}
	return u
}

// nanoseconds is the short form of an instant, of which 0 is the zero value.
func nanoseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

// instant is the opposite of nanoseconds.
func instant(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(0, at).UTC()
}

// whole finds a voucher that somebody has used or that is void, to be changed; nil when there is none.
func (b *voucherBook) whole(v id.Voucher) *voucher {
	if e, ended := b.ended[v]; ended {
		delete(b.ended, v)
		b.used[v] = e.voucher(v)
	}
	return b.used[v]
}

// asOf finds the same for a sign-in at an instant. One that had ended by all clocks for a day and has not by this one,
// because they were wrong, goes on; others stay what they are.
func (b *voucherBook) asOf(v id.Voucher, at time.Time) *voucher {
	e, ended := b.ended[v]
	if !ended {
		return b.used[v]
	}
	if at.UnixNano() >= e.over {
		return e.voucher(v)
	}
	u := b.whole(v)
	b.leadTo(u, at)
	return u
}

// reported finds the same for a session that is reported. What a voucher that ended a while ago had already is not
// looked at again: a session tells something new about it when its sign-in was before all that are known.
func (b *voucherBook) reported(pass voucherPass) *voucher {
	if e, ended := b.ended[pass.voucher]; ended && e.first != 0 && e.first <= pass.first.UnixNano() {
		return nil
	}
	return b.whole(pass.voucher)
}

// sweep shortens and forgets, once a day, the vouchers that are over for sure. It is told when an event was recorded.
func (b *voucherBook) sweep(recorded time.Time) {
	if now, ok := b.passed.Look(recorded, b.clock.Now()); ok {
		b.forget(now)
	}
}

// forget shortens and forgets the vouchers that were used up or voided long enough before an instant.
func (b *voucherBook) forget(now time.Time) {
	ended := make(map[id.Voucher]endedVoucher, len(b.ended)) // a map keeps the room of what is deleted
	for v, e := range b.ended {
		if now.Sub(instant(e.over)) < keepUsed {
			ended[v] = e
		} else {
			b.leave(e.batch)
		}
	}
	b.ended = ended
	for v, u := range b.used {
		since := now.Sub(u.over())
		recorded := !u.last.After(u.recorded) && len(b.waiting[v]) == 0
		if since < keepWhole || !recorded && since < keepUsed {
			continue
		}
		b.loseDevices(u)
		delete(b.used, v)
		if since < keepUsed {
			b.ended[v] = u.shorten()
		} else {
			b.leave(u.batch)
		}
	}
}

// addBatch makes a batch known that has no vouchers yet.
func (b *voucherBook) addBatch(v events.VoucherBatchMade) {
	key := version{v.PlanID, v.PlanVersion}
	shared, known := b.terms[key]
	if !known || !shared.terms.Equal(v.Terms) {
		terms := v.Terms
		shared = voucherTerms{terms: &terms}
	}
	shared.batches++
	b.terms[key] = shared
	b.batches[v.BatchID] = &voucherBatch{
		id: v.BatchID, org: v.OrgID, plan: v.PlanID, version: v.PlanVersion, price: v.Terms.Price, madeBy: v.MadeBy,
		terms: shared.terms,
	}
}

// leave forgets a batch with its last voucher, and terms with their last batch.
func (b *voucherBook) leave(batch *voucherBatch) {
	if batch.known--; batch.known > 0 {
		return
	}
	delete(b.batches, batch.id)
	key := version{batch.plan, batch.version}
	switch shared := b.terms[key]; {
	case shared.terms != batch.terms: // another one has replaced them
	case shared.batches > 1:
		shared.batches--
		b.terms[key] = shared
	default:
		delete(b.terms, key)
	}
}
