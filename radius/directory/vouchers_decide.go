package directory

import (
	"bytes"
	"slices"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// Bounds of moves: a voucher moves to another device at most maxMoves times within movesWithin
// (docs/rules/access-vouchers.md#moves).
const (
	maxMoves    = 5
	movesWithin = 24 * time.Hour
	// moveRest is how long a device that lost a voucher by a move cannot take it back. Phones sign in again by
	// themselves when their session is ended, and would take it from the device to which its owner has just moved it.
	moveRest = 2 * time.Minute
)

// voucherLimit is how many sessions a voucher may have at the same time.
const voucherLimit = 1

// claim is a sign-in with a voucher: the subject of its credential.
type claim struct{ voucher id.Voucher }

// admission has all that the answer to an accepted sign-in depends on.
type admission struct {
	pass  voucherPass
	batch *voucherBatch
	ends  time.Time
	used  *entitlement.CapUse
	moved bool // another device had it
	owed  bool // neither the log nor the disk has it: it must be noted before it is answered
}

// atHotspot reports whether a request may be about a voucher. Some hotspots leave out what tells the service.
func atHotspot(r *radius.Request) bool {
	return r.Service == radius.ServiceHotspot || r.Service == radius.ServiceUnknown
}

// findVoucher gives the credential of a voucher: by its code, which is the username, or by the device that has it. The
// password has to be what was typed as the username, since hotspots send both from one field; so the proof works in
// every form in which people type a code. While a device is slowed down, only vouchers that it has are found. The
// caller holds the directory's lock.
func (d *Directory) findVoucher(nas *radius.NAS, r *radius.Request) *radius.Credential {
	if !atHotspot(r) {
		return nil
	}
	b := d.vouchers
	if r.MACLogin {
		if v, _ := b.held(device{nas.Org, r.MAC}, d.zone(nas.Org), r.At); !v.IsZero() {
			return &radius.Credential{ByMAC: true, Subject: &claim{v}}
		}
		return nil
	}
	voucher, ok := d.cfg.Vouchers.ID(nas.Org, string(r.UserName))
	if !ok {
		return nil
	}
	if !b.finds(voucher, nas, r.MAC, d.pace.Now()) {
		return nil
	}
	c := &radius.Credential{Password: bytes.Clone(r.UserName), Subject: &claim{voucher}}
	if r.Method == radius.MethodMSCHAP1 || r.Method == radius.MethodMSCHAP2 {
		c.NTHash, _ = radius.NTHash(string(r.UserName)) // a code that was read is UTF-8
	}
	return c
}

// finds reports whether a device may sign in with a voucher that exists: it has the voucher, or is not slowed down.
func (b *voucherBook) finds(voucher id.Voucher, nas *radius.NAS, mac radius.MAC, at time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.used[voucher]
	own := u != nil && u.mac == mac && mac != (radius.MAC{})
	return b.batchOf(voucher) != nil && (own || !b.guesses.slowed(nas.ID, mac.String(), at))
}

// decideVoucher answers a sign-in with a voucher, and one that tries a name which does not exist at a hotspot; false
// for others.
func (d *Directory) decideVoucher(q radius.Question, reply *radius.Reply) bool {
	var c *claim
	if q.Credential != nil {
		c, _ = q.Credential.Subject.(*claim)
	}
	switch {
	case c == nil && q.Outcome == radius.UnknownUser && q.Request.MACLogin:
		// The hotspot tries every device that comes into its range in this way, before it shows its page: nobody has
		// typed anything, and nothing is to be told or counted.
		reply.Reject(CodeUnknownUser.Message())
		return true
	case c == nil && q.Outcome == radius.UnknownUser && atHotspot(q.Request):
		if d.guessed(q.NAS, q.Request.MAC) {
			d.refuse(q, nil, CodeTooManyCodes, reply)
			return true
		}
		return false
	case c == nil:
		return false
	case q.Outcome != radius.Verified:
		d.guessed(q.NAS, q.Request.MAC)
		d.refuse(q, nil, proofRefusals[q.Outcome], reply)
		return true
	}
	at := q.Request.At.Truncate(time.Microsecond)
	given, code := d.admit(c.voucher, q.NAS, q.Request.MAC, at)
	if code != "" {
		d.refuse(q, nil, code, reply)
		return true
	}
	if !q.Credential.ByMAC {
		d.guests.leave(device{q.NAS.Org, q.Request.MAC}) // the device has the voucher now
	}
	if d.cfg.Sessions != nil { // never refused: the newest device has the voucher
		d.cfg.Sessions.Admit(telemetry.SignIn{
			Subscription: VoucherService(c.voucher), Device: q.NAS.ID, SessionKey: string(q.Request.SessionID),
			Calling: string(q.Request.CallingStation), MAC: q.Request.MAC.String(), At: at, Limit: voucherLimit,
		})
	}
	d.dialled(q, id.Subscriber{}, VoucherService(c.voucher))
	d.acceptVoucher(given, at, reply)
	reply.EncryptionKeys()
	if given.owed {
		n := note{org: q.NAS.Org, nas: q.NAS.ID, mac: q.Request.MAC, pass: given.pass}
		reply.After(func(send func()) { d.vouchers.noteFirst(n, send) })
	}
	return true
}

// VoucherService is the id under which sessions and usage of a voucher are kept, where those of a subscription are kept
// under the subscription's. It is the subscriber of these sessions, too.
func VoucherService(v id.Voucher) id.Subscription { return id.As[id.Subscription](v) }

// admit lets a device use a voucher, or says why not. The first sign-in redeems it, another device moves it; both wait
// to be recorded. A clock that went back behind the first sign-in takes no time away and gives none.
func (d *Directory) admit(v id.Voucher, nas *radius.NAS, mac radius.MAC, at time.Time) (admission, Code) {
	zone := d.Zone(nas.Org)
	b := d.vouchers
	b.mu.Lock()
	defer b.mu.Unlock()
	if batch := b.unused[v]; batch != nil {
		u := b.touch(events.VoucherSubject{VoucherID: v})
		b.redeem(u, nas.ID, mac, at, zone)
		return b.admission(u, at, false), ""
	}
	u := b.asOf(v, at)
	switch {
	case u == nil: // forgotten since it was found
		return admission{}, CodeVoucherUsed
	case u.void():
		return admission{}, CodeVoucherVoid
	case !at.Before(u.ends):
		return admission{}, CodeVoucherUsed
	case u.access(zone, at) == entitlement.None:
		return admission{}, CodeCapReached
	case u.mac == mac:
		u.nas = nas.ID
		b.leadTo(u, at) // it may have made way while it gave nothing
		return b.admission(u, at, false), ""
	case u.lostBy(mac, at):
		return admission{}, CodeVoucherMoved
	case u.movesSince(at.Add(-movesWithin)) >= maxMoves:
		return admission{}, CodeVoucherMoves
	}
	b.move(u, nas.ID, mac, at)
	return b.admission(u, at, true), ""
}

// redeem begins the time of a voucher.
func (b *voucherBook) redeem(u *voucher, nas id.Device, mac radius.MAC, at time.Time, zone *time.Location) {
	u.first, u.ends = at, u.batch.terms.Period.Next(at, 0, at, zone)
	b.give(u, nas, mac, at)
	b.queue(u)
}

// move gives a voucher to another device. Of two devices in the same moment, or after a clock that went back, the one
// whose request is read later has it.
func (b *voucherBook) move(u *voucher, nas id.Device, mac radius.MAC, at time.Time) {
	if !at.After(u.last) {
		at = u.last.Add(time.Microsecond)
	}
	b.leaves(u, u.mac, at)
	b.give(u, nas, mac, at)
	b.queue(u)
}

// movesSince counts the moves after an instant.
func (u *voucher) movesSince(at time.Time) int {
	n := 0
	for _, m := range u.moves {
		if m.at.After(at) {
			n++
		}
	}
	return n
}

// lostBy reports whether a device had the voucher until a moment before an instant.
func (u *voucher) lostBy(mac radius.MAC, at time.Time) bool {
	return slices.ContainsFunc(u.moves, func(m move) bool {
		return m.from == mac && mac != radius.MAC{} && at.Sub(m.at).Abs() < moveRest
	})
}

// admission describes a sign-in at an instant. The caller holds the lock.
func (b *voucherBook) admission(u *voucher, at time.Time, moved bool) admission {
	return admission{
		voucherPass{voucher: u.id, first: u.first, at: later(at, u.last)}, u.batch, u.ends, u.used, moved,
		b.noting && u.last.After(later(u.noted, u.recorded)),
	}
}

// acceptVoucher fills an accept: until the end of the voucher's time, with the rate of its plan at this hour.
func (d *Directory) acceptVoucher(a admission, at time.Time, reply *radius.Reply) {
	list := make(radius.Attributes, 0, 160).Octets(rfc2865.Class_Type, a.pass.class(d.cfg.ClassKey)).
		Number(rfc2869.AcctInterimInterval_Type, uint32(telemetry.ReportEvery/time.Second))
	given := voucher{first: a.pass.first, ends: a.ends, used: a.used}.given(a.batch, d.Zone(a.batch.org), at)
	if rate := rateLimit(given.Rate); rate != "" {
		list = list.MikroTik(mikrotikRateLimit, rate)
	}
	reply.Accept(list.Text(rfc2869.FramedPool_Type, a.batch.terms.Access.Pool))
	reply.Add(rfc2865.SessionTimeout_Type, secondsUntil(later(at, a.pass.first), a.ends))
}

// given decides what a voucher gives at an instant, by the same rule as for subscriptions; its cap counts as theirs do.
// An instant before the first sign-in gives the same as the sign-in.
func (u voucher) given(b *voucherBatch, zone *time.Location, at time.Time) entitlement.Service {
	return entitlement.Of(u.state(b, zone), later(at, u.first)).Services[0]
}

// state is the input of the decision about a voucher.
func (u voucher) state(b *voucherBatch, zone *time.Location) entitlement.State {
	return entitlement.State{Subscriptions: []entitlement.Subscription{{
		Standing: entitlement.Active, Mode: events.Prepaid, CreatedAt: u.first, Since: u.first, StartsAt: u.first,
		PaidUntil: u.ends, Used: u.used, Rates: b.terms.Rates, Terms: b.terms.Access, Zone: zone,
	}}}
}

// access is how much a voucher that is not void gives at an instant.
func (u *voucher) access(zone *time.Location, at time.Time) entitlement.Access {
	if !at.Before(u.ends) {
		return entitlement.None
	}
	return u.given(u.batch, zone, at).Access
}

// voucherGrant describes the answer to a sign-in with a voucher that gives something.
func voucherGrant(b *voucherBatch, given entitlement.Service) Grant {
	return Grant{
		Access: given.Access, Down: given.Rate.Speed.Down, Up: given.Rate.Speed.Up,
		Speed: digest(rateLimit(given.Rate)), Rest: digest("voucher", b.terms.Access.Pool),
	}
}

// look gives a copy of a voucher and its batch; the batch is nil when it is not known, and the time of the first
// sign-in is zero when there was none.
func (b *voucherBook) look(v id.Voucher) (voucher, *voucherBatch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if u := b.used[v]; u != nil {
		return *u, u.batch
	}
	if e, ended := b.ended[v]; ended {
		return *e.voucher(v), e.batch
	}
	return voucher{}, b.unused[v]
}

// voucherHolder names the voucher of a session by its Class; false for others, for a voucher that is not known, and for
// the routers of another organization.
func (d *Directory) voucherHolder(org id.Organization, class []byte) (Holder, bool) {
	pass, ok := readVoucherPass(d.cfg.ClassKey, class)
	if !ok {
		return Holder{}, false
	}
	h := Holder{
		SubscriberID: id.As[id.Subscriber](pass.voucher), SubscriptionID: VoucherService(pass.voucher), Told: true,
	}
	u, batch := d.vouchers.look(pass.voucher)
	if batch == nil || batch.org != org { // of a forgotten one nobody knows any more whose it was
		return Holder{}, false
	}
	then := voucher{first: pass.first, ends: pass.at.Add(time.Second)}
	if u.used != nil && !u.used.Since.After(pass.at) {
		then.used = u.used
	}
	h.Grant = voucherGrant(batch, then.given(batch, d.Zone(org), pass.at))
	return h, true
}

// voucherPresent gives what a sign-in with a voucher would get now; false for what is no voucher. A session of one that
// nobody has signed in with, as far as is known here, was accepted by another server a moment ago.
func (d *Directory) voucherPresent(v id.Voucher, at time.Time) (Present, bool) {
	u, batch := d.vouchers.look(v)
	switch {
	case batch == nil:
		return Present{}, false
	case u.void(), !u.first.IsZero() && !at.Before(u.ends):
		return Present{Code: entitlement.CodeEnded}, true
	case u.first.IsZero():
		u.first, u.ends = at, at.Add(time.Second)
	}
	given := u.given(batch, d.Zone(batch.org), at)
	if given.Access == entitlement.None {
		return Present{Code: given.Decided.Code}, true
	}
	p := Present{
		Grant: voucherGrant(batch, given), Code: given.Decided.Code, Moves: true, RateLimit: rateLimit(given.Rate),
	}
	if u.mac != (radius.MAC{}) {
		p.macs = []radius.MAC{u.mac}
	}
	return p, true
}
