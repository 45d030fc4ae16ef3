package embedded

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
)

// greeted is a connection whose client has sent the beginning.
func greeted(t *testing.T, in *intake) (*connection, *testConn) {
	t.Helper()
	conn := newTestConn()
	c := newConnection(conn, in)
	receive(t, c, conn, 1<<15, make([]byte, prefaceBytes))
	return c, conn
}

// sends lets the client send a message of so many bytes in frames of these lengths, over and over, until so many are
// left. It reports whether the connection is still there.
func sends(t *testing.T, c *connection, stream uint32, length, left int, frames ...int) bool {
	t.Helper()
	conn := c.Conn.(*testConn)
	receive(t, c, conn, 1<<15, http2Frame(frameHeaders, 0, stream, nil))
	payload := append(prefixOf(length), make([]byte, length-left)...)
	for i := 0; len(payload) > 0; i++ {
		n := min(frames[i%len(frames)], len(payload))
		conn.in.Write(http2Frame(frameData, 0, stream, payload[:n]))
		payload = payload[n:]
		for into := make([]byte, 1<<15); conn.in.Len() > 0; {
			switch _, err := c.Read(into); {
			case errors.Is(err, net.ErrClosed):
				return false
			case err != nil:
				t.Fatal(err)
			}
		}
	}
	return true
}

// dismissalOf is the reason that a client is told who is dismissed already.
func dismissalOf(t *testing.T, conn *testConn) string {
	t.Helper()
	if !isDone(conn.closed) {
		t.Fatal("the client is not dismissed")
	}
	told := conn.sent()
	if len(told) < headerBytes+8 || told[3] != frameGoAway {
		t.Fatalf("the client is told %q", told)
	}
	return string(told[headerBytes+8:])
}

// TestConnection_AMessageInSmallFramesIsRefused when it is large, however its frames are padded. Its memory is counted
// by nobody else.
func TestConnection_AMessageInSmallFramesIsRefused(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][]int{
		"of 1,000 bytes": {1000}, "of one byte": {1}, "half of it": {2000, 1000}, "of the bound": {unpooledBytes},
	} {
		in := newIntake(1 << 20)
		c, conn := greeted(t, in)
		if sends(t, c, 1, 17_000_000, 15_000_000, frames...) {
			t.Errorf("%s: it is taken", name)
		} else if got := dismissalOf(t, conn); got != tooSmallFrames {
			t.Errorf("%s: the client is told %q", name, got)
		}
		if in.small.Load() != 0 || in.calls.Load() != 0 {
			t.Errorf("%s: %d bytes and %d calls are counted for ever", name, in.small.Load(), in.calls.Load())
		}
	}
	c, conn := greeted(t, newIntake(1<<20))
	begins := append(http2Frame(frameHeaders, 0, 1, nil), http2Frame(frameData, 0, 1, prefixOf(1_000_000))...)
	padded := http2Frame(frameData, flagPadded, 1, append([]byte{255}, make([]byte, 255+10)...))
	conn.in.Write(append(begins, bytes.Repeat(padded, 4000)...))
	for into := make([]byte, 1<<15); conn.in.Len() > 0 && !isDone(conn.closed); {
		_, _ = c.Read(into)
	}
	if got := dismissalOf(t, conn); got != tooSmallFrames {
		t.Errorf("the client is told %q", got)
	}
}

