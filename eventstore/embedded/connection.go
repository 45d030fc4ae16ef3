package embedded

import (
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Parts of HTTP/2 that a connection looks at (RFC 9113, sections 3.4, 4.1 and 6).
const (
	prefaceBytes = 24
	headerBytes  = 9
	prefixBytes  = 5 // before each message of gRPC: whether it is compressed, and its length

	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8

	flagEndStream = 0x1
	flagAck       = 0x1
	flagPadded    = 0x8

	enhanceYourCalm = 0xb
)

// frameHead is the beginning of a frame.
type frameHead [headerBytes]byte

// length is that of the payload.
func (h *frameHead) length() int { return int(h[0])<<16 | int(h[1])<<8 | int(h[2]) }

// stream is the number of the stream; 0 = the connection.
func (h *frameHead) stream() uint32 { return binary.BigEndian.Uint32(h[5:]) & (1<<31 - 1) }

// connection is a client's connection. It passes on what the client and the server send, and looks at the frames: it
// knows how much of each message has arrived.
type connection struct {
	net.Conn
	account
	intake *intake

	// Of the present frame from the client; only Read uses these.
	preface int // bytes to come of what a connection begins with
	head    frameHead
	have    int      // bytes of head
	left    int      // bytes of its payload to come
	padding int      // the last ones of them; -1 = the first one says how many
	data    int      // bytes of a message that have come in it
	of      *arrival // its stream, of a frame with data; nil = none that the client may send on
	fault   string   // why the client is to be dismissed; "" = it is not
	crowds  bool     // it has added to what is too much in all

	signals  int    // frames that the transport keeps until it writes, since it was last asked to confirm
	reset    bool   // the last one has ended a call
	asking   []byte // what is left of a question to it
	unread   []byte // what the client has sent after that
	settings int    // frames of them that the client has sent

	writing sync.Mutex // guards these and the order of frames
	rest    []byte     // the beginning of a frame that the server has not written in full
	skip    int        // bytes of a frame to come

	mu      sync.Mutex
	streams map[uint32]*arrival // that have not ended on the wire
	calls   atomic.Int64        // how many they are
	sending atomic.Int64        // those on which the client may send
	small   atomic.Int64        // the weight of small frames that the transport may keep
	newest  uint32              // the last stream that the client has begun
	allowed []byte              // permissions that may be sent
	asked   []bool              // of each confirmation to come whether a call has its end by it
	closed  bool
}

// arrival notes what has come on a stream, above all of the present message.
type arrival struct {
	prefix   [prefixBytes]byte
	have     int  // bytes of prefix
	left     int  // bytes of the message to come
	over     bool // the client sends nothing more
	room     *holding
	withdraw func() // of the claim for room

	came    int64 // bytes of messages
	began   int64 // those of them that were there when the present message began
	padding int64 // bytes beside them
	widened int64 // bytes by which the server has widened the window
	small   int   // the weight of small frames that the transport may keep
	runs    []run // of which it is
}

// newConnection begins to look at a connection.
func newConnection(c net.Conn, in *intake) *connection {
	conn := &connection{Conn: c, intake: in, preface: prefaceBytes, streams: map[uint32]*arrival{}}
	conn.disconnect = conn.dismiss
	return conn
}

// Read reads what the client sends, and questions to the transport in between.
func (c *connection) Read(b []byte) (n int, err error) {
	if len(c.asking) > 0 {
		n = copy(b, c.asking)
		c.asking = c.asking[n:]
		return n, nil
	}
	before := c.unread[:min(len(b), len(c.unread))]
	if len(before) > 0 {
		n = copy(b, before[:c.look(before)])
		c.unread = c.unread[n:]
	} else if n, err = c.Conn.Read(b); n > 0 {
		looked := c.look(b[:n])
		c.unread = slices.Clone(b[looked:n])
		n = looked
	}
	if n > 0 {
		if c.due() {
			c.ask()
			err = nil // it comes again
		}
		if c.fault != "" {
			c.dismiss(c.fault)
			return 0, net.ErrClosed
		}
		if c.crowds {
			c.crowds = false
			c.intake.thin()
		}
	}
	return n, err
}

// look follows the frames of the client, until the transport is to be asked, and returns how many bytes it has looked
// at.
func (c *connection) look(b []byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := len(b)
	if c.closed {
		return all
	}
	if c.preface == prefaceBytes {
		c.intake.enter(c)
	}
	n := min(c.preface, len(b))
	c.preface -= n
	b = b[n:]
	for len(b) > 0 && !c.due() {
		if c.have < headerBytes {
			n := copy(c.head[c.have:], b)
			c.have += n
			b = b[n:]
			if c.have == headerBytes {
				c.begun()
			}
		}
		if c.have == headerBytes {
			n := min(c.left, len(b))
			c.payload(b[:n])
			c.left -= n
			b = b[n:]
			if c.left == 0 {
				c.ended()
				c.have = 0
			}
		}
	}
	return all - len(b)
}

// begun looks at the head of a frame.
func (c *connection) begun() {
	c.left, c.padding = c.head.length(), 0
	switch {
	case c.head[3] == frameData:
		c.data, c.of = 0, c.streams[c.head.stream()]
		if c.head[4]&flagPadded != 0 {
			c.padding = -1
		}
	case c.head[3] == frameSettings:
		if c.settings++; c.settings > settingsSent || c.left > settingsBytes {
			c.fault = tooManySettings
		}
	case c.head[3] == frameHeaders && c.head.stream() <= c.newest:
		c.fault = callsOutOfOrder // the transport may not know of those before, when they were malformed
	case c.head[3] == frameHeaders:
		c.newest = c.head.stream()
		c.call(c.head[4]&flagEndStream != 0)
	}
}

// payload looks at a part of the payload of a frame.
func (c *connection) payload(b []byte) {
	if c.head[3] != frameData || len(b) == 0 {
		return
	}
	after := c.left - len(b)
	if c.padding < 0 {
		c.padding = int(b[0])
		b = b[1:]
	}
	b = b[:max(0, min(len(b), len(b)+after-c.padding))]
	c.data += len(b)
	for a := c.of; a != nil && !a.over && len(b) > 0; {
		b = b[a.take(b):]
	}
}

// take counts bytes of the message and returns how many there were.
func (a *arrival) take(b []byte) int {
	if a.left == 0 {
		if a.have == 0 {
			a.began = a.came
		}
		n := copy(a.prefix[a.have:], b)
		a.came += int64(n)
		if a.have += n; a.have == prefixBytes {
			a.left, a.have = messageLength(a.prefix), 0
		}
		return n
	}
	n := min(a.left, len(b))
	a.came += int64(n)
	a.left -= n
	if a.room != nil {
		if a.room.release(int64(n)); a.left > 0 {
			a.room.waits(true)
		} else {
			a.end()
		}
	}
	return n
}

// messageLength is how long the message is that comes after a prefix.
func messageLength(prefix [prefixBytes]byte) int { return int(binary.BigEndian.Uint32(prefix[1:])) }

// end gives back what was promised and did not come.
func (a *arrival) end() {
	if a.room != nil {
		a.withdraw()
		a.room.free()
		a.room = nil
	}
}

// ended looks at a frame of the client that is there in full.
func (c *connection) ended() {
	switch c.head[3] {
	case frameReset:
		if a := c.streams[c.head.stream()]; a != nil { // of which the transport may keep an answer still
			c.gone(a)
			delete(c.streams, c.head.stream())
			c.reset = true
		}
		c.signals++
	case frameWindowUpdate:
		c.signals++
	case frameData:
		a := c.of
		if c.of = nil; a == nil || a.over {
			return
		}
		a.padding += int64(c.head.length() - c.data)
		if c.data > 0 && c.data <= unpooledBytes {
			c.count(a)
		}
		if c.head[4]&flagEndStream != 0 {
			c.sent(a)
		}
	}
}

// sent ends what the client may send on a stream. Call with mu held.
func (c *connection) sent(a *arrival) {
	if !a.over {
		a.over = true
		a.end()
		c.sending.Add(-1)
	}
}

// forget ends a stream. Call with mu held.
func (c *connection) forget(stream uint32) {
	if a := c.streams[stream]; a != nil {
		c.gone(a)
		delete(c.streams, stream)
		c.over()
	}
}

// gone notes that nothing of a stream is kept any more but its answer. Call with mu held.
func (c *connection) gone(a *arrival) {
	c.sent(a)
	c.discount(a, len(a.runs))
}

// over notes the end of a call.
func (c *connection) over() {
	c.calls.Add(-1)
	c.intake.calls.Add(-1)
}

// Write sends what the server writes, except for permissions to send messages that have no memory yet, and for answers
// to the questions of the connection.
func (c *connection) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	all := b
	if len(c.rest) > 0 {
		all = append(c.rest, b...)
		c.rest = nil
	}
	from, at := 0, 0
	for at < len(all) {
		if c.skip > 0 {
			n := min(c.skip, len(all)-at)
			c.skip -= n
			at += n
			continue
		}
		if len(all)-at < headerBytes+4 && !wholeHead(all[at:]) {
			c.rest = slices.Clone(all[at:])
			break
		}
		head := frameHead(all[at:])
		if head[3] == frameWindowUpdate && c.held(all[at:at+headerBytes+4]) || c.confirms(head) {
			if err := c.pass(all[from:at]); err != nil {
				return 0, err
			}
			at += headerBytes + head.length()
			from = at
			continue
		}
		if head[3] == frameReset || head[3] == frameHeaders && head[4]&flagEndStream != 0 {
			c.mu.Lock()
			c.forget(head.stream())
			c.mu.Unlock()
		}
		c.skip = head.length()
		at += headerBytes
	}
	if err := c.pass(all[from:at]); err != nil {
		return 0, err
	}
	return len(b), c.send()
}

