package embedded

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// testPages gives n events with a body of 1 MiB, as many as fit the bytes.
func testPages(n int) fetch {
	sent := 0
	return func(_ context.Context, limit, bytes int) (page, error) {
		p := page{}
		for taken := 0; sent < n && len(p.rows) < limit; sent++ {
			r := record{position: int64(sent + 1), data: make([]byte, 1<<20)}
			if taken += r.size(); taken > bytes {
				if len(p.rows) == 0 {
					p.large = r.size()
				}
				break
			}
			p.rows = append(p.rows, r)
		}
		p.more = sent < n
		return p, nil
	}
}

// TestMemory_ReadersThatDoNotReadShareIt: of a hundred readers some are stuck with a page, and the others wait for
// memory. A reader of another connection comes before them as soon as there is some.
func TestMemory_ReadersThatDoNotReadShareIt(t *testing.T) {
	t.Parallel()
	const readers = 100
	l := newLogReader(nil, nil, nil)
	l.memory.rows.patience = 0 // tells at once of readers that are stuck while another one waits
	end := make(chan struct{})
	told := sync.OnceFunc(func() { close(end) })
	stuck := &account{disconnect: func(string) { told() }}
	ctx, cancel := context.WithCancel(connected(stuck))
	defer cancel()
	var group sync.WaitGroup
	var held, arrived atomic.Int64
	for range readers {
		group.Go(func() {
			out := newOutbox(l.memory.frames, stuck, nil)
			_ = l.walk(ctx, out, testPages(50), 50, func(rows []record) (bool, error) {
				held.Add(int64(len(rows)))
				arrived.Add(1)
				<-ctx.Done()
				return true, nil
			})
		})
	}
	await(t, func() bool { return arrived.Load()+int64(l.memory.rows.wanted()) == readers })
	if most := int64(pagesBytes+rowsBytes) >> 20; held.Load() > most {
		t.Errorf("%d readers hold %d events of 1 MiB, more than %d", readers, held.Load(), most)
	}
	seen := make(chan int, 1)
	group.Go(func() {
		n := 0
		out := newOutbox(l.memory.frames, &account{}, nil)
		_ = l.walk(t.Context(), out, testPages(50), 50, func(rows []record) (bool, error) {
			n += len(rows)
			return false, nil
		})
		seen <- n
	})
	<-end
	cancel()
	if n := <-seen; n != 50 {
		t.Errorf("a further reader got %d events", n)
	}
	group.Wait()
	if !l.memory.rows.empty() || !l.memory.pages.empty() {
		t.Error("readers that have gone keep memory")
	}
}

// connected is the context of a call of a connection.
func connected(a *account) context.Context {
	return peer.NewContext(context.Background(), &peer.Peer{AuthInfo: watchedInfo{account: a}})
}

// await waits until something is so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	for ctx := t.Context(); !so(); runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
	}
}

// TestMemory_ALiveSubscriberTakesLittleAtATime: a subscriber that does not read keeps what it took from the tail.
func TestMemory_ALiveSubscriberTakesLittleAtATime(t *testing.T) {
	t.Parallel()
	tl := newTail(0)
	rows := make([]record, 10)
	for i := range rows {
		rows[i] = record{position: int64(i + 1), data: make([]byte, 1<<20)}
	}
	tl.publish(rows)
	if got, _, held := tl.after(0, extent{liveBatch, smallBytes}, nil); !held || len(got) != 1 {
		t.Errorf("a subscriber takes %d events of 1 MiB at a time", len(got))
	}
}

// callOf is a Read call that has a context and nothing else.
type callOf struct {
	streams.Streams_ReadServer
	ctx context.Context
}

// Context ends with the test.
func (c callOf) Context() context.Context { return c.ctx }

// TestMemory_ALiveSubscriberKeepsNoRoomForAnEventThatIsGone: it reads the event from a page, for which it may wait, and
// would wait for what it has itself.
func TestMemory_ALiveSubscriberKeepsNoRoomForAnEventThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBudget("test", 1<<20)
	r := &reader{call: callOf{ctx: t.Context()}, room: b.open(&account{}), out: newOutbox(b, &account{}, nil)}
	asked := 0
	after := func(int64, extent, []record) ([]record, <-chan struct{}, bool) {
		if asked++; asked == 1 {
			return []record{{data: make([]byte, smallBytes)}}, nil, true
		}
		return nil, nil, false // the tail has dropped it
	}
	if rows, _, held, err := r.live(0, nil, after); err != nil || held || len(rows) > 0 {
		t.Fatalf("%d events, held %v: %v", len(rows), held, err)
	}
	if asked != 2 || !b.empty() {
		t.Errorf("asked %d times, and the room is kept: %v", asked, !b.empty())
	}
}

// TestMemory_ALiveSubscriberWaitsForNothingOfItsOwn when another large event comes instead of the one that it has room
// for.
func TestMemory_ALiveSubscriberWaitsForNothingOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBudget("test", 12<<20)
	r := &reader{call: callOf{ctx: t.Context()}, room: b.open(&account{}), out: newOutbox(b, &account{}, nil)}
	asked := 0
	rows, _, held, err := r.live(0, nil, func(int64, extent, []record) ([]record, <-chan struct{}, bool) {
		asked++
		return []record{{data: make([]byte, min(6+asked, 8)<<20)}}, nil, true // 7 MiB, which are gone then, and 8
	})
	if err != nil || !held || len(rows) != 1 || asked != 3 {
		t.Errorf("%d events after %d looks: %v", len(rows), asked, err)
	}
	if r.room.free(); !b.empty() {
		t.Error("memory is lost")
	}
}

// TestMemory_AnAppendWithoutRoomIsRefusedAndHoldsNothing: appends that are still being received cannot wait for each
// other for ever.
func TestMemory_AnAppendWithoutRoomIsRefusedAndHoldsNothing(t *testing.T) {
	t.Parallel()
	n := &Node{writes: newWriteMemory()}
	one, two := n.newLoad(&account{}), n.newLoad(&account{})
	for _, l := range []*load{one, two} {
		if err := l.grow(t.Context(), writeBytes/2); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := one.grow(ctx, 1); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	if err := two.grow(t.Context(), writeBytes/2); err != nil {
		t.Errorf("the other append does not get the memory: %v", err)
	}
	two.free()
	two.free()
	if !NoWriteMemory(n) {
		t.Error("memory is lost")
	}
}
