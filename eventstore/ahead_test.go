package eventstore

import (
	"context"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/lastmile-isp/lastmile/events/catalog"
)

// TestSubscribe_ReadsAheadByBytes: large events fill the room before the items are many, and give it back when they are
// taken. One that is larger than all of the room waits until it has all.
func TestSubscribe_ReadsAheadByBytes(t *testing.T) {
	t.Parallel()
	s := &Subscription{raw: make(chan rawItem, readAhead), ahead: semaphore.NewWeighted(aheadBytes)}
	item := func(bytes int) rawItem {
		return rawItem{event: &catalog.Recorded{Encoded: catalog.Encoded{Data: make([]byte, bytes)}}}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range aheadBytes >> 20 {
		if err := s.hand(t.Context(), item(1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if s.hand(ended, item(1)) == nil {
		t.Error("more than the room was read ahead")
	}
	for len(s.raw) > 0 {
		if err := s.fill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.pending) > decodeBytes>>20 {
			t.Errorf("%d MiB are decoded together", len(s.pending))
		}
		s.pending = nil
	}
	if err := s.hand(t.Context(), item(2*aheadBytes)); err != nil {
		t.Fatal(err)
	}
}