// pass sends bytes as they are. Call with writing held.
func (c *connection) pass(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := c.Conn.Write(b)
	return err
}

// wholeHead reports whether there is enough of a frame to decide about it.
func wholeHead(b []byte) bool {
	return len(b) >= headerBytes && b[3] != frameWindowUpdate
}

// held reports whether a permission has to wait for memory. It keeps it then.
func (c *connection) held(frame []byte) bool {
	head := frameHead(frame)
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.streams[head.stream()]
	if a == nil {
		return false // as with those of the connection
	}
	by := int(binary.BigEndian.Uint32(frame[headerBytes:]))
	c.widen(a, by)
	if by <= streamWindow || a.over || a.left == 0 {
		return false
	}
	a.end()
	room := c.intake.messages.open(&c.account)
	a.room = room
	if room.try(int64(a.left)) {
		a.withdraw = func() {}
		room.waits(true)
		return false
	}
	frame = slices.Clone(frame)
	c.intake.waiting.Add(1)
	allowed := c.hold(c.intake.messages.now)
	over := sync.OnceFunc(func() {
		c.intake.waiting.Add(-1)
		allowed()
	})
	withdraw := room.claim(int64(a.left), func() {
		over()
		go c.allow(a, room, frame)
	})
	a.withdraw = func() { withdraw(); over() }
	return true
}

