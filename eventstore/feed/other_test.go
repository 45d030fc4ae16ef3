package feed

import (
	"context"
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// named gives ids to the events of a log from an index on.
func (m *memory) named(from int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.list[from:] {
		e.ID = id.New[id.Event]()
	}
}

// replace makes another log of a log, whose events from an index on are others, and breaks its cursors.
func (m *memory) replace(from, n int) {
	m.mu.Lock()
	m.list = m.list[:from:from]
	m.breaks++
	for range n {
		m.list = append(m.list, &events.Envelope{
			Position: uint64(len(m.list) + 1), Type: "even", ID: id.New[id.Event](),
		})
	}
	close(m.changed)
	m.changed = make(chan struct{})
	m.mu.Unlock()
}

// TestCovers_AnotherEventAtTheMarkIsAnotherLog: also when the log has grown beyond the checkpoint. The same log is
// known again, and an event that is not there says nothing.
func TestCovers_AnotherEventAtTheMarkIsAnotherLog(t *testing.T) {
	t.Parallel()
	log := newMemory()
	log.append(5)
	log.named(0)
	f := start(t, log)
	page, err := f.Read(t.Context(), 0, Want([]string{"odd"}), 10) // of the positions 1 and 4
	if err != nil || page.UpTo != 5 || page.Mark != markOf(log.list[4]) {
		t.Fatalf("%+v, %v: want the mark of event 5", page, err)
	}
	if err := f.Covers(t.Context(), page.UpTo, page.Mark); err != nil {
		t.Errorf("the same log: %v", err)
	}
	log.replace(3, 7)
	had := page.Mark
	var other *eventstore.OtherLogError
	err = start(t, log).Covers(t.Context(), page.UpTo, had)
	if want := (eventstore.OtherLogError{After: 5, Head: 4, Had: had.ID, Has: log.list[4].ID}); !errors.As(err,
		&other) || *other != want {
		t.Errorf("got %v, want %v", err, &want)
	}
	log.list[4].ID = id.Event{}
	if err := start(t, log).Covers(t.Context(), page.UpTo, had); err != nil {
		t.Errorf("without an event at the position: %v", err)
	}
}

// TestFeed_ALogThatIsReplacedEndsAllReading: everybody who waits is told, and the program.
func TestFeed_ALogThatIsReplacedEndsAllReading(t *testing.T) {
	t.Parallel()
	log := newMemory()
	log.append(5)
	log.named(0)
	f := start(t, log)
	waits := make(chan error, 1)
	go func() { waits <- f.Wait(t.Context(), 100) }()
	log.replace(4, 9)
	var other *eventstore.OtherLogError
	limited, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	select {
	case err := <-f.Lost():
		if !errors.As(err, &other) || other.After != 5 {
			t.Errorf("the program hears %v", err)
		}
	case <-limited.Done():
		t.Fatal("the program hears nothing")
	}
	if err := <-waits; !errors.As(err, &other) {
		t.Errorf("who waits hears %v", err)
	}
	if _, err := f.Read(t.Context(), 2, Want(nil), 10); !errors.As(err, &other) {
		t.Errorf("a read: %v", err)
	}
	if _, ok := f.Recent(5, Want(nil), 10); ok {
		t.Error("memory is read")
	}
	if _, err := f.End(t.Context()); !errors.As(err, &other) {
		t.Errorf("the end: %v", err)
	}
}

// TestPage_MarkOfAPartIsItsNewestEvent: what an older page knew stays where a page knows nothing newer.
func TestPage_MarkOfAPartIsItsNewestEvent(t *testing.T) {
	t.Parallel()
	mark := func(position uint64) eventstore.Mark {
		return eventstore.Mark{Position: position, ID: id.New[id.Event]()}
	}
	four, six, eight, older := mark(4), mark(6), mark(8), mark(3)
	page := Page{
		Events: []*events.Envelope{{Position: 4, ID: four.ID}, {Position: 6, ID: six.ID}}, UpTo: 9, Mark: eight,
	}
	for upTo, want := range map[uint64]eventstore.Mark{3: older, 4: four, 5: four, 7: six, 9: eight} {
		if got := page.MarkOf(upTo, older); got != want {
			t.Errorf("up to %d: %v, want %v", upTo, got, want)
		}
	}
}
