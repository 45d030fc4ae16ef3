package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// Shown has what a router shows of a session of which nothing was reported.
type Shown struct {
	Username, MAC string
	Hotspot       bool
}

// byMAC is the device that a hotspot has signed in by its MAC alone; false for other sessions.
func (s Shown) byMAC() (radius.MAC, bool) {
	mac, _ := radius.ParseMAC([]byte(s.MAC))
	name, _ := radius.ParseMAC([]byte(s.Username))
	return mac, s.Hotspot && mac == name && mac != radius.MAC{}
}

// Named finds whose a session is of which nothing was reported: the subscription or the voucher that a sign-in finds
// by the same name and device; else the one that had them last, because routers keep sessions for which nobody asks
// them any more. Zero = nobody of the organization.
func (d *Directory) Named(org id.Organization, shown Shown, at time.Time) (id.Subscriber, id.Subscription) {
	mac, byMAC := shown.byMAC()
	key := device{org, mac}
	d.mu.RLock()
	defer d.mu.RUnlock()
	var s *service
	if byMAC {
		s = d.ofMAC(key, at)
	}
	if s == nil {
		s = d.named(org, shown.Username)
	}
	if s == nil && byMAC {
		s = d.guests.cameBy(key)
	}
	if s != nil && !(byMAC && d.heldMore(key, s, at)) {
		return s.owner, s.id
	}
	var v id.Voucher
	var has bool
	switch {
	case byMAC:
		v, has = d.vouchers.ofDevice(key, d.zone(org), at)
	case shown.Hotspot:
		v, has = d.usedVoucher(org, shown.Username)
	}
	if !has {
		it, found := d.formerlyNamed(org, shown.Username)
		if !found && byMAC {
			it, found = d.traces.byMAC[key]
		}
		switch s = d.services[it]; {
		case found && s != nil:
			return s.owner, it
		case found:
			return d.former[it].owner, it
		case v.IsZero():
			return id.Subscriber{}, id.Subscription{}
		}
	}
	return id.As[id.Subscriber](v), VoucherService(v)
}

// Coded finds the voucher whose code a name is, whether somebody has used it or not; zero = none that is known.
func (d *Directory) Coded(org id.Organization, name string) id.Voucher {
	v, _ := d.cfg.Vouchers.ID(org, name)
	if _, batch := d.vouchers.look(v); batch == nil || batch.org != org {
		return id.Voucher{}
	}
	return v
}

// usedVoucher finds a voucher that was used, by its code.
func (d *Directory) usedVoucher(org id.Organization, code string) (id.Voucher, bool) {
	v, _ := d.cfg.Vouchers.ID(org, code)
	if u, batch := d.vouchers.look(v); batch == nil || batch.org != org || u.first.IsZero() {
		return id.Voucher{}, false
	}
	return v, true
}

// ofDevice finds the voucher with which a device signs in by its MAC alone, else the one with which it signed in last,
// and reports whether the device has it still.
func (b *voucherBook) ofDevice(key device, zone *time.Location, at time.Time) (id.Voucher, bool) {
	if v, _ := b.held(key, zone, at); !v.IsZero() {
		return v, true
	}
	return b.gaveLast(key), false
}
