package feed_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// archive appends n events to a new stream and returns the position of the last one.
func archive(t testing.TB, store *eventstore.Store, n int) uint64 {
	t.Helper()
	list := make([]eventstore.New, n)
	for i := range list {
		list[i] = eventstore.New{
			Event: events.PlanArchived{PlanID: id.New[id.Plan](), Reason: fmt.Sprint(i)},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), Action: "test", At: time.Unix(0, 0).UTC(),
				Actor: events.Actor{Kind: events.ActorOperator},
			},
		}
	}
	done, err := store.Append(t.Context(), "plan-"+id.New[id.Plan]().String(), eventstore.NoStream, list)
	if err != nil {
		t.Fatal(err)
	}
	return done.Position
}

// take reads the wanted events from the start up to a position, for 20 seconds at most.
func take(t testing.TB, f *feed.Feed, types []string, upTo uint64) (list []*events.Envelope) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for after := uint64(0); after < upTo; {
		page, err := f.Next(ctx, after, feed.Want(types), 100)
		if err != nil {
			t.Fatalf("after %d: %v", after, err)
		}
		list, after = append(list, page.Events...), page.UpTo
	}
	return list
}

func TestFromStore_PagesLiveEventsAndAFallenNode(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	archive(t, kit.Store, 300)
	f := feedtest.Start(t, feed.FromStore(kit.Store))
	position := archive(t, kit.Store, 5)
	if got := len(take(t, f, nil, position)); got != 305 {
		t.Errorf("%d events, want 305", got)
	}
	kit.StopNode()
	kit.StartNode()
	var err error
	for range 100 { // the first calls may fail until the client is connected again
		if _, err = kit.Store.Head(t.Context()); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	position = archive(t, kit.Store, 5)
	if got := len(take(t, f, []string{events.PlanArchived{}.EventType()}, position)); got != 310 {
		t.Errorf("%d events, want 310", got)
	}
}

func TestFromStore_AnEventThatCannotBeReadStopsOnlyWhoWantsIt(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	client := bareClient(t, kit)
	newer := catalog.Family(events.PlanArchived{}.EventType()) + ".v999" // as a newer version of the program writes it
	spoil := func(eventType string) {
		_, err := client.AppendToStream(t.Context(), "plan-"+uuid.NewString(),
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}},
			esdb.EventData{
				EventID: uuid.New(), EventType: eventType, ContentType: esdb.ContentTypeJson,
				Data: []byte(`{}`), Metadata: []byte(`{}`),
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	archive(t, kit.Store, 2)
	spoil("test.Unknown.v1")
	spoil(newer)
	archive(t, kit.Store, 2)
	f := feedtest.Start(t, feed.FromStore(kit.Store))
	spoil("test.Unknown.v1")
	spoil(newer)
	position := archive(t, kit.Store, 2)
	for name, types := range map[string][]string{"everything": nil, "archived": {events.PlanArchived{}.EventType()}} {
		var bad, good int
		for _, e := range take(t, f, types, position) {
			if u, ok := e.Event.(feed.Undecodable); ok {
				bad++
				if !u.Unknown || types != nil && e.Type != newer {
					t.Errorf("undecodable event of type %s: %+v", e.Type, u)
				}
				continue
			}
			good++
		}
		if wantBad := map[string]int{"everything": 4, "archived": 2}[name]; good != 6 || bad != wantBad {
			t.Errorf("%s: %d events and %d undecodable", name, good, bad)
		}
	}
}

// BenchmarkLatency measures the time from the start of an append until a live consumer has the event, compared with the
// time until the append is answered. It also reports how long after the answer the consumer has the event.
func BenchmarkLatency(b *testing.B) {
	kit := storetest.New(b)
	f := feedtest.Start(b, feed.FromStore(kit.Store))
	var answered, seen, after []time.Duration
	for b.Loop() {
		began := time.Now()
		position := archive(b, kit.Store, 1)
		answered = append(answered, time.Since(began))
		if err := f.Wait(b.Context(), position-1); err != nil {
			b.Fatal(err)
		}
		seen = append(seen, time.Since(began))
		after = append(after, seen[len(seen)-1]-answered[len(answered)-1])
	}
	benchtest.Latencies(b, "after", after, 0)
	benchtest.ReportTime(b, "seen", benchtest.Quantile(seen, 50), benchtest.Quantile(answered, 50), benchtest.NoAim)
}

// TestFromStore_ALogThatWasRestoredAndHasGrownEndsReading: the node comes back with other events at the positions that
// were read, and more. What was read over the new connection would follow them.
func TestFromStore_ALogThatWasRestoredAndHasGrownEndsReading(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	kept := archive(t, kit.Store, 5)
	f := feedtest.Start(t, feed.FromStore(kit.Store))
	read := archive(t, kit.Store, 5)
	if err := f.Wait(t.Context(), read-1); err != nil { // the feed itself has read them
		t.Fatal(err)
	}
	kit.RestoreNode(kept)
	other := kit.Open()
	archive(t, other, 20)
	var replaced *eventstore.OtherLogError
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	select {
	case err := <-f.Lost():
		if !errors.As(err, &replaced) || replaced.After != read || replaced.Had == replaced.Has {
			t.Errorf("got %v", err)
		}
	case <-ctx.Done():
		t.Fatal("nobody notices")
	}
	if page, err := f.Next(ctx, read, feed.Want(nil), 10); !errors.As(err, &replaced) {
		t.Errorf("read %d events of the other log, %v", len(page.Events), err)
	}
	// A reader that starts later asks by what it had kept.
	later := feedtest.Start(t, feed.FromStore(other))
	if err := later.Covers(ctx, read, eventstore.Mark{Position: read, ID: replaced.Had}); !errors.As(err, &replaced) {
		t.Errorf("a later reader: %v", err)
	}
}

// TestForeignEvents_StopNobodyAndAreCounted: what another application writes to the same store reaches no reader of the
// feed, neither of history nor live, not even one that stops before every unknown type; a category that only a newer
// version of the program has does.
func TestForeignEvents_StopNobodyAndAreCounted(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	client := bareClient(t, kit)
	write := func(stream string, e esdb.EventData) {
		_, err := client.AppendToStream(t.Context(), stream,
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, e)
		if err != nil {
			t.Fatal(err)
		}
	}
	foreign := func() {
		write("orders-1", esdb.EventData{
			EventID: uuid.New(), EventType: "orders.OrderPlaced.v1", Data: make([]byte, 900<<10),
			Metadata: []byte{0xff},
		})
		write("plan-1", esdb.EventData{EventID: uuid.New(), EventType: events.PlanArchived{}.EventType()})
	}
	archive(t, kit.Store, 2)
	foreign()
	archive(t, kit.Store, 2)
	f := feedtest.Start(t, feed.FromStore(kit.Store))
	foreign()
	position := archive(t, kit.Store, 2)
	readers := map[string]feed.Wanted{
		"every type": feed.Want(nil), "a process": feed.Want([]string{events.PlanArchived{}.EventType()}).AndUnknown(),
	}
	for name, want := range readers {
		if got := readUpTo(t, f, want, position); len(got) != 6 {
			t.Errorf("%s: %d events, want the program's 6", name, len(got))
		}
	}
	if n := kit.Store.ForeignEvents(); n < 2 {
		t.Errorf("%d foreign events were counted", n)
	}
	newer := uuid.New()
	write("bundle-"+uuid.NewString(), esdb.EventData{
		EventID: newer, EventType: "subscribers.BundleSold.v1", ContentType: esdb.ContentTypeJson, Data: []byte(`{}`),
		Metadata: []byte(`{"eventId":"` + newer.String() + `","commandId":null,"aggregateId":null}`),
	})
	position = archive(t, kit.Store, 1)
	if got := readUpTo(t, f, readers["a process"], position); len(got) != 8 {
		t.Errorf("%d events, want also that of a newer version's category", len(got))
	}
}

// readUpTo reads the wanted events from the start up to a position.
func readUpTo(t testing.TB, f *feed.Feed, want feed.Wanted, upTo uint64) (list []*events.Envelope) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for after := uint64(0); after < upTo; {
		page, err := f.Next(ctx, after, want, 100)
		if err != nil {
			t.Fatalf("after %d: %v", after, err)
		}
		list, after = append(list, page.Events...), page.UpTo
	}
	return list
}

// bareClient connects to the node as another application does.
func bareClient(t *testing.T, kit *storetest.Kit) *esdb.Client {
	t.Helper()
	settings, err := esdb.ParseConnectionString(kit.Node.URL())
	if err != nil {
		t.Fatal(err)
	}
	client, err := esdb.NewClient(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
