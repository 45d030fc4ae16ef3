package embedded

import (
	"testing"

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
		most := int64(outBytes + chunkBytes)
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
	last.Free()
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
	p.Free()
}