// TestConnection_ALargeMessageWhoseWindowsEndInSmallFramesIsTaken, and a small one in frames of any length. Nothing is
// counted when the calls have ended.
func TestConnection_ALargeMessageWhoseWindowsEndInSmallFramesIsTaken(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	c, conn := greeted(t, in)
	stream := uint32(1)
	for length, frames := range map[int][]int{
		16_000_000: {16_384, 16_384, 16_384, 15_000, 1_000, 384}, 15_000_000: {16_384, 1}, 20_000: {1000}, 300: {1},
		12_000_000: {1_448, 1_448, 1_448, 1_448, 1_448, 1_448, 1_448, 1_448, 1_448, 1_448, 1_448, 456},
	} {
		if !sends(t, c, stream, length, 0, frames...) {
			t.Fatalf("a message of %d bytes is refused: %s", length, dismissalOf(t, conn))
		}
		stream += 2
	}
	for stream := range c.streams {
		if _, err := c.Write(http2Frame(frameHeaders, flagEndStream, stream, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if in.small.Load() != 0 || in.calls.Load() != 0 || c.sending.Load() != 0 {
		t.Errorf("%d bytes and %d calls are counted for ever", in.small.Load(), in.calls.Load())
	}
}

// TestIntake_WhoHasMostMessagesInSmallFramesIsDismissed when there are too many of them in all. The others stay.
func TestIntake_WhoHasMostMessagesInSmallFramesIsDismissed(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	little, other := greeted(t, in)
	if !sends(t, little, 1, 100_000, 80_000, 1000) {
		t.Fatal("a few small frames are refused")
	}
	var many []*testConn
	for range 2 {
		c, conn := greeted(t, in)
		many = append(many, conn)
		for stream := uint32(1); stream < 2000 && !isDone(conn.closed); stream += 2 {
			sends(t, c, stream, 100_000, 60_000, 1000)
		}
	}
	closed := slices.DeleteFunc(many, func(conn *testConn) bool { return !isDone(conn.closed) })
	if len(closed) != 1 {
		t.Fatalf("%d of the two that have most are dismissed", len(closed))
	}
	if got := dismissalOf(t, closed[0]); got != mostSmallBytes {
		t.Errorf("the client is told %q", got)
	}
	if isDone(other.closed) || in.small.Load() > smallFrames {
		t.Errorf("another one is dismissed, or %d bytes are left", in.small.Load())
	}
}

// TestConnection_CallsThatAreNotAnsweredOnTheWireAreBounded for one client and for all: also those that the node has
// refused, as long as their client does not take the answer.
func TestConnection_CallsThatAreNotAnsweredOnTheWireAreBounded(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	begin := func(calls uint32) (*connection, *testConn) {
		c, conn := greeted(t, in)
		for call := uint32(1); call < 2*calls; call += 2 {
			conn.in.Write(http2Frame(frameHeaders, byte(call>>1&flagEndStream), call, nil))
		}
		for into := make([]byte, 1<<15); conn.in.Len() > 0 && !isDone(conn.closed); {
			_, _ = c.Read(into)
		}
		return c, conn
	}
	if _, conn := begin(unansweredOwn + 1); dismissalOf(t, conn) != tooManyCalls {
		t.Error("the client is not told why")
	}
	busy, served := begin(unansweredOwn)
	busy.running.Store(unansweredOwn)
	most, conn := begin(unansweredOwn)
	var others []*testConn
	for in.calls.Load() > 0 && !isDone(conn.closed) {
		_, other := begin(unansweredOwn / 2)
		others = append(others, other)
	}
	if got := dismissalOf(t, conn); got != tooManyCalls || len(others) != 2*unanswered/unansweredOwn-3 {
		t.Errorf("the client is told %q when %d others have calls", got, len(others))
	}
	for _, other := range append(others, served) {
		if isDone(other.closed) {
			t.Error("a client with fewer calls that do not run is dismissed")
		}
	}
	if most.calls.Load() != 0 || in.calls.Load() > unanswered {
		t.Errorf("%d calls are counted", in.calls.Load())
	}
}

// TestConnection_ACallThatItsClientEndsIsCounted until the transport has confirmed that: it keeps the answer to it
// until the client takes it, and no longer than the connection.
func TestConnection_ACallThatItsClientEndsIsCounted(t *testing.T) {
	t.Parallel()
	in := newIntake(1 << 20)
	c, conn := greeted(t, in)
	for call := uint32(1); call < 10; call += 2 {
		conn.in.Write(http2Frame(frameHeaders, flagEndStream, call, nil))
		conn.in.Write(http2Frame(frameReset, 0, call, make([]byte, 4)))
	}
	given, err := io.ReadAll(c)
	question := http2Frame(frameSettings, 0, 0, nil)
	if n := bytes.Count(given, question); err != nil || n != 5 || in.calls.Load() != 5 || c.calls.Load() != 5 {
		t.Errorf("%d calls are counted after %d questions: %v", in.calls.Load(), n, err)
	}
	for left := int64(4); left > 1; left-- {
		if _, err := c.Write(http2Frame(frameSettings, flagAck, 0, nil)); err != nil {
			t.Fatal(err)
		}
		if in.calls.Load() != left || c.calls.Load() != left || len(conn.sent()) > 0 {
			t.Errorf("%d calls are counted, not %d", in.calls.Load(), left)
		}
	}
	if _ = c.Close(); in.calls.Load() != 0 {
		t.Errorf("%d calls are counted for ever", in.calls.Load())
	}
}

// TestConnection_SettingsAreFew: the transport keeps all of them, and goes through all calls for each.
func TestConnection_SettingsAreFew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frames, settings int
		taken            bool
	}{
		"as many as may be":       {settingsSent, settingsBytes / 6, true},
		"one frame too many":      {settingsSent + 1, 1, false},
		"too many in one of them": {1, settingsBytes/6 + 1, false},
	} {
		conn := newTestConn()
		on := newConnection(conn, newIntake(1<<20))
		conn.in.Write(make([]byte, prefaceBytes))
		for range c.frames {
			conn.in.Write(http2Frame(frameSettings, 0, 0, make([]byte, 6*c.settings)))
		}
		if _, err := io.ReadAll(on); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		} else if !c.taken && dismissalOf(t, conn) != tooManySettings {
			t.Errorf("%s: the client is not told why", name)
		}
	}
}

// TestConnection_ACallOutOfOrderEndsIt: the transport knows of no call whose headers are malformed, and would take
// calls with lower numbers afterwards, which the connection would not see, or one of the same number, whose end is not
// known from that of the first.
func TestConnection_ACallOutOfOrderEndsIt(t *testing.T) {
	t.Parallel()
	for first, next := range map[uint32]uint32{1<<31 - 1: 1, 3: 3, 5: 3} {
		c, conn := greeted(t, newIntake(1<<20))
		receive(t, c, conn, 1<<15, http2Frame(frameHeaders, 0, first, nil))
		if _, err := c.Write(http2Frame(frameReset, 0, first, make([]byte, 4))); err != nil {
			t.Fatal(err)
		}
		conn.sent()
		conn.in.Write(http2Frame(frameHeaders, 0, next, nil))
		if _, err := c.Read(make([]byte, 1<<15)); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("%d after %d: %v", next, first, err)
		}
		if got := dismissalOf(t, conn); got != callsOutOfOrder {
			t.Errorf("the client is told %q", got)
		}
	}
}
