package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// archived makes an event that a test recognises by its reason. Every call makes a new event id.
func archived(reason string) eventstore.New {
	return eventstore.New{
		Event: events.PlanArchived{PlanID: id.New[id.Plan](), Reason: reason},
		Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), Action: "test", At: time.Unix(0, 0).UTC(),
			Actor: events.Actor{Kind: events.ActorOperator},
		},
	}
}

// several makes n events with the reasons "0", "1", "2" and so on.
func several(n int) []eventstore.New {
	list := make([]eventstore.New, n)
	for i := range list {
		list[i] = archived(fmt.Sprint(i))
	}
	return list
}

// stream makes the name of a stream that does not exist yet.
func stream() string { return "plan-" + id.New[id.Plan]().String() }

// reasons lists the reasons of the events in order, never nil.
func reasons(list []events.Envelope) []string {
	out := []string{}
	for _, e := range list {
		out = append(out, e.Event.(events.PlanArchived).Reason)
	}
	return out
}

func TestAppend_ExpectedRevisionIsExact(t *testing.T) {
	t.Parallel()
	store, name := storetest.New(t).Store, stream()
	if _, err := store.Append(t.Context(), name, eventstore.At(0),
		several(1)); !errors.Is(err, eventstore.ErrWrongRevision) {
		t.Fatalf("append at 0 of a missing stream: %v", err)
	}
	first, err := store.Append(t.Context(), name, eventstore.NoStream, several(2))
	if err != nil || first.Revision != 1 || first.Position == 0 {
		t.Fatalf("append: %+v, %v", first, err)
	}
	_, err = store.Append(t.Context(), name, eventstore.At(0), several(1))
	var wrong *eventstore.WrongRevisionError
	if !errors.As(err, &wrong) || wrong.Actual != 1 || wrong.Expected != 0 || wrong.Stream != name {
		t.Fatalf("append at a past revision: %v", err)
	}
	if _, err = store.Append(t.Context(), name, eventstore.NoStream, several(1)); !errors.As(err, &wrong) ||
		wrong.Actual != 1 {
		t.Fatalf("append as a new stream: %v", err)
	}
	if second, err := store.Append(t.Context(), name, eventstore.At(1), several(1)); err != nil ||
		second.Revision != 2 {
		t.Fatalf("append at the end: %+v, %v", second, err)
	}
}

func TestAppend_RepeatedWithTheSameIdsIsDoneOnce(t *testing.T) {
	t.Parallel()
	store, name, list := storetest.New(t).Store, stream(), several(2)
	first, err := store.Append(t.Context(), name, eventstore.NoStream, list)
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.Append(t.Context(), name, eventstore.NoStream, list)
	if err != nil || again != first {
		t.Fatalf("repeat gave %+v, %v; want %+v", again, err, first)
	}
	if all, err := store.Read(t.Context(), name, 0); err != nil || len(all) != 2 {
		t.Fatalf("stream has %d events, %v", len(all), err)
	}
}

