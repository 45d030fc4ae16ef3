package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// peakBytes is the most memory that a process has had.
func peakBytes(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(kib)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// bare is a connection without the client module.
func bare(t *testing.T, connection string, options ...grpc.DialOption) streams.StreamsClient {
	t.Helper()
	parsed, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(parsed.Host, append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return streams.NewStreamsClient(conn)
}

// frame encodes a message once for many calls.
func frame(t *testing.T, m proto.Message) *hotcodec.Frame {
	t.Helper()
	octets, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f := hotcodec.Frame(octets)
	return &f
}

// appendOptions is the first message of an append.
func appendOptions(stream string) *streams.AppendReq {
	return &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{
		StreamIdentifier:       &shared.StreamIdentifier{StreamName: []byte(stream)},
		ExpectedStreamRevision: &streams.AppendReq_Options_Any{Any: &shared.Empty{}},
	}}}
}

// proposedBytes is an event of an append.
func proposedBytes(data, metadata int) *streams.AppendReq {
	id := uuid.New()
	return &streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{
		ProposedMessage: &streams.AppendReq_ProposedMessage{
			Id:       &shared.UUID{Value: &shared.UUID_String_{String_: id.String()}},
			Metadata: map[string]string{"type": "Large", "content-type": "application/octet-stream"},
			Data:     make([]byte, data), CustomMetadata: make([]byte, metadata),
		},
	}}
}

// readOf asks for all events of a stream, or with "" of the log, for ever or once.
func readOf(stream string, subscribe bool) *streams.ReadReq {
	o := &streams.ReadReq_Options{
		FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		UuidOption: &streams.ReadReq_Options_UUIDOption{
			Content: &streams.ReadReq_Options_UUIDOption_Structured{Structured: &shared.Empty{}},
		},
		CountOption: &streams.ReadReq_Options_Count{Count: 1 << 40},
		StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{
			AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}},
		}},
	}
	if stream != "" {
		o.StreamOption = &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(stream)},
			RevisionOption:   &streams.ReadReq_Options_StreamOptions_Start{Start: &shared.Empty{}},
		}}
	}
	if subscribe {
		o.CountOption = &streams.ReadReq_Options_Subscription{
			Subscription: &streams.ReadReq_Options_SubscriptionOptions{},
		}
	}
	return &streams.ReadReq{Options: o}
}

// Sizes of the hostile tests.
const (
	mostBytes       = 512_000_000 // that the process of the node may have
	crowdBytes      = 464 << 20   // that it may have with most readers and writers: its garbage is collected at 384 MiB
	hostileReaders  = 1000
	hostileClients  = 8  // connections of them
	largeEvents     = 40 // of 1 MiB
	largeEventBytes = 1<<20 - 1000
)

// TestMemory_ClientsThatDoNotReadAndHugeWritesLeaveRoom: a thousand readers that do not read and two hundred writers of
// 16 MiB each, two of five of which stop in the middle, keep the node within its memory, others are served, and each
// writer that goes on to its end has an answer.
func TestMemory_ClientsThatDoNotReadAndHugeWritesLeaveRoom(t *testing.T) {
	t.Parallel()
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	fill(t, node.url)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	stuckReaders(ctx, t, node.url)
	halfMessages(ctx, t, node.url)
	writers := hugeWriters(ctx, t, node.url, &group)
	client := contract.Connect(t, node.url)
	serve := func(times int) {
		mustAppend(t, client, "served", esdb.Any{}, oneEvent())
		for stream, want := range map[string]int{"served": times, "large": largeEvents} {
			if n := countEvents(t, client, stream); n != want {
				t.Fatalf("%d events of %s, not %d", n, stream, want)
			}
		}
	}
	times := 1
	for serve(times); !isClosed(writers.answered); serve(times) {
		times++
	}
	writers.check(t, client)
	if peak := peakBytes(t, node.command.Process.Pid); peak > crowdBytes && !raceDetected() {
		t.Errorf("the node took %d MiB", peak>>20)
	} else {
		t.Logf("the node took %d MiB; another client was served %d times", peak>>20, times)
	}
}

