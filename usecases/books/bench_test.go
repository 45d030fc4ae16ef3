package bookscases_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// benchWriters is the number of appends at a time that fill the log.
const benchWriters = 16

// logOf fills a log with the first month of subscribers of one organization: registered, subscribed, billed and paid.
// It returns the organization, the number of events, and a time long after.
func logOf(b *testing.B, store *eventstore.Store, subscribers int) (id.Organization, int, time.Time) {
	b.Helper()
	w, events := emptyWorld(b), 0
	w.org = id.New[id.Organization]()
	w.orgs.do(coretest.NewOrganization(w.org, "acme"))
	var wg sync.WaitGroup
	slots := make(chan struct{}, benchWriters)
	for n := range subscribers {
		w.customer(n)
		if n%256 < 255 && n+1 < subscribers {
			continue
		}
		events += len(w.log)
		for stream, list := range byStream(w.log) {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				appendAll(b, store, stream, list)
			})
		}
		wg.Wait() // the next numbers go to the end of the same stream
		w.log = nil
	}
	return w.org, events, w.now.Add(72 * time.Hour)
}

// customer is the first month of a new subscriber. The rules keep no state of them afterwards.
func (w *world) customer(n int) {
	w.amina, w.sub = id.New[id.Subscriber](), id.New[id.Subscription]()
	w.people.do(coretest.NewSubscriber(w.amina, w.org, n))
	subscription := w.subscription(w.sub, w.amina, events.Prepaid, calendar.Month)
	subscription.Username = personal.Of(w.sub.String())
	w.subs.do(subscription)
	receipt := w.pay(w.amina, 1000)
	delete(w.people.states, id.As[id.Any](w.amina))
	delete(w.accounts.states, id.As[id.Any](w.amina))
	delete(w.subs.states, id.As[id.Any](w.sub))
	delete(w.receipts.states, id.As[id.Any](receipt))
}

// byStream sorts events by their streams.
func byStream(log []events.Envelope) map[string][]events.Envelope {
	streams := map[string][]events.Envelope{}
	for _, e := range log {
		streams[e.Stream] = append(streams[e.Stream], e)
	}
	return streams
}

// appendAll writes events of one stream with their revisions.
func appendAll(b *testing.B, store *eventstore.Store, stream string, list []events.Envelope) {
	b.Helper()
	after := eventstore.NoStream
	if first := list[0].Revision; first > 0 {
		after = eventstore.At(first - 1)
	}
	facts := make([]eventstore.New, len(list))
	for i, e := range list {
		e.Meta.Action, e.Meta.CorrelationID = "bench", e.Meta.CommandID.String()
		e.Meta.Actor = events.Actor{Kind: events.ActorProcess, ID: "bench"}
		facts[i] = eventstore.New{Event: e.Event, Meta: e.Meta}
	}
	if _, err := store.Append(context.Background(), stream, after, facts); err != nil {
		b.Error(err)
	}
}

// subscribed reads a store as the program does.
func subscribed(store *eventstore.Store) func(
	context.Context, uint64, func(events.Event) bool, func(events.Envelope),
) (uint64, error) {
	return func(
		ctx context.Context, after uint64, wants func(events.Event) bool, take func(events.Envelope),
	) (uint64, error) {
		var types []string
		for _, e := range catalog.Events() {
			if wants(e) {
				types = append(types, e.EventType())
			}
		}
		sub := store.Subscribe(ctx, after, types)
		defer sub.Close()
		for {
			item, err := sub.Next(ctx)
			if err != nil || item.CaughtUp {
				return item.Position, err
			}
			if item.Event != nil {
				take(*item.Event)
			}
		}
	}
}

// peak is the largest heap while something runs, in bytes more than before.
func peak(do func()) int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, ended := int64(m.HeapAlloc), make(chan struct{})
	var most atomic.Int64
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), int64(m.HeapAlloc)-before))
			select {
			case <-ended:
				return
			case <-tick.C:
			}
		}
	})
	do()
	close(ended)
	watch.Wait()
	return most.Load()
}

// doctorAim is a little less than half: the check reads the log twice, the first time only a few kinds of events.
const doctorAim = 0.4

// BenchmarkDoctor measures the events a second of a whole check of one organization, whose log is read twice. The limit
// is a plain reading of the same log, once, in pages of 1000 events. heap_MB is how much the heap grows at most.
func BenchmarkDoctor(b *testing.B) {
	kit := storetest.New(b)
	org, n, now := logOf(b, kit.Store, benchtest.Size(b, "SUBSCRIBERS", 5000))
	doctor := bookscases.Doctor{
		Read: subscribed(kit.Store), Claims: key, Clock: clock.NewManual(now), Patience: bookscases.Patience,
		AtOnce: bookscases.AtOnce,
	}
	rate := func(do func()) float64 {
		began := time.Now()
		do()
		return float64(n) / time.Since(began).Seconds()
	}
	var most int64
	for b.Loop() {
		benchtest.Compare(b, "events/s", doctorAim, func() (got float64) {
			grown := peak(func() {
				got = rate(func() {
					err := doctor.Check(b.Context(), []id.Organization{org}, func(r bookscases.Report) error {
						if len(r.Faults) > 0 {
							b.Errorf("%d faults, such as %s", len(r.Faults), r.Faults[0])
						}
						return r.Err
					})
					if err != nil {
						b.Fatal(err)
					}
				})
			})
			most = max(most, grown)
			return got
		}, func() float64 {
			return rate(func() {
				for read, after := 0, uint64(0); read < n; {
					page, next, err := kit.Store.ReadAll(b.Context(), after, 1000, nil)
					if err != nil {
						b.Fatal(err)
					}
					read, after = read+len(page), next
				}
			})
		})
	}
	b.ReportMetric(float64(most)/(1<<20), "heap_MB")
}
