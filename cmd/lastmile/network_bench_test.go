package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// callCounter is a slog handler that counts the calls to routers, by the gateway's log lines.
type callCounter struct {
	slog.Handler
	mu    *sync.Mutex
	calls map[string]int // "print ip/pool"
}

// newCallCounter makes a counter at zero.
func newCallCounter() callCounter {
	return callCounter{Handler: slog.DiscardHandler, mu: &sync.Mutex{}, calls: map[string]int{}}
}

// Enabled lets lines of every level through, so that no call is missed.
func (callCounter) Enabled(context.Context, slog.Level) bool { return true }

// Handle counts a line with the message "router call" by its operation and menu. Nothing is written.
func (c callCounter) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "router call" {
		return nil
	}
	var operation, menu string
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "operation":
			operation = a.Value.String()
		case "menu":
			menu = a.Value.String()
		}
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[operation+" "+menu]++
	return nil
}

// take gives the number of calls since it was called last: all, writes, different menus read, and menus written.
func (c callCounter) take() (all, writes, menus, touched int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := map[string]bool{}
	for call, n := range c.calls {
		all += n
		operation, menu, _ := strings.Cut(call, " ")
		if operation == "print" {
			menus++
			continue
		}
		writes += n
		written[menu] = true
	}
	clear(c.calls)
	return all, writes, menus, len(written)
}

// newRouterBench starts the program with simulated routers, and without fleet polls and drift checks of its own.
func newRouterBench(b *testing.B, routers []router.RouterConfig) (*kit, callCounter) {
	b.Helper()
	return newRouterBenchAs(b, routers, allRoles)
}

// newRouterBenchAs is newRouterBench of a program with some roles.
func newRouterBenchAs(b *testing.B, routers []router.RouterConfig, r roles) (*kit, callCounter) {
	b.Helper()
	k := newKit(b, "DATABASE_MAX_CONNS=24", "RATE_LIMIT_USER=1000000000", "FLEET_POLL_INTERVAL=24h",
		"DRIFT_CHECK_INTERVAL=1000h")
	sim, err := router.New(router.Config{Routers: routers})
	if err == nil {
		err = sim.Start(context.Background())
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = sim.Stop(context.Background()) })
	k.routers = sim
	counter := newCallCounter()
	app, err := StartApp(b.Context(), k.config(), r, slog.New(counter), k.options())
	if err != nil {
		b.Fatalf("start: %v", err)
	}
	b.Cleanup(app.Stop)
	k.app, k.addr = app, app.Addr()
	return k.signIn(), counter
}

// benchRouters describes count routers, at the addresses that enrol registers.
func benchRouters(count int) []router.RouterConfig {
	list := make([]router.RouterConfig, count)
	for i := range list {
		list[i] = router.RouterConfig{
			Name: fmt.Sprintf("r%d", i), Version: "7.16", Password: routerPassword, Tunnel: benchAddress(i),
			Ports: router.Ports{WWWSSL: -1, API: -1, APISSL: -1},
		}
	}
	return list
}

// benchAddress gives the address of the i-th router.
func benchAddress(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 99, byte(200 + i/250), byte(i%250 + 2)})
}

// enrol registers a router by its address.
func (k *kit) enrol(i int) string {
	return k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": fmt.Sprint("r", i), "ipAddress": "203.0.113.20", "radiusSecret": "radiussecret",
		"apiUsername": "admin", "apiPassword": routerPassword, "managementAddress": benchAddress(i).String(),
	}).text("id")
}

// BenchmarkFirstReconcile counts the round trips of making a service, from the check of its place to the last reading
// back. The limit is the least that the plan needs: each menu read once, each write, each written menu read back once.
func BenchmarkFirstReconcile(b *testing.B) {
	k, counter := newRouterBench(b, benchRouters(1))
	r := simRouter{Router: k.routers.Routers()[0], device: k.enrol(0)}
	for name, body := range map[string]map[string]any{
		"pppoe": {"type": "pppoe", "parentInterface": "ether4"}, "hotspot": fullService,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				k.must(k.admin, "POST", "/nas/devices/"+r.device+"/ping", nil) // its transport is known
				counter.take()
				service := k.service(r, body)
				all, writes, menus, touched := counter.take()
				// fewer round trips are better, so the ratio is inverted
				benchtest.Report(b, "roundtrips", float64(menus+writes+touched), float64(all), 1/1.5)
				k.must(k.admin, "DELETE", "/nas/services/"+service, nil)
			}
		})
	}
}

