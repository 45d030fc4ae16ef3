package directory

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// TestVoucherBook_KnowsABoundedNumberOfDevicesOfAVoucher: the present one, which alone may sign in by its MAC, and
// those of the latest moves. They are forgotten with the voucher.
func TestVoucherBook_KnowsABoundedNumberOfDevicesOfAVoucher(t *testing.T) {
	t.Parallel()
	const moves = 50
	b, nas := newVoucherBook(clock.System()), id.New[id.Device]()
	batch := &voucherBatch{id: id.New[id.VoucherBatch](), org: id.New[id.Organization]()}
	u := &voucher{id: id.New[id.Voucher](), batch: batch}
	b.used[u.id] = u
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	mac := func(n int) radius.MAC { return radius.MAC{2, 0, 0, 0, 0, byte(n)} }
	b.give(u, nas, mac(0), at)
	for n := 1; n <= moves; n++ {
		b.move(u, nas, mac(n-n%3/2), at.Add(time.Duration(n)*time.Hour)) // now and then back to the one before
	}
	for n := range moves + 1 {
		v, has := b.ofDevice(device{batch.org, mac(n)}, time.UTC, at)
		if known := v == u.id; known != (mac(n) == u.mac || u.knew(mac(n))) || has != (mac(n) == u.mac) {
			t.Errorf("device %d: known %v, has it %v", n, known, has)
		}
	}
	if len(b.byMAC) > 1+maxMoves {
		t.Errorf("%d devices are known", len(b.byMAC))
	}
	u.ends = at
	b.forget(at.Add(2 * keepUsed))
	if len(b.used)+len(b.byMAC) > 0 {
		t.Errorf("after the sweep: %d vouchers, %d devices", len(b.used), len(b.byMAC))
	}
}

// TestVoucherBook_ADeviceLeadsToAFewVouchers: however many it signs in with, a sign-in by its MAC and a further voucher
// look through a few. A voucher of a month is found when those of an hour are used up, void, or with other devices.
func TestVoucherBook_ADeviceLeadsToAFewVouchers(t *testing.T) {
	t.Parallel()
	b, nas := newVoucherBook(clock.System()), id.New[id.Device]()
	batch := &voucherBatch{
		id: id.New[id.VoucherBatch](), org: id.New[id.Organization](), terms: &events.PlanTerms{Period: calendar.Hour},
	}
	key := device{batch.org, radius.MAC{2, 0, 0, 0, 0, 1}}
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	give := func(ends time.Time) *voucher {
		u := &voucher{id: id.New[id.Voucher](), batch: batch, first: at, ends: ends}
		b.used[u.id] = u
		b.give(u, nas, key.mac, at)
		if n := len(b.byMAC[key]); n > 16 {
			t.Fatalf("the device leads to %d vouchers", n)
		}
		return u
	}
	month := give(at.AddDate(0, 1, 0))
	var hours []*voucher
	for range 10 * maxOfDevice {
		hours = append(hours, give(at.Add(time.Hour)))
	}
	latest := hours[len(hours)-1]
	if v, gives := b.held(key, time.UTC, at); v != latest.id || gives == entitlement.None {
		t.Errorf("the device signs in by %s, which gives %v", v, gives)
	}
	for i, u := range hours {
		switch i % 3 {
		case 0:
			u.voided = at
		case 1:
			b.move(u, nas, radius.MAC{2, 0, 0, 0, 1, byte(i)}, at)
		}
	}
	if v, _ := b.held(key, time.UTC, at.Add(2*time.Hour)); v != month.id {
		t.Error("the voucher of a month is not found")
	}
	for range maxOfDevice {
		give(at.Add(time.Hour))
	}
	if v, _ := b.held(key, time.UTC, at.Add(2*time.Hour)); v != month.id {
		t.Error("the voucher of a month has made way")
	}
}

