package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// runRow is how long a run may take for each subscription: 50,000 shall be invoiced within 60 s on two cores.
const runRow = 60 * time.Second / 50_000

// leastRun is the least number of subscriptions of a measured run: a tenth of it is still held by the fuse.
const leastRun = 1_000

// BenchmarkBillingRun measures billing runs in the whole program, from their release to their end: each invoice is
// issued, and all read models and processes follow meanwhile. BENCH_RUN_SUBSCRIPTIONS is the number of subscriptions;
// 50000 is the full size.
//
// The limit of "time" is the time that the run may take. That of "appends" is to append the same events, as many for
// each subscription, by as many writers, without a program. That of "rows" is to write as many rows to as many tables
// and indexes as the run has left, by one statement for each table. "memory" is how much more is in use at most during
// the run than before; its limit is twice that of a run of a tenth: some memories of bounded size are not yet full
// there.
func BenchmarkBillingRun(b *testing.B) {
	n := max(benchtest.Size(b, "RUN_SUBSCRIPTIONS", 5_000), leastRun)
	k := newBenchKit(b, "DEV_CLOCK=true")
	month := k.firstOfMonth(2)
	tenth := k.measureRun(b, n/10, month)
	whole := k.measureRun(b, n, month.AddDate(0, 0, 1))
	b.Run("time", func(b *testing.B) {
		b.ReportMetric(float64(whole.made)/whole.took.Seconds(), "subscriptions/s")
		benchtest.ReportTime(b, "run", whole.took, time.Duration(whole.made)*runRow, 1)
	})
	b.Run("rows", func(b *testing.B) {
		b.ReportMetric(float64(whole.rows)/float64(whole.made), "rows/subscription")
		benchtest.ReportTime(b, "run", whole.took, whole.copied, benchtest.NoAim)
	})
	appends := appendSame(b, k.app.storage.store, whole.made)
	b.Run("appends", func(b *testing.B) { benchtest.ReportTime(b, "run", whole.took, appends, benchtest.NoAim) })
	b.Run("memory", func(b *testing.B) { benchtest.ReportSize(b, "run", whole.grew, 2*tenth.grew, 1) })
}

// measuredRun is how many invoices a run made, its time, how much more memory was in use at most than before, in bytes,
// how many rows the run and all that follows from it have left, and how long it takes to write as many.
type measuredRun struct {
	made         int
	took, copied time.Duration
	grew         float64
	rows         int64
}

// measureRun has a run make an invoice for each of so many new subscriptions, whose paid time ends at an instant.
func (k *kit) measureRun(b *testing.B, n int, until time.Time) measuredRun {
	b.Helper()
	k.billedMonthly(b, k.organizationID("acme"), n, until)
	day := until.AddDate(0, 0, -3)
	k.advance(map[string]any{"to": day.Add(time.Minute)})
	held := k.runOf(b, day, "held", 5*time.Minute)
	k.rests(b)
	same := benchtest.WatchRows(b, k.db.Owner, string(k.db.Namespace))
	grown := watchHeap(b)
	began := time.Now()
	k.must(k.admin, "POST", "/billing/runs/"+held.text("id")+"/release", map[string]string{"reason": "measured"})
	k.finishes(b, id.Must[id.BillingRun](held.text("id")))
	took := time.Since(began)
	done := k.runOf(b, day, "finished", time.Minute)
	// What has become due while the clock moved is of the process of renewals.
	made, _ := strconv.Atoi(fmt.Sprint(done["done"]))
	if made < n*3/4 {
		b.Fatalf("the run made %v", done)
	}
	run := measuredRun{made: made, took: took, grew: grown()}
	k.rests(b)
	run.copied, run.rows = same()
	return run
}

