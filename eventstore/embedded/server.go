package embedded

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

// streamsService is the Streams service of the protocol. Each call has a file of its own, rpc_<call>.go.
type streamsService struct {
	streams.UnimplementedStreamsServer
	node *Node
}

// streamWorkers is how many goroutines wait for calls. Appends and reads are short, and few run at the same time.
const streamWorkers = 32

// keepaliveTimeout is how long a client may leave a ping or a packet without an answer.
const keepaliveTimeout = 20 * time.Second

// serverCodec reads and writes the messages of all calls (eventstore/hotcodec).
var serverCodec = intakeCodec{encoding.GetCodecV2(proto.Name)}

// newServer registers the services, whose calls all go through intercept. Services that are not registered answer
// Unimplemented.
func newServer(n *Node, intercept grpc.StreamServerInterceptor) *grpc.Server {
	transport := insecure.NewCredentials()
	if n.config.TLS != nil {
		transport = credentials.NewTLS(n.config.TLS)
	}
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxSendMsgSize(maxMessageBytes),
		// A client waits for a free place before it sends more.
		grpc.MaxConcurrentStreams(connectionCalls),
		// Calls run on goroutines that are there, whose stacks have grown already; more get one of their own.
		grpc.NumStreamWorkers(streamWorkers),
		// Windows are small, because a client may fill those of all its calls before the node looks at any.
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(1 << 20),
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.MaxHeaderListSize(headerListBytes),
		experimental.BufferPool(n.intake),
		grpc.Creds(watched{transport, n.intake}),
		grpc.ForceServerCodecV2(serverCodec),
		// Clients ping every 10 s, also when no call is running; the default policy would drop their connections.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime: 20 * time.Millisecond, PermitWithoutStream: true,
		}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: keepaliveTimeout}),
		grpc.StreamInterceptor(intercept), // there are no other calls: see asStreams
	}
	server := grpc.NewServer(options...)
	server.RegisterService(n.asStreams(streams.Streams_ServiceDesc), &streamsService{node: n})
	server.RegisterService(n.asStreams(gossip.Gossip_ServiceDesc), &gossipService{node: n})
	server.RegisterService(n.asStreams(serverfeatures.ServerFeatures_ServiceDesc), featuresService{})
	return server
}

// interceptor checks the credentials before each call, counts it, and sends the protocol's error trailers after it.
func (n *Node) interceptor() grpc.StreamServerInterceptor {
	g := newGuard(n.config.Username, n.config.Password)
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		leave, err := func() {}, g.check(ss.Context(), info.FullMethod)
		if err == nil {
			leave, err = n.calls.enter(ss.Context())
		}
		if err == nil && !openMethods[info.FullMethod] {
			accountOf(ss.Context()).known.Store(true)
		}
		defer leave()
		if err != nil {
			if info.IsClientStream && !info.IsServerStream {
				n.calls.drain(ss, n.stopping)
			}
			return err
		}
		if !info.IsClientStream {
			ss = &prompt{ServerStream: ss, node: n}
		}
		err = handler(srv, ss)
		return n.outward(err, info.FullMethod, func(r *refusal) { ss.SetTrailer(r.metadata()) })
	}
}

// asStreams lets calls of one message begin as others do: they are counted, and their credentials are looked at, before
// the node waits for the message, which may never come.
func (n *Node) asStreams(service grpc.ServiceDesc) *grpc.ServiceDesc {
	service.Streams = slices.Clone(service.Streams)
	for _, method := range service.Methods {
		service.Streams = append(service.Streams, grpc.StreamDesc{
			StreamName: method.MethodName,
			Handler: func(srv any, ss grpc.ServerStream) error {
				resp, err := method.Handler(srv, ss.Context(), func(m any) error {
					err := ss.RecvMsg(m)
					if errors.Is(err, io.EOF) {
						return status.Error(codes.InvalidArgument, "the call has no message")
					}
					return err
				}, nil)
				if err != nil {
					return err
				}
				return ss.SendMsg(resp)
			},
		})
	}
	service.Methods = nil
	return &service
}

// prompt is a call of one message from its client, which may never come.
type prompt struct {
	grpc.ServerStream

	node *Node
}

// RecvMsg takes the message, unless the node stops before.
func (p *prompt) RecvMsg(m any) error {
	came := make(chan error, 1)
	go func() { came <- p.ServerStream.RecvMsg(m) }()
	select {
	case err := <-came:
		return err
	case <-p.node.stopping: // the call ends, and its goroutine with it
		return errStopping
	}
}

// outward turns an error into the one that the client receives. Faults of the node are logged and hidden.
func (n *Node) outward(err error, method string, trailers func(*refusal)) error {
	var r *refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		trailers(r)
		return r
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fromContext(err)
	}
	if s, ok := status.FromError(err); ok {
		return s.Err()
	}
	n.config.Logger.Error("event store call failed", "method", method, "error", err)
	return status.Error(codes.Internal, "internal error")
}
