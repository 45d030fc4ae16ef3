package embedded_test

import (
	"net/url"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
)

// TestSubscription_SlowReaderNeitherBlocksNorLoses: a live subscriber stops reading while more is written than any
// buffer holds. Writers go on. When the subscriber reads again, it gets every event once and in order, and it gets the
// message that it has caught up a second time.
func TestSubscription_SlowReaderNeitherBlocksNorLoses(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	call := slowSubscription(t, n.URL())
	next := func() *streams.ReadResp {
		resp, err := call.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	last := uint64(0)
	for caughtUp := 0; caughtUp < 1; {
		resp := next()
		if resp.GetCaughtUp() != nil {
			caughtUp++
		}
		last = max(last, resp.GetEvent().GetCommitPosition())
	}
	const batches, size = 40, 500 // more than the tail holds
	client := contract.Connect(t, n.URL())
	var end uint64
	for range batches {
		batch := make([]esdb.EventData, size)
		for i := range batch {
			batch[i] = oneEvent()
		}
		end = mustAppend(t, client, "flood", esdb.Any{}, batch...).CommitPosition
	}
	for again := false; last < end || !again; {
		resp := next()
		if resp.GetCaughtUp() != nil {
			again = true
			continue
		}
		at := resp.GetEvent().GetCommitPosition()
		if at != last+1 {
			t.Fatalf("position %d after %d", at, last)
		}
		last = at
	}
}

// slowSubscription opens a bare subscription to $all with a small window, so that the server soon blocks when the test
// does not read.
func slowSubscription(t *testing.T, connection string) streams.Streams_ReadClient {
	t.Helper()
	parsed, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(parsed.Host, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(1<<16))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	call, err := streams.NewStreamsClient(conn).Read(t.Context(), &streams.ReadReq{Options: &streams.ReadReq_Options{
		StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{
			AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}},
		}},
		CountOption: &streams.ReadReq_Options_Subscription{
			Subscription: &streams.ReadReq_Options_SubscriptionOptions{},
		},
		FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		UuidOption: &streams.ReadReq_Options_UUIDOption{
			Content: &streams.ReadReq_Options_UUIDOption_Structured{Structured: &shared.Empty{}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return call
}
