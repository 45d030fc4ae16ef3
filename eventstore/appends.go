package eventstore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Bounds of an append over the shared call.
const (
	sharedBytes    = 256 << 10        // a larger append takes a call of its own, so that it delays no other one
	appendPatience = 10 * time.Second // for the answer, as the client has it
)

// appends sends the appends of a session over one BatchAppend call, which stays open: a call for each append costs
// client and node several times as much as the append itself (ADR 0023). It has a connection of its own, because the
// client does not give its away. Safe for concurrent use.
type appends struct {
	conn   *grpc.ClientConn
	header metadata.MD // credentials

	mu   sync.Mutex
	call *sharedCall // nil before the first append, and after a call has ended
}

// sharedCall is one BatchAppend call.
type sharedCall struct {
	stream streams.Streams_BatchAppendClient
	end    context.CancelFunc

	sending sync.Mutex // a stream takes one message at a time

	mu      sync.Mutex
	last    int64                     // correlation id of the newest append; only the first half of it is used
	waiting map[int64]chan<- answered // by correlation id; the channels have room
	failed  error                     // why the call has ended; nil = it has not
}

// answered is the answer to an append; err is that of the call.
type answered struct {
	resp *streams.BatchAppendResp
	err  error
}

// newAppends gives nil where only the client itself may append: it finds the leader of a cluster, and it has the
// certificates. A single node without TLS is the embedded one, or is used like it.
func newAppends(c *esdb.Configuration) (*appends, error) {
	if c.Address == "" || len(c.GossipSeeds) > 0 || c.DnsDiscover || !c.DisableTLS {
		return nil, nil
	}
	opts := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if c.KeepAliveInterval >= 0 {
		opts = append(opts, grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: c.KeepAliveInterval, Timeout: c.KeepAliveTimeout, PermitWithoutStream: true,
		}))
	}
	conn, err := grpc.NewClient(c.Address, opts...)
	if err != nil {
		return nil, fmt.Errorf("event store address: %w", err)
	}
	a := &appends{conn: conn}
	if c.Username != "" {
		plain := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
		a.header = metadata.Pairs("authorization", "Basic "+plain)
	}
	return a, nil
}

// close ends the call and the connection.
func (a *appends) close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.call != nil {
		a.call.end()
	}
	_ = a.conn.Close()
}

// takes reports whether an append may go over the shared call.
func (a *appends) takes(list []catalog.Encoded) bool {
	bytes := 0
	for _, e := range list {
		bytes += len(e.Data) + len(e.Metadata)
	}
	return a != nil && bytes <= sharedBytes
}

// append writes encoded events. It fails as the client does: with what translate knows, or with WrongRevisionError.
func (a *appends) append(
	ctx context.Context, stream string, expected Expected, list []catalog.Encoded,
) (Appended, error) {
	ctx, cancel := context.WithTimeout(ctx, appendPatience)
	defer cancel()
	c, err := a.shared()
	if err != nil {
		return Appended{}, err
	}
	correlation, answer, err := c.expect()
	if err != nil {
		return Appended{}, err
	}
	defer c.forget(correlation)
	req := request(ctx, stream, expected, list)
	req.CorrelationId = wireID(correlation, 0)
	if err := c.send(req); err != nil {
		return Appended{}, err
	}
	select {
	case got := <-answer:
		if got.err != nil {
			return Appended{}, got.err
		}
		return appended(got.resp)
	case <-ctx.Done():
		return Appended{}, ctx.Err()
	}
}

// shared is the present call. It opens one when there is none, or when the last one has ended.
func (a *appends) shared() (*sharedCall, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.call != nil && a.call.fault() == nil {
		return a.call, nil
	}
	ctx, end := context.WithCancel(metadata.NewOutgoingContext(context.Background(), a.header))
	stream, err := streams.NewStreamsClient(a.conn).BatchAppend(ctx)
	if err != nil {
		end()
		return nil, err
	}
	a.call = &sharedCall{stream: stream, end: end, waiting: map[int64]chan<- answered{}}
	go a.call.receive()
	return a.call, nil
}

