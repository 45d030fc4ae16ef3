package main

import (
	"fmt"
	"net/netip"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// BenchmarkSignInFreeRADIUS measures authentications a second of the program against FreeRADIUS with PostgreSQL and its
// shipped queries, tuned. The metric merged_auths/s is FreeRADIUS with one query for all replies.
func BenchmarkSignInFreeRADIUS(b *testing.B) {
	if withoutFreeradius(b) {
		return
	}
	t := newTown(b)
	tables := t.freeradiusTables(b)
	shipped, merged := t.startFreeradius(b, tables, ""), t.startFreeradius(b, tables, mergedQuery)
	for _, method := range []struct {
		name  string
		aim   float64
		prove func(*radius.Packet, int) ([]byte, error)
	}{{"PAP", 25, provePAP}, {"CHAP", 25, proveCHAP}, {"MSCHAPv2", 15, proveMSCHAPv2}} {
		b.Run(method.name, func(b *testing.B) {
			requests := t.signIns(b, benchWriters, method.prove)
			next := func(it *caller) ([]byte, byte, []byte) {
				r := requests[(it.number+it.turn*benchWriters)%len(requests)]
				return r.packet, byte(radius.CodeAccessAccept), r.proof
			}
			ours := newCallers(b, t.access, benchWriters)
			theirs, others := newCallers(b, shipped.access, benchWriters), newCallers(b, merged.access, benchWriters)
			for b.Loop() {
				var one []float64
				benchtest.Compare(b, "auths/s", method.aim, func() float64 {
					one = append(one, others.rate(b, next))
					return ours.rate(b, next)
				}, func() float64 { return theirs.rate(b, next) })
				b.ReportMetric(benchtest.Quantile(one, 50), "merged_auths/s")
			}
		})
	}
}

// BenchmarkAccountingFreeRADIUS measures reports a second that are durable before the answer, against FreeRADIUS with
// the shipped queries and tables in the same PostgreSQL. The metric tables_reports/s counts until our tables have them.
func BenchmarkAccountingFreeRADIUS(b *testing.B) {
	if withoutFreeradius(b) {
		return
	}
	t := newTown(b)
	theirs := t.startFreeradius(b, t.freeradiusTables(b), "")
	for _, flight := range []int{benchWriters, 4 * benchWriters} {
		for _, kind := range []struct {
			name string
			make func(*testing.B, netip.AddrPort, int) func() float64
		}{{"starts", t.starts}, {"interims", t.interims}} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, flight), func(b *testing.B) {
				got, limit := kind.make(b, t.accounting, flight), kind.make(b, theirs.accounting, flight)
				for b.Loop() {
					var tables []float64
					benchtest.Compare(b, kind.name+"/s", 5, t.settled(got, &tables), limit)
					b.ReportMetric(benchtest.Quantile(tables, 50), "tables_reports/s")
				}
			})
		}
	}
}

// settled measures a rate of reports, and then waits until the tables have all of them, so that other measurements do
// not pay for it. It adds how many a second the tables have got, from the first report until the last one is there.
func (t *town) settled(rate func() float64, tables *[]float64) func() float64 {
	return func() float64 {
		began := time.Now()
		acknowledged := rate()
		answered := time.Since(began)
		t.drain()
		*tables = append(*tables, acknowledged*answered.Seconds()/time.Since(began).Seconds())
		return acknowledged
	}
}

// drain waits until the tables have all reports.
func (t *town) drain() {
	for t.app.radius.recorder.Spooled() {
		time.Sleep(time.Millisecond)
	}
}

// reportSessions is the number of sessions that interim reports are about.
const reportSessions = 20_480

// starts measures starts of ever new sessions at a server.
func (t *town) starts(b *testing.B, to netip.AddrPort, flight int) func() float64 {
	all, customers, first := newCallers(b, to, flight), t.subscribers/flight*flight, t.numbers()
	return func() float64 {
		return all.rate(b, newReports(b, flight, rfc2866.AcctStatusType_Value_Start, func(n int) (int, int, uint32) {
			return n % customers, first + n, 0
		}))
	}
}

