package contract

import (
	"log/slog"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// largeEvent is nearly as large as a cluster takes an event with its default settings, in bytes.
const largeEvent = 900 << 10

// foreignEvents are events as other applications write them.
func foreignEvents() []esdb.EventData {
	noJSON, noMetadata, otherMetadata, oldName, large := event("orders.OrderPlaced.v1"), event("OrderPlaced"),
		event("nobody.Knows.v1"), event(events.PlanArchived{}.EventType()), event("picture")
	noJSON.Metadata, noJSON.Data, noJSON.ContentType = []byte{0xff, 0}, []byte{0xfe, 1}, esdb.ContentTypeBinary
	noMetadata.Metadata = nil
	otherMetadata.Metadata = []byte(`{"orgId":7,"commandId":"x","actor":[],"at":"noon"}`)
	large.Data, large.ContentType = make([]byte, largeEvent), esdb.ContentTypeBinary
	link := event("$>")
	link.Data, link.ContentType = []byte("0@nowhere"), esdb.ContentTypeBinary
	return []esdb.EventData{noJSON, noMetadata, otherMetadata, oldName, large, link}
}

// testForeignEvents: the product's reader of the log passes over what other applications write to the same store, by
// whatever types it asks, and gets its own event behind them.
func testForeignEvents(t *testing.T, k *kit) {
	store, err := eventstore.Open(t.Context(), eventstore.Config{
		URL: k.url, Codec: catalog.New(catalog.NewMemoryKeys()), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	var want []string
	var first, last uint64
	own := func() {
		name := stream("plan")
		done, err := store.Append(within(t), name, eventstore.NoStream, []eventstore.New{{
			Event: events.PlanArchived{PlanID: id.New[id.Plan]()}, Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), Action: "test", At: time.Unix(0, 0).UTC(),
				Actor: events.Actor{Kind: events.ActorOperator},
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		want, last = append(want, name), done.Position
	}
	own()
	first, want = last, nil
	for _, name := range []string{stream("orders"), "orders-1" + stream(""), "plan-1" + stream(""), stream("plain")} {
		k.append(t, name, esdb.NoStream{}, foreignEvents()...)
	}
	own()
	for about, types := range map[string][]string{"every type": nil, "one type": {events.PlanArchived{}.EventType()}} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, readOwn(t, store, first, last, types)); diff != "" {
				t.Errorf("read (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(want, followOwn(t, store, first, last, types)); diff != "" {
				t.Errorf("followed (-want +got)\n%s", diff)
			}
			if store.ForeignEvents() == 0 {
				t.Error("no foreign event was counted")
			}
		})
	}
}

// readOwn reads pages of the log up to a position and returns the streams of the events.
func readOwn(t *testing.T, store *eventstore.Store, after, upTo uint64, types []string) (streams []string) {
	for after < upTo {
		page, next, err := store.ReadAll(within(t), after, 100, types)
		if err != nil {
			t.Fatal(err)
		}
		if next <= after {
			t.Fatalf("the log ends at %d, before %d", after, upTo)
		}
		for _, e := range page {
			if e.Position <= upTo {
				streams = append(streams, e.Stream)
			}
		}
		after = next
	}
	return streams
}

// followOwn follows the log up to a position and returns the streams of the events.
func followOwn(t *testing.T, store *eventstore.Store, after, upTo uint64, types []string) (streams []string) {
	sub := store.Subscribe(t.Context(), after, types)
	defer sub.Close()
	for {
		item, err := sub.Next(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if item.Event != nil && item.Position <= upTo {
			streams = append(streams, item.Event.Stream)
		}
		if item.Position >= upTo {
			return streams
		}
	}
}
