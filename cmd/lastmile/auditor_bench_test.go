package main

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// auditedAtOnce is the number of routers that are looked at at a time, as the queue of the auditor has places.
const auditedAtOnce = 16

// audited is a healthy network with an auditor of its own, whose directory has the customers and nothing else.
type audited struct {
	*kit
	auditor  *accessjobs.Auditor
	dir      *directory.Directory
	org      id.Organization
	devices  []id.Device
	sessions int // of each router
	position atomic.Uint64
}

// newAudited enrols BENCH_AUDIT_ROUTERS routers with BENCH_AUDIT_SESSIONS sessions each, which the tables of telemetry
// have, too.
func newAudited(b *testing.B) *audited {
	b.Helper()
	count := benchtest.Size(b, "AUDIT_ROUTERS", 50)
	// The program has no jobs of its own: its enforcement would end the sessions, which are in no log.
	k, _ := newRouterBenchAs(b, benchRouters(count), roles{roleAPI, roleProjections, roleProcesses, roleEventStore})
	a := &audited{
		kit: k, devices: make([]id.Device, count), sessions: benchtest.Size(b, "AUDIT_SESSIONS", 100),
		org: k.organizationID("acme"), dir: directory.New(directory.Config{ClassKey: []byte("key")}),
	}
	app := k.app
	a.auditor = &accessjobs.Auditor{
		Enforcer: &accessjobs.Enforcer{
			Bus: app.engines.bus, Sessions: app.telemetry, Breakers: app.breakers, Locks: app.storage.db,
			Entitled: accessjobs.Entitled{
				Directory: a.dir, Reached: func(context.Context, uint64) error { return nil },
			},
			Queue: app.engines.jobs, Clock: app.clock, Logger: app.logger,
		},
		Shown: shownRouters{sessionRouters{app}}, Every: time.Hour,
		Devices: networkviews.DevicesQuery{Views: app.engines.views},
		Open:    accessviews.DifferencesQuery{Views: app.engines.views}, Passes: accessjobs.NewPasses(nil),
		LostAfter: lostAfter,
	}
	a.apply(events.OrganizationCreated{OrgID: a.org, Billing: events.BillingSettings{Timezone: "UTC"}})
	benchEach(count, auditedAtOnce, func(i int) {
		a.devices[i] = id.Must[id.Device](k.enrol(i))
		if err := a.fill(b.Context(), i); err != nil {
			b.Error(err)
		}
	})
	if b.Failed() {
		b.FailNow()
	}
	return a
}

// apply tells the directory about events.
func (a *audited) apply(list ...events.Event) {
	for _, e := range list {
		a.dir.Apply(events.Envelope{
			ID: id.New[id.Event](), Position: a.position.Add(1), Type: e.EventType(), Event: e,
			Meta: events.Metadata{At: a.app.clock.Now()},
		})
	}
}

// fill brings the customers of the i-th router online.
func (a *audited) fill(ctx context.Context, i int) error {
	r := a.routers.Routers()[i]
	for _, add := range []struct {
		menu string
		item router.Item
	}{
		{"ip/pool", router.Item{"name": "homes", "ranges": "100.64.0.2-100.64.255.254"}},
		{"ppp/profile", router.Item{"name": "homes", "local-address": "100.64.0.1", "remote-address": "homes"}},
		{"interface/pppoe-server/server", router.Item{
			"service-name": "lan", "interface": "ether4", "default-profile": "homes", "disabled": "no",
			"one-session-per-host": "no",
		}},
	} {
		if _, err := r.Do(add.menu, "add", add.item); err != nil {
			return err
		}
	}
	if err := r.UseRADIUS(); err != nil {
		return err
	}
	owners := map[string]id.Subscription{}
	now := a.app.clock.Now()
	for n := range a.sessions {
		name := fmt.Sprintf("customer-%d-%d", i, n)
		owners[name] = id.Derive[id.Subscription]("bench", name)
		subscriber := id.As[id.Subscriber](id.Derive[id.Subscriber]("bench", name))
		a.apply(events.SubscriptionCreated{
			SubscriptionID: owners[name], OrgID: a.org, SubscriberID: subscriber, StartsAt: now, CreatedAt: now,
			Username: personal.Of(name), Terms: events.PlanTerms{
				Name: "Home", Kind: "pppoe", Mode: events.Prepaid, Rates: events.Rates{Down: 10_000, Up: 5_000},
			},
		}, events.SubscriptionExtended{
			SubscriptionID: owners[name], SubscriberID: subscriber, PaidUntil: now.AddDate(0, 1, 0),
		}, events.SubscriptionActivated{SubscriptionID: owners[name], SubscriberID: subscriber, At: now})
		if _, err := r.Connect(router.Session{Kind: "pppoe", User: name, Server: "lan", Rate: "5M/10M"}); err != nil {
			return err
		}
	}
	return a.report(ctx, i, owners)
}

