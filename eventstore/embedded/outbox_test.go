package embedded

import (
	"context"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// TestOutbox_WaitsForAClientThatDoesNotRead, with little memory in the hands of the transport, and goes on as that is
// sent. An event that fits into no chunk has room until it is sent.
func TestOutbox_WaitsForAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	const event, all, large = 1000, 1000, 100_000
	frames := newBudget("test", large)
	o := newOutbox(frames, &account{}, nil)
	pieces, ended := make(chan hotcodec.Piece, all+1), make(chan error, 1)
	write := func(bytes int) hotcodec.Piece {
		b := o.blank(bytes)[:bytes]
		b[0] = 1
		return o.piece(b)
	}
	go func() {
		for i := range all {
			if err := o.reserve(t.Context(), event, (all-i)*event); err != nil {
				ended <- err
				return
			}
			pieces <- write(event)
		}
		if err := o.reserve(t.Context(), large, large); err != nil {
			ended <- err
			return
		}
		pieces <- write(large)
		ended <- o.flush(t.Context())
	}()
	for i := range all {
		p := <-pieces
		most := int64(outBytes + chunkBytes + chunkMessages*messageBytes)
		if all-i <= int(most)/event { // the large one may have been begun
			most += large
		}
		if got := o.pending.Load(); got > most || p.Len() != event || p.ReadOnlyData()[0] != 1 {
			t.Fatalf("%d bytes are not sent, the next message has %d", got, p.Len())
		}
		p.Free()
	}
	last := <-pieces
	if frames.empty() {
		t.Error("a large event has no room")
	}
	select {
	case err := <-ended:
		t.Errorf("it does not wait until a large event is sent: %v", err)
	default:
	}
	freeAll(last)
	if err := <-ended; err != nil || !frames.empty() || o.pending.Load() != 0 {
		t.Errorf("%v, %d bytes are counted for ever", err, o.pending.Load())
	}
	o.close()
}

// TestOutbox_EndsWithItsCallAndWithTheNode also while a client does not read.
func TestOutbox_EndsWithItsCallAndWithTheNode(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	o := newOutbox(newBudget("test", 1), &account{}, stopped)
	if err := o.reserve(t.Context(), 3*outBytes, 0); err != nil {
		t.Fatal(err)
	}
	p := o.piece(o.blank(3 * outBytes)[:3*outBytes])
	close(stopped)
	if err := o.flush(t.Context()); err != errStopping {
		t.Errorf("got %v", err)
	}
	o.close()
	freeAll(p)
}

// blockedCall is a Read call whose transport takes no message.
type blockedCall struct {
	streams.Streams_ReadServer
	ctx   context.Context
	asked chan struct{}
}

// Context ends with the test.
func (c blockedCall) Context() context.Context { return c.ctx }

// SendMsg tells that it was called, and waits for the end.
func (c blockedCall) SendMsg(any) error {
	c.asked <- struct{}{}
	<-c.ctx.Done()
	return c.ctx.Err()
}

// TestOutbox_AClientThatTheTransportWaitsForIsDismissed when others wait for the room of the event that it does not
// take: the call is within SendMsg then.
func TestOutbox_AClientThatTheTransportWaitsForIsDismissed(t *testing.T) {
	t.Parallel()
	frames := newBudget("test", 25_000)
	now := time.Unix(0, 0)
	frames.now, frames.patience = func() time.Time { return now }, time.Hour
	dismissed := make(chan struct{})
	a := &account{disconnect: func(string) { close(dismissed) }}
	ctx, cancel := context.WithCancel(t.Context())
	call := blockedCall{ctx: ctx, asked: make(chan struct{}, 1)}
	r := &reader{call: call, out: newOutbox(frames, a, nil)}
	ended := make(chan error)
	go func() { ended <- r.sendOne(&record{kind: "k", data: make([]byte, 20_000)}, nil, 1) }()
	<-call.asked
	claimed(frames.open(&account{}), 20_000)
	now = now.Add(2 * time.Hour)
	frames.look()
	frames.mu.Lock()
	stalled := len(frames.stalls)
	frames.mu.Unlock()
	if stalled == 0 {
		t.Error("the room of an event that the transport does not take waits for nobody")
	} else {
		<-dismissed
	}
	cancel()
	<-ended
	r.out.close()
}

