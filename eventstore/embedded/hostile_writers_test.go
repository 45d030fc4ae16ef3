package embedded_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// Sizes of the writers of the hostile tests.
const (
	hostileWriters = 200
	clientWriters  = 10             // of a connection, whose windows together fit into its own
	writerBytes    = 16<<20 - 1<<16 // of the events of an append, which has at most 16 MiB of everything
)

// hugeWriting counts how appends of 16 MiB end.
type hugeWriting struct {
	answered chan struct{} // closed when all that send an end have their answers

	mu      sync.Mutex
	written map[string]int // by stream: events of the appends that were answered as written
	refused int            // that send an end, for want of memory
	halves  int            // that stop, when their half was sent
	shed    int            // that stop, refused for want of memory or closed because others wait
	strange []string       // other ends
}

// hugeWriters begins two hundred appends of 16 MiB each: as events that fit into the window of a call, as events of
// 1 MiB, or as one. Two of five stop in the middle, on connections of their own, because the node closes these. Events
// have no data but metadata, of which an append may have as much as of everything: the limit on data would refuse them
// before the node holds 16 MiB.
func hugeWriters(ctx context.Context, t *testing.T, connection string, group *sync.WaitGroup) *hugeWriting {
	t.Helper()
	w := &hugeWriting{answered: make(chan struct{}), written: map[string]int{}}
	split := func(n int) []*hotcodec.Frame {
		return slices.Repeat([]*hotcodec.Frame{frame(t, proposedBytes(0, writerBytes/n))}, n)
	}
	small, large, whole := split(300), split(16), split(1)
	bodies := slices.Concat(
		slices.Repeat([][]*hotcodec.Frame{small[:150]}, 4), slices.Repeat([][]*hotcodec.Frame{large[:8]}, 4),
		slices.Repeat([][]*hotcodec.Frame{small}, 10), slices.Repeat([][]*hotcodec.Frame{whole}, 2),
	)
	var answers sync.WaitGroup
	for c, body := range bodies {
		client := bare(t, connection)
		for i := range clientWriters {
			stream := fmt.Sprintf("huge-%d-%d", c, i)
			messages := slices.Concat([]*hotcodec.Frame{frame(t, appendOptions(stream))}, body)
			if c < 8 {
				group.Go(func() { w.stop(ctx, client, messages) })
			} else {
				answers.Go(func() { w.write(ctx, client, stream, messages) })
			}
		}
	}
	group.Go(func() {
		answers.Wait()
		close(w.answered)
	})
	return w
}

// write sends an append to its end, or until it is refused, and notes the answer.
func (w *hugeWriting) write(
	ctx context.Context, client streams.StreamsClient, stream string, messages []*hotcodec.Frame,
) {
	var resp *streams.AppendResp
	call, err := client.Append(ctx)
	if err == nil {
		_ = send(call, messages)
		resp, err = call.CloseAndRecv() // it has the reason when a message was not taken
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case resp.GetSuccess() != nil:
		w.written[stream] = len(messages) - 1
	case wantsMemory(err):
		w.refused++
	default:
		w.strange = append(w.strange, fmt.Sprintf("%s: %v, %v", stream, resp, err))
	}
}

// stop sends half of an append, as fast as the node takes it, and nothing more until the node has enough of that.
func (w *hugeWriting) stop(ctx context.Context, client streams.StreamsClient, half []*hotcodec.Frame) {
	call, err := client.Append(ctx)
	if err == nil {
		if send(call, half) == nil {
			w.mu.Lock()
			w.halves++
			w.mu.Unlock()
		}
		err = call.RecvMsg(&streams.AppendResp{})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case ctx.Err() != nil: // nobody has waited for its memory
	case wantsMemory(err), status.Code(err) == codes.Unavailable:
		w.shed++
	default:
		w.strange = append(w.strange, fmt.Sprintf("one that stops: %v", err))
	}
}

// send sends messages until one is not taken.
func send(call streams.Streams_AppendClient, messages []*hotcodec.Frame) error {
	for _, m := range messages {
		if err := call.SendMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// wantsMemory reports whether the node has refused an append because it has no memory for it.
func wantsMemory(err error) bool {
	return status.Code(err) == codes.Aborted && strings.Contains(err.Error(), "too many bytes are being written")
}

// check wants an answer to each append that was sent to its end: that it is written, and then it is there in full, or
// that there is no memory for it. Where none was written, none refused, none has stopped with half of it sent, or none
// of these was let go for others, the test is one of something else.
func (w *hugeWriting) check(t *testing.T, client *esdb.Client) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	parts := 0
	for _, events := range w.written {
		if events > 1 {
			parts++
		}
	}
	t.Logf("%d appends of 16 MiB are written, %d of them in parts, and %d refused for want of memory; of those that "+
		"stop %d have sent half, and %d were refused or closed", len(w.written), parts, w.refused, w.halves, w.shed)
	for _, end := range w.strange {
		t.Error(end)
	}
	if n := len(w.written) + w.refused; n != hostileWriters*3/5 {
		t.Errorf("%d of the appends have an answer", n)
	}
	if len(w.written) == 0 || w.refused == 0 || w.halves == 0 || w.shed == 0 {
		t.Error("the writers do not use the memory up")
	}
	for stream, want := range w.written {
		if n := countEvents(t, client, stream); n != want {
			t.Errorf("%s has %d events, not %d", stream, n, want)
		}
	}
}
