package embedded

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
)

// silentCall is a call whose client sends nothing more, until the call ends.
type silentCall struct {
	grpc.ServerStream
	ctx context.Context
}

// RecvMsg waits for the end.
func (c silentCall) RecvMsg(any) error {
	<-c.ctx.Done()
	return c.ctx.Err()
}

// TestCalls_ARefusedOneWhoseClientIsSilentEnds after some time, at once when the node stops, and at once when too many
// others wait for their clients already. Each gives its place back when it has ended.
func TestCalls_ARefusedOneWhoseClientIsSilentEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		calls, began := &callCount{}, time.Now()
		drained := make(chan struct{}, drainedCalls)
		for range drainedCalls {
			go func() {
				calls.drain(silentCall{ctx: ctx}, nil)
				drained <- struct{}{}
			}()
		}
		synctest.Wait()
		if calls.drain(silentCall{ctx: ctx}, nil); time.Since(began) > 0 {
			t.Error("one too many waits")
		}
		for range drainedCalls {
			<-drained
		}
		if took := time.Since(began); took != drainPatience {
			t.Errorf("they end after %v", took)
		}
		end()
		if synctest.Wait(); calls.draining != 0 {
			t.Errorf("%d places are lost", calls.draining)
		}
		ctx, end = context.WithCancel(t.Context())
		stopping := make(chan struct{})
		close(stopping)
		began = time.Now()
		if calls.drain(silentCall{ctx: ctx}, stopping); time.Since(began) > 0 {
			t.Error("the node waits when it stops")
		}
		end()
	})
}