// BenchmarkDriftReads counts the reads of a drift check of an unchanged router, with one service and with six.
func BenchmarkDriftReads(b *testing.B) {
	k, counter := newRouterBench(b, benchRouters(1))
	r := simRouter{Router: k.routers.Routers()[0], device: k.enrol(0)}
	reads := func() int {
		counter.take()
		if err := k.app.routers.Load().CheckDrift(b.Context(),
			commands.CheckDrift{DeviceID: id.Must[id.Device](r.device)},
			jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
			b.Fatal(err)
		}
		all, _, _, _ := counter.take()
		return all
	}
	k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	one := reads()
	for vlan := 10; vlan < 15; vlan++ {
		k.service(r, map[string]any{"type": "hotspot", "parentInterface": "ether5", "vlanId": vlan})
	}
	six := reads()
	for b.Loop() {
		benchtest.Report(b, "reads", float64(one), float64(six), 1)
	}
}

// BenchmarkFleet measures a fleet poll and a drift check of many routers that are 100 ms away; one in twenty is dead,
// with its breaker open. The limit is the time of the round trips in the batches that run at once. It also prints the
// memory for each router, the simulator's connection included.
func BenchmarkFleet(b *testing.B) {
	const far, checkers = 100 * time.Millisecond, 16
	count := benchtest.Size(b, "ROUTERS", 500)
	k, counter := newRouterBench(b, benchRouters(count))
	devices := make([]id.Device, count)
	benchEach(count, 8, func(i int) {
		devices[i] = id.Must[id.Device](k.enrol(i))
		k.service(simRouter{Router: k.routers.Routers()[i], device: devices[i].String()}, map[string]any{
			// the address plan has 256 subnets of this size
			"type": "pppoe", "parentInterface": "ether4", "subnet": fmt.Sprintf("10.%d.%d.0/24", 100+i/250, i%250),
		})
	})
	workers := k.app.routers.Load()
	for i, r := range k.routers.Routers() {
		r.SetFaults(router.Faults{Refuse: i%20 == 0})
	}
	for range 6 { // opens the breakers of the dead
		if err := workers.PollFleet(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for i, r := range k.routers.Routers() {
		r.SetFaults(router.Faults{LatencyMs: int(far.Milliseconds()), Refuse: i%20 == 0})
	}
	b.Run("poll", func(b *testing.B) {
		for b.Loop() {
			counter.take()
			began := time.Now()
			if err := workers.PollFleet(b.Context()); err != nil {
				b.Fatal(err)
			}
			benchtest.ReportTime(b, "poll", time.Since(began), time.Duration((count+9)/10)*2*far, 0.8)
		}
	})
	b.Run("drift", func(b *testing.B) {
		for b.Loop() {
			counter.take()
			began := time.Now()
			benchEach(count, checkers, func(i int) {
				if err := workers.CheckDrift(b.Context(), commands.CheckDrift{DeviceID: devices[i]},
					jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
					b.Error(err)
				}
			})
			took := time.Since(began)
			all, _, menus, _ := counter.take()
			alive := count - (count+19)/20
			b.ReportMetric(float64(all)/float64(alive), "reads/router")
			benchtest.ReportTime(b, "drift", took,
				time.Duration((alive+checkers-1)/checkers)*time.Duration((menus+1)/2)*far, 0.8)
		}
	})
	b.Run("memory", func(b *testing.B) { reportHeap(b, count) })
}

// reportHeap reports the memory in use, divided by the number of routers, in KiB.
func reportHeap(b *testing.B, routers int) {
	b.Helper()
	for b.Loop() {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/float64(routers)/1024, "KiB/router")
		b.ReportMetric(0, "ns/op")
	}
}

// benchEach calls do with every number below count, at most atOnce at a time.
func benchEach(count, atOnce int, do func(i int)) {
	next := make(chan int)
	var wait sync.WaitGroup
	for range atOnce {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	wait.Wait()
}
