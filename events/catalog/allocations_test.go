package catalog

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// decodeObjects is how many objects an event is decoded into when its payload has one text and its metadata four longer
// than a character: the payload, which JSON is read into; its copy, which cannot be changed any more; four objects of
// encoding/json, which are its state, the stack of its first pass, and two for the place of a fault; and the five
// texts. Ids, the time, the envelope and the metadata take none.
const decodeObjects = 11

// TestDecode_AnEventTakesFewObjects: one event more costs what it is decoded into, and nothing else. It is serial,
// because it measures.
func TestDecode_AnEventTakesFewObjects(t *testing.T) { //nolint:paralleltest // measures allocations
	codec, plan := New(NewMemoryKeys()), id.New[id.Plan]()
	var page []Recorded
	const few, many = 4, 24
	for range many {
		one := Draft{Event: events.PlanArchived{PlanID: plan, Reason: "replaced"}, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(plan),
			Action: "ArchivePlan", OrgID: id.New[id.Organization](), At: time.Now().UTC(),
			Actor:         events.Actor{Kind: events.ActorUser, ID: uuid.NewString()},
			CorrelationID: uuid.NewString(),
		}}
		page = append(page, recorded(mustEncode(t, codec, one)))
	}
	decode := func(n int) float64 {
		return testing.AllocsPerRun(100, func() {
			if _, err := codec.Decode(t.Context(), page[:n]); err != nil {
				t.Fatal(err)
			}
		})
	}
	if n := (decode(many) - decode(few)) / (many - few); n > decodeObjects {
		t.Errorf("%v allocations for an event more, want %d", n, decodeObjects)
	}
}
