package eventstore

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// Bounds of an append over the shared call.
const (
	sharedBytes    = 256 << 10        // a larger append takes a call of its own, so that it delays no other one
	appendPatience = 10 * time.Second // for the answer, as the client has it
	openPatience   = 3 * time.Second  // for the connection on which a call is opened
	sendPatience   = 5 * time.Second  // for the room to send one append; the call is given up after it
	queued         = 64               // appends whose turn comes next
	answerWindow   = 1 << 20          // bytes of answers that the server may send before they are read
)

// appends sends the appends of a session over one BatchAppend call, which stays open: a call for each append costs
// client and node several times as much as the append itself (ADR 0023). It has a connection of its own, because the
// client does not give its away. Safe for concurrent use.
type appends struct {
	conn   *grpc.ClientConn
	local  func() grpc.ClientConnInterface // of Config
	header metadata.MD                     // credentials

	refused atomic.Bool                // the server takes no shared call, or none here: the client appends
	call    atomic.Pointer[sharedCall] // nil before the first append; it may have ended
	opening sync.Mutex                 // one opens a call
	failed  error                      // of the last attempt to do so; guarded by opening
	faults  atomic.Int64               // how many such attempts have failed
}

// sharedCall is one BatchAppend call.
type sharedCall struct {
	stream streams.Streams_BatchAppendClient
	end    context.CancelFunc

	queue chan *unsent    // a stream takes one message at a time
	over  <-chan struct{} // closed when the call has ended

	mu      sync.Mutex
	last    int64                     // correlation id of the newest append; only the first half of it is used
	waiting map[int64]chan<- answered // by correlation id; the channels have room
	failed  error                     // why the call has ended; nil = it has not
}

// unsent is an append that waits for its turn. It is not sent when its caller has left by then, or ctx has ended.
type unsent struct {
	ctx         context.Context //nolint:containedctx // of the caller
	left        atomic.Bool
	correlation int64
	build       func() hotcodec.Frame
}

// answered is the answer to an append; err is that of the call.
type answered struct {
	resp *streams.BatchAppendResp
	err  error
}

// clustered reports whether an address may lead to several nodes, of which the client finds the leader.
func clustered(c *esdb.Configuration) bool { return len(c.GossipSeeds) > 0 || c.DnsDiscover }

// newAppends gives nil where only the client itself may append, because it finds the leader of a cluster. The address
// of a single node is that of the embedded one, or is used like it.
func newAppends(c *esdb.Configuration, local func() grpc.ClientConnInterface) (*appends, error) {
	if c.Address == "" || clustered(c) {
		return nil, nil
	}
	guard, err := transport(c)
	if err != nil {
		return nil, err
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(guard),
		// With windows of its own choice the transport sends no ping for each answer, to find out what they should be.
		grpc.WithInitialWindowSize(answerWindow), grpc.WithInitialConnWindowSize(answerWindow),
	}
	if c.KeepAliveInterval >= 0 {
		opts = append(opts, grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: c.KeepAliveInterval, Timeout: c.KeepAliveTimeout, PermitWithoutStream: true,
		}))
	}
	conn, err := grpc.NewClient(c.Address, opts...)
	if err != nil {
		return nil, fmt.Errorf("event store address: %w", err)
	}
	a := &appends{conn: conn, local: local}
	if c.Username != "" && !c.DisableTLS { // without TLS the client sends no password either
		plain := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
		a.header = metadata.Pairs("authorization", "Basic "+plain)
	}
	return a, nil
}

