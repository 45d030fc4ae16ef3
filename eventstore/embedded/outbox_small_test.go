package embedded

import (
	"context"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// unreadCall is a Read call whose transport takes all messages and sends none.
type unreadCall struct {
	streams.Streams_ReadServer
	ctx   context.Context
	taken []hotcodec.Piece
}

// Context has ended: what waits fails.
func (c *unreadCall) Context() context.Context { return c.ctx }

// SendMsg keeps the message.
func (c *unreadCall) SendMsg(m any) error {
	c.taken = append(c.taken, *m.(*hotcodec.Piece))
	return nil
}

// TestOutbox_SmallMessagesThatAreNotReadAreFew, although the transport would take thousands of them, each of which
// needs more memory than its bytes.
func TestOutbox_SmallMessagesThatAreNotReadAreFew(t *testing.T) {
	t.Parallel()
	small := &record{stream: "s", kind: "k", revision: 1, position: 1}
	for name, send := range map[string]func(*reader, int) error{
		"checkpoints": func(r *reader, n int) error { return r.checkpoint(int64(n)) },
		"caught up":   func(r *reader, _ int) error { return r.caughtUp() },
		"live events": func(r *reader, _ int) error {
			_, err := r.send([]record{*small}, 1, func(*record) bool { return true }, nil)
			return err
		},
		"a page of events": func(r *reader, _ int) error { return r.sendOne(small, nil, 1000) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over, cancel := context.WithCancel(t.Context())
			cancel()
			call := &unreadCall{ctx: over}
			r := &reader{
				readRequest: &readRequest{}, call: call, out: newOutbox(newBudget("test", 1), &account{}, nil),
			}
			const most = outBytes/messageBytes + chunkMessages
			var err error
			for n := 0; err == nil && n < 10*most; n++ {
				err = send(r, n)
			}
			if err == nil || len(call.taken) > most || len(call.taken) < 10 {
				t.Errorf("the transport has %d messages: %v", len(call.taken), err)
			}
			freeAll(call.taken...)
			if r.out.close(); r.out.pending.Load() != 0 {
				t.Errorf("%d bytes are counted for ever", r.out.pending.Load())
			}
		})
	}
}