// TestMemory_SmallEventsDoNotKeepTheirMessages: the newest events are in memory, and what else their messages had is
// not.
func TestMemory_SmallEventsDoNotKeepTheirMessages(t *testing.T) {
	t.Parallel()
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	client := bare(t, node.url)
	small := proposedBytes(1, 0)
	small.GetProposedMessage().Metadata["x"] = strings.Repeat("x", 15<<20)
	for i := range 40 {
		small.GetProposedMessage().Id = &shared.UUID{Value: &shared.UUID_Structured_{
			Structured: &shared.UUID_Structured{MostSignificantBits: 1, LeastSignificantBits: int64(i)},
		}}
		call, err := client.Append(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = call.Send(appendOptions("small")), call.Send(small)
		if resp, err := call.CloseAndRecv(); err != nil || resp.GetSuccess() == nil {
			t.Fatalf("got %v, %v", resp, err)
		}
	}
	if peak := peakBytes(t, node.command.Process.Pid); peak > mostBytes && !raceDetected() {
		t.Errorf("the node took %d MiB", peak>>20)
	} else {
		t.Logf("the node took %d MiB", peak>>20)
	}
}

// raceDetected reports whether the program was built with the race detector, which takes several times the memory.
func raceDetected() bool {
	build, _ := debug.ReadBuildInfo()
	return build != nil && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// countEvents reads a stream to its end.
func countEvents(t *testing.T, client *esdb.Client, stream string) (n int) {
	t.Helper()
	read, err := client.ReadStream(t.Context(), stream, esdb.ReadStreamOptions{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for {
		switch _, err := read.Recv(); {
		case errors.Is(err, io.EOF):
			return n
		case err != nil:
			t.Fatalf("%s: %v", stream, err)
		}
		n++
	}
}

// fill writes large events and small ones.
func fill(t *testing.T, connection string) {
	t.Helper()
	client := contract.Connect(t, connection)
	for range largeEvents {
		e := oneEvent()
		e.ContentType, e.Data = esdb.ContentTypeBinary, make([]byte, largeEventBytes)
		mustAppend(t, client, "large", esdb.Any{}, e)
	}
	for range 20 {
		batch := make([]esdb.EventData, 500)
		for i := range batch {
			batch[i] = oneEvent()
			batch[i].ContentType, batch[i].Data = esdb.ContentTypeBinary, make([]byte, 400)
		}
		mustAppend(t, client, "small", esdb.Any{}, batch...)
	}
}

// stuckReaders begins reads that take nothing of what they get. Half of them read large events.
func stuckReaders(ctx context.Context, t *testing.T, connection string) {
	t.Helper()
	for c := range hostileClients {
		client := bare(t, connection, grpc.WithInitialWindowSize(int32(1<<16<<(c%3))),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(32<<20)))
		for i := range hostileReaders / hostileClients {
			stream := []string{"large", "small", "", "large"}[i%4]
			if _, err := client.Read(ctx, readOf(stream, i%3 == 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// halfMessages begins appends of one event of 16 MiB of which it sends half, as far as it may.
func halfMessages(ctx context.Context, t *testing.T, connection string) {
	t.Helper()
	parsed, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", parsed.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte(http2.ClientPreface))
	if err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	err = framer.WriteSettings()
	first := append([]byte{0, 1, 0, 0, 0}, make([]byte, 16_000)...) // begins a message of 16 MiB
	for call := uint32(1); call < 40 && err == nil; call += 2 {
		err = framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: call, EndHeaders: true,
			BlockFragment: callHeaders(parsed.Host, "/event_store.client.streams.Streams/Append"),
		})
		if err == nil {
			err = framer.WriteData(call, false, first)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	go sendHalf(framer)
}

// sendHalf sends the first halves of messages that may be sent, until the connection ends.
func sendHalf(framer *http2.Framer) {
	chunk := make([]byte, 1<<14)
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.WindowUpdateFrame:
			for sent := 0; f.StreamID > 0 && f.Increment == 1<<24 && sent < 512; sent++ {
				if framer.WriteData(f.StreamID, false, chunk) != nil {
					return
				}
			}
		}
	}
}