func TestRead_GoesOverPagesAndGivesMetadata(t *testing.T) {
	t.Parallel()
	store, name, list := storetest.New(t).Store, stream(), several(2*eventstore.PageSize+3)
	list[1].Meta.IP, list[1].Meta.Actor = personal.Of("203.0.113.7"), events.Actor{
		Kind: events.ActorUser, ID: id.New[id.User]().String(),
	}
	list[1].Meta.AggregateID = id.New[id.Any]()
	if _, err := store.Append(t.Context(), name, eventstore.NoStream, list); err != nil {
		t.Fatal(err)
	}
	all, err := store.Read(t.Context(), name, 1)
	if err != nil || len(all) != len(list)-1 {
		t.Fatalf("read %d events, %v", len(all), err)
	}
	for i, e := range all {
		if e.Revision != uint64(i+1) || e.Stream != name || e.ID != list[i+1].Meta.EventID {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
	if diff := cmp.Diff(list[1].Meta, all[0].Meta); diff != "" {
		t.Errorf("metadata (-want +have)\n%s", diff)
	}
	last, err := store.ReadLast(t.Context(), name)
	if err != nil || last == nil || last.Revision != uint64(len(list)-1) {
		t.Fatalf("last: %+v, %v", last, err)
	}
}

func TestRead_MissingStreamIsEmpty(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Store
	if all, err := store.Read(t.Context(), stream(), 0); err != nil || len(all) != 0 {
		t.Errorf("read: %v, %v", all, err)
	}
	if last, err := store.ReadLast(t.Context(), stream()); err != nil || last != nil {
		t.Errorf("read last: %v, %v", last, err)
	}
}

func TestReadAll_GivesWantedTypesInOrderAndWhereToGoOn(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Store
	var last eventstore.Appended
	for i := range 5 {
		claim := archived("")
		claim.Event = events.ClaimReleased{Kind: "k", Owner: id.New[id.Any]()}
		a, err := store.Append(t.Context(), stream(), eventstore.NoStream, []eventstore.New{
			archived(fmt.Sprint(i)), claim,
		})
		if err != nil {
			t.Fatal(err)
		}
		last = a
	}
	types := []string{events.PlanArchived{}.EventType()}
	var got []string
	after := uint64(0)
	for {
		page, next, err := store.ReadAll(t.Context(), after, 2, types)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, reasons(page)...)
		if next == after {
			break
		}
		after = next
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, got); diff != "" || after != last.Position {
		t.Fatalf("read up to %d of %d (-want +have)\n%s", after, last.Position, diff)
	}
	if head, err := store.Head(t.Context()); err != nil || head != last.Position {
		t.Errorf("head is %d, %v; want %d", head, err, last.Position)
	}
	if page, _, err := store.ReadAll(t.Context(), 0, 100, nil); err != nil || len(page) != 10 {
		t.Errorf("all types: %d events, %v", len(page), err)
	}
}

func TestStore_ComesBackAfterALongOutage(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	name := stream()
	if _, err := kit.Store.Append(t.Context(), name, eventstore.NoStream, several(1)); err != nil {
		t.Fatal(err)
	}
	kit.StopNode()
	// The stock client would give up for ever after about a second of this outage, and hang the calls under way.
	type write = func(context.Context, *eventstore.Store, string, eventstore.Expected,
		eventstore.New) (eventstore.Appended, error)
	wave := func(try write) chan error {
		done := make(chan error, 8)
		for range cap(done) {
			go func() {
				_, err := try(t.Context(), kit.Store, stream(), eventstore.NoStream, archived(""))
				done <- err
			}()
		}
		return done
	}
	once := func(ctx context.Context, s *eventstore.Store, name string, at eventstore.Expected,
		e eventstore.New) (eventstore.Appended, error) {
		return s.Append(ctx, name, at, []eventstore.New{e})
	}
	for range 2 { // the first wave loses its connection, the second gets none
		for done, n := wave(once), 0; n < cap(done); n++ {
			if err := <-done; !errors.Is(err, eventstore.ErrUnavailable) || failure.KindOf(err) != failure.Unavailable {
				t.Fatalf("append without a node: %v", err)
			}
		}
	}
	third := wave(tryUntilDone)
	kit.StartNode()
	for range cap(third) {
		if err := <-third; err != nil {
			t.Fatalf("append after the outage: %v", err)
		}
	}
	if all, err := kit.Store.Read(t.Context(), name, 0); err != nil || len(all) != 1 {
		t.Fatalf("stream has %d events, %v", len(all), err)
	}
}

func TestSubscribe_HistoryThenLiveWithCheckpoints(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Store
	name := stream()
	if _, err := store.Append(t.Context(), name, eventstore.NoStream, several(3)); err != nil {
		t.Fatal(err)
	}
	sub := store.Subscribe(t.Context(), 0, []string{events.PlanArchived{}.EventType()})
	defer sub.Close()
	got := collect(t, sub, func(item eventstore.Item, got []string) bool { return item.CaughtUp })
	if diff := cmp.Diff([]string{"0", "1", "2"}, got); diff != "" {
		t.Fatalf("history (-want +have)\n%s", diff)
	}
	if _, err := store.Append(t.Context(), name, eventstore.At(2), []eventstore.New{archived("live")}); err != nil {
		t.Fatal(err)
	}
	// An event of an unwanted type also moves the position, because a reader may wait for that position.
	other := archived("")
	other.Event = events.ClaimReleased{Kind: "k", Owner: id.New[id.Any]()}
	passed, err := store.Append(t.Context(), stream(), eventstore.NoStream, []eventstore.New{other})
	if err != nil {
		t.Fatal(err)
	}
	got = collect(t, sub, func(item eventstore.Item, got []string) bool { return item.Position >= passed.Position })
	if diff := cmp.Diff([]string{"live"}, got); diff != "" {
		t.Fatalf("live (-want +have)\n%s", diff)
	}
}

func TestSubscribe_SurvivesRestartsWithoutLossOrRepeat(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	name := stream()
	sub := kit.Store.Subscribe(t.Context(), 0, nil)
	defer sub.Close()
	want, got := []string{}, []string{}
	expected := eventstore.NoStream
	for round := range 3 {
		for i := range 5 {
			reason := fmt.Sprintf("%d.%d", round, i)
			want = append(want, reason)
			expected = eventstore.At(appendUntilDone(t, kit.Store, name, expected, archived(reason)).Revision)
		}
		got = append(got, collect(t, sub, func(_ eventstore.Item, g []string) bool { return len(g) == 5 })...)
		kit.StopNode()
		kit.StartNode()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("events (-want +have)\n%s", diff)
	}
}

func TestSubscribe_PoisonComesInItsPlaceAndStays(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	name := stream()
	if _, err := kit.Store.Append(t.Context(), name, eventstore.NoStream, several(1)); err != nil {
		t.Fatal(err)
	}
	appendForeign(t, kit, name)
	if _, err := kit.Store.Append(t.Context(), name, eventstore.At(1), several(1)); err != nil {
		t.Fatal(err)
	}
	before, err := kit.Store.Read(t.Context(), name, 0)
	if !errors.Is(err, catalog.ErrUnknownType) || len(before) != 1 {
		t.Fatalf("read gave %d events, %v; want the one before the poison, and it", len(before), err)
	}
	sub := kit.Store.Subscribe(t.Context(), 0, nil)
	defer sub.Close()
	item := next(t, sub)
	for item.Event == nil {
		item = next(t, sub)
	}
	for range 2 {
		_, err = sub.Next(t.Context())
		var poison *catalog.UndecodableError
		if !errors.As(err, &poison) || poison.Stream != name || poison.Revision != 1 || poison.Position == 0 {
			t.Fatalf("want the poison event, have %v", err)
		}
	}
}

func TestSubscribe_EndsWithTheSubscriptionAndWithTheStore(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	for name, end := range map[string]func(*eventstore.Store, *eventstore.Subscription){
		"subscription": func(_ *eventstore.Store, sub *eventstore.Subscription) { sub.Close() },
		"store":        func(store *eventstore.Store, _ *eventstore.Subscription) { store.Close() },
	} {
		store := kit.Open()
		sub := store.Subscribe(t.Context(), 0, nil)
		for !next(t, sub).CaughtUp {
		}
		end(store, sub)
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
		for {
			_, err := sub.Next(ctx)
			if errors.Is(err, context.Canceled) {
				break
			}
			if err != nil {
				t.Fatalf("end of the %s: %v", name, err)
			}
		}
		cancel()
	}
}

func TestRead_ATombstoneIsTold(t *testing.T) {
	t.Parallel()
	kit, name := storetest.New(t), stream()
	if _, err := kit.Store.Append(t.Context(), name, eventstore.NoStream, several(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, kit).TombstoneStream(t.Context(), name,
		esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := kit.Store.Read(t.Context(), name, 0); !errors.Is(err, eventstore.ErrStreamDeleted) {
		t.Errorf("read: %v", err)
	}
	if _, err := kit.Store.Append(t.Context(), name, eventstore.At(0),
		several(1)); !errors.Is(err, eventstore.ErrStreamDeleted) {
		t.Errorf("append: %v", err)
	}
}

// appendForeign writes an event of a type that the catalog does not have, with the stock client.
func appendForeign(t *testing.T, kit *storetest.Kit, name string) {
	t.Helper()
	_, err := client(t, kit).AppendToStream(t.Context(), name, esdb.AppendToStreamOptions{
		ExpectedRevision: esdb.StreamExists{},
	},
		esdb.EventData{
			EventType: "nobody.Knows.v1", ContentType: esdb.ContentTypeJson, Data: []byte("{}"), Metadata: []byte("{}"),
		})
	if err != nil {
		t.Fatal(err)
	}
}

// client opens a stock client to the node, to do what Store does not allow.
func client(t *testing.T, kit *storetest.Kit) *esdb.Client {
	t.Helper()
	config, err := esdb.ParseConnectionString(kit.Node.URL())
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = esdb.NoopLogging()
	c, err := esdb.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// next waits up to 15 seconds for an item and fails the test on an error.
func next(t *testing.T, sub *eventstore.Subscription) eventstore.Item {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	item, err := sub.Next(ctx)
	if err != nil {
		t.Fatalf("next: %v", err)
	}
	return item
}

// collect takes items until done says so and returns the reasons of the events. It fails when a position goes back.
func collect(t *testing.T, sub *eventstore.Subscription, done func(eventstore.Item, []string) bool) []string {
	t.Helper()
	got, last := []string{}, uint64(0)
	for {
		item := next(t, sub)
		if item.Position < last {
			t.Fatalf("position went back from %d to %d", last, item.Position)
		}
		last = item.Position
		if item.Event != nil {
			got = append(got, item.Event.Event.(events.PlanArchived).Reason)
		}
		if done(item, got) {
			return got
		}
	}
}

// appendUntilDone is tryUntilDone, but it fails the test on an error.
func appendUntilDone(
	t *testing.T, store *eventstore.Store, name string, expected eventstore.Expected, e eventstore.New,
) eventstore.Appended {
	t.Helper()
	done, err := tryUntilDone(t.Context(), store, name, expected, e)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return done
}

// tryUntilDone repeats an append while the store is unavailable, for at most 15 seconds.
func tryUntilDone(
	ctx context.Context, store *eventstore.Store, name string, expected eventstore.Expected, e eventstore.New,
) (eventstore.Appended, error) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit)
	defer cancel()
	for {
		done, err := store.Append(ctx, name, expected, []eventstore.New{e})
		if !errors.Is(err, eventstore.ErrUnavailable) || ctx.Err() != nil {
			return done, err
		}
	}
}

// writer is the result of one concurrent writer: its stream and the number of events that it appended.
type writer struct {
	name string
	n    int
}

// write appends to a stream of its own until stop is closed.
func write(t *testing.T, store *eventstore.Store, stop <-chan struct{}) writer {
	w := writer{name: stream()}
	for {
		select {
		case <-stop:
			return w
		default:
		}
		if _, err := tryUntilDone(t.Context(), store, w.name, eventstore.Expected(w.n-1),
			archived(fmt.Sprint(w.n))); err != nil {
			t.Errorf("append: %v", err)
			return w
		}
		w.n++
	}
}

// follow takes n events and counts them by stream. It fails when a stream has a gap or a repeated event.
func follow(t *testing.T, sub *eventstore.Subscription, seen map[string]int, n int) {
	t.Helper()
	for got := 0; got < n; {
		item := next(t, sub)
		if item.Event == nil {
			continue
		}
		if uint64(seen[item.Event.Stream]) != item.Event.Revision {
			t.Fatalf("%s: revision %d after %d events", item.Event.Stream, item.Event.Revision, seen[item.Event.Stream])
		}
		seen[item.Event.Stream]++
		got++
	}
}

func TestStore_ConcurrentWritersSurviveRestartsExactlyOnce(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	stop, results := make(chan struct{}), make(chan writer, 16)
	for range cap(results) {
		go func() { results <- write(t, kit.Store, stop) }()
	}
	sub := kit.Store.Subscribe(t.Context(), 0, nil)
	defer sub.Close()
	seen := map[string]int{}
	for range 3 {
		follow(t, sub, seen, 200)
		kit.StopNode()
		kit.StartNode()
	}
	close(stop)
	total := 0
	for range cap(results) {
		w := <-results
		total += w.n - seen[w.name]
		all, err := kit.Store.Read(t.Context(), w.name, 0)
		if err != nil || len(all) != w.n {
			t.Errorf("%s: %d events of %d, %v", w.name, len(all), w.n, err)
		}
	}
	follow(t, sub, seen, total)
}
