package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// stopping begins to stop a node, which has stopped at the end of the test.
func stopping(t *testing.T, n *embedded.Node) {
	t.Helper()
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		stopped <- n.Stop(ctx)
	}()
	t.Cleanup(func() {
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	<-embedded.Stopping(n)
}

// TestBatch_WhatWasTakenIsAnsweredBeforeTheCallEnds: whether a message of the client ends it, or the stop of the node,
// after which no append is taken any more. Over the network, and within the program.
func TestBatch_WhatWasTakenIsAnsweredBeforeTheCallEnds(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]func(*testing.T, *embedded.Node) streams.Streams_BatchAppendClient{
		"remote": func(t *testing.T, n *embedded.Node) streams.Streams_BatchAppendClient {
			return contract.OpenBatchCall(t, n.URL())
		},
		"local": func(t *testing.T, n *embedded.Node) streams.Streams_BatchAppendClient {
			return opened(t.Context(), t, n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answeredBeforeTheEnd(t, begun)
		})
	}
}

// answeredBeforeTheEnd is that test for one way to begin calls.
func answeredBeforeTheEnd(t *testing.T, begun func(*testing.T, *embedded.Node) streams.Streams_BatchAppendClient) {
	t.Helper()
	for name, end := range map[string]func(t *testing.T, n *embedded.Node, call streams.Streams_BatchAppendClient){
		"a broken message": func(t *testing.T, n *embedded.Node, call streams.Streams_BatchAppendClient) {
			if err := call.Send(&streams.BatchAppendReq{IsFinal: true}); err != nil {
				t.Error(err)
			}
		},
		"the stop": func(t *testing.T, n *embedded.Node, call streams.Streams_BatchAppendClient) {
			stopping(t, n)
			_ = call.Send(contract.BatchRequest("late", 1)) // the call may have ended by then
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			n, err := embedded.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { stop(t, n) })
			call := begun(t, n)
			release := held(t, cfg)
			defer release()
			if err := call.Send(contract.BatchRequest("taken", 1)); err != nil {
				t.Fatal(err)
			}
			awaitHeldCommit(t, cfg)
			end(t, n, call)
			answer := make(chan error, 1)
			go func() {
				resp, err := call.Recv()
				if err == nil && resp.GetSuccess() == nil {
					t.Errorf("answered %v", resp)
				}
				answer <- err
			}()
			select {
			case err := <-answer:
				t.Fatalf("the call has ended without an answer: %v", err)
			case <-time.After(200 * time.Millisecond): // more than the node needs to end it
			}
			release()
			if err := <-answer; err != nil {
				t.Errorf("not answered: %v", err)
			}
			for err := error(nil); err == nil; { // one that came before the stop was seen has its answer, too
				_, err = call.Recv()
			}
		})
	}
}

// TestBatch_AnAppendThatIsTooLargeIsRefusedAndTheCallGoesOn: a client sends a large append in parts, and sends all of
// them before it looks for the answer.
func TestBatch_AnAppendThatIsTooLargeIsRefusedAndTheCallGoesOn(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	call := contract.OpenBatchCall(t, n.URL())
	req := contract.BatchRequest("large", 1)
	req.ProposedMessages[0].Data = make([]byte, 1<<20)
	for part := range 40 {
		req.IsFinal = part == 39
		if err := call.Send(req); err != nil {
			t.Fatal(err)
		}
		req.Options = nil
	}
	refused, err := call.Recv()
	if err != nil || len(refused.GetError().GetDetails()) != 1 {
		t.Fatalf("answered %v, %v", refused, err)
	}
	large := new(shared.MaximumAppendSizeExceeded)
	if err := refused.GetError().GetDetails()[0].UnmarshalTo(large); err != nil || large.GetMaxAppendSize() != 1<<20 {
		t.Errorf("refused with %v, %v", refused.GetError(), err)
	}
	if err := call.Send(contract.BatchRequest("small", 1)); err != nil {
		t.Fatal(err)
	}
	if stored, err := call.Recv(); err != nil || stored.GetSuccess() == nil {
		t.Errorf("the next append is answered %v, %v", stored, err)
	}
}
