package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
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
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// runRow is how long a run may take for each subscription: 50,000 shall be invoiced within 60 s on two cores.
const runRow = 60 * time.Second / 50_000

// leastRun is the least number of subscriptions of a measured run: a tenth of it is still held by the fuse.
const leastRun = 1_000

// BenchmarkBillingRun measures billing runs in the whole program, from their release to their end: each invoice is
// issued, and all read models and processes follow meanwhile. BENCH_RUN_SUBSCRIPTIONS is the number of subscriptions;
// 50000 is the full size.
//
// The limit of "time" is the time that the run may take. That of "appends" is to append the same events to a log
// without a program, by many writers. That of "rows" is to write as many rows to as many tables and indexes as the run
// has left, by one statement for each table. "memory" is how much more is in use after the run than before; its limit
// is runMemory for every number of subscriptions.
func BenchmarkBillingRun(b *testing.B) {
	n := max(benchtest.Size(b, "RUN_SUBSCRIPTIONS", 5_000), leastRun)
	k := newBenchKit(b, "DEV_CLOCK=true")
	month := k.firstOfMonth(2)
	k.measureRun(b, n/10, month) // what is usual, for the fuse
	whole := k.measureRun(b, n, month.AddDate(0, 0, 1))
	b.Run("time", func(b *testing.B) {
		b.ReportMetric(float64(whole.made)/whole.took.Seconds(), "subscriptions/s")
		benchtest.ReportTime(b, "run", whole.took, time.Duration(whole.made)*runRow, 1)
	})
	b.Run("rows", func(b *testing.B) {
		b.ReportMetric(float64(whole.rows)/float64(whole.made), "rows/subscription")
		benchtest.ReportTime(b, "run", whole.took, whole.copied, benchtest.NoAim)
	})
	appends := appendSame(b, whole.made)
	b.Run("appends", func(b *testing.B) { benchtest.ReportTime(b, "run", whole.took, appends, benchtest.NoAim) })
	b.Run("memory", func(b *testing.B) { benchtest.ReportSize(b, "run", whole.grew, runMemory, 1) })
}

// measuredRun is how many invoices a run made, its time, how much more memory was in use after it than before, in
// bytes, how many rows the run and all that follows from it have left, and how long it takes to write as many.
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
	before := heapInUse()
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
	k.rests(b)
	run := measuredRun{made: made, took: took, grew: max(heapInUse()-before, leastGrowth)}
	run.copied, run.rows = same()
	return run
}

// billedMonthly makes prepaid subscriptions for a month whose paid time ends at an instant, of customers who have been
// invoiced before: they have accounts. It gives the customers.
func (k *kit) billedMonthly(b *testing.B, org id.Organization, n int, until time.Time) []id.Subscriber {
	b.Helper()
	customers := make([]id.Subscriber, n)
	var group sync.WaitGroup
	for writer := range benchWriters {
		group.Go(func() {
			for i := writer; i < n; i += benchWriters {
				s, who := id.New[id.Subscription](), id.New[id.Subscriber]()
				customers[i] = who
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
	return customers
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

// runMemory is how much memories of bounded size may grow in a run, in bytes, such as that of the newest states. A run
// of 5,000 fills most of them.
const runMemory = 64 << 20

// leastGrowth is the least growth of memory that is reported, in bytes: less says nothing.
const leastGrowth = 1 << 20

// heapInUse measures the heap without garbage, in bytes. It must be at rest: what is allocated while garbage
// is collected counts as in use, and a run allocates hundreds of MiB in that time.
func heapInUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// appendSame appends to a log of its own, which nobody follows, what a run appends for so many subscriptions: five
// events of their sizes, the numbers of a page in one append and the others in one each.
func appendSame(b *testing.B, n int) time.Duration {
	b.Helper()
	const page = 512
	store, org := storetest.New(b).Store, id.New[id.Organization]()
	began := time.Now()
	var group sync.WaitGroup
	for writer := range benchWriters {
		group.Go(func() {
			for i := writer; i < n; i += benchWriters {
				for _, list := range appendsOfRun(org, began, i%page == 0, page) {
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

// appendsOfRun are the appends of a run for one subscription, and if numbered that of the numbers of its page.
func appendsOfRun(org id.Organization, at time.Time, numbered bool, page int) [][]events.Event {
	s, who, invoice := id.New[id.Subscription](), id.New[id.Subscriber](), id.New[id.Invoice]()
	price := money.Major(1500, money.KES)
	tax := []events.TaxCharge{{Name: "VAT", BasisPoints: 1600, Amount: money.Major(207, money.KES)}}
	list := [][]events.Event{
		{events.PeriodDue{
			SubscriptionID: s, OrgID: org, SubscriberID: who, InvoiceID: invoice, PlanName: "Home",
			Terms: events.PlanTerms{Name: "Home", Price: price}, At: at,
		}},
		{events.InvoiceDrafted{
			SubscriberID: who, OrgID: org, InvoiceID: invoice, SubscriptionID: s, Taxes: tax,
			Lines: []events.InvoiceLine{{Description: personal.Of("Home, 1 month"), Quantity: "1", Taxes: tax}},
			Total: price, Prefix: "ACME", DraftedAt: at,
		}},
		{events.InvoiceIssued{
			SubscriberID: who, OrgID: org, InvoiceID: invoice, SubscriptionID: s, Number: "ACME-0001", Total: price,
			IssuedAt: at,
		}},
		{events.DunningReviewed{
			DunningSubject: events.DunningSubject{SubscriptionID: s, OrgID: org, SubscriberID: who},
			NextAt:         at, WakeAt: at, At: at,
		}},
	}
	if numbered {
		var numbers []events.Event
		for i := range page {
			numbers = append(numbers, events.NumberGranted{
				OrgID: org, Document: "invoice", DocumentID: id.As[id.Any](invoice), SubscriberID: who,
				Seq: int64(i + 1), Number: "ACME-0001", At: at,
			})
		}
		list = append(list, numbers)
	}
	return list
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
