package embedded_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
)

// TestRead_AfterARevisionSeesEveryFinishedAppend reads on from the revision that each of many writers knows, at the
// same time, so that reads share their look-ups. None may be answered from before its own call.
func TestRead_AfterARevisionSeesEveryFinishedAppend(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	client := stormClient(t, n.URL())
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			stream := "s-" + uuid.NewString()
			for i := range 20 {
				if got := countFrom(t, client, stream, uint64(i)+1); got != 0 {
					t.Errorf("%d events before the append %d", got, i)
				}
				var expected esdb.ExpectedRevision = esdb.NoStream{}
				if i > 0 {
					expected = esdb.Revision(uint64(i) - 1)
				}
				opts := esdb.AppendToStreamOptions{ExpectedRevision: expected}
				_, err := client.AppendToStream(t.Context(), stream, opts, esdb.EventData{
					EventID: uuid.New(), EventType: "t", ContentType: esdb.ContentTypeJson,
					Data: []byte(strconv.Itoa(i)),
				})
				if err != nil {
					t.Error(err)
					return
				}
				if i == 0 {
					continue // revision 0 is read as the start of the stream
				}
				if got := countFrom(t, client, stream, uint64(i)); got != 1 {
					t.Errorf("%d events after append %d, want 1", got, i)
				}
			}
		})
	}
	group.Wait()
}

// TestRead_OthersGoOnWhenTheOneThatReadsForThemEnds ends calls at random moments of shared look-ups.
func TestRead_OthersGoOnWhenTheOneThatReadsForThemEnds(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	client := stormClient(t, n.URL())
	stream := "s-" + uuid.NewString()
	opts := esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}
	event := esdb.EventData{EventID: uuid.New(), EventType: "t", ContentType: esdb.ContentTypeJson, Data: []byte("1")}
	second := event
	second.EventID = uuid.New()
	if _, err := client.AppendToStream(t.Context(), stream, opts, event, second); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for reader := range 16 {
		group.Go(func() {
			for range 50 {
				if reader%2 == 0 {
					ctx, cancel := context.WithCancel(t.Context())
					go cancel()
					if in, err := client.ReadStream(ctx, stream, esdb.ReadStreamOptions{From: esdb.Revision(1)},
						10); err == nil {
						_, _ = in.Recv()
						in.Close()
					}
					continue
				}
				if got := countFrom(t, client, stream, 1); got != 1 {
					t.Errorf("%d events, want 1", got)
				}
			}
		})
	}
	group.Wait()
}

// countFrom counts the events of a stream from a revision on; none for a stream that does not exist.
func countFrom(t *testing.T, client *esdb.Client, stream string, from uint64) int {
	in, err := client.ReadStream(t.Context(), stream, esdb.ReadStreamOptions{From: esdb.Revision(from)}, 10)
	if err != nil {
		t.Error(err)
		return -1
	}
	defer in.Close()
	for n := 0; ; n++ {
		_, err := in.Recv()
		var missing *esdb.Error
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), errors.As(err, &missing) && missing.Code() == esdb.ErrorCodeResourceNotFound:
			return n
		default:
			t.Error(err)
			return -1
		}
	}
}
