package embedded

import (
	"context"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// testPages gives pages of one event each with a body of 1 MiB, n of them, and as many as fit the bytes.
func testPages(n int) fetch {
	sent := 0
	return func(_ context.Context, limit, bytes int) (page, error) {
		p := page{}
		for taken := 0; sent < n && len(p.rows) < limit && taken < bytes; sent++ {
			p.rows = append(p.rows, record{position: int64(sent + 1), data: make([]byte, 1<<20)})
			taken += p.rows[len(p.rows)-1].size()
		}
		p.more = sent < n
		return p, nil
	}
}

// TestMemory_ReadersThatDoNotReadShareIt: a hundred readers that are stuck with a page have the shared memory for large
// pages and one event each; a further reader goes on beside them to its end.
func TestMemory_ReadersThatDoNotReadShareIt(t *testing.T) {
	t.Parallel()
	const readers = 100
	l := newLogReader(nil, nil, nil)
	var group sync.WaitGroup
	arrived, leave := make(chan int, readers), make(chan struct{})
	for range readers {
		group.Go(func() {
			_ = l.walk(context.Background(), testPages(50), 50, func(rows []record) (bool, error) {
				arrived <- len(rows)
				<-leave
				return true, nil
			})
		})
	}
	events := 0
	for range readers {
		events += <-arrived
	}
	if most := pagesBytes>>20 + readers; events > most {
		t.Errorf("%d readers hold %d events of 1 MiB, more than %d", readers, events, most)
	}
	seen := 0
	if err := l.walk(t.Context(), testPages(50), 50, func(rows []record) (bool, error) {
		seen += len(rows)
		return false, nil
	}); err != nil || seen != 50 {
		t.Errorf("a further reader got %d events, %v", seen, err)
	}
	close(leave)
	group.Wait()
	if !l.memory.TryAcquire(pagesBytes) {
		t.Error("readers that have gone keep memory")
	}
}

// TestMemory_ALiveSubscriberTakesLittleAtATime: a subscriber that does not read keeps what it took from the tail.
func TestMemory_ALiveSubscriberTakesLittleAtATime(t *testing.T) {
	t.Parallel()
	tl := newTail(0)
	rows := make([]record, 20)
	for i := range rows {
		rows[i] = record{position: int64(i + 1), data: make([]byte, 1<<20)}
	}
	tl.publish(rows)
	if got, _, held := tl.after(0, extent{liveBatch, smallBytes}, nil); !held || len(got) != 1 {
		t.Errorf("a subscriber takes %d events of 1 MiB at a time", len(got))
	}
}

// TestMemory_AnAppendWithoutRoomIsRefusedAndHoldsNothing: appends that are still being received cannot wait for each
// other for ever.
func TestMemory_AnAppendWithoutRoomIsRefusedAndHoldsNothing(t *testing.T) {
	t.Parallel()
	n := &Node{writes: semaphore.NewWeighted(writeBytes)}
	one, two := n.newLoad(), n.newLoad()
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
	if !n.writes.TryAcquire(writeBytes) {
		t.Error("memory is lost")
	}
}
