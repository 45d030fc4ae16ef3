package embedded_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// rawClient is a connection by frames, to a node at some address.
type rawClient struct {
	*http2.Framer
	conn net.Conn
	host string
}

// dialRaw makes a connection by frames, with settings of the client.
func dialRaw(t *testing.T, connection string, settings ...http2.Setting) rawClient {
	t.Helper()
	parsed, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", parsed.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := rawClient{http2.NewFramer(conn, conn), conn, parsed.Host}
	if _, err = conn.Write([]byte(http2.ClientPreface)); err == nil {
		err = c.WriteSettings(settings...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call begins a call.
func (c rawClient) call(stream uint32, headers []byte) error {
	return c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: headers, EndHeaders: true})
}

// write sends bytes of a message in frames of these lengths, over and over.
func (c rawClient) write(stream uint32, b []byte, frames ...int) error {
	for i := 0; len(b) > 0; i++ {
		n := min(frames[i%len(frames)], len(b))
		if err := c.WriteData(stream, false, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// served checks that another client is.
func served(t *testing.T, connection string) {
	t.Helper()
	client := contract.Connect(t, connection)
	mustAppend(t, client, "served", esdb.Any{}, oneEvent())
	if n := countEvents(t, client, "served"); n != 1 {
		t.Errorf("%d events are read", n)
	}
}

// checkPeak checks the memory that a node has taken.
func checkPeak(t *testing.T, node *child) {
	t.Helper()
	if peak := peakBytes(t, node.command.Process.Pid); peak > mostBytes && !raceDetected() {
		t.Errorf("the node took %d MiB", peak>>20)
	} else {
		t.Logf("the node took %d MiB", peak>>20)
	}
}

// TestMemory_LargeMessagesInSmallFramesLeaveRoom: a client that shows no credentials begins messages of a call that
// needs none, and sends all but their ends, in frames that are too small to be counted where they are kept.
func TestMemory_LargeMessagesInSmallFramesLeaveRoom(t *testing.T) {
	t.Parallel()
	const calls, length = 32, 17_000_000
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	c := dialRaw(t, node.url)
	begins := binary.BigEndian.AppendUint32([]byte{0}, length)
	for stream := uint32(1); stream < 2*calls; stream += 2 {
		err := c.call(stream, callHeaders(c.host, "/event_store.client.gossip.Gossip/Read"))
		if err == nil {
			err = c.WriteData(stream, false, begins)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	body := make([]byte, length-1)
	taken := 0
	for taken < calls {
		f, err := c.ReadFrame()
		if err != nil {
			break
		}
		if f, ok := f.(*http2.WindowUpdateFrame); ok && f.StreamID > 0 && f.Increment == length {
			if c.write(f.StreamID, body, 1000) != nil {
				break
			}
			taken++
		}
	}
	if taken > 0 {
		t.Errorf("%d messages are taken", taken)
	}
	served(t, node.url)
	checkPeak(t, node)
}

// TestNode_ALargeAppendWhoseWindowsEndInSmallFramesIsWritten with all that it has.
func TestNode_ALargeAppendWhoseWindowsEndInSmallFramesIsWritten(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	c := dialRaw(t, n.URL())
	err := c.call(1, callHeaders(c.host, "/event_store.client.streams.Streams/Append"))
	var begun, rest []byte
	for _, m := range []proto.Message{appendOptions("large"), proposedBytes(1<<20-1000, 9<<20)} {
		octets, failed := proto.Marshal(m)
		if failed != nil {
			t.Fatal(failed)
		}
		rest = append(append(rest, binary.BigEndian.AppendUint32([]byte{0}, uint32(len(octets)))...), octets...)
	}
	begun, rest = rest[:60_000], rest[60_000:]
	frames := []int{16_384, 16_384, 16_384, 15_000, 1_000, 384}
	if err == nil {
		err = c.write(1, begun, frames...)
	}
	decoder := hpack.NewDecoder(4096, nil)
	for err == nil {
		var f http2.Frame
		if f, err = c.ReadFrame(); err != nil {
			break
		}
		switch f := f.(type) {
		case *http2.WindowUpdateFrame:
			if f.StreamID > 0 && f.Increment > 1<<20 {
				if err = c.write(1, rest, frames...); err == nil {
					err = c.WriteData(1, true, nil)
				}
			}
		case *http2.HeadersFrame:
			fields, failed := decoder.DecodeFull(f.HeaderBlockFragment())
			if err = failed; f.StreamEnded() && !hasField(fields, "grpc-status", "0") {
				t.Fatalf("the answer is %v", fields)
			}
			if f.StreamEnded() {
				if n := countEvents(t, contract.Connect(t, n.URL()), "large"); n != 1 {
					t.Errorf("%d events are written", n)
				}
				return
			}
		}
	}
	t.Fatal(err)
}

// answers tells of each call that is answered with a status, until the connection ends.
func (c rawClient) answers(status string, each chan<- struct{}) {
	decoder := hpack.NewDecoder(4096, nil)
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return
		}
		if f, ok := f.(*http2.HeadersFrame); ok {
			fields, _ := decoder.DecodeFull(f.HeaderBlockFragment())
			if hasField(fields, "grpc-status", status) {
				each <- struct{}{}
			}
		}
	}
}

// hasField reports whether headers have a field of this value.
func hasField(fields []hpack.HeaderField, name, value string) bool {
	for _, f := range fields {
		if f.Name == name && f.Value == value {
			return true
		}
	}
	return false
}

// TestMemory_CallsWithoutTheirMessageAreCounted: calls of one message wait for it before anything else, so that they
// are counted before that. Those beyond the bound are refused, and another client is served. There are too few for a
// connection to be closed, should the refusals come late.
func TestMemory_CallsWithoutTheirMessageAreCounted(t *testing.T) {
	t.Parallel()
	const clients, calls = 15, 512
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	var group sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // without a bound no call is refused
	defer cancel()
	refused := make(chan struct{}, clients*calls)
	for range clients {
		c := dialRaw(t, node.url)
		headers := largeHeaders(c.host, "/event_store.client.gossip.Gossip/Read")
		group.Go(func() {
			for stream := uint32(1); stream < 2*calls; stream += 2 {
				if err := c.call(stream, headers); err != nil {
					t.Errorf("the client is dismissed: %v", err)
					cancel()
					return
				}
			}
		})
		go c.answers("10", refused)
	}
	group.Wait()
	for range clients*calls - 2048 - clients*16 {
		select {
		case <-refused:
		case <-ctx.Done():
			t.Fatal("too few calls are refused")
		}
	}
	served(t, node.url)
	checkPeak(t, node)
}

// largeHeaders begin a call with almost as many headers as it may have.
func largeHeaders(host, method string) []byte {
	var headers bytes.Buffer
	encoder := hpack.NewEncoder(&headers)
	_ = encoder.WriteField(hpack.HeaderField{Name: "x-large", Value: strings.Repeat("~", 3_500), Sensitive: true})
	return append(callHeaders(host, method), headers.Bytes()...)
}

// TestMemory_CallsWithoutCredentialsTakeNobodysPlace: they are refused before they count, and the rest of a few of them
// is read, so that a client that has credentials makes as many calls as ever.
func TestMemory_CallsWithoutCredentialsTakeNobodysPlace(t *testing.T) {
	t.Parallel()
	const clients, calls, drained, subscriptions = 15, 512, 256, 40
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0", guarded)
	t.Cleanup(func() { node.kill(t) })
	refused := make(chan struct{}, clients*calls)
	for range clients {
		c := dialRaw(t, node.url)
		headers := largeHeaders(c.host, "/event_store.client.streams.Streams/Append")
		go c.answers("16", refused)
		for stream := uint32(1); stream < 2*calls; stream += 2 {
			if err := c.call(stream, headers); err != nil {
				t.Fatal(err)
			}
		}
	}
	late := time.After(time.Minute)
	for range clients*calls - drained {
		select {
		case <-refused:
		case <-late:
			t.Fatal("too few calls are refused")
		}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization",
		"Basic "+base64.StdEncoding.EncodeToString([]byte("admin:secret")))
	client := bare(t, node.url)
	for range subscriptions {
		call, err := client.Read(ctx, readOf("", true))
		if err == nil {
			_, err = call.Recv()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	checkPeak(t, node)
}

// TestMemory_SmallFramesThatAreNotReadTakeLittle: calls that read nothing more are sent empty messages in frames of one
// byte, as many as each may have.
func TestMemory_SmallFramesThatAreNotReadTakeLittle(t *testing.T) {
	t.Parallel()
	const clients, calls, frames, most = 8, 128, 4000, 2
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	body, err := proto.Marshal(readOf("", true))
	if err != nil {
		t.Fatal(err)
	}
	body = append([]byte{0, 0, 0, 0, byte(len(body))}, body...)
	ended := make(chan struct{}, clients)
	for range clients {
		c := dialRaw(t, node.url)
		go func() {
			c.answers("", nil)
			ended <- struct{}{}
		}()
		for stream := uint32(1); stream < 2*calls; stream += 2 {
			var call bytes.Buffer
			to := rawClient{Framer: http2.NewFramer(&call, nil)}
			_ = to.call(stream, callHeaders(c.host, "/event_store.client.streams.Streams/Read"))
			_ = to.WriteData(stream, false, body)
			_ = to.write(stream, make([]byte, frames), 1)
			if _, err := c.conn.Write(call.Bytes()); err != nil {
				break // the client is dismissed
			}
		}
	}
	for range clients - most {
		select {
		case <-ended:
		case <-time.After(waittest.Limit):
			t.Fatal("too few clients are dismissed")
		}
	}
	served(t, node.url)
	checkPeak(t, node)
}

// TestNode_ACallWithoutAnOrderIsSeen: after malformed headers with the highest number the transport takes calls with
// any number, none of which would be counted.
func TestNode_ACallWithoutAnOrderIsSeen(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	c := dialRaw(t, n.URL())
	var malformed bytes.Buffer
	_ = hpack.NewEncoder(&malformed).WriteField(hpack.HeaderField{Name: "X", Value: "y", Sensitive: true})
	headers := callHeaders(c.host, "/event_store.client.streams.Streams/Read")
	err := c.call(1<<31-1, slices.Concat(headers, malformed.Bytes()))
	if err == nil {
		err = c.call(1, headers)
	}
	if err == nil {
		err = c.WriteData(1, true, []byte{0, 0, 0, 0, 0}) // has no options
	}
	for err == nil {
		var f http2.Frame
		if f, err = c.ReadFrame(); err == nil && f.Header().StreamID == 1 {
			t.Fatalf("the call is answered: %v", f)
		}
	}
}

// TestMemory_FramesBesideCallsAreNotKept: a client that reads nothing fills the way to it with refusals, and sends
// frames that widen its windows for ever.
func TestMemory_FramesBesideCallsAreNotKept(t *testing.T) {
	t.Parallel()
	const calls, signals = 1000, 16 << 20
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	c := dialRaw(t, node.url)
	var refused, one bytes.Buffer
	headers := headersOf(c.host, "/x", strings.Repeat("\x80", 3_600)) // four bytes of the refusal each
	to := http2.NewFramer(&refused, nil)
	for stream := uint32(1); stream < 2*calls; stream += 2 {
		_ = to.WriteHeaders(http2.HeadersFrameParam{
			StreamID: stream, BlockFragment: headers, EndHeaders: true, EndStream: true,
		})
	}
	if _, err := c.conn.Write(refused.Bytes()); err != nil {
		t.Fatal(err)
	}
	_ = http2.NewFramer(&one, nil).WriteWindowUpdate(0, 1)
	many := bytes.Repeat(one.Bytes(), 1<<14)
	if err := c.conn.SetWriteDeadline(time.Now().Add(3 * time.Second)); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for ; sent < signals; sent += 1 << 14 {
		if _, err := c.conn.Write(many); err != nil {
			break // the node does not read
		}
	}
	t.Logf("%d frames were taken", sent)
	served(t, node.url)
	checkPeak(t, node)
}

// TestMemory_CallsThatTheirClientEndsAreCounted while the transport keeps their refusals, which have four bytes for
// each of the content type. The compression of headers makes them cheap to send.
func TestMemory_CallsThatTheirClientEndsAreCounted(t *testing.T) {
	t.Parallel()
	const clients, calls = 64, 4000
	node := startChild(t, pgtest.URL(t), pgtest.New(t).Namespace.Schema("eventstore"), "127.0.0.1:0")
	t.Cleanup(func() { node.kill(t) })
	var headers bytes.Buffer
	encoder := hpack.NewEncoder(&headers)
	field := hpack.HeaderField{Name: "content-type", Value: strings.Repeat("\x80", 3_900)}
	var group sync.WaitGroup
	var sent bytes.Buffer
	to := http2.NewFramer(&sent, nil)
	for stream := uint32(1); stream < 2*calls; stream += 2 {
		headers.Reset()
		_ = encoder.WriteField(field)
		_ = to.WriteHeaders(http2.HeadersFrameParam{
			StreamID: stream, BlockFragment: headers.Bytes(), EndHeaders: true, EndStream: true,
		})
		_ = to.WriteRSTStream(stream, http2.ErrCodeCancel)
	}
	for range clients {
		c := dialRaw(t, node.url)
		if err := c.conn.SetWriteDeadline(time.Now().Add(3 * time.Second)); err != nil {
			t.Fatal(err)
		}
		group.Go(func() { _, _ = c.conn.Write(sent.Bytes()) }) // the node does not read all of it
	}
	group.Wait()
	served(t, node.url)
	checkPeak(t, node)
}