// report writes the sessions of the i-th router into the tables of telemetry.
func (a *audited) report(ctx context.Context, i int, owners map[string]id.Subscription) error {
	var reports []telemetry.Report
	now := a.app.clock.Now()
	for _, row := range a.routers.Routers()[i].Snapshot(true)["ppp/active"] {
		ip, err := netip.ParseAddr(row["address"])
		if err != nil {
			return err
		}
		reports = append(reports, telemetry.Report{
			Kind: telemetry.Interim, Org: a.org, Device: a.devices[i], Session: row["session-id"][2:],
			User: row["name"], MAC: row["caller-id"], Called: "lan", Service: "pppoe", IP: ip, Online: time.Hour,
			At: now,
		})
	}
	_, err := a.app.telemetry.Commit(ctx, telemetry.Directory{
		Resolve: func(r telemetry.Report) telemetry.Given {
			p := a.dir.Present(owners[r.User], now)
			return telemetry.Given{
				Subscriber: id.Derive[id.Subscriber]("bench", r.User), Subscription: owners[r.User],
				Access: p.Grant.Access.String(), RateDown: p.Grant.Down, RateUp: p.Grant.Up, Stamp: p.Grant.Stamp(),
			}
		},
		Zone: func(id.Organization) *time.Location { return time.UTC },
	}, reports)
	return err
}

// each does something with all routers, so many at a time as the auditor, and gives the time.
func (a *audited) each(b *testing.B, do func(device id.Device) error) time.Duration {
	b.Helper()
	began := time.Now()
	benchEach(len(a.devices), auditedAtOnce, func(i int) {
		if err := do(a.devices[i]); err != nil {
			b.Error(err)
		}
	})
	return time.Since(began)
}

// pass looks at all routers once.
func (a *audited) pass(b *testing.B) time.Duration {
	b.Helper()
	return a.each(b, func(device id.Device) error {
		return a.auditor.AuditRouter(b.Context(), commands.AuditRouter{DeviceID: device}, jobs.Cause{
			OrgID: a.org, JobID: id.New[id.Any](),
		})
	})
}

// healthy fails when a look was doubtful or did not compare.
func (a *audited) healthy(b *testing.B) {
	b.Helper()
	var doubtful int
	if err := a.app.storage.db.Owner.QueryRow(b.Context(), `select count(*) from `+
		a.app.storage.db.Namespace.Schema("river")+`.river_job where kind = 'access_audit_confirm'`).
		Scan(&doubtful); err != nil || doubtful > 0 {
		b.Errorf("%d routers are not healthy: %v", doubtful, err)
	}
	looks, err := a.app.telemetry.Looks(b.Context(), a.org)
	for _, look := range looks {
		if look.Why != "" {
			b.Errorf("a router was not compared: %s", look.Why)
		}
	}
	if err != nil || len(looks) != len(a.devices) {
		b.Errorf("%d looks, %v", len(looks), err)
	}
}

// BenchmarkAuditPass measures one pass of the auditor over all routers of a healthy network. The limit reads the same
// lists from the same simulators, as many routers at a time, and does nothing with them.
func BenchmarkAuditPass(b *testing.B) {
	a := newAudited(b)
	read := func() time.Duration {
		return a.each(b, func(device id.Device) error {
			_, err := a.auditor.Shown.Observe(b.Context(), device)
			return err
		})
	}
	read() // opens the connections
	b.Run("pass", func(b *testing.B) {
		for b.Loop() {
			var gots, limits []time.Duration
			for range benchtest.Rounds(b) {
				limits = append(limits, read())
				gots = append(gots, a.pass(b))
			}
			b.ReportMetric(float64(len(a.devices)*a.sessions), "sessions")
			benchtest.ReportTime(b, "pass", benchtest.Quantile(gots, 50), benchtest.Quantile(limits, 50), 0.7)
		}
		a.healthy(b)
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			limit := mostHeap(func() { read() })
			got := mostHeap(func() { a.pass(b) })
			benchtest.Report(b, "MiB_live", got, limit, benchtest.NoAim)
		}
	})
	b.Run("poll", func(b *testing.B) { a.pollsMeanwhile(b) })
}

// mostHeap is by how much the memory in use grows while do runs, in MiB, after what is not used any more was freed.
func mostHeap(do func()) float64 {
	before := heap()
	most, end := before, make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
				most = max(most, heap())
			}
		}
	})
	do()
	close(end)
	watch.Wait()
	return float64(most-before) / (1 << 20)
}

// heap is the memory that is in use, in bytes, after what is not used any more was freed.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// pollsMeanwhile measures a poll of the fleet while a pass runs. The limit is the poll while the same lists are read by
// nobody.
func (a *audited) pollsMeanwhile(b *testing.B) {
	workers := a.app.routers.Load()
	poll := func() time.Duration {
		began := time.Now()
		if err := workers.PollFleet(b.Context()); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	for b.Loop() {
		alone := poll()
		var pass sync.WaitGroup
		pass.Go(func() { a.pass(b) })
		meanwhile := poll()
		pass.Wait()
		benchtest.ReportTime(b, "poll", meanwhile, alone, benchtest.NoAim)
	}
}
