package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// benchCPEs is how many devices there are, and stormCallers how many of them call in the same moment.
const (
	benchCPEs    = 10_000
	stormCallers = 200
)

// identifiedWithin is the longest time that 99 of 100 questions of the CPE server may take; it waits 3 s at most.
const identifiedWithin = time.Second

// cpeOf names one of the measured devices.
func cpeOf(n int) events.CpeIdentity {
	return events.CpeIdentity{SerialNumber: fmt.Sprintf("BENCH%06d", n), OUI: "00AABB", ProductClass: "ONT"}
}

// identifies is the question of the CPE server about a device, as bytes.
func (k *kit) identifies(n int) []byte {
	of := cpeOf(n)
	return request(http.MethodPost, "/internal/cpe/identify", apiClient{host: k.admin.host}, fmt.Sprintf(
		`{"serialNumber":%q,"oui":%q,"productClass":%q}`, of.SerialNumber, of.OUI, of.ProductClass),
		"X-Internal-Key: "+internalKey)
}

// claimedCPEs adds devices of an organization to those in memory, with one login for all and ten versions of the
// firmware, since only reading is measured.
func (k *kit) claimedCPEs(b *testing.B, count int) {
	b.Helper()
	org := k.organizationID("acme")
	line := k.connect(k.admin, "secret-of-bench", "bench-line")
	for n := range count {
		cpe := commands.CpeID(cpeOf(n))
		for _, e := range []events.Event{
			events.CpeIdentified{CpeID: cpe, Identity: cpeOf(n)},
			events.CpeDetailsLearned{
				CpeID: cpe, Details: events.CpeDetails{FirmwareVersion: fmt.Sprint("1.", n%10)},
			},
			events.CpeClaimed{
				CpeID: cpe, OrgID: org, SubscriberID: id.Must[id.Subscriber](line.subscriber),
				SubscriptionID: id.Must[id.Subscription](line.subscription),
			},
		} {
			k.app.engines.index.Apply(events.Envelope{Event: e})
		}
	}
}

// BenchmarkCpeIdentify measures the questions of the CPE server that are answered in a second, about 10,000 known
// devices with a login each. The limit is an address of the same server with a constant body.
func BenchmarkCpeIdentify(b *testing.B) {
	k := newBenchKit(b, "ACS_INTERNAL_KEY="+internalKey)
	k.claimedCPEs(b, benchCPEs)
	asked := make([][]byte, benchCPEs)
	for n := range asked {
		asked[n] = k.identifies(n)
	}
	constant := request(http.MethodGet, "/healthz", apiClient{host: k.admin.host}, "")
	lines := dialMany(b, k.addr, benchReaders)
	next := make([]int, benchReaders)
	for b.Loop() {
		benchtest.Compare(b, "questions/s", 0.5, func() float64 {
			return benchtest.Rate(b, benchReaders, func(_ context.Context, caller int) error {
				next[caller]++
				return lines[caller].expect(http.StatusOK, asked[(next[caller]*benchReaders+caller)%benchCPEs])
			})
		}, func() float64 {
			return benchtest.Rate(b, benchReaders, func(_ context.Context, caller int) error {
				return lines[caller].expect(http.StatusOK, constant)
			})
		})
	}
}

// BenchmarkCpeStorm measures how long the CPE server waits while 10,000 devices call for the first time, from 200 at
// once, and while they all come back.
func BenchmarkCpeStorm(b *testing.B) {
	for b.Loop() {
		k := newBenchKit(b, "ACS_INTERNAL_KEY="+internalKey)
		lines, count := dialMany(b, k.addr, stormCallers), benchtest.Size(b, "CPES", benchCPEs)
		for _, what := range []string{"first", "again"} {
			took := make([][]time.Duration, stormCallers)
			failed := make(chan error, stormCallers)
			for caller := range stormCallers {
				go func() {
					for n := caller; n < count; n += stormCallers {
						begun := time.Now()
						if err := lines[caller].expect(http.StatusOK, k.identifies(n)); err != nil {
							failed <- err
							return
						}
						took[caller] = append(took[caller], time.Since(begun))
					}
					failed <- nil
				}()
			}
			for range stormCallers {
				if err := <-failed; err != nil {
					b.Fatal(err)
				}
			}
			var all []time.Duration
			for _, list := range took {
				all = append(all, list...)
			}
			b.Run(what, func(b *testing.B) {
				b.ReportMetric(0, "ns/op") // the time of all questions together has no meaning
				benchtest.Latencies(b, "question", all, identifiedWithin)
			})
		}
	}
}