// billedMonthly makes prepaid subscriptions for a month whose paid time ends at an instant, of customers who have been
// invoiced before: they have accounts.
func (k *kit) billedMonthly(b *testing.B, org id.Organization, n int, until time.Time) {
	b.Helper()
	var group sync.WaitGroup
	for writer := range benchWriters {
		group.Go(func() {
			for i := writer; i < n; i += benchWriters {
				s, who := id.New[id.Subscription](), id.New[id.Subscriber]()
				from := until.AddDate(0, -1, 0).UTC()
				err := k.append(b, "subscription-"+s.String(), org, events.SubscriptionCreated{
					SubscriptionID: s, OrgID: org, SubscriberID: who, PlanID: id.New[id.Plan](), PlanVersion: 1,
					Timezone: "Africa/Nairobi", StartsAt: from, CreatedAt: from,
					Username: personal.Of(fmt.Sprintf("bench%d", i)),
					Terms: events.PlanTerms{
						Name: "Home", Mode: events.Prepaid, Price: money.Major(1500, money.KES), Period: calendar.Month,
					},
				}, events.SubscriptionActivated{SubscriptionID: s, SubscriberID: who, At: from, Carried: true},
					events.PaidTimeCarriedOver{
						SubscriptionID: s, SubscriberID: who, PaidUntil: until.UTC(), Anchor: until.Day(), At: from,
					})
				err = cmp.Or(err, k.append(b, "account-"+who.String(), org,
					events.AccountOpened{SubscriberID: who, OrgID: org, Currency: money.KES}))
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// runOf waits until the run of a day is in a state.
func (k *kit) runOf(b *testing.B, day time.Time, state string, patience time.Duration) answer {
	b.Helper()
	date := day.Format(time.DateOnly)
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		for _, run := range k.must(k.admin, "GET", "/billing/runs?limit=1&state="+state, nil).list("data") {
			if run.text("date") == date {
				return run
			}
		}
	}
	b.Fatalf("no run of %s is %s: %v", date, state, k.must(k.admin, "GET", "/billing/runs?limit=3", nil))
	return nil
}

// finishes waits until a run is at its end, by the log: the list of runs counts what they have made.
func (k *kit) finishes(b *testing.B, run id.BillingRun) {
	b.Helper()
	for limit := time.Now().Add(10 * time.Minute); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		s, _, err := bus.LoadUnchecked[billing.Run](b.Context(), k.app.engines.bus, run)
		if err != nil {
			b.Fatal(err)
		}
		if s.State == billing.RunFinished {
			return
		}
	}
	b.Fatal("the run does not end")
}

// rests waits until the processes have done all that follows from the log, so that none of it is measured.
func (k *kit) rests(b *testing.B) {
	b.Helper()
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		position, command, err := k.app.lastWork(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		passed, err := k.app.workPassed(b.Context(), position, command)
		if err != nil {
			b.Fatal(err)
		}
		if end, _, _ := k.app.lastWork(b.Context()); passed && end == position {
			return
		}
	}
	b.Fatal("the processes do not come to rest")
}

// heapLook is how often the size of the heap is looked at.
const heapLook = 50 * time.Millisecond

// watchHeap looks at what the heap has without garbage, as the collections of garbage of the measured time have found
// it, until the returned function is called. That gives how much more there was at most than at the beginning, in
// bytes. Only before and after it collects garbage itself, which would take some of the measured time.
func watchHeap(b *testing.B) func() float64 {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	live := func() float64 {
		found := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(found)
		return float64(found[0].Value.Uint64())
	}
	runtime.GC()
	before, most := live(), make(chan float64, 1)
	go func() {
		peak := before
		for loop.Sleep(ctx, heapLook) {
			peak = max(peak, live())
		}
		most <- peak
	}()
	return func() float64 {
		stop()
		runtime.GC()
		return max(<-most, live()) - before
	}
}

// appendSame appends what a run appends for so many subscriptions: three events of their sizes in three appends.
func appendSame(b *testing.B, store *eventstore.Store, n int) time.Duration {
	b.Helper()
	org := id.New[id.Organization]()
	tax := []events.TaxCharge{{Name: "VAT", BasisPoints: 1600, Amount: money.Major(207, money.KES)}}
	began := time.Now()
	var group sync.WaitGroup
	for writer := range benchWriters {
		group.Go(func() {
			for i := writer; i < n; i += benchWriters {
				s, who, invoice := id.New[id.Subscription](), id.New[id.Subscriber](), id.New[id.Invoice]()
				for _, list := range [][]events.Event{
					{events.PeriodDue{
						SubscriptionID: s, OrgID: org, SubscriberID: who, InvoiceID: invoice, PlanName: "Home",
						Terms: events.PlanTerms{Name: "Home", Price: money.Major(1500, money.KES)}, At: began,
					}},
					{events.InvoiceDrafted{
						SubscriberID: who, OrgID: org, InvoiceID: invoice, SubscriptionID: s, Taxes: tax,
						Lines: []events.InvoiceLine{{
							Description: personal.Of("Home, 1 month"), Quantity: "1", Taxes: tax,
						}}, Total: money.Major(1500, money.KES), Prefix: "ACME", DraftedAt: began,
					}},
					{events.InvoiceIssued{
						SubscriberID: who, OrgID: org, InvoiceID: invoice, SubscriptionID: s, Number: "ACME-0001",
						Total: money.Major(1500, money.KES), IssuedAt: began,
					}},
				} {
					if err := appendAll(b.Context(), store, org, list); err != nil {
						b.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// appendAll records events in a stream of their own.
func appendAll(ctx context.Context, store *eventstore.Store, org id.Organization, list []events.Event) error {
	batch := make([]eventstore.New, len(list))
	for i, e := range list {
		batch[i] = eventstore.New{Event: e, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "bench", At: time.Now(),
			Actor: events.Actor{Kind: events.ActorOperator},
		}}
	}
	_, err := store.Append(ctx, "bench-"+id.New[id.Any]().String(), eventstore.NoStream, batch)
	return err
}
