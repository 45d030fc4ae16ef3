package directory

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// leadTo makes the device that has a voucher, and signs in with it at an instant, lead to it first, or last when it is
// void. Of more than a few vouchers it leads to this one, and to those that give something then and end last. The
// caller holds the lock.
func (b *voucherBook) leadTo(u *voucher, at time.Time) {
	if u.mac == (radius.MAC{}) {
		return
	}
	b.unlead(u, u.mac)
	key := device{u.batch.org, u.mac}
	place := len(b.byMAC[key])
	if u.void() {
		place = 0
	}
	b.byMAC[key] = slices.Insert(b.byMAC[key], place, u)
	if len(b.byMAC[key]) > maxOfDevice {
		b.unlead(slices.MinFunc(b.byMAC[key], func(a, c *voucher) int {
			return cmp.Or(a.serves(u, at)-c.serves(u, at), a.ends.Compare(c.ends))
		}), key.mac)
	}
}

// serves is how much a voucher is worth to the device that signs in with another one at an instant: nothing when it is
// void, or another device has it, little when it gives nothing then. That one itself is worth most.
func (u *voucher) serves(signsIn *voucher, at time.Time) int {
	switch {
	case u.void() || u.mac != signsIn.mac:
		return 0
	case u == signsIn:
		return 3
	case u.access(time.UTC, at) == entitlement.None: // hours do not matter here
		return 1
	}
	return 2
}

// unlead forgets that a device has or had a voucher. The caller holds the lock.
func (b *voucherBook) unlead(u *voucher, mac radius.MAC) {
	key := device{u.batch.org, mac}
	rest := slices.DeleteFunc(b.byMAC[key], func(other *voucher) bool { return other == u })
	if b.byMAC[key] = rest; len(rest) == 0 {
		delete(b.byMAC, key)
	}
}

// loseDevices forgets which devices had a voucher. The caller holds the lock.
func (b *voucherBook) loseDevices(u *voucher) {
	b.unlead(u, u.mac)
	for _, m := range u.moves {
		b.unlead(u, m.from)
	}
}

// held finds what a device signs in with by its MAC alone, and what it gives at an instant: of the vouchers that it has
// the latest that gives something, else the latest. Zero = it has none.
func (b *voucherBook) held(key device, zone *time.Location, at time.Time) (v id.Voucher, gives entitlement.Access) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range slices.Backward(b.byMAC[key]) {
		if u.mac != key.mac || u.void() {
			continue
		}
		if access := u.access(zone, at); access != entitlement.None {
			return u.id, access
		}
		if v.IsZero() {
			v = u.id
		}
	}
	return v, entitlement.None
}

// gaveLast is the voucher with which a device signed in last, which it may have lost since; zero = there is none.
func (b *voucherBook) gaveLast(key device) id.Voucher {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.byMAC[key]
	if len(list) == 0 {
		return id.Voucher{}
	}
	return list[len(list)-1].id
}

// heldMore reports whether a voucher that a device has gives more than a subscription. The caller holds the directory's
// lock.
func (d *Directory) heldMore(key device, s *service, at time.Time) bool {
	_, gives := d.vouchers.held(key, d.zone(key.org), at)
	return gives != entitlement.None && gives > d.verdict(s, at).access
}
