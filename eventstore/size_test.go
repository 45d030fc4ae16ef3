package eventstore_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// TestRead_PagesOfLargeEventsAreShort: a page ends by its bytes, and no event is lost or read twice at its end.
func TestRead_PagesOfLargeEventsAreShort(t *testing.T) {
	t.Parallel()
	const total = 24
	store, name := storetest.New(t).Store, stream()
	for i := range total {
		list := several(1)
		list[0].Event = events.PlanArchived{Reason: strings.Repeat("x", 900<<10)}
		if _, err := store.Append(t.Context(), name, eventstore.Expected(i-1), list); err != nil {
			t.Fatal(err)
		}
	}
	page, more, err := store.ReadPage(t.Context(), name, 0, total)
	if err != nil || !more || len(page) == total {
		t.Errorf("a page of %d events, more %t, %v", len(page), more, err)
	}
	if all, err := store.Read(t.Context(), name, 0); err != nil || len(all) != total {
		t.Errorf("the stream has %d events, %v", len(all), err)
	}
	read := 0
	for after := uint64(0); ; {
		page, next, err := store.ReadAll(t.Context(), after, 1000, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == total {
			t.Error("all events in one page")
		}
		for _, e := range page {
			if e.Revision != uint64(read) {
				t.Fatalf("event %d is read after %d others", e.Revision, read)
			}
			read++
		}
		if next == after {
			break
		}
		after = next
	}
	if read != total {
		t.Errorf("the log has %d events", read)
	}
}
