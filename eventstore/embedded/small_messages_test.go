package embedded_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// unreadBytes is the most memory of a node in tests with half of the calls that one connection may have.
const unreadBytes = mostBytes / 2

// wantPeak tells of a node that took more memory than it may.
func wantPeak(t *testing.T, node *child, most int) {
	t.Helper()
	if peak := peakBytes(t, node.command.Process.Pid); peak > most && !raceDetected() {
		t.Errorf("the node took %d MiB, more than %d", peak>>20, most>>20)
	} else {
		t.Logf("the node took %d MiB", peak>>20)
	}
}

// searching asks for all events of streams that there are none of, and for a checkpoint at each event.
func searching() *streams.ReadReq {
	req := readOf("", true)
	req.Options.FilterOption = &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
		Filter: &streams.ReadReq_Options_FilterOptions_StreamIdentifier{
			StreamIdentifier: &streams.ReadReq_Options_FilterOptions_Expression{Prefix: []string{"none"}},
		},
		Window:                       &streams.ReadReq_Options_FilterOptions_Max{Max: 1},
		CheckpointIntervalMultiplier: 1,
	}}
	return req
}

// unreadCalls begins so many reads of a client that may be sent nothing of what they give, and waits until each has
// begun to give something.
func unreadCalls(t *testing.T, connection string, calls int, req *streams.ReadReq) {
	t.Helper()
	body, err := proto.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	c := dialRaw(t, connection, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	body = append([]byte{0, 0, 0, 0, byte(len(body))}, body...)
	headers := callHeaders(c.host, streams.Streams_Read_FullMethodName)
	for call := 0; call < calls && err == nil; call++ {
		id := uint32(2*call + 1)
		if err = c.call(id, headers); err == nil {
			err = c.WriteData(id, true, body)
		}
	}
	for begun := 0; begun < calls && err == nil; {
		var f http2.Frame
		if f, err = c.ReadFrame(); err == nil && f.Header().Type == http2.FrameHeaders {
			begun++
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// search subscribes to streams that there are none of, and reads up to the checkpoint at a position.
func search(t *testing.T, client *esdb.Client, until uint64) {
	t.Helper()
	sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{
		From: esdb.Start{}, MaxSearchWindow: 1, CheckpointInterval: 1,
		Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"none"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	for at := uint64(0); at < until; {
		e := sub.Recv()
		if e.SubscriptionDropped != nil {
			t.Fatal(e.SubscriptionDropped.Error)
		}
		if e.CheckPointReached != nil {
			at = e.CheckPointReached.Commit
		}
	}
}

// TestMemory_CheckpointsThatAreNotReadTakeLittle: the transport would take thousands of them for each subscription, and
// needs more memory for one than its bytes.
func TestMemory_CheckpointsThatAreNotReadTakeLittle(t *testing.T) {
	t.Parallel()
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	client := contract.Connect(t, node.url)
	var last uint64
	for range 9 {
		batch := make([]esdb.EventData, 490)
		for i := range batch {
			batch[i] = oneEvent()
		}
		last = mustAppend(t, client, "s", esdb.Any{}, batch...).CommitPosition
	}
	unreadCalls(t, node.url, 256, searching())
	for range 20 {
		search(t, client, last)
	}
	wantPeak(t, node, unreadBytes)
}

// beginMany begins so many appends that the node refuses and that are not final, then one that is stored, and gives its
// answer. The names are as long as they may be.
func beginMany(t *testing.T, client streams.StreamsClient, many int) error {
	t.Helper()
	call, err := client.BatchAppend(t.Context())
	if err != nil {
		return err
	}
	stream := &shared.StreamIdentifier{StreamName: []byte(strings.Repeat("n", 1024))}
	for range many {
		id := &shared.UUID{Value: &shared.UUID_String_{String_: uuid.NewString()}}
		if call.Send(&streams.BatchAppendReq{
			CorrelationId: id, Options: &streams.BatchAppendReq_Options{StreamIdentifier: stream},
		}) != nil {
			break // the answer says why
		}
	}
	_ = call.Send(contract.BatchRequest(uuid.NewString(), 1))
	resp, err := call.Recv()
	if err == nil && resp.GetSuccess() == nil {
		t.Errorf("answered %v", resp)
	}
	return err
}

// TestMemory_AppendsThatAreBegunAndNotFinishedTakeLittle: beyond some room that is common to all, a call that begins
// more is refused, and an append of another client that comes in parts is not.
func TestMemory_AppendsThatAreBegunAndNotFinishedTakeLittle(t *testing.T) {
	t.Parallel()
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	client := bare(t, node.url)
	var group sync.WaitGroup
	var refused atomic.Int64
	for range 256 {
		group.Go(func() {
			switch err := beginMany(t, client, 500); {
			case status.Code(err) == codes.Aborted:
				refused.Add(1)
			case err != nil:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if refused.Load() < 200 {
		t.Errorf("%d calls are refused", refused.Load())
	}
	call := contract.OpenBatchCall(t, node.url)
	part := contract.BatchRequest("parts", 1)
	for range 100 {
		part.IsFinal = false
		if err := call.Send(part); err != nil {
			t.Fatal(err)
		}
		part.Options = nil
		part.ProposedMessages[0].Id = &shared.UUID{Value: &shared.UUID_String_{String_: uuid.NewString()}}
	}
	part.IsFinal = true
	if err := call.Send(part); err != nil {
		t.Fatal(err)
	}
	if resp, err := call.Recv(); err != nil || resp.GetSuccess() == nil {
		t.Errorf("an append in parts is answered %v, %v", resp, err)
	}
	wantPeak(t, node, unreadBytes)
}
