package accessjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestEnforce_AVoucherThatBeganEarlierEndsWhenItsTimeIsOver: the router was told how long the session may last before
// the first sign-in of all became known. The session goes on until the time from that one is over, and not longer.
func TestEnforce_AVoucherThatBeganEarlierEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	const mac, hours = "02:00:00:00:00:02", 24 * time.Hour
	voucher := events.VoucherSubject{
		VoucherID: id.New[id.Voucher](), OrgID: k.org, BatchID: id.New[id.VoucherBatch](),
	}
	k.apply(events.VoucherBatchMade{
		BatchID: voucher.BatchID, OrgID: k.org, Terms: events.PlanTerms{
			Kind: "hotspot", Mode: events.Prepaid, Rates: events.Rates{Down: 4_000, Up: 1_000},
			Access: events.AccessTerms{Pool: "home"},
		},
	}, events.VouchersAdded{
		BatchID: voucher.BatchID, OrgID: k.org, Vouchers: []id.Voucher{voucher.VoucherID},
	}, events.VoucherRedeemed{
		VoucherSubject: voucher, DeviceID: k.device, MAC: personal.Of(mac), At: noon, EndsAt: noon.Add(hours),
	})
	r, err := k.nas.SignIn(t.Context(), handset.Customer{
		Service: handset.Hotspot, Method: handset.MACLogin, MAC: mac, Address: "100.64.0.9",
	})
	if err != nil || r.Outcome != handset.Accepted {
		t.Fatalf("sign in: %+v, %v", r, err)
	}
	open := func() []telemetry.Session {
		k.idle()
		list, err := k.store.OpenOf(t.Context(), id.As[id.Subscriber](voucher.VoucherID))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := open(); len(list) != 1 {
		t.Fatalf("sessions %+v", list)
	}
	k.apply(events.VoucherBeganEarlier{
		VoucherSubject: voucher, DeviceID: k.device, At: noon.Add(-time.Hour), EndsAt: noon.Add(hours - time.Hour),
	})
	look := func() int {
		t.Helper()
		if err := k.EnforceAll(t.Context(), commands.EnforceAll{}, k.cause()); err != nil {
			t.Fatal(err)
		}
		return k.waiting()
	}
	k.clock.Advance(hours - time.Hour - time.Second)
	if n := look(); n != 0 || len(open()) != 1 {
		t.Errorf("before the end %d routers wait, sessions %+v", n, open())
	}
	k.clock.Advance(time.Second)
	if n := look(); n != 1 {
		t.Fatalf("%d routers wait when the time is over", n)
	}
	_ = k.EnforceRouter(t.Context(), commands.EnforceRouter{DeviceID: k.device}, k.cause()) // looks once more later
	if list := open(); len(list) != 0 || k.nas.Statistics().Online != 0 {
		t.Errorf("the session goes on: %+v", list)
	}
}
