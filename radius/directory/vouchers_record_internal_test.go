package directory

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

func TestVouchers_HoweverManySignInsWaitNoneIsForgotten(t *testing.T) {
	t.Parallel()
	const count = 20_000
	nas := &radius.NAS{ID: id.New[id.Device](), Org: id.New[id.Organization]()}
	batch := id.New[id.VoucherBatch]()
	added := events.VouchersAdded{BatchID: batch, OrgID: nas.Org}
	for range count {
		added.Vouchers = append(added.Vouchers, id.New[id.Voucher]())
	}
	d := New(Config{ClassKey: []byte("key")})
	for _, e := range []events.Event{
		events.OrganizationCreated{OrgID: nas.Org, Billing: events.BillingSettings{Timezone: "Africa/Nairobi"}},
		events.VoucherBatchMade{BatchID: batch, OrgID: nas.Org, Terms: events.PlanTerms{Period: calendar.Day}}, added,
	} {
		d.Apply(events.Envelope{Event: e})
	}
	at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for n, v := range added.Vouchers {
		if _, code := d.admit(v, nas, radius.MAC{2, 0, 0, 0, byte(n >> 8), byte(n)}, at); code != "" {
			t.Fatalf("refused: %s", code)
		}
	}
	for n, v := range added.Vouchers {
		in, ok := d.vouchers.next()
		if !ok || in.Subject.VoucherID != v {
			t.Fatalf("sign-in %d does not wait in its turn", n)
		}
		d.vouchers.done(in.Subject, false)
	}
}

// TestVouchers_OrganizationsAreRecordedInTurn: one with very many sign-ins leaves recorders free, and the next turn is
// another one's.
func TestVouchers_OrganizationsAreRecordedInTurn(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	d, org := New(Config{ClassKey: []byte("key")}), [2]id.Organization{}
	for i, count := range []int{1000, 2} {
		nas := &radius.NAS{ID: id.New[id.Device](), Org: id.New[id.Organization]()}
		org[i] = nas.Org
		batch := id.New[id.VoucherBatch]()
		added := events.VouchersAdded{BatchID: batch, OrgID: nas.Org}
		for range count {
			added.Vouchers = append(added.Vouchers, id.New[id.Voucher]())
		}
		d.Apply(events.Envelope{Event: events.VoucherBatchMade{
			BatchID: batch, OrgID: nas.Org, Terms: events.PlanTerms{Period: calendar.Day},
		}})
		d.Apply(events.Envelope{Event: added})
		for _, v := range added.Vouchers {
			d.admit(v, nas, radius.MAC{2}, at)
		}
	}
	var taken []VoucherSignIn
	for in, ok := d.vouchers.next(); ok; in, ok = d.vouchers.next() {
		taken = append(taken, in)
	}
	if len(taken) != recorders || taken[1].Subject.OrgID != org[1] || taken[3].Subject.OrgID != org[1] {
		t.Fatalf("%d are recorded at once: %v", len(taken), taken)
	}
	d.vouchers.done(taken[0].Subject, false)
	d.vouchers.aside(taken[2].Subject)
	for range 2 {
		if in, ok := d.vouchers.next(); !ok || in.Subject.OrgID != org[0] {
			t.Error("nothing follows one that was recorded, or set aside")
		}
	}
	if _, ok := d.vouchers.next(); ok {
		t.Error("one organization has all recorders")
	}
}
