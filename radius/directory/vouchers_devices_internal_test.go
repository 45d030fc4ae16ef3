package directory

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
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