// TestOutbox_AnEventThatNeedsRoomWaitsUntilLittleIsLeft also while a large page is sent: the transport would let it
// wait otherwise.
func TestOutbox_AnEventThatNeedsRoomWaitsUntilLittleIsLeft(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	frames := newBudget("test", 1<<20)
	o := newOutbox(frames, &account{}, nil)
	o.fast = true
	for range 2 * outBytes / chunkBytes {
		if err := o.reserve(over, chunkBytes, chunkBytes); err != nil {
			t.Fatalf("a large page waits: %v", err)
		}
		p := o.piece(o.blank(chunkBytes)[:chunkBytes])
		defer p.Free()
	}
	if err := o.reserve(over, 2*chunkBytes, 0); err == nil || !frames.empty() {
		t.Error("a large event does not wait until most is sent")
	}
	o.close()
}

// freeAll gives pieces back, as when they are sent.
func freeAll(pieces ...hotcodec.Piece) {
	for _, p := range pieces {
		p.Free()
		p.More.Free()
	}
}

// encode takes room for messages of so many bytes from an outbox, and gives the pieces, which are not sent.
func encode(ctx context.Context, o *outbox, messages, bytes int) (pieces []hotcodec.Piece, err error) {
	for range messages {
		if err = o.reserve(ctx, bytes, bytes); err != nil {
			return pieces, err
		}
		pieces = append(pieces, o.piece(o.blank(bytes)[:bytes]))
	}
	return pieces, nil
}

// TestOutbox_AnEventHasItsRoomUntilItIsSent also while a large page is sent.
func TestOutbox_AnEventHasItsRoomUntilItIsSent(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	frames := newBudget("test", 1<<20)
	o := newOutbox(frames, &account{}, nil)
	o.fast = true
	pieces, err := encode(over, o, 1, 200_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.flush(over); err == nil || frames.empty() {
		t.Errorf("the transport has a large event, the end of the wait is %v, no room: %v", err, frames.empty())
	}
	freeAll(pieces...)
	if err := o.flush(t.Context()); err != nil || !frames.empty() {
		t.Errorf("%v, and room is kept: %v", err, !frames.empty())
	}
	o.close()
}

// TestOutbox_ALargePageIsSentBeforeItsRoomIsGivenBack: a reader may leave more with the transport only while it has
// that room, and a subscriber that has caught up has it no more.
func TestOutbox_ALargePageIsSentBeforeItsRoomIsGivenBack(t *testing.T) {
	t.Parallel()
	l := newLogReader(nil, nil, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	o := newOutbox(l.memory.frames, &account{}, nil)
	var pieces []hotcodec.Piece
	catchUp := func(ctx context.Context, count uint64, next fetch, chunks int) error {
		return l.walk(ctx, o, next, count, func([]record) (bool, error) {
			if !o.fast {
				t.Error("a large page is sent like a small one")
			}
			more, err := encode(over, o, chunks, chunkBytes)
			pieces = append(pieces, more...)
			return false, err
		})
	}
	if err := catchUp(t.Context(), 1, testPages(1), 1); err != nil || o.fast {
		t.Errorf("%v, and it goes on as with a large page: %v", err, o.fast)
	}
	if err := catchUp(over, 1, testPages(1), 2*outBytes/chunkBytes); err == nil {
		t.Error("it does not wait at the end of the log")
	}
	asked := 0
	large := func(context.Context, int, int) (page, error) {
		if asked++; asked == 1 {
			return page{rows: make([]record, 1), more: true}, nil
		}
		return page{large: 2 * pageBytes}, nil
	}
	freeAll(pieces...)
	pieces = nil
	if err := catchUp(over, 2, large, 2*outBytes/chunkBytes); err == nil || l.memory.rows.wanted() > 0 {
		t.Error("it does not wait before an event that fits into no page")
	}
	freeAll(pieces...)
	o.close()
	if !l.memory.pages.empty() || !l.memory.rows.empty() {
		t.Error("room is kept")
	}
}
