package embedded_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
)

// BenchmarkReadAllOfMemory compares the events per second of a read of the whole log, through the stock client, with
// what the same client reads from a server that has the node's own answers in memory. Aim 0.9. Both read for one
// turn before, so that the heap has grown. Then it reports the processor time that an event takes in this program, in
// PostgreSQL, and in this program where the answers are in memory (memory_us).
func BenchmarkReadAllOfMemory(b *testing.B) {
	s := newBench(b)
	events := benchtest.Size(b, "READ_EVENTS", 300_000)
	s.fill(b, events)
	limit := &bench{client: contract.Connect(b, "esdb://"+serveMemory(b, s.answers(b), events)+"?tls=false")}
	read, known := func() float64 { return s.readRate(b) }, func() float64 { return limit.readRate(b) }
	benchtest.AsProgram()
	known()
	read()
	for b.Loop() {
		benchtest.Compare(b, "events/s", 0.9, read, known)
		benchtest.ReportProcessors(b, s.pool, read)
		b.ReportMetric(benchtest.Processors(b, s.pool, known).Program, "memory_us")
	}
}

// memoryAnswers is how many different answers are kept; they are repeated.
const memoryAnswers = 10_000

// answers reads the first answers of the node to a read of the whole log, as the node has encoded them.
func (s *bench) answers(b *testing.B) []hotcodec.Frame {
	b.Helper()
	conn, err := grpc.NewClient(s.node.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	call, err := conn.NewStream(b.Context(), &grpc.StreamDesc{ServerStreams: true},
		streams.Streams_Read_FullMethodName, grpc.ForceCodec(asItIs{}))
	if err == nil {
		err = errors.Join(call.SendMsg(readAll()), call.CloseSend())
	}
	var list []hotcodec.Frame
	for err == nil {
		var answer hotcodec.Frame
		if err = call.RecvMsg(&answer); err == nil {
			list = append(list, answer)
		}
	}
	if !errors.Is(err, io.EOF) || len(list) < memoryAnswers {
		b.Fatalf("%d answers, %v", len(list), err)
	}
	return list
}

// readAll asks as the stock client does, for some events.
func readAll() *streams.ReadReq {
	return &streams.ReadReq{Options: &streams.ReadReq_Options{
		StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{
			AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}},
		}},
		CountOption:  &streams.ReadReq_Options_Count{Count: memoryAnswers},
		FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		UuidOption: &streams.ReadReq_Options_UUIDOption{
			Content: &streams.ReadReq_Options_UUIDOption_Structured{Structured: &shared.Empty{}},
		},
	}}
}

// asItIs is a codec that gives answers as they came.
type asItIs struct{}

// Name implements encoding.Codec.
func (asItIs) Name() string { return "proto" }

// Marshal implements encoding.Codec.
func (asItIs) Marshal(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }

// Unmarshal implements encoding.Codec.
func (asItIs) Unmarshal(octets []byte, v any) error {
	*v.(*hotcodec.Frame) = bytes.Clone(octets)
	return nil
}

// memoryServer answers every read with the same answers.
type memoryServer struct {
	streams.UnimplementedStreamsServer

	answers []hotcodec.Frame
	events  int
}

// serveMemory starts a server and returns its address.
func serveMemory(b *testing.B, answers []hotcodec.Frame, events int) string {
	b.Helper()
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer(grpc.WriteBufferSize(64<<10), grpc.NumStreamWorkers(2))
	streams.RegisterStreamsServer(server, &memoryServer{answers: answers, events: events})
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(server.Stop)
	return listener.Addr().String()
}

// Read implements the service.
func (s *memoryServer) Read(req *streams.ReadReq, call streams.Streams_ReadServer) error {
	for n := range min(uint64(s.events), req.GetOptions().GetCount(), math.MaxInt) {
		if err := call.SendMsg(&s.answers[n%uint64(len(s.answers))]); err != nil {
			return err
		}
	}
	return nil
}
