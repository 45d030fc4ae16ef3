package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// testConn is a connection whose client has sent something, and that keeps what it is sent.
type testConn struct {
	net.Conn
	in     bytes.Buffer
	out    chan []byte
	closed chan struct{}
	once   sync.Once
}

// newTestConn has nothing to read.
func newTestConn() *testConn {
	return &testConn{out: make(chan []byte, 1000), closed: make(chan struct{})}
}

// Read gives what the client has sent.
func (c *testConn) Read(b []byte) (int, error) { return c.in.Read(b) }

// Write keeps what the server sends.
func (c *testConn) Write(b []byte) (int, error) {
	c.out <- bytes.Clone(b)
	return len(b), nil
}

// Close tells so.
func (c *testConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// sent gives the bytes that were written since the last look.
func (c *testConn) sent() (all []byte) {
	for {
		select {
		case b := <-c.out:
			all = append(all, b...)
		default:
			return all
		}
	}
}

// http2Frame is a frame.
func http2Frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(b[5:], stream)
	return append(b, payload...)
}

// widening is the frame that lets a client send so many bytes more on a stream.
func widening(stream uint32, by int) []byte {
	return http2Frame(frameWindowUpdate, 0, stream, binary.BigEndian.AppendUint32(nil, uint32(by)))
}

// prefixOf precedes a message of so many bytes.
func prefixOf(length int) []byte { return binary.BigEndian.AppendUint32([]byte{0}, uint32(length)) }

// receive lets the client send bytes, and reads them as a server does.
func receive(t interface{ Fatal(...any) }, c *connection, conn *testConn, size int, b []byte) {
	conn.in.Write(b)
	into := make([]byte, size)
	for conn.in.Len() > 0 {
		if _, err := c.Read(into); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
}

// TestConnection_ALargeMessageWaitsForMemoryBeforeItIsSent: the client of a second one gets its window when the first
// one has arrived.
func TestConnection_ALargeMessageWaitsForMemoryBeforeItIsSent(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	conn := newTestConn()
	c := newConnection(conn, in)
	receive(t, c, conn, 100, make([]byte, prefaceBytes))
	const length = 600_000
	for _, stream := range []uint32{1, 3} {
		receive(t, c, conn, 100, http2Frame(frameHeaders, 0, stream, nil))
		receive(t, c, conn, 100, http2Frame(frameData, 0, stream, append(prefixOf(length), make([]byte, 1000)...)))
		if _, err := c.Write(widening(stream, length)); err != nil {
			t.Fatal(err)
		}
	}
	if got := conn.sent(); !bytes.Equal(got, widening(1, length)) {
		t.Fatalf("%x was sent", got)
	}
	small := append(widening(3, streamWindow), widening(0, 1<<20)...)
	if _, err := c.Write(small); err != nil || !bytes.Equal(conn.sent(), small) {
		t.Error("a small permission or one of the connection waits")
	}
	for left := length - 1000; left > 0; left -= 10_000 {
		receive(t, c, conn, 5000, http2Frame(frameData, 0, 1, make([]byte, min(left, 10_000))))
	}
	select {
	case got := <-conn.out:
		if !bytes.Equal(got, widening(3, length)) {
			t.Errorf("%x was sent", got)
		}
	case <-t.Context().Done():
		t.Fatal("the second client waits for ever")
	}
	if err := c.Close(); err != nil || !in.messages.empty() {
		t.Errorf("a closed connection keeps memory: %v", err)
	}
}

// TestConnection_AClientThatStopsInAMessageIsDismissed when another connection waits for the memory, and hears why.
func TestConnection_AClientThatStopsInAMessageIsDismissed(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	in.messages.patience = 0
	begin := func() (*connection, *testConn) {
		conn := newTestConn()
		c := newConnection(conn, in)
		receive(t, c, conn, 100, append(make([]byte, prefaceBytes), http2Frame(frameHeaders, 0, 1, nil)...))
		receive(t, c, conn, 100, http2Frame(frameData, 0, 1, prefixOf(700_000)))
		if _, err := c.Write(widening(1, 700_000)); err != nil {
			t.Fatal(err)
		}
		return c, conn
	}
	_, stopped := begin()
	_, other := begin()
	<-stopped.closed
	told := stopped.sent()[headerBytes+4:]
	if told[3] != frameGoAway || !bytes.Contains(told, []byte("other clients wait for the memory of large messages")) {
		t.Errorf("the client is told %q", told)
	}
	if got := <-other.out; !bytes.Equal(got, widening(1, 700_000)) {
		t.Errorf("the other client gets %x", got)
	}
}

// TestConnection_PassesOnWhatItIsGiven however it is cut, in both directions, and knows what is left of each message.
func TestConnection_PassesOnWhatItIsGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := newIntake(1 << 30)
		conn := newTestConn()
		conn.out = make(chan []byte, 100_000)
		c := newConnection(conn, in)
		given := make([]byte, prefaceBytes)
		for stream := uint32(1); stream < 7; stream += 2 {
			given = append(given, http2Frame(frameHeaders, 0, stream, []byte("headers"))...)
		}
		left := map[uint32]int{}
		for range rapid.IntRange(0, 20).Draw(t, "frames") {
			stream := uint32(1 + 2*rapid.IntRange(0, 2).Draw(t, "stream"))
			var payload []byte
			if left[stream] == 0 {
				left[stream] = rapid.IntRange(0, 300).Draw(t, "length")
				payload = prefixOf(left[stream])
			}
			n := rapid.IntRange(0, left[stream]).Draw(t, "sent")
			left[stream] -= n
			payload = append(payload, make([]byte, n)...)
			flags := byte(0)
			if padding := rapid.IntRange(0, 3).Draw(t, "padding"); padding > 0 {
				flags = flagPadded
				payload = append(append([]byte{byte(padding)}, payload...), make([]byte, padding)...)
			}
			given = append(given, http2Frame(frameData, flags, stream, payload)...)
			given = append(given, http2Frame(0x6, 0, 0, make([]byte, 8))...)
		}
		receive(t, c, conn, rapid.IntRange(1, 50).Draw(t, "reads"), given)
		for stream := range left {
			if got := c.streams[stream].left; got != left[stream] {
				t.Fatalf("%d bytes are left on stream %d, not %d", got, stream, left[stream])
			}
		}
		written := given[prefaceBytes:]
		written = append(append(written, widening(5, 1<<20)...), http2Frame(frameReset, 0, 3, make([]byte, 4))...)
		for rest := written; len(rest) > 0; {
			n := rapid.IntRange(1, min(50, len(rest))).Draw(t, "write")
			if got, err := c.Write(rest[:n]); err != nil || got != n {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		if got := conn.sent(); !bytes.Equal(got, written) {
			t.Fatalf("%d bytes are sent as %d others", len(written), len(got))
		}
		if c.streams[3] != nil {
			t.Fatal("a stream that has ended is remembered")
		}
	})
}