// BenchmarkCpeDashboard measures how often in a second 10,000 devices are counted by condition and firmware, through
// sign-in. The limit is an address of the same server with a constant body. Aim 0.7.
func BenchmarkCpeDashboard(b *testing.B) {
	k := newBenchKit(b)
	k.claimedCPEs(b, benchCPEs)
	k.fill(b, `insert into `+k.db.Namespace.Schema("cpe")+`.informs (cpe_id, org_id, at, minute)
		select gen_random_uuid(), $1, at, extract(epoch from at)::bigint / 60
		from (select now() - n % 90 * interval '1 minute' as at from generate_series(1, $2) n) calls`,
		k.organizationID("acme"), benchCPEs)
	page := request(http.MethodGet, "/cpe/dashboard", k.admin, "")
	constant := request(http.MethodGet, "/healthz", apiClient{host: k.admin.host}, "")
	lines := dialMany(b, k.addr, benchReaders)
	rate := func(call []byte) func() float64 {
		return func() float64 {
			return benchtest.Rate(b, benchReaders,
				func(_ context.Context, caller int) error { return lines[caller].expect(http.StatusOK, call) })
		}
	}
	for b.Loop() {
		benchtest.Compare(b, "dashboards/s", 0.7, rate(page), rate(constant))
	}
}

// syncMemory is how much the memory in use may grow while all devices are read, in bytes: a page of documents is some
// hundred kilobytes.
const syncMemory = 64 << 20

// BenchmarkCpeSync measures how many documents of the CPE server's a reading of all devices takes in a second, none of
// which was known, and how much more memory the program has in use after it. Each makes an event: the limit of the rate
// is appends a second to the same log.
func BenchmarkCpeSync(b *testing.B) {
	for b.Loop() {
		count := benchtest.Size(b, "CPES", benchCPEs)
		sim := calledOnce(b, count)
		sim.SetFaults(acs.Faults{HTML: http.StatusServiceUnavailable})
		k := newBenchKit(b, "ACS_NBI_URL="+sim.URL(), "CPE_SYNC_INTERVAL=1s")
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		sim.SetFaults(acs.Faults{})
		known := func(least int) {
			k.eventually(fmt.Sprintf("%d devices are known", least), func(ctx context.Context) (bool, error) {
				var have int
				sql := k.app.engines.views.SQL(cpeviews.CPEsName, `select count(*) from {schema}.cpes`)
				err := k.db.Owner.QueryRow(ctx, sql).Scan(&have)
				return have >= least, err
			})
		}
		known(1)
		begun := time.Now()
		known(count)
		rate := float64(count) / time.Since(begun).Seconds()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.Run("rate", func(b *testing.B) {
			benchtest.Report(b, "documents/s", rate, appendRate(b, k.app.storage.store), benchtest.NoAim)
		})
		b.Run("memory", func(b *testing.B) {
			grew := max(leastGrowth, float64(after.HeapAlloc)-float64(before.HeapAlloc))
			benchtest.ReportSize(b, "sync", grew, syncMemory, 1)
		})
		_ = sim.Stop(context.Background())
	}
}

// calledOnce starts a CPE server that devices have called, and which have no power since.
func calledOnce(b *testing.B, count int) *acs.Simulator {
	b.Helper()
	sim := acs.New(acs.Config{})
	if err := sim.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	ids := make([]string, count)
	for n := range ids {
		of := cpeOf(n)
		id, err := sim.AddDevice(acs.DeviceConfig{
			Serial: of.SerialNumber, OUI: of.OUI, ProductClass: of.ProductClass,
		})
		if err != nil {
			b.Fatal(err)
		}
		ids[n] = id
	}
	if err := sim.Idle(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, id := range ids {
		if err := sim.SetPower(id, false); err != nil {
			b.Fatal(err)
		}
	}
	return sim
}
