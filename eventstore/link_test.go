package eventstore

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// connectedLink returns a link with a ready session, whose client has no server to reach.
func connectedLink(t *testing.T) *link {
	t.Helper()
	l, err := newLink(Config{URL: "esdb://127.0.0.1:1?tls=false", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	client, err := esdb.NewClient(&l.config)
	if err != nil {
		t.Fatal(err)
	}
	l.now = &session{client: client, ready: make(chan struct{})}
	close(l.now.ready)
	t.Cleanup(l.close)
	return l
}

// An operation's context is cancelled when the operation ends, so the caller may see both at once. The caller must then
// return the result, not the cancellation.
func TestCall_AFinishedOneIsNeverTakenForCancelled(t *testing.T) {
	t.Parallel()
	l := connectedLink(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 5000 {
				got, err := call(t.Context(), l, func(context.Context, *session) (int, error) { return i, nil })
				if err != nil || got != i {
					t.Errorf("call %d: %d, %v", i, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestCall_APanicOfTheClientIsAnError(t *testing.T) {
	t.Parallel()
	l := connectedLink(t)
	_, err := call(t.Context(), l, func(context.Context, *session) (int, error) { panic("unreachable code") })
	if err == nil || l.now == nil || l.now.users != 0 {
		t.Errorf("call: %v, link %+v", err, l.now)
	}
}

func TestCall_ACallerWhoLeavesIsLetGoAtOnce(t *testing.T) {
	t.Parallel()
	l := connectedLink(t)
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	defer close(stuck)
	_, err := call(ctx, l, func(context.Context, *session) (int, error) {
		cancel()
		<-stuck
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("call: %v", err)
	}
}

// TestCall_ThatHasNoAnswerOrFailsIsTold: an operation that nobody answers ends here as soon as somebody is told of it.
func TestCall_ThatHasNoAnswerOrFailsIsTold(t *testing.T) {
	t.Parallel()
	l := connectedLink(t)
	told := make(chan struct{}, 10)
	lost := func() { told <- struct{}{} }
	l.lost.Store(&lost)
	_, err := call(t.Context(), l, func(ctx context.Context, _ *session) (int, error) {
		select {
		case <-told:
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
	if err != nil {
		t.Errorf("nobody is told of silence: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		fails error
		want  int
	}{
		"not the leader":    {t.Context(), status.Error(codes.Aborted, "an election"), 1},
		"a refusal":         {t.Context(), ErrStreamDeleted, 0},
		"a caller who left": {gone, status.Error(codes.DeadlineExceeded, "late"), 0},
	} {
		_, _ = call(c.ctx, l, func(context.Context, *session) (int, error) { return 0, c.fails })
		if n := len(told); n != c.want {
			t.Errorf("%s: told %d times", name, n)
		}
		for len(told) > 0 {
			<-told
		}
	}
	l.close()
	_, _ = call(t.Context(), l, func(context.Context, *session) (int, error) { return 0, nil })
	if len(told) > 0 {
		t.Error("the end that was asked for is told")
	}
}

func TestLink_ALostSessionGetsNoNewUsersAndIsClosedByItsLast(t *testing.T) {
	t.Parallel()
	l := connectedLink(t)
	first := l.now
	for range 3 {
		if s, err := l.acquire(t.Context()); err != nil || s != first {
			t.Fatalf("acquire: %v", err)
		}
	}
	l.release(first, context.DeadlineExceeded)
	if first.lost || l.now != first {
		t.Error("a deadline of one caller cost all the connection")
	}
	l.release(first, status.Error(codes.Unavailable, "gone"))
	if !first.lost || l.now != nil {
		t.Error("a lost connection is still handed out")
	}
	l.release(first, nil)
	if _, err := first.client.GetServerVersion(); err == nil {
		t.Error("the last user left the client open")
	}
}
