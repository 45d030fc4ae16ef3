package eventstore

import (
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// handObjects is how many objects a subscription needs to hand events over that are decoded together, beside those of
// decoding: one for each event, which the queue has a pointer to, and for all of them the page, the ready items, and a
// list of pending ones that grows.
const handObjects = decodeTogether + 16

// TestSubscription_HandsEventsOverInFewObjects. It is serial, because it measures.
func TestSubscription_HandsEventsOverInFewObjects(t *testing.T) { //nolint:paralleltest // measures allocations
	codec := catalog.New(catalog.NewMemoryKeys())
	page := make([]catalog.Recorded, decodeTogether)
	for i := range page {
		encoded, err := codec.Encode(t.Context(), []New{{
			Event: events.PlanArchived{PlanID: id.New[id.Plan](), Reason: "replaced"},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), OrgID: id.New[id.Organization](), At: time.Now().UTC(),
				Actor: events.Actor{Kind: events.ActorOperator},
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		page[i] = catalog.Recorded{Encoded: encoded[0], Stream: "plan-" + id.New[id.Plan]().String()}
	}
	decoding := testing.AllocsPerRun(20, func() {
		if _, err := codec.Decode(t.Context(), page); err != nil {
			t.Fatal(err)
		}
	})
	sub := &Subscription{
		store: &Store{codec: codec}, wanted: func(catalog.Recorded) bool { return true },
		raw: make(chan rawItem, readAhead), ahead: semaphore.NewWeighted(aheadBytes),
	}
	all := testing.AllocsPerRun(20, func() {
		for _, e := range page {
			e.Position = sub.last + 1
			if err := sub.push(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		for range page {
			if _, err := sub.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n := all - decoding; n > handObjects {
		t.Errorf("%v allocations for %d events, want %d", n, decodeTogether, handObjects)
	}
}