// TestIntake_WhoSendsMostThatIsNotTakenIsDismissed as soon as there is more than the node wants to have.
func TestIntake_WhoSendsMostThatIsNotTakenIsDismissed(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	var conns [2]*testConn
	for i := range conns {
		conns[i] = newTestConn()
		c := newConnection(conns[i], in)
		receive(t, c, conns[i], 100, make([]byte, prefaceBytes))
		for stream := range uint32(i + 1) {
			receive(t, c, conns[i], 100, http2Frame(frameHeaders, 0, 2*stream+1, nil))
		}
	}
	var taken []*[]byte
	for in.arrived.Load() <= arrivedBytes {
		taken = append(taken, in.Get(1<<14))
	}
	<-conns[1].closed
	for _, b := range taken {
		in.Put(b)
	}
	if isDone(conns[0].closed) || in.arrived.Load() != 0 {
		t.Errorf("another one is dismissed, or %d bytes are counted for ever", in.arrived.Load())
	}
}

// TestIntake_WhoStopsIsDismissedBeforeWhomTheNodeKeepsWaiting, where both have as many requests that have not come.
func TestIntake_WhoStopsIsDismissedBeforeWhomTheNodeKeepsWaiting(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	var conns [10]*testConn
	for i := range conns {
		var c *connection
		c, conns[i] = greeted(t, in)
		receive(t, c, conns[i], 100, http2Frame(frameHeaders, 0, 1, nil))
		if i > 0 {
			defer c.account.hold(time.Now)()
		}
	}
	in.dismissMost()
	for i, conn := range conns {
		if isDone(conn.closed) != (i == 0) {
			t.Errorf("connection %d is dismissed: %v", i, i != 0)
		}
	}
}

// TestIntake_WhoHasMostCallsIsDismissedWhenAllAreSent, and nobody who has none.
func TestIntake_WhoHasMostCallsIsDismissedWhenAllAreSent(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	var idle []*testConn
	for range 20 {
		_, conn := greeted(t, in)
		idle = append(idle, conn)
	}
	c, busy := greeted(t, in)
	receive(t, c, busy, 100, http2Frame(frameHeaders, flagEndStream, 1, nil))
	in.dismissMost()
	in.dismissMost() // nobody is left who has any
	for _, conn := range idle {
		if isDone(conn.closed) {
			t.Error("a client without calls is dismissed")
		}
	}
	if !isDone(busy.closed) {
		t.Error("the one with calls is not dismissed")
	}
}

// takeAndForget takes so many bytes, which nobody can give back then.
//
//go:noinline
func takeAndForget(in *intake, bytes int64) {
	for taken := int64(0); taken < bytes; taken += 1 << 14 {
		in.Get(1 << 14)
	}
}