// allow sends a permission, unless its message is of no interest any more.
func (c *connection) allow(a *arrival, room *holding, frame []byte) {
	c.mu.Lock()
	if a.room != room {
		c.mu.Unlock()
		room.free()
		return
	}
	room.waits(true)
	c.allowed = append(c.allowed, frame...)
	c.mu.Unlock()
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.send() // a connection that has failed tells so at the next read
}

// send sends the permissions that have memory, if no frame is under way. Call with writing held.
func (c *connection) send() error {
	if c.skip > 0 || len(c.rest) > 0 {
		return nil
	}
	c.mu.Lock()
	frames := c.allowed
	c.allowed = nil
	c.mu.Unlock()
	return c.pass(frames)
}

// dismissal is how long a client may take to hear why it is dismissed.
const dismissal = time.Second

// dismiss tells the client why, as far as it listens, and closes the connection.
func (c *connection) dismiss(reason string) {
	limit := time.AfterFunc(dismissal, func() { _ = c.Close() }) // it may not read either
	defer limit.Stop()
	if c.writing.TryLock() {
		if c.skip == 0 && len(c.rest) == 0 {
			frame := make([]byte, headerBytes+8, headerBytes+8+len(reason))
			frame[2], frame[3] = byte(8+len(reason)), frameGoAway
			binary.BigEndian.PutUint32(frame[headerBytes:], 1<<31-1) // no call may be repeated without asking
			binary.BigEndian.PutUint32(frame[headerBytes+4:], enhanceYourCalm)
			_, _ = c.Conn.Write(append(frame, reason...))
		}
		c.writing.Unlock()
	}
	_ = c.Close()
}

// Close ends the connection and gives back the memory of messages that have not arrived.
func (c *connection) Close() error {
	err := c.Conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.intake.leave(c)
	for stream := range c.streams {
		c.forget(stream)
	}
	for c.confirmed() {
	}
	return err
}