// receive hands answers to those who wait for them until the call ends. Then it fails all who wait.
func (c *sharedCall) receive() {
	defer c.end()
	for {
		resp, err := c.stream.Recv()
		if err != nil {
			c.fail(err)
			return
		}
		if to := c.forget(resp.GetCorrelationId().GetStructured().GetMostSignificantBits()); to != nil {
			to <- answered{resp: resp}
		}
	}
}

// fault is why the call has ended, nil as long as it has not.
func (c *sharedCall) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// fail ends the call for everybody who waits, and for those who come later.
func (c *sharedCall) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
	for _, to := range c.waiting {
		to <- answered{err: err}
	}
	clear(c.waiting)
}

// expect begins to wait for an answer.
func (c *sharedCall) expect() (correlation int64, answer <-chan answered, err error) {
	to := make(chan answered, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return 0, nil, c.failed
	}
	c.last++
	c.waiting[c.last] = to
	return c.last, to, nil
}

// forget ends the wait for an answer, and gives who waited; nil = nobody waits any more.
func (c *sharedCall) forget(correlation int64) chan<- answered {
	c.mu.Lock()
	defer c.mu.Unlock()
	to := c.waiting[correlation]
	delete(c.waiting, correlation)
	return to
}

// send sends a request. A stream that has ended says so by io.EOF; its own error comes to all who wait.
func (c *sharedCall) send(req *streams.BatchAppendReq) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.stream.Send(req); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// request makes the request of an append, without its correlation id. The node drops the append when ctx has ended
// before the append was committed.
func request(ctx context.Context, stream string, expected Expected, list []catalog.Encoded) *streams.BatchAppendReq {
	left := appendPatience
	if until, ok := ctx.Deadline(); ok {
		left = min(left, until.Sub(clock.System().Now())) // contexts have the machine's time
	}
	o := &streams.BatchAppendReq_Options{
		StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(stream)},
		DeadlineOption:   &streams.BatchAppendReq_Options_Deadline{Deadline: durationpb.New(left)},
	}
	if expected < 0 {
		o.ExpectedStreamPosition = &streams.BatchAppendReq_Options_NoStream{NoStream: &emptypb.Empty{}}
	} else {
		o.ExpectedStreamPosition = &streams.BatchAppendReq_Options_StreamPosition{StreamPosition: uint64(expected)}
	}
	messages := make([]*streams.BatchAppendReq_ProposedMessage, len(list))
	for i, e := range list {
		messages[i] = &streams.BatchAppendReq_ProposedMessage{
			Id: wireID(esdb.UUIDAsInt64(e.ID.UUID())), Data: e.Data, CustomMetadata: e.Metadata,
			Metadata: map[string]string{"type": e.Type, "content-type": "application/json"},
		}
	}
	return &streams.BatchAppendReq{Options: o, ProposedMessages: messages, IsFinal: true}
}

// appended reads an answer. Errors of the node are statuses, which translate knows.
func appended(resp *streams.BatchAppendResp) (Appended, error) {
	if done := resp.GetSuccess(); done != nil {
		return Appended{Revision: done.GetCurrentRevision(), Position: done.GetPosition().GetCommitPosition()}, nil
	}
	failed := resp.GetError()
	for _, d := range failed.GetDetails() {
		var wrong shared.WrongExpectedVersion
		var deleted shared.StreamDeleted
		switch {
		case d.MessageIs(&wrong) && d.UnmarshalTo(&wrong) == nil:
			actual := At(wrong.GetCurrentStreamRevision())
			if wrong.GetCurrentNoStream() != nil {
				actual = NoStream
			}
			return Appended{}, &WrongRevisionError{Actual: actual}
		case d.MessageIs(&deleted):
			return Appended{}, fmt.Errorf("%w: %s", ErrStreamDeleted, failed.GetMessage())
		}
	}
	if failed == nil {
		return Appended{}, errors.New("the event store's answer to an append has no result")
	}
	return Appended{}, status.FromProto(failed).Err()
}

// wireID is an id of two halves in the form of the protocol that the client uses.
func wireID(most, least int64) *shared.UUID {
	return &shared.UUID{Value: &shared.UUID_Structured_{
		Structured: &shared.UUID_Structured{MostSignificantBits: most, LeastSignificantBits: least},
	}}
}
