package embedded

import (
	"testing"

	"pgregory.net/rapid"
)

// unreadStream is a stream whose client sends messages in frames, and whose server reads them as the transport does.
type unreadStream struct {
	c    *connection
	conn *testConn

	left    int   // bytes of the message that the client is sending
	longest int64 // of all messages
	window  int   // bytes that it may send

	frames  []int // bytes of those that have not been read in full, the first one without what has been read
	weights []int // of those that are small; 0 = it is not
	kept    int   // the weight of those that have been read of the present message
	wanted  int   // bytes that the server still reads of a prefix or a body
	body    []int // lengths of messages whose prefix has come and has not been read
	inBody  bool

	pending, unsaid, extra int // bytes that are not read, that are read and not permitted anew, and beyond the window
}

// send sends a frame of so many bytes at most, with padding; -1 = without, and of no bytes without a message. length is
// that of the next message.
func (s *unreadStream) send(t *rapid.T, bytes, padding, length int) {
	var payload []byte
	if s.left == 0 && bytes > 0 {
		payload = prefixOf(length)
		s.left = length
		s.body = append(s.body, length)
		s.longest = max(s.longest, int64(length))
	}
	n := min(bytes, s.left)
	payload = append(payload, make([]byte, n)...)
	data, flags := len(payload), byte(0)
	if padding >= 0 {
		payload = append(append([]byte{byte(padding)}, payload...), make([]byte, padding)...)
		flags = flagPadded
	}
	if len(payload) > s.window || s.c.streams[1].small+data+frameOverhead > smallBytesOwn {
		if data > n {
			s.body = s.body[:len(s.body)-1]
			s.left = 0
		}
		return
	}
	s.left -= n
	s.window -= len(payload)
	s.pending += len(payload)
	receive(t, s.c, s.conn, 1<<10, http2Frame(frameData, flags, 1, payload))
	if data > 0 {
		weight := 0
		if data <= unpooledBytes {
			weight = data + frameOverhead
		}
		s.frames, s.weights = append(s.frames, data), append(s.weights, weight)
	}
	if len(payload) > data {
		s.read(t, len(payload)-data)
	}
}

// widen lets the client send more.
func (s *unreadStream) widen(t *rapid.T, by int) {
	s.window += by
	if _, err := s.c.Write(widening(1, by)); err != nil {
		t.Fatal(err)
	}
	s.conn.sent()
}

// read notes that the server has read bytes.
func (s *unreadStream) read(t *rapid.T, bytes int) {
	s.pending -= bytes
	beyond := min(bytes, s.extra)
	s.extra -= beyond
	if s.unsaid += bytes - beyond; s.unsaid >= streamWindow/4 {
		by := s.unsaid
		s.unsaid = 0
		s.widen(t, by)
	}
}

// serve reads up to so many parts of messages, as far as they have come.
func (s *unreadStream) serve(t *rapid.T, parts int) {
	for ; parts > 0; parts-- {
		if s.wanted == 0 && !s.inBody {
			s.wanted = prefixBytes
		}
		if s.wanted > 0 && len(s.frames) == 0 {
			return
		}
		if s.wanted > 0 {
			n := min(s.wanted, s.frames[0])
			s.wanted -= n
			if s.frames[0] -= n; s.frames[0] == 0 {
				s.kept += s.weights[0]
				s.frames, s.weights = s.frames[1:], s.weights[1:]
			}
			s.read(t, n)
		}
		if s.wanted > 0 {
			continue
		}
		if s.inBody = !s.inBody; !s.inBody {
			s.kept = 0
		} else {
			s.wanted = s.body[0]
			s.body = s.body[1:]
			if s.wanted-s.pending > streamWindow-s.pending-s.unsaid {
				s.extra = s.wanted
				s.widen(t, s.wanted)
			}
		}
	}
}

// weight is that of small frames that are kept: those that have not been read in full, and those of a message that is
// not there in full.
func (s *unreadStream) weight() (all int) {
	there := 0
	for i, w := range s.weights {
		all += w
		there += s.frames[i]
	}
	if there < s.wanted {
		all += s.kept
	}
	return all
}

// TestConnection_KnowsWhatSmallFramesAreKept at least, whatever the client sends and the node reads, and not more than
// those of a message that has not arrived, and what the node may have read without a word.
func TestConnection_KnowsWhatSmallFramesAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := newIntake(1 << 40)
		conn := newTestConn()
		s := &unreadStream{conn: conn, c: newConnection(conn, in), window: streamWindow}
		receive(t, s.c, conn, 1<<15, append(make([]byte, prefaceBytes), http2Frame(frameHeaders, 0, 1, nil)...))
		a := s.c.streams[1]
		bytes := rapid.SampledFrom([]int{0, 1, 100, 1500, 1 << 14})
		lengths := rapid.SampledFrom([]int{0, 10, 1000, 20_000, 49_000, 100_000, 1_000_000})
		for range rapid.IntRange(0, 30).Draw(t, "rounds") {
			frame, length := bytes.Draw(t, "bytes"), lengths.Draw(t, "length")
			padding := rapid.SampledFrom([]int{-1, -1, 0, 10, 255}).Draw(t, "padding")
			for range rapid.IntRange(0, 300).Draw(t, "frames") {
				s.send(t, frame, padding, length)
			}
			s.serve(t, rapid.IntRange(0, 600).Draw(t, "parts"))
			if counted := in.small.Load(); counted < int64(s.weight()) || counted != int64(a.small) {
				t.Fatalf("%d bytes are counted, and %d on the stream, of %d", counted, a.small, s.weight())
			}
			if s.pending == 0 && s.left == 0 && len(a.runs) > 0 && a.came-a.runs[0].to > streamWindow/4+s.longest {
				t.Fatalf("frames are counted of up to byte %d, when %d have been read", a.runs[0].to, a.came)
			}
		}
		if _ = s.c.Close(); in.small.Load() != 0 || in.calls.Load() != 0 {
			t.Fatalf("%d bytes and %d calls are counted for ever", in.small.Load(), in.calls.Load())
		}
	})
}
