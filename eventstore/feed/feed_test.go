package feed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// memory is a log of numbered events. The first of every three is of the type "odd", the others are "even".
type memory struct {
	mu      sync.Mutex
	list    []*events.Envelope
	changed chan struct{}
	drops   int // number of cursors that will fail after three events
	breaks  int // how often all cursors that there were have failed
	follows int // how many cursors there were
}

// newMemory makes an empty log.
func newMemory() *memory { return &memory{changed: make(chan struct{})} }

// append adds n events and wakes the cursors that wait.
func (m *memory) append(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		e := &events.Envelope{Position: uint64(len(m.list) + 1), Type: "even"}
		if len(m.list)%3 == 0 {
			e.Type = "odd"
		}
		m.list = append(m.list, e)
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

// Head is the number of events, because positions have no gaps here.
func (m *memory) Head(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.list)), nil
}

// EventAt gives the id that the test has set, mostly none.
func (m *memory) EventAt(_ context.Context, position uint64) (id.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if position == 0 {
		return id.Event{}, nil
	}
	if position > uint64(len(m.list)) {
		return id.Event{}, &eventstore.ShortLogError{Before: position}
	}
	return m.list[position-1].ID, nil
}

// ReadAll never fails. Events are copied, as from a real log.
func (m *memory) ReadAll(
	_ context.Context, after uint64, limit int, types []string,
) (page []events.Envelope, next uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next = after
	for _, e := range m.list[after:] {
		if len(page) == limit {
			break
		}
		next = e.Position
		if Want(types).Has(e.Type) {
			page = append(page, *e)
		}
	}
	return page, next, nil
}

// Follow returns a cursor that fails after three events while drops is above 0.
func (m *memory) Follow(_ context.Context, after uint64, _ eventstore.Mark, _ []string) Cursor {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.follows++
	c := &memoryCursor{m: m, at: int(after), left: -1, breaks: m.breaks}
	if m.drops > 0 {
		m.drops--
		c.left = 3
	}
	return c
}

// memoryCursor is a cursor of memory. It fails when left is 0; a negative left never gets there.
type memoryCursor struct {
	m    *memory
	at   int
	left int

	breaks int // of the log when the cursor was made
}

// Next waits for an event, of any type.
func (c *memoryCursor) Next(ctx context.Context) (Item, error) {
	if c.left == 0 {
		return Item{}, fmt.Errorf("connection lost")
	}
	c.left--
	for {
		c.m.mu.Lock()
		changed := c.m.changed
		if c.breaks != c.m.breaks {
			c.m.mu.Unlock()
			return Item{}, fmt.Errorf("connection lost")
		}
		if c.at < len(c.m.list) {
			e := c.m.list[c.at]
			c.m.mu.Unlock()
			c.at++
			return Item{Event: e, Position: e.Position}, nil
		}
		c.m.mu.Unlock()
		select {
		case <-ctx.Done():
			return Item{}, ctx.Err()
		case <-changed:
		}
	}
}

// start starts a feed that keeps only 8 events, so that consumers also read pages.
func start(t *testing.T, log Log) *Feed {
	t.Helper()
	f := New(log, nil)
	f.keep = 8
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Stop)
	return f
}

// read takes the wanted events up to a position, in pages of limit, and returns their positions.
func read(t *testing.T, f *Feed, types []string, upTo uint64, limit int) (got []uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for after := uint64(0); after < upTo; {
		page, err := f.Next(ctx, after, Want(types), limit)
		if err != nil {
			t.Error(err)
			return got
		}
		if page.From != after || page.UpTo <= after {
			t.Errorf("page from %d to %d after %d", page.From, page.UpTo, after)
			return got
		}
		for _, e := range page.Events {
			got = append(got, e.Position)
		}
		after = page.UpTo
	}
	return got
}