// interims measures reports of sessions that have begun at a server.
func (t *town) interims(b *testing.B, to netip.AddrPort, flight int) func() float64 {
	sessions, first := min(reportSessions, t.subscribers)/flight*flight, t.numbers()
	begin := newReports(b, flight, rfc2866.AcctStatusType_Value_Start, func(n int) (int, int, uint32) {
		return n, first + n, 0
	})
	var group sync.WaitGroup
	for _, it := range newCallers(b, to, flight) {
		group.Go(func() {
			for range sessions / flight {
				if err := it.send(begin); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	t.drain()
	all := newCallers(b, to, flight)
	return func() float64 {
		return all.rate(b, newReports(b, flight, rfc2866.AcctStatusType_Value_InterimUpdate,
			func(n int) (int, int, uint32) {
				return n % sessions, first + n%sessions, uint32(1 + n/sessions) //nolint:gosec // small
			}))
	}
}

// numbers gives the first of many numbers of sessions that nobody else uses.
func (t *town) numbers() int {
	t.sessions += 1 << 24
	return t.sessions
}

// The aim for a power cut.
const (
	dialWithin  = 50 * time.Millisecond
	dialRouters = 16
)

// BenchmarkPowerCut measures all subscribers signing in again after their routers lost their power: 10,000 sign-ins and
// as many durable starts a second (BENCH_RADIUS_DIALS), with routers in one process and the program in another. 99 of
// 100 of both should be answered within 50 ms, and no request should stay unanswered.
func BenchmarkPowerCut(b *testing.B) {
	t := newTown(b)
	t.apart(b)
	t.dialAll(b, 0)
	t.begun(b)
	for b.Loop() {
		again := collectNothing()
		d := t.dialAll(b, 1)
		again()
		benchtest.Latencies(b, "signin", d.signIns, dialWithin)
		benchtest.Latencies(b, "start", d.starts, dialWithin)
		b.ReportMetric(float64(len(d.signIns))/d.took.Seconds(), "signins/s")
		b.ReportMetric(float64(d.unanswered), "unanswered")
		b.ReportMetric(float64(d.repeated), "repeated")
		slower := max(benchtest.Quantile(d.signIns, 99), benchtest.Quantile(d.starts, 99))
		benchtest.ReportTime(b, "answer", slower, dialWithin, 1)
	}
}

// collectNothing collects the garbage of this process, and none from then on until again is called: routers are no
// programs in Go.
func collectNothing() (again func()) {
	runtime.GC()
	time.Sleep(100 * time.Millisecond) // memory.CollectSeldom sets the percentage after a collection
	before := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(before) }
}

// dialled has the measurements of all routers while their customers signed in.
type dialled struct {
	signIns              []time.Duration // round trips of those who were accepted
	starts               []time.Duration // round trips of starts
	unanswered, repeated uint64          // sign-ins and starts
	took                 time.Duration   // until the last start was durable
}

// dialAll signs all subscribers in at routers that have restarted so often.
func (t *town) dialAll(b *testing.B, boots uint32) dialled {
	b.Helper()
	var all dialled
	var mu sync.Mutex
	var group sync.WaitGroup
	pace := handset.Pace{PerSecond: benchtest.Size(b, "RADIUS_DIALS", 10_000) / dialRouters, AtOnce: 4096}
	began := time.Now()
	for n := range dialRouters {
		nas := t.router(b, n, boots)
		defer nas.Stop()
		group.Go(func() {
			err := nas.SignInAll(b.Context(), t.behind(n), pace, func(_ handset.Customer, r handset.Result) {
				mu.Lock()
				defer mu.Unlock()
				if r.Outcome == handset.Accepted {
					all.signIns = append(all.signIns, r.RoundTrip)
				}
			})
			if err == nil {
				err = nas.Idle(b.Context())
			}
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			s := nas.Statistics()
			all.starts = append(all.starts, nas.ReportTrips()...)
			all.unanswered, all.repeated = all.unanswered+s.Unanswered+s.ReportsUnanswered, all.repeated+s.Repeated
		})
	}
	group.Wait()
	all.took = time.Since(began)
	return all
}

// router starts one of dialRouters.
func (t *town) router(b *testing.B, n int, boots uint32) *handset.NAS {
	b.Helper()
	nas, err := handset.New(handset.Config{
		Name: fmt.Sprintf("tower-%d", n), Server: t.access, Accounting: t.accounting, Local: townRouter(n),
		Secret: []byte(townSecret), Boots: boots, Seed: uint64(boots),
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := nas.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	return nas
}

// behind are the customers of one of dialRouters.
func (t *town) behind(n int) []handset.Customer {
	var list []handset.Customer
	for i := n; i < t.subscribers; i += dialRouters {
		name, password, mac := townCustomer(i)
		list = append(list, handset.Customer{Name: name, Password: password, MAC: mac, Idle: true})
	}
	return list
}

// BenchmarkStartUp measures the time from the start of the program until a customer is signed in, with the subscribers
// in the log and their passwords in the vault. The limit is the time in which the log's table is read.
// BENCH_RADIUS_PAST adds events that no sign-in needs.
func BenchmarkStartUp(b *testing.B) {
	t := newTown(b)
	bare := benchtest.NewBare(b, t.db.Owner, t.db.Namespace.Schema("eventstore"))
	for b.Loop() {
		var gots, limits []time.Duration
		for range benchtest.Rounds(b) {
			began := time.Now()
			bare.ReadRate(b)
			limits = append(limits, time.Since(began))
			t.app.Stop()
			began = time.Now()
			answered := make(chan time.Duration, 1)
			go func() { // the start itself waits longer, for read models that nobody fills here
				t.admits(b)
				answered <- time.Since(began)
			}()
			t.open(b)
			gots = append(gots, <-answered)
		}
		benchtest.ReportTime(b, "start", benchtest.Quantile(gots, 50), benchtest.Quantile(limits, 50), benchtest.NoAim)
	}
}
