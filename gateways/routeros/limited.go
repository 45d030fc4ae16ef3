package routeros

import (
	"errors"
	"net"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Limits of a word and of a reply over the API protocol, in bytes.
const (
	maxWord  = 1 << 20
	maxReply = maxAnswer
	// maxWordsRead bounds the number of words in a reply: a word needs much more memory than bytes on the wire.
	maxWordsRead = 3_000_000
)

// errFraming refuses a stream that no router sends. Without this check the client would allocate any length that the
// other side names.
var errFraming = errors.New("not the API protocol, or a word is too long")

// limited is a connection that follows the lengths of words while it reads. It is used by one call at a time.
type limited struct {
	net.Conn
	raw net.Conn // below TLS; nil without

	total  int  // bytes of the present reply
	words  int  // words of the present reply
	left   int  // bytes of the present word
	need   int  // bytes of the present length still to come
	length int  // of the present word, as far as known
	failed bool // the stream broke a limit; no more reads
}

// begin starts the count of a new reply.
func (c *limited) begin() { c.total, c.words = 0, 0 }

// Read fails with errFraming as soon as a limit is passed.
func (c *limited) Read(p []byte) (int, error) {
	if c.failed {
		return 0, errFraming
	}
	n, err := c.Conn.Read(p)
	if c.total += n; c.total > maxReply || !c.follow(p[:n]) {
		c.failed = true
		return 0, errFraming
	}
	return n, err
}

// follow walks over the words in p; false when one is too long. Source: docs/facts/routeros.md#words-of-the-protocol.
func (c *limited) follow(p []byte) bool {
	for len(p) > 0 {
		if c.left > 0 {
			skip := min(c.left, len(p))
			c.left -= skip
			p = p[skip:]
			continue
		}
		b := p[0]
		p = p[1:]
		switch {
		case c.need > 0:
			c.length = c.length<<8 | int(b)
			c.need--
		case b&0x80 == 0:
			c.length = int(b)
		case b&0xC0 == 0x80:
			c.length, c.need = int(b&0x3F), 1
		case b&0xE0 == 0xC0:
			c.length, c.need = int(b&0x1F), 2
		case b&0xF0 == 0xE0:
			c.length, c.need = int(b&0x0F), 3
		case b == 0xF0:
			c.length, c.need = 0, 4
		default:
			return false
		}
		if c.need == 0 {
			c.left = c.length
			c.words++
		}
		if c.length > maxWord || c.words > maxWordsRead {
			return false
		}
	}
	return true
}

// alive reports whether an idle connection can carry another call. A router sends nothing unasked, so readable bytes or
// an end mean that it closed the connection.
func (c *limited) alive() bool {
	raw := c.raw
	if raw == nil {
		raw = c.Conn
	}
	// Deadlines are compared with the machine's clock, whatever clock the gateway has.
	if raw.SetReadDeadline(clock.System().Now().Add(time.Millisecond)) != nil {
		return false
	}
	n, err := raw.Read(make([]byte, 1))
	var timeout net.Error
	if n > 0 || !errors.As(err, &timeout) || !timeout.Timeout() {
		return false
	}
	return raw.SetDeadline(time.Time{}) == nil
}