func TestFeed_EveryConsumerGetsEveryWantedEventOnce(t *testing.T) {
	t.Parallel()
	log := newMemory()
	log.drops = 20
	log.append(50)
	f := start(t, log)
	const total = 3000
	want := map[string][]uint64{}
	for p := uint64(1); p <= total; p++ {
		if (p-1)%3 == 0 {
			want["odd"] = append(want["odd"], p)
		}
		want["all"] = append(want["all"], p)
	}
	var wg sync.WaitGroup
	for _, limit := range []int{1, 3, 100} {
		wg.Go(func() {
			if diff := cmp.Diff(want["all"], read(t, f, nil, total, limit)); diff != "" {
				t.Errorf("all, pages of %d: %s", limit, diff)
			}
		})
		wg.Go(func() {
			if diff := cmp.Diff(want["odd"], read(t, f, []string{"odd"}, total, limit)); diff != "" {
				t.Errorf("odd, pages of %d: %s", limit, diff)
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for left := total - 50; left > 0; {
		n := min(1+r.IntN(20), left)
		log.append(n)
		left -= n
	}
	wg.Wait()
}

func TestFeed_TellsThatNothingWantedCame(t *testing.T) {
	t.Parallel()
	log := newMemory()
	f := start(t, log)
	log.append(3) // odd, even, even
	if err := f.Wait(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if position, ok := f.Clear(1, Want([]string{"odd"})); !ok || position != 3 {
		t.Errorf("clear up to %d, %v", position, ok)
	}
	if position, ok := f.Clear(0, Want([]string{"even"})); !ok || position != 1 {
		t.Errorf("clear up to %d, %v", position, ok)
	}
	page, ok := f.Recent(1, Want([]string{"odd"}), 10)
	if !ok || len(page.Events) != 0 || page.UpTo != 3 || !page.Live {
		t.Errorf("got %+v", page)
	}
}

func TestFeed_WaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := start(t, newMemory())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Wait(ctx, 5); err == nil {
		t.Error("waited for nothing")
	}
}

// TestFeed_AReaderBehindTheEndOfTheLogIsTold: a log that was restored to an older state gives positions again which the
// reader has passed already.
func TestFeed_AReaderBehindTheEndOfTheLogIsTold(t *testing.T) {
	t.Parallel()
	log := newMemory()
	log.append(3)
	f := start(t, log)
	var shorter *eventstore.OtherLogError
	if _, err := f.Next(t.Context(), 5, Want(nil), 10); !errors.As(err, &shorter) ||
		*shorter != (eventstore.OtherLogError{After: 5, Head: 3}) {
		t.Errorf("got %v", err)
	}
	// Another program may have read events that this feed has not seen yet: its checkpoint is no fault.
	log.mu.Lock()
	log.list = append(log.list, &events.Envelope{Position: 4}, &events.Envelope{Position: 5})
	log.mu.Unlock()
	if _, err := f.Read(t.Context(), 5, Want(nil), 10); err != nil {
		t.Errorf("ahead of the feed: %v", err)
	}
}

// TestFeed_MemoryIsBoundedInBytes: large events leave memory before they are many.
func TestFeed_MemoryIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	f := New(newMemory(), nil)
	const total, size = 200, 1 << 20
	for p := range uint64(total) {
		f.publish(Item{Event: &events.Envelope{Position: p + 1}, Position: p + 1, Size: size})
		if f.bytes > keepBytes || f.bytes != len(f.recent)*size || len(f.sizes) != len(f.recent) {
			t.Fatalf("after %d events: %d bytes, %d events", p+1, f.bytes, len(f.recent))
		}
	}
	if page, ok := f.Recent(f.floor, Want(nil), total); !ok || page.UpTo != total || len(page.Events) != len(f.recent) {
		t.Errorf("memory has %d of %d events", len(page.Events), len(f.recent))
	}
	if _, ok := f.Recent(f.floor-1, Want(nil), total); ok {
		t.Error("memory reaches back to an event that it forgot")
	}
}