// TestVoucherBook_VouchersAtTheirCapHideNoneThatGives: one of a day after very many of a month that are at their cap.
func TestVoucherBook_VouchersAtTheirCapHideNoneThatGives(t *testing.T) {
	t.Parallel()
	b, nas := newVoucherBook(clock.System()), id.New[id.Device]()
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	terms := events.PlanTerms{Period: calendar.Month}
	terms.Access.Cap = events.Cap{Bytes: 1 << 30, Period: "month", Then: events.CapStop}
	batch := &voucherBatch{id: id.New[id.VoucherBatch](), org: id.New[id.Organization](), terms: &terms}
	key := device{batch.org, radius.MAC{2, 0, 0, 0, 0, 1}}
	give := func(ends time.Time, used *entitlement.CapUse) *voucher {
		u := &voucher{id: id.New[id.Voucher](), batch: batch, first: at, ends: ends, used: used}
		b.used[u.id] = u
		b.give(u, nas, key.mac, at)
		return u
	}
	for range maxOfDevice {
		give(at.AddDate(0, 1, 0), &entitlement.CapUse{Since: at})
	}
	day := give(at.AddDate(0, 0, 1), nil)
	for range 2 {
		if v, gives := b.held(key, time.UTC, at.Add(time.Minute)); v != day.id || gives == entitlement.None {
			t.Errorf("the device signs in by %s, which gives %v, and not by %s", v, gives, day.id)
		}
		give(at.AddDate(0, 1, 0), &entitlement.CapUse{Since: at}) // which gives nothing any more
	}
}

// TestVoucherBook_AVoucherThatMadeWayIsFoundOnceItWasTyped: it was at the cap of its day while the device signed in
// with many others. On the next day its owner types it once, and from then on the device signs in by itself.
func TestVoucherBook_AVoucherThatMadeWayIsFoundOnceItWasTyped(t *testing.T) {
	t.Parallel()
	org, nas := id.New[id.Organization](), &radius.NAS{ID: id.New[id.Device]()}
	nas.Org = org
	d, at := New(Config{}), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	terms := events.PlanTerms{Period: calendar.Month}
	terms.Access.Cap = events.Cap{Bytes: 1 << 30, Period: "day", Then: events.CapStop}
	batch := &voucherBatch{id: id.New[id.VoucherBatch](), org: org, terms: &terms}
	key := device{org, radius.MAC{2, 0, 0, 0, 0, 1}}
	used := &entitlement.CapUse{Since: at, Until: at.Add(12 * time.Hour)}
	give := func(at, ends time.Time, used *entitlement.CapUse) *voucher {
		u := &voucher{id: id.New[id.Voucher](), batch: batch, first: at, ends: ends, used: used}
		d.vouchers.used[u.id] = u
		d.vouchers.give(u, nas.ID, key.mac, at)
		return u
	}
	week := give(at, at.AddDate(0, 0, 7), used)
	for range maxOfDevice {
		give(at, at.AddDate(0, 0, 8), used)
	}
	tomorrow := at.AddDate(0, 0, 1)
	for _, u := range d.vouchers.byMAC[key] { // the others are used up again
		u.used = &entitlement.CapUse{Since: tomorrow, Until: tomorrow.Add(12 * time.Hour)}
	}
	if v, _ := d.vouchers.held(key, time.UTC, tomorrow); v == week.id {
		t.Fatal("it has not made way")
	}
	if _, code := d.admit(week.id, nas, key.mac, tomorrow); code != "" {
		t.Fatal(code)
	}
	for range 2 {
		if v, gives := d.vouchers.held(key, time.UTC, tomorrow); v != week.id || gives == entitlement.None {
			t.Errorf("the device signs in by %s, which gives %v, and not by %s", v, gives, week.id)
		}
		if n := len(d.vouchers.byMAC[key]); n != maxOfDevice {
			t.Errorf("the device leads to %d vouchers", n)
		}
		give(tomorrow, at.AddDate(0, 0, 9), &entitlement.CapUse{Since: at}) // which gives nothing
	}
}
