package eventstore_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// counted is a channel that counts its calls.
type counted struct {
	grpc.ClientConnInterface
	calls *atomic.Int32
}

// NewStream begins a call, which counts.
func (c counted) NewStream(
	ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	c.calls.Add(1)
	return c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
}

// TestLocal_AppendsTakeTheWayToTheNodeOfTheProgram, also to the next one after a restart, and the network while there
// is none.
func TestLocal_AppendsTakeTheWayToTheNodeOfTheProgram(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	var calls atomic.Int32
	var local atomic.Pointer[counted]
	store, err := eventstore.Open(t.Context(), eventstore.Config{
		URL: kit.Node.URL(), Codec: catalog.New(kit.Keys), Logger: storetest.Quiet(),
		Local: func() grpc.ClientConnInterface {
			if c := local.Load(); c != nil {
				return *c
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	end := eventstore.NoStream
	for _, step := range []struct {
		local bool
		calls int32
	}{{true, 1}, {false, 1}, {true, 2}} {
		if local.Store(nil); step.local {
			local.Store(&counted{kit.Node.Local(), &calls})
		}
		for range 3 {
			list := several(1)
			done, err := store.Append(t.Context(), "s", end, list)
			for errors.Is(err, eventstore.ErrUnavailable) { // the end of the call before may be noticed by this
				done, err = store.Append(t.Context(), "s", end, list)
			}
			if err != nil {
				t.Fatal(err)
			}
			end = eventstore.At(done.Revision)
		}
		if got := calls.Load(); got != step.calls {
			t.Errorf("%d local calls, want %d", got, step.calls)
		}
		kit.StopNode() // so that the next call is opened
		kit.StartNode()
	}
}