// TestIntake_BytesThatNobodyCanReadAreCollected before anybody is dismissed, however long that takes, also when large
// messages wait for them.
func TestIntake_BytesThatNobodyCanReadAreCollected(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	in.patience = 0
	conn := newTestConn()
	c := newConnection(conn, in)
	receive(t, c, conn, 100, append(make([]byte, prefaceBytes), http2Frame(frameHeaders, 0, 1, nil)...))
	runtime.SetFinalizer(&swept{}, func(*swept) { time.Sleep(100 * time.Millisecond) }) // a machine that is busy
	takeAndForget(in, 3*arrivedBytes)
	if got := in.arrived.Load(); got > arrivedBytes {
		t.Errorf("%d bytes are counted", got)
	}
	kept := in.Get(1 << 14)
	ready := claimed(in.messages.open(&account{}), 1<<20)
	in.waiting.Add(1)
	runtime.KeepAlive(kept)
	in.relieve()
	<-ready
	if isDone(conn.closed) || in.shedding.Load() {
		t.Error("a client is dismissed for memory that is free")
	}
}

// TestIntake_OneClientIsDismissedAtATime however many find that there is too much.
func TestIntake_OneClientIsDismissedAtATime(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	in.patience, in.settling = 0, time.Hour
	var conns [10]*testConn
	for i := range conns {
		conns[i] = newTestConn()
		c := newConnection(conns[i], in)
		receive(t, c, conns[i], 100, append(make([]byte, prefaceBytes), http2Frame(frameHeaders, 0, 1, nil)...))
	}
	never := make(chan struct{})
	for range conns {
		in.shed(func() bool { return isDone(never) })
	}
	await(t, func() bool {
		for i := range conns {
			if isDone(conns[i].closed) {
				return true
			}
		}
		return false
	})
	close(never)
	in.freed <- struct{}{}
	await(t, func() bool { return !in.shedding.Load() })
	closed := 0
	for i := range conns {
		if isDone(conns[i].closed) {
			closed++
		}
	}
	if closed != 1 {
		t.Errorf("%d clients are dismissed at a time", closed)
	}
}

// dialled has a listener get so many clients, which stay until the end of the test.
func dialled(t *testing.T, l net.Listener, connections int) {
	t.Helper()
	for range connections {
		c, err := net.DialTimeout("tcp", l.Addr().String(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
}

// accepting gives the connections of a listener that has one place, and its end.
func accepting(t *testing.T) (l *limitedListener, accepted <-chan net.Conn, ended <-chan error) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = newLimitedListener(inner, 1)
	conns, end := make(chan net.Conn, 3), make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				end <- err
				return
			}
			conns <- c
		}
	}()
	return l, conns, end
}

// TestListener_FurtherConnectionsWait until one ends whose client has shown credentials, and are refused when the node
// stops.
func TestListener_FurtherConnectionsWait(t *testing.T) {
	t.Parallel()
	l, accepted, ended := accepting(t)
	dialled(t, l, 1)
	first := <-accepted
	client := newConnection(first, newIntake(1))
	client.known.Store(true)
	first.(*placedConn).client.Store(client)
	dialled(t, l, 2)
	select {
	case <-accepted:
		t.Error("two have a place")
	case <-time.After(10 * time.Millisecond):
	}
	_ = first.Close()
	_ = first.Close()
	<-accepted
	_ = l.Close()
	if err := <-ended; err == nil {
		t.Error("a closed listener accepts")
	}
}

// TestListener_ThoseWithoutCredentialsMakePlace whether they have sent anything or not.
func TestListener_ThoseWithoutCredentialsMakePlace(t *testing.T) {
	t.Parallel()
	l, accepted, ended := accepting(t)
	dialled(t, l, 3)
	silent, greeting, last := <-accepted, <-accepted, <-accepted
	for name, c := range map[string]net.Conn{"silent": silent, "next": greeting} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the %s one stays: %v", name, err)
		}
	}
	_ = last.Close()
	_ = l.Close()
	<-ended
}

// TestListener_ThoseWithoutCallsMakePlace when all have shown credentials: the one that has had none for longest, and
// none that has one.
func TestListener_ThoseWithoutCallsMakePlace(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newLimitedListener(inner, 3)
	defer func() { _ = l.Close() }()
	dialled(t, l, 4)
	var placed []*connection
	var calls callCount
	var leave []func()
	for range 3 {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		client := newConnection(c, newIntake(1))
		client.known.Store(true)
		c.(*placedConn).client.Store(client)
		end, err := calls.enter(connected(&client.account))
		if err != nil {
			t.Fatal(err)
		}
		placed, leave = append(placed, client), append(leave, end)
	}
	leave[2]()
	leave[1]()
	l.unused = time.Hour
	if c := l.leastMissed(); c != nil {
		t.Error("a connection that was used lately makes place")
	}
	l.unused = 0
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	for n, stays := range []bool{true, true, false} {
		if _, err := placed[n].Conn.Write([]byte("x")); (err == nil) != stays {
			t.Errorf("connection %d: %v", n, err)
		}
	}
}