// transport is the TLS of a connection, with the settings that the client has for its own.
func transport(c *esdb.Configuration) (credentials.TransportCredentials, error) {
	if c.DisableTLS {
		return insecure.NewCredentials(), nil
	}
	//nolint:gosec // the address may say that the certificate is not checked; production refuses it (cmd/lastmile)
	guard := &tls.Config{InsecureSkipVerify: c.SkipCertificateVerification, RootCAs: c.RootCAs}
	if c.UserCertFile != "" && c.UserKeyFile != "" {
		pair, err := tls.LoadX509KeyPair(c.UserCertFile, c.UserKeyFile)
		if err != nil {
			return nil, fmt.Errorf("event store address: user certificate: %w", err)
		}
		guard.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(guard), nil
}

// close ends the call and the connection.
func (a *appends) close() {
	if a == nil {
		return
	}
	if c := a.call.Load(); c != nil {
		c.end()
	}
	_ = a.conn.Close()
}

// takes reports whether an append may go over the shared call.
func (a *appends) takes(list []catalog.Encoded) bool {
	bytes := 0
	for _, e := range list {
		bytes += len(e.Data) + len(e.Metadata)
	}
	return a != nil && bytes <= sharedBytes && !a.refused.Load()
}

// open is the present call; nil when there is none, or when it has ended.
func (a *appends) open() *sharedCall {
	if c := a.call.Load(); c != nil && c.fault() == nil {
		return c
	}
	return nil
}

// append writes encoded events. It fails as the client does: with what translate knows, or with WrongRevisionError.
// What was sent and got no answer is ErrUnavailable, whatever has ended the call: it may have been written. The caller
// waits for the answer, the end of the call or that of ctx, and for nothing else.
func (c *sharedCall) append(
	ctx context.Context, stream string, expected Expected, list []catalog.Encoded,
) (Appended, error) {
	correlation, answer, err := c.expect()
	if err != nil {
		return Appended{}, err
	}
	defer c.forget(correlation)
	until, over := patientUntil(ctx), time.NewTimer(appendPatience) // a context of its own would cost twice as much
	defer over.Stop()
	own := &unsent{ctx: ctx, correlation: correlation, build: func() hotcodec.Frame {
		return request(correlation, left(until), stream, expected, list)
	}}
	defer own.left.Store(true)
	queue := c.queue
	for {
		select {
		case queue <- own:
			queue = nil
		case got := <-answer:
			if got.err != nil { // the call has ended
				return Appended{}, got.err
			}
			return appended(got.resp)
		case <-ctx.Done():
			return Appended{}, ctx.Err()
		case <-over.C:
			return Appended{}, context.DeadlineExceeded
		}
	}
}

// shared is the present call. It opens one when there is none, or when the last one has ended, which may take
// openPatience. Those who wait for an attempt that fails have its failure. caller is the context of the caller.
func (a *appends) shared(caller context.Context) (*sharedCall, error) {
	before := a.faults.Load()
	a.opening.Lock()
	defer a.opening.Unlock()
	if c := a.open(); c != nil {
		return c, nil
	}
	if a.faults.Load() != before {
		return nil, a.failed
	}
	if caller.Err() != nil {
		return nil, caller.Err()
	}
	c, err := a.opened()
	if err != nil {
		a.failed = err
		a.faults.Add(1)
	}
	return c, err
}

// opened opens a call. Call with opening held.
func (a *appends) opened() (*sharedCall, error) {
	ctx, end := context.WithCancel(metadata.NewOutgoingContext(context.Background(), a.header))
	slow := time.AfterFunc(openPatience, end) // the others wait meanwhile
	stream, err := streams.NewStreamsClient(a.channel()).BatchAppend(ctx)
	if err != nil || !slow.Stop() {
		end()
		return nil, unavailable(errors.Join(errors.New("the call for appends was not opened"), err))
	}
	c := &sharedCall{
		stream: stream, end: end, queue: make(chan *unsent, queued), over: ctx.Done(),
		waiting: map[int64]chan<- answered{},
	}
	a.call.Store(c)
	go c.send()
	go func() {
		if refusedCall(c.receive()) {
			a.refused.Store(true)
		}
	}()
	return c, nil
}

// channel leads to the node in this program, where there is one, or else over the network.
func (a *appends) channel() grpc.ClientConnInterface {
	if a.local != nil {
		if c := a.local(); c != nil {
			return c
		}
	}
	return a.conn
}

// refusedCall reports whether a server does not take appends on a shared call: it does not know the call, or it is not
// the leader, to which only the client finds the way.
func refusedCall(err error) bool {
	switch status.Code(err) {
	case codes.Unimplemented, codes.NotFound:
		return true
	}
	return false
}

// receive hands answers to those who wait for them until the call ends. Then it fails all who wait, and gives the
// cause.
func (c *sharedCall) receive() error {
	defer c.end()
	for {
		resp, err := c.stream.Recv()
		if err != nil {
			c.fail(lost(err))
			return err
		}
		if to := c.forget(resp.GetCorrelationId().GetStructured().GetMostSignificantBits()); to != nil {
			to <- answered{resp: resp}
		}
	}
}

// lost is the failure of appends whose call has ended: their outcome is unknown, whatever ended it. A server that does
// not know the call, or the caller, has written nothing.
func lost(err error) error {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied:
		return err
	}
	return unavailable(fmt.Errorf("the call for appends has ended: %w", err))
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
	if c.failed == nil {
		c.failed = err
	}
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

// send sends the appends whose turn it is until the call ends. A call that has no room for a message for sendPatience
// is given up, because all others wait behind it. A stream that has ended says so by io.EOF; its own error comes to all
// who wait.
func (c *sharedCall) send() {
	stalled := time.AfterFunc(sendPatience, func() {
		c.fail(unavailable(errors.New("the event store does not read appends")))
		c.end()
	})
	defer stalled.Stop()
	defer func() {
		if p := recover(); p != nil { // of a message that cannot be written
			c.fail(unavailable(fmt.Errorf("the call for appends: %v", p)))
			c.end()
		}
	}()
	for {
		stalled.Stop()
		select {
		case <-c.over:
			return
		case next := <-c.queue:
			if next.left.Load() || next.ctx.Err() != nil { // nothing is written, as its caller was told
				continue
			}
			stalled.Reset(sendPatience)
			frame := next.build()
			err := c.stream.SendMsg(&frame)
			if err == nil || errors.Is(err, io.EOF) {
				continue
			}
			if to := c.forget(next.correlation); to != nil {
				to <- answered{err: lost(err)}
			}
		}
	}
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
	switch codes.Code(failed.GetCode()) { //nolint:gosec // codes are small
	case codes.OK, codes.Unavailable:
		// EventStoreDB leaves the code out when it could not handle the append: busy, not ready, without a leader. The
		// call stands, so the connection is not lost, and the error must not say so.
		return Appended{}, unavailable(fmt.Errorf("the event store did not append: %q", failed.GetMessage()))
	}
	return Appended{}, status.FromProto(failed).Err()
}
