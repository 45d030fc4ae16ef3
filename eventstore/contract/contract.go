// Package contract is the test suite of an event store server, through the stock client and through the bare protocol.
// It runs against the embedded node and, when EVENTSTORE_URL is set, against a real cluster.
package contract

import (
	"context"
	"errors"
	"io"
	"net/url"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// patience is how long a test waits for an answer that should come at once.
const patience = 20 * time.Second

// kit holds the connections to one server, shared by all tests of a run.
type kit struct {
	url    string
	client *esdb.Client
	raw    streams.StreamsClient // for requests that the stock client cannot send
}

// Run runs the whole suite against a server, in parallel. The connection string must be without TLS and credentials.
func Run(t *testing.T, connection string) {
	t.Helper()
	k := newKit(t, connection)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *kit)
	}{
		{"append", testAppend},
		{"append limits", testAppendLimits},
		{"batch append", testBatchAppend},
		{"read stream", testReadStream},
		{"read all", testReadAll},
		{"read requests", testReadRequests},
		{"links", testLinks},
		{"subscribe", testSubscribe},
		{"subscribe filtered", testSubscribeFiltered},
		{"metadata", testMetadata},
		{"delete", testDelete},
		{"tombstone", testTombstone},
		{"connect", testConnect},
		{"foreign events", testForeignEvents},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.run(t, k)
		})
	}
}

// newKit connects the stock client and a bare one; both are closed at the end of the test.
func newKit(t *testing.T, connection string) *kit {
	t.Helper()
	k := &kit{url: connection, client: Connect(t, connection)}
	parsed, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(parsed.Host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	k.raw = streams.NewStreamsClient(conn)
	return k
}

// Connect opens a stock client and closes it at the end of the test.
func Connect(t testing.TB, connection string) *esdb.Client {
	t.Helper()
	config, err := esdb.ParseConnectionString(connection)
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = esdb.NoopLogging()
	client, err := esdb.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// within is a context that ends after patience or with the test.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// stream makes the name of a stream that no other test uses.
func stream(category string) string { return category + "-" + uuid.NewString() }

// event makes a JSON event with a new id and some metadata.
func event(kind string) esdb.EventData {
	return esdb.EventData{
		EventID: uuid.New(), EventType: kind, ContentType: esdb.ContentTypeJson, Data: []byte(`{"n":1}`),
		Metadata: []byte(`{"m":2}`),
	}
}

// several makes one event for each type.
func several(kinds ...string) []esdb.EventData {
	out := make([]esdb.EventData, len(kinds))
	for i, k := range kinds {
		out[i] = event(k)
	}
	return out
}

// append fails the test when the append fails.
func (k *kit) append(
	t *testing.T, stream string, expected esdb.ExpectedRevision, events ...esdb.EventData,
) *esdb.WriteResult {
	t.Helper()
	r, err := k.client.AppendToStream(within(t), stream, esdb.AppendToStreamOptions{ExpectedRevision: expected},
		events...)
	if err != nil {
		t.Fatalf("append to %s: %v", stream, err)
	}
	return r
}

// appendFails fails the test unless the append fails with the code.
func (k *kit) appendFails(
	t *testing.T, code esdb.ErrorCode, stream string, expected esdb.ExpectedRevision, events ...esdb.EventData,
) {
	t.Helper()
	_, err := k.client.AppendToStream(within(t), stream, esdb.AppendToStreamOptions{ExpectedRevision: expected},
		events...)
	wantCode(t, err, code)
}

// wantCode compares the error code that the stock client reports.
func wantCode(t *testing.T, err error, code esdb.ErrorCode) {
	t.Helper()
	var e *esdb.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want client code %d", err, code)
	}
	if e.Code() != code {
		t.Fatalf("got client code %d (%v), want %d", e.Code(), err, code)
	}
}

// read returns the events of a stream and, when the read broke off, the error.
func (k *kit) read(t *testing.T, stream string, o esdb.ReadStreamOptions, count uint64) ([]*esdb.ResolvedEvent, error) {
	t.Helper()
	r, err := k.client.ReadStream(within(t), stream, o, count)
	if err != nil {
		t.Fatalf("read %s: %v", stream, err)
	}
	defer r.Close()
	return collect(r)
}

// readAll returns events of $all; an error fails the test.
func (k *kit) readAll(t *testing.T, o esdb.ReadAllOptions, count uint64) []*esdb.ResolvedEvent {
	t.Helper()
	r, err := k.client.ReadAll(within(t), o, count)
	if err != nil {
		t.Fatalf("read $all: %v", err)
	}
	defer r.Close()
	got, err := collect(r)
	if err != nil {
		t.Fatalf("read $all: %v", err)
	}
	return got
}

// collect takes events until the end of the read or an error.
func collect(r *esdb.ReadStream) ([]*esdb.ResolvedEvent, error) {
	var out []*esdb.ResolvedEvent
	for {
		e, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

// revisions lists the numbers of the events in their streams, never nil.
func revisions(events []*esdb.ResolvedEvent) []uint64 {
	out := []uint64{}
	for _, e := range events {
		out = append(out, e.OriginalEvent().EventNumber)
	}
	return out
}

// wantRevisions reads a stream from the start and compares the revisions.
func (k *kit) wantRevisions(t *testing.T, stream string, want ...uint64) {
	t.Helper()
	got, err := k.read(t, stream, esdb.ReadStreamOptions{}, 1000)
	if err != nil {
		t.Fatalf("read %s: %v", stream, err)
	}
	if diff := cmp.Diff(append([]uint64{}, want...), revisions(got)); diff != "" {
		t.Errorf("revisions of %s (-want +got):\n%s", stream, diff)
	}
}
