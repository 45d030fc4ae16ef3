package eventstore

import (
	"log/slog"
	"sync"

	"github.com/lastmile-isp/lastmile/events/catalog"
)

// foreignEvents passes over the events that other applications have written to the same store, and counts them.
type foreignEvents struct {
	log *slog.Logger

	mu    sync.Mutex
	last  uint64 // the highest position counted
	count uint64
}

// passes reports whether an event is of another application. Several readers see the same events: each position counts
// once, when the first of them comes to it. The first event of all is logged.
func (f *foreignEvents) passes(r catalog.Recorded) bool {
	if catalog.IsOwn(r) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Position <= f.last {
		return true
	}
	f.last = r.Position
	if f.count++; f.count == 1 {
		f.log.Info("events of another application in the event store are passed over", "stream", r.Stream, "type",
			r.Type, "position", r.Position)
	}
	return true
}

// ForeignEvents is the number of events of other applications that the readers of this store have passed over since it
// was opened, each counted once.
func (s *Store) ForeignEvents() uint64 {
	s.foreign.mu.Lock()
	defer s.foreign.mu.Unlock()
	return s.foreign.count
}
