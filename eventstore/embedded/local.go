package embedded

import (
	"context"
	"io"
	"sync"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Bounds of a local call: messages that one side has sent and the other has not taken. Further ones wait.
const (
	localRequests = 16
	localAnswers  = 64
)

// localChannel is the channel of Node.Local.
type localChannel struct {
	service   *streamsService
	intercept grpc.StreamServerInterceptor

	mu      sync.Mutex
	over    bool
	running sync.WaitGroup
	all     context.Context //nolint:containedctx // of all calls
	cut     context.CancelFunc
}

// Local is a channel to the node for clients in its own program: messages go from goroutine to goroutine, without a
// network, HTTP/2 and TLS (ADR 0044). It takes BatchAppend calls; everything else is Unimplemented. A call needs the
// same credentials as one from elsewhere, shares the node's memory with those, and ends with the node. It is nil when
// the node stops, so that a client looks for another node at its address. Safe for concurrent use.
func (n *Node) Local() grpc.ClientConnInterface {
	select {
	case <-n.stopping:
		return nil
	default:
		return n.local
	}
}

// newLocal leads to a node, whose calls all go through intercept.
func newLocal(n *Node, intercept grpc.StreamServerInterceptor) *localChannel {
	l := &localChannel{service: &streamsService{node: n}, intercept: intercept}
	l.all, l.cut = context.WithCancel(context.Background())
	return l
}

// errNotLocal answers calls that have to take the way over the network.
var errNotLocal = status.Error(codes.Unimplemented, "within its own program, a node takes appends in batches only")

// Invoke implements grpc.ClientConnInterface. Fails: Unimplemented.
func (*localChannel) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return errNotLocal
}

// NewStream implements grpc.ClientConnInterface: it begins a BatchAppend call, which lasts until ctx or the node ends.
// It has no options. Fails: Unimplemented, and Unavailable when the node stops.
func (l *localChannel) NewStream(
	ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if method != streams.Streams_BatchAppend_FullMethodName {
		return nil, errNotLocal
	}
	if !l.begin() {
		return nil, errStopping
	}
	c := &localCall{requests: make(chan mem.BufferSlice, localRequests), answers: make(chan []byte, localAnswers)}
	ctx, end := context.WithCancelCause(ctx)
	account := &account{disconnect: func(reason string) { end(unavailable(reason)) }}
	sent, _ := metadata.FromOutgoingContext(ctx)
	c.ctx = metadata.NewIncomingContext(peer.NewContext(ctx, &peer.Peer{AuthInfo: watchedInfo{account: account}}), sent)
	forget := context.AfterFunc(l.all, func() { end(errStopping) })
	go func() {
		defer l.running.Done()
		err := l.intercept(l.service, localServer{c}, &grpc.StreamServerInfo{
			FullMethod: method, IsClientStream: true, IsServerStream: true,
		}, func(srv any, ss grpc.ServerStream) error {
			return srv.(*streamsService).BatchAppend(&grpc.GenericServerStream[
				streams.BatchAppendReq, streams.BatchAppendResp]{ServerStream: ss})
		})
		if cause := context.Cause(ctx); status.Code(cause) == codes.Unavailable {
			err = cause
		}
		c.end(err)
		end(nil)
		forget()
	}()
	return localClient{c}, nil
}

// begin counts a call; false when no more may begin.
func (l *localChannel) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.running.Add(1)
	}
	return !l.over
}

// stop lets no more calls begin, and waits until those that run have ended by themselves or were cut off.
func (l *localChannel) stop() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.running.Wait()
}

// localCall is one call within the program.
type localCall struct {
	ctx      context.Context //nolint:containedctx // of the server; it ends with that of the client
	requests chan mem.BufferSlice
	answers  chan []byte // closed at the end
	err      error       // how it has ended; io.EOF = well
}

// end ends the call for the client, who has all answers before.
func (c *localCall) end(err error) {
	c.err = io.EOF
	if err != nil {
		c.err = status.Convert(err).Err()
	}
	close(c.answers)
}

// localServer is the side of the node.
type localServer struct{ *localCall }

// RecvMsg takes a message as the server does that listens. It fails when the call has ended, and with io.EOF after the
// last message.
func (s localServer) RecvMsg(into any) error {
	select {
	case data, more := <-s.requests:
		if !more {
			return io.EOF
		}
		return serverCodec.Unmarshal(data, into)
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

// SendMsg hands an answer over, and may wait until the client has taken one before.
func (s localServer) SendMsg(message any) error {
	data, err := serverCodec.Marshal(message)
	if err != nil {
		return err
	}
	octets := data.Materialize()
	data.Free()
	select {
	case s.answers <- octets:
		return nil
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

// Context is that of the call.
func (s localServer) Context() context.Context { return s.ctx }

// SetHeader does nothing: a status alone tells how the call ends.
func (localServer) SetHeader(metadata.MD) error { return nil }

// SendHeader does nothing.
func (localServer) SendHeader(metadata.MD) error { return nil }

// SetTrailer does nothing.
func (localServer) SetTrailer(metadata.MD) {}

// localClient is the side of the client.
type localClient struct{ *localCall }

// localCodec is that of clients, which eventstore/hotcodec registers.
var localCodec = encoding.GetCodecV2(proto.Name)

// SendMsg hands a message over, and may wait until the node has taken one before. It fails with io.EOF when the call
// has ended; RecvMsg tells how.
func (c localClient) SendMsg(message any) error {
	data, err := localCodec.Marshal(message)
	if err != nil {
		return err
	}
	if data.Len() > maxMessageBytes {
		return status.Error(codes.ResourceExhausted, "the message is too large")
	}
	select {
	case c.requests <- data:
		return nil
	case <-c.ctx.Done():
		return io.EOF
	}
}

// RecvMsg waits for an answer, or for the end of the call at the node.
func (c localClient) RecvMsg(into any) error {
	octets, more := <-c.answers
	if !more {
		return c.err
	}
	return localCodec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(octets)}, into)
}

// CloseSend says that no message comes any more. It is called once at most, as SendMsg is by one goroutine at a time.
func (c localClient) CloseSend() error {
	close(c.requests)
	return nil
}

// Context is that of the call.
func (c localClient) Context() context.Context { return c.ctx }

// Header gives nothing.
func (localClient) Header() (metadata.MD, error) { return nil, nil }

// Trailer gives nothing.
func (localClient) Trailer() metadata.MD { return nil }
