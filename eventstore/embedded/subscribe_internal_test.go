package embedded

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// watchedCall is a Read call that is told of each message.
type watchedCall struct {
	streams.Streams_ReadServer
	ctx  context.Context
	tell func(*streams.ReadResp)
}

// Context is that of the test.
func (c watchedCall) Context() context.Context { return c.ctx }

// SendMsg decodes the message.
func (c watchedCall) SendMsg(m any) error {
	piece := *m.(*hotcodec.Piece)
	octets := append(mem.BufferSlice{piece.Buffer}, piece.More...).Materialize()
	freeAll(piece)
	resp := &streams.ReadResp{}
	err := proto.Unmarshal(octets, resp)
	if err == nil {
		c.tell(resp)
	}
	return err
}

// TestSubscription_AStopSendsNoCheckpointBeyondItsEvents: an expression is held against no event any more when the node
// stops, so that it is not known what would have matched.
func TestSubscription_AStopSendsNoCheckpointBeyondItsEvents(t *testing.T) {
	t.Parallel()
	n := &Node{log: newLogReader(nil, nil, nil), tail: newTail(0), stopping: make(chan struct{})}
	rows := make([]record, 100)
	for i := range rows {
		at := int64(i + 1)
		rows[i] = record{stream: "a", kind: "k", revision: at, position: at}
	}
	n.tail.publish(rows)
	var event, checkpoint uint64
	call := watchedCall{ctx: t.Context(), tell: func(m *streams.ReadResp) {
		switch content := m.Content.(type) {
		case *streams.ReadResp_Event:
			if event = content.Event.GetCommitPosition(); event == 10 {
				close(n.stopping)
			}
		case *streams.ReadResp_Checkpoint_:
			checkpoint = content.Checkpoint.CommitPosition
		}
	}}
	r := newReader(n, &readRequest{filter: &filter{
		byStream: true, pattern: regexp.MustCompile("^a"), interval: 1, stopping: n.stopping,
	}}, call)
	defer r.end()
	if err := r.subscribeAll(); !errors.Is(err, errStopping) {
		t.Errorf("it ends with %v", err)
	}
	if checkpoint > event || event < 10 {
		t.Errorf("there is a checkpoint %d after the event %d", checkpoint, event)
	}
}
