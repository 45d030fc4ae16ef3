package eventstore

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// alone opens a store on a server that takes each append in a call of its own, as a cluster does.
func alone(t *testing.T, do func(streams.Streams_AppendServer) error) *Store {
	t.Helper()
	s := &server{
		batch: func(streams.Streams_BatchAppendServer) error {
			return status.Error(codes.Unimplemented, "not here")
		},
		append: func(call streams.Streams_AppendServer) error {
			for range 2 { // its options and one event, which it may write
				if _, err := call.Recv(); err != nil {
					return err
				}
			}
			return do(call)
		},
	}
	store := s.open(t)
	_ = store.Ping(t.Context())               // connects; the server has no reads
	store.link.now.shared.refused.Store(true) // as after the first append
	return store
}

// TestAppends_TheEndOfACallOfTheirOwnIsARefusalOnlyIfItSaysSo: what was sent may have been written, whatever else ends
// the call.
func TestAppends_TheEndOfACallOfTheirOwnIsARefusalOnlyIfItSaysSo(t *testing.T) {
	t.Parallel()
	for code, unknown := range map[codes.Code]bool{
		codes.Unavailable: true, codes.Canceled: true, codes.Unknown: true, codes.Internal: true,
		codes.ResourceExhausted: true, codes.Aborted: true, codes.DeadlineExceeded: true, codes.NotFound: true,
		codes.InvalidArgument: false, codes.FailedPrecondition: false, codes.PermissionDenied: false,
		codes.Unauthenticated: false,
	} {
		store := alone(t, func(streams.Streams_AppendServer) error { return status.Error(code, "over") })
		_, err := store.Append(t.Context(), "s-1", NoStream, one())
		if err == nil || errors.Is(err, ErrUnavailable) != unknown {
			t.Errorf("%v: the outcome is unknown: %t, %v", code, !unknown, err)
		}
	}
}

// TestAppends_ACallerWhoLeavesACallOfTheirOwnIsNotTold that it was refused.
func TestAppends_ACallerWhoLeavesACallOfTheirOwnIsNotTold(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	store := alone(t, func(call streams.Streams_AppendServer) error {
		began <- struct{}{}
		<-call.Context().Done()
		return call.Context().Err()
	})
	for range 100 {
		left, cancel := context.WithCancel(t.Context())
		go func() { <-began; cancel() }()
		if _, err := store.Append(left, "s-1", NoStream, one()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// TestAppends_WhoWaitsForACallThatIsNotOpenedHasItsFailure, and does not wait for another attempt after it.
func TestAppends_WhoWaitsForACallThatIsNotOpenedHasItsFailure(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system takes connections, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	config := &esdb.Configuration{Address: silent.Addr().String(), DisableTLS: true, KeepAliveInterval: -1}
	a, err := newAppends(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := a.shared(t.Context()); !errors.Is(err, ErrUnavailable) {
				t.Error(err)
			}
		})
	}
	if group.Wait(); a.faults.Load() != 1 {
		t.Errorf("%d attempts are made one after the other", a.faults.Load())
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.shared(left); !errors.Is(err, context.Canceled) || a.faults.Load() != 1 {
		t.Errorf("one is made for a caller who has left: %v", err)
	}
}
