package eventstore

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// server is an event store whose BatchAppend a test writes.
type server struct {
	streams.UnimplementedStreamsServer
	batch  func(streams.Streams_BatchAppendServer) error
	append func(streams.Streams_AppendServer) error
}

// BatchAppend answers with batch.
func (s *server) BatchAppend(call streams.Streams_BatchAppendServer) error { return s.batch(call) }

// Append answers with append; nil refuses.
func (s *server) Append(call streams.Streams_AppendServer) error {
	if s.append == nil {
		return status.Error(codes.Unimplemented, "not here")
	}
	return s.append(call)
}

// open starts the server and opens a store on it.
func (s *server) open(t testing.TB) *Store {
	return s.openAt(t, "esdb://%s?tls=false", insecure.NewCredentials())
}

// openAt is open with another address, which has a place for the listener's, and with the server's certificate.
func (s *server) openAt(t testing.TB, url string, guard credentials.TransportCredentials) *Store {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pings := keepalive.EnforcementPolicy{PermitWithoutStream: true}
	g := grpc.NewServer(grpc.Creds(guard), grpc.KeepaliveEnforcementPolicy(pings))
	streams.RegisterStreamsServer(g, s)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	store, err := Open(t.Context(), Config{
		URL: fmt.Sprintf(url, l.Addr()), Codec: catalog.New(catalog.NewMemoryKeys()),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// one is an append of one event.
func one() []New {
	return []New{{
		Event: events.OrganizationSuspended{OrgID: id.New[id.Organization]()},
		Meta:  events.Metadata{EventID: id.New[id.Event](), At: time.Now()},
	}}
}

// TestAppends_AreSharedAtTheNodeOfProduction: there the program's own node has a certificate and a password
// (cmd/lastmile/node_guard.go). The server takes no append in a call of its own.
func TestAppends_AreSharedAtTheNodeOfProduction(t *testing.T) {
	t.Parallel()
	pair, file := certificate(t)
	s := &server{batch: func(call streams.Streams_BatchAppendServer) error {
		md, _ := metadata.FromIncomingContext(call.Context())
		if got := md.Get("authorization"); !slices.Equal(got, []string{"Basic bGFzdG1pbGU6c2VjcmV0"}) {
			return status.Errorf(codes.Unauthenticated, "credentials are %q", got)
		}
		return accept(call, &atomic.Int32{})
	}}
	store := s.openAt(t, "esdb://lastmile:secret@%s?tls=true&tlsCaFile="+file,
		credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}))
	if _, err := store.Append(t.Context(), "s-1", NoStream, one()); err != nil {
		t.Error(err)
	}
}

// certificate makes a certificate for loopback that signs itself, and a file with it.
func certificate(t *testing.T) (pair tls.Certificate, file string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "node.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, file
}

// accept answers all appends of a call as written, and counts them.
func accept(call streams.Streams_BatchAppendServer, got *atomic.Int32) error {
	return acceptAfter(call, func(context.Context) error {
		got.Add(1)
		return nil
	})
}

// acceptAfter answers each append of a call as written, after something was done.
func acceptAfter(call streams.Streams_BatchAppendServer, do func(ctx context.Context) error) error {
	for {
		req, err := call.Recv()
		if err == nil {
			err = do(call.Context())
		}
		if err != nil {
			return err
		}
		err = call.Send(&streams.BatchAppendResp{
			CorrelationId: req.GetCorrelationId(),
			Result:        &streams.BatchAppendResp_Success_{Success: &streams.BatchAppendResp_Success{}},
		})
		if err != nil {
			return err
		}
	}
}

// TestAppends_TheClientAppendsWhereTheServerTakesNoSharedCall: an older server, or one that is not the leader.
func TestAppends_TheClientAppendsWhereTheServerTakesNoSharedCall(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unimplemented, codes.NotFound} {
		s := &server{
			batch: func(streams.Streams_BatchAppendServer) error { return status.Error(code, "not here") },
			append: func(call streams.Streams_AppendServer) error {
				for {
					if _, err := call.Recv(); err != nil {
						break
					}
				}
				return call.SendAndClose(&streams.AppendResp{Result: &streams.AppendResp_Success_{
					Success: &streams.AppendResp_Success{
						CurrentRevisionOption: &streams.AppendResp_Success_CurrentRevision{CurrentRevision: 7},
					},
				}})
			},
		}
		store, list := s.open(t), one()
		for try := 0; ; try++ {
			done, err := store.Append(t.Context(), "s-1", NoStream, list)
			if err == nil && done.Revision == 7 {
				break
			}
			if try == 20 || !errors.Is(err, ErrUnavailable) {
				t.Fatalf("%v: %+v, %v", code, done, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// TestAppends_AServerThatIsBusyHasNotWritten: EventStoreDB answers an append that it did not handle (not ready, too
// busy, no leader) with an error whose status has a message and no code
// (oss-v24.6.0 Services/Transport/Grpc/Streams.BatchAppend.cs, ClientMessage.NotHandled).
func TestAppends_AServerThatIsBusyHasNotWritten(t *testing.T) {
	t.Parallel()
	for _, result := range []*streams.BatchAppendResp{
		{Result: &streams.BatchAppendResp_Error{Error: &rpcstatus.Status{Message: "Server Is Busy"}}},
		{}, // nothing at all
	} {
		s := &server{batch: func(call streams.Streams_BatchAppendServer) error {
			for {
				req, err := call.Recv()
				if err != nil {
					return err
				}
				_ = call.Send(&streams.BatchAppendResp{
					CorrelationId: req.GetCorrelationId(), Result: result.GetResult(),
				})
			}
		}}
		done, err := s.open(t).Append(t.Context(), "s-1", NoStream, one())
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v: the append counts as %+v, %v", result, done, err)
		}
	}
}

// TestAppends_AnAppendThatCannotBeWrittenNowCostsNobodyTheConnection: the node answers so while its database is away.
func TestAppends_AnAppendThatCannotBeWrittenNowCostsNobodyTheConnection(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := &server{batch: func(call streams.Streams_BatchAppendServer) error {
		calls.Add(1)
		for {
			req, err := call.Recv()
			if err != nil {
				return err
			}
			_ = call.Send(&streams.BatchAppendResp{
				CorrelationId: req.GetCorrelationId(), Result: &streams.BatchAppendResp_Error{
					Error: &rpcstatus.Status{Code: int32(codes.Unavailable), Message: "no database"},
				},
			})
		}
	}}
	store := s.open(t)
	for range 20 {
		if _, err := store.Append(t.Context(), "s-1", NoStream, one()); !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("%d connections for 20 appends", n)
	}
}

// TestAppends_TheEndOfTheCallIsNoRefusal: appends that were sent may have been written, whatever ends the call.
// EventStoreDB says NotFound at a change of the leader, and Canceled or Unknown when it stops.
func TestAppends_TheEndOfTheCallIsNoRefusal(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{
		codes.OK, codes.Unavailable, codes.Canceled, codes.Unknown, codes.NotFound, codes.Internal,
		codes.ResourceExhausted, codes.FailedPrecondition,
	} {
		s := &server{batch: func(call streams.Streams_BatchAppendServer) error {
			if _, err := call.Recv(); err != nil { // and writes it
				return err
			}
			return status.Error(code, "over")
		}}
		if _, err := s.open(t).Append(t.Context(), "s-1", NoStream, one()); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v: an append that may be written counts as refused: %v", code, err)
		}
	}
}

// TestAppends_HaveThePlainContentType: older releases of EventStoreDB take no other.
func TestAppends_HaveThePlainContentType(t *testing.T) {
	t.Parallel()
	var got atomic.Int32
	var kind atomic.Value
	s := &server{batch: func(call streams.Streams_BatchAppendServer) error {
		head, _ := metadata.FromIncomingContext(call.Context())
		kind.Store(strings.Join(head.Get("content-type"), ", "))
		return accept(call, &got)
	}}
	if _, err := s.open(t).Append(t.Context(), "s-1", NoStream, one()); err != nil {
		t.Fatal(err)
	}
	if kind.Load() != "application/grpc" {
		t.Errorf("content type %q", kind.Load())
	}
}

// TestAppends_WhoseContextHasEndedAreNotSent: the caller was told so.
func TestAppends_WhoseContextHasEndedAreNotSent(t *testing.T) {
	t.Parallel()
	var got atomic.Int32
	s := &server{batch: func(call streams.Streams_BatchAppendServer) error { return accept(call, &got) }}
	store := s.open(t)
	if _, err := store.Append(t.Context(), "s-1", NoStream, one()); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		_, _ = store.Append(gone, "s-1", NoStream, one())
	}
	time.Sleep(200 * time.Millisecond)
	if n := got.Load() - 1; n > 0 {
		t.Errorf("%d of 100 appends were sent after their callers had gone", n)
	}
}

// TestAppends_AStallHoldsNobodyAndNothing: a server that answers pings but reads no appends. Callers leave in time;
// what they asked for must leave no goroutine behind, and must not be sent when the server reads again.
func TestAppends_AStallHoldsNobodyAndNothing(t *testing.T) {
	var got atomic.Int32
	resume, once := make(chan struct{}), sync.Once{}
	defer once.Do(func() { close(resume) })
	s := &server{batch: func(call streams.Streams_BatchAppendServer) error {
		select {
		case <-resume:
		case <-call.Context().Done():
			return nil
		}
		for {
			if _, err := call.Recv(); err != nil {
				return err
			}
			got.Add(1)
		}
	}}
	store := s.open(t)
	large := func() []New {
		list := one()
		list[0].Meta.Reason = strings.Repeat("x", 10<<10)
		return list
	}
	_ = store.Ping(t.Context()) // opens the connection
	before := runtime.NumGoroutine()
	var group sync.WaitGroup
	for range 300 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, _ = store.Append(ctx, "s-1", NoStream, large())
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("a caller with 100 ms was held for %v", took)
			}
		})
	}
	group.Wait()
	time.Sleep(time.Second)
	if left := runtime.NumGoroutine() - before; left > 50 {
		t.Errorf("%d goroutines are left a second after the last caller has gone", left)
	}
	sent := got.Load()
	once.Do(func() { close(resume) })
	time.Sleep(time.Second)
	if n := got.Load() - sent; n > 20 { // what was on its way already
		t.Errorf("%d appends were sent more than a second after their callers had gone", n)
	}
}

// OpenMemory opens a store whose server takes every append and keeps none.
func OpenMemory(t testing.TB) *Store {
	t.Helper()
	return OpenDoing(t, func(context.Context) error { return nil })
}

// OpenDoing opens a store whose server does something for each append, one after another, and knows nothing of it.
func OpenDoing(t testing.TB, do func(ctx context.Context) error) *Store {
	t.Helper()
	s := &server{batch: func(call streams.Streams_BatchAppendServer) error { return acceptAfter(call, do) }}
	return s.open(t)
}
