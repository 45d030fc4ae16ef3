package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// TestMemory_ManySubscribersThatDoNotReadDoNotKeepAnEventFromAnother: each of them has one event that is larger than a
// chunk, and together they have all the room for such events.
func TestMemory_ManySubscribersThatDoNotReadDoNotKeepAnEventFromAnother(t *testing.T) {
	t.Parallel()
	const subscribers, each, events = 1000, 17 << 10, 20
	n := start(t, testConfig(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // more than it takes: 3 seconds for a connection
	defer cancel()
	client := contract.Connect(t, n.URL())
	sized := func(bytes int) esdb.EventData {
		e := oneEvent()
		e.ContentType, e.Data = esdb.ContentTypeBinary, make([]byte, bytes)
		return e
	}
	for range 2 {
		stuck := bare(t, n.URL(), grpc.WithInitialWindowSize(1<<16))
		for range subscribers / 2 {
			call, err := stuck.Read(ctx, readOf("flood", true))
			if err == nil {
				_, err = call.Recv() // the subscription is confirmed
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	mustAppend(t, client, "other", esdb.NoStream{}, sized(100<<10))
	all := embedded.Connections(n)
	for range events {
		mustAppend(t, client, "flood", esdb.Any{}, sized(each))
	}
	for embedded.Connections(n) == all { // until those of one connection have kept others waiting for too long
		read, err := client.ReadStream(ctx, "other", esdb.ReadStreamOptions{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		e, err := read.Recv()
		if err != nil || len(e.Event.Data) != 100<<10 {
			t.Fatalf("another client waits for the subscribers: %v", err)
		}
		read.Close()
	}
}
