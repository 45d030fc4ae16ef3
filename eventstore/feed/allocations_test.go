package feed

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
)

// pageObjects is how many objects a page of 1,024 events from memory may take: two lists that grow to its size, which
// is not known before. The events are those that the feed has, the same for all consumers.
const pageObjects = 2 * 12

// TestFeed_AnEventIsHandedOverWithoutAnObject, however many consumers take it: what it is published into grows seldom.
// It is serial, because it measures.
func TestFeed_AnEventIsHandedOverWithoutAnObject(t *testing.T) { //nolint:paralleltest // measures allocations
	f := New(newMemory(), nil)
	list := make([]events.Envelope, 4*defaultKeep)
	next := 0
	publish := testing.AllocsPerRun(len(list)-1, func() {
		e := &list[next]
		next++
		e.Position, e.Type = uint64(next), "odd"
		f.publish(Item{Event: e, Position: e.Position, Size: 400})
	})
	if publish != 0 {
		t.Errorf("%v allocations to publish an event", publish)
	}
	want, after := Want([]string{"odd"}), uint64(len(list)-1024)
	taken := testing.AllocsPerRun(20, func() {
		if page, ok := f.Recent(after, want, 1024); !ok || len(page.Events) != 1024 {
			t.Fatalf("a page of %d events, from memory: %v", len(page.Events), ok)
		}
	})
	if taken > pageObjects {
		t.Errorf("%v allocations for a page, want %d", taken, pageObjects)
	}
	none := testing.AllocsPerRun(20, func() { f.Recent(after, Want([]string{}), 1024) })
	if none > 2 { // the set of types itself
		t.Errorf("%v allocations for a page without an event", none)
	}
}
