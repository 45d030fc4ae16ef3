package directory_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// The size that the product is made for, and the memory that it may take then.
const (
	manySubscribers = 50_000
	manyBytes       = 100 << 20
)

// many fills a directory with subscribers who have paid and a password each, and prepares the answer to each.
func many(t testing.TB, n int) (*directory.Directory, id.Organization) {
	t.Helper()
	d := directory.New(directory.Config{ClassKey: []byte("key"), Sessions: telemetry.NewLive(telemetry.LiveConfig{})})
	s, org, plan := newSafe(), id.New[id.Organization](), id.New[id.Plan]()
	s.has = make(map[id.Secret][]byte, n)
	terms := newISP().terms
	terms.Access.Burst = events.Burst{Down: 20_000, Up: 3_000, ThresholdDown: 8_000, ThresholdUp: 1_000, Seconds: 10}
	nas := &radius.NAS{ID: id.New[id.Device](), Org: org}
	for i := range n {
		it, who := id.New[id.Subscription](), id.New[id.Subscriber]()
		for _, e := range []events.Event{
			events.SubscriptionCreated{
				SubscriptionID: it, OrgID: org, SubscriberID: who, Terms: terms, PlanID: plan, PlanVersion: 1,
				StartsAt: noon.Add(-time.Hour), Username: personal.Of(fmt.Sprintf("customer-%06d", i)),
				CreatedAt: noon.Add(-time.Hour), PasswordRef: s.put(fmt.Sprintf("password-%06d", i)),
			},
			events.SubscriptionExtended{SubscriptionID: it, PaidUntil: noon.Add(time.Hour)},
			events.SubscriptionActivated{SubscriptionID: it, At: noon.Add(-time.Hour)},
			events.SubscriptionAddressesAssigned{
				SubscriptionID: it, MACAddresses: []personal.Text{personal.Of(radius.MAC{2, 0, 0, 0, 0, 1}.String())},
			},
		} {
			d.Apply(events.Envelope{Event: e})
		}
	}
	loader := directory.NewLoader(d, s, slog.New(slog.DiscardHandler))
	if err := loader.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	loader.Stop()
	for i := range n {
		if c := d.Find(nas, &radius.Request{UserName: fmt.Appendf(nil, "customer-%06d", i)}); len(c.Password) == 0 {
			t.Fatalf("customer %d has no password", i)
		}
		if h, _ := d.Holder(org, nil, fmt.Sprintf("customer-%06d", i), noon); h.Grant.Access == 0 {
			t.Fatalf("customer %d has no access", i)
		}
	}
	return d, org
}

// heap is the memory in use after garbage was collected.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // fits
}

// BenchmarkDirectory_Memory reports the memory that the subscribers of a large provider take, with the limit.
func BenchmarkDirectory_Memory(b *testing.B) {
	for range b.N {
		before := heap()
		d, _ := many(b, manySubscribers)
		used := heap() - before
		b.ReportMetric(float64(used)/(1<<20), "MB")
		if used > manyBytes {
			b.Errorf("%d bytes for %d subscribers", used, manySubscribers)
		}
		runtime.KeepAlive(d)
	}
}

// TestDirectory_ASignInAllocatesNothing: of a device that has signed in before. It is serial, because it measures.
func TestDirectory_ASignInAllocatesNothing(t *testing.T) { //nolint:paralleltest // measures allocations
	d, org := many(t, 1)
	nas, reply := &radius.NAS{ID: id.New[id.Device](), Org: org}, radius.Reply{}
	r := &radius.Request{
		At: noon, UserName: []byte("customer-000000"), MAC: radius.MAC{2, 0, 0, 0, 0, 1},
		CallingStation: []byte("02-00-00-00-00-01"), SessionID: []byte("81000001"),
	}
	allocations := testing.AllocsPerRun(100, func() {
		d.Decide(radius.Question{
			NAS: nas, Request: r, Credential: d.Find(nas, r), Outcome: radius.Verified,
		}, &reply)
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// BenchmarkDirectory_SignIn measures finding and deciding alone.
func BenchmarkDirectory_SignIn(b *testing.B) {
	d, org := many(b, manySubscribers)
	nas := &radius.NAS{ID: id.New[id.Device](), Org: org}
	names := make([][]byte, manySubscribers)
	for i := range names {
		names[i] = fmt.Appendf(nil, "customer-%06d", i)
	}
	r := &radius.Request{
		At: noon, MAC: radius.MAC{2, 0, 0, 0, 0, 1}, CallingStation: []byte("02-00-00-00-00-01"),
		SessionID: []byte("81000001"),
	}
	var reply radius.Reply
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		r.UserName = names[i%len(names)]
		d.Decide(radius.Question{
			NAS: nas, Request: r, Credential: d.Find(nas, r), Outcome: radius.Verified,
		}, &reply)
	}
}

// BenchmarkDirectory_Answer measures preparing the answer to a customer, which each change and each start takes.
func BenchmarkDirectory_Answer(b *testing.B) {
	d, org := many(b, 1)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N { // before what was prepared last
		if h, _ := d.Holder(org, nil, "customer-000000", noon.Add(-time.Duration(i))); h.Grant.Access == 0 {
			b.Fatal("no access")
		}
	}
}

// TestMemory_UnusedVouchersStaySmall is serial, because it measures the heap.
func TestMemory_UnusedVouchersStaySmall(t *testing.T) { //nolint:paralleltest // measures the heap
	const vouchers, most = 100_000, 10 << 20
	d, org := directory.New(directory.Config{}), id.New[id.Organization]()
	before := heap()
	for range vouchers / 1_000 {
		added := events.VouchersAdded{BatchID: id.New[id.VoucherBatch](), OrgID: org}
		for range 1_000 {
			added.Vouchers = append(added.Vouchers, id.New[id.Voucher]())
		}
		d.Apply(events.Envelope{Event: events.VoucherBatchMade{BatchID: added.BatchID, OrgID: org}})
		d.Apply(events.Envelope{Event: added})
	}
	if used := heap() - before; used > most {
		t.Errorf("%d unused vouchers take %d bytes", vouchers, used)
	}
	runtime.KeepAlive(d)
}
