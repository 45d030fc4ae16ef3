package radius

import (
	"bytes"
	"net/netip"
	"runtime/debug"
	"time"

	"layeh.com/radius"
)

// worker answers the packets of one socket. What it needs for a packet is used again for the next one. For one
// goroutine.
type worker struct {
	*socket

	limits    Limits
	directory Directory
	sink      Accounting
	signer    *signer
	in        [maxPacket]byte
	again     [maxPacket]byte // an answer that is sent again
	password  [maxPassword]byte
	request   Request
	reply     Reply
	from      netip.AddrPort
	now       time.Time
	key       key
	msHash    []byte // challenge of 8 octets with which the proof of MS-CHAP version 2 was right
	salt      uint16
}

// newWorker takes over the limits and parts of the server, so that a packet follows fewer pointers.
func newWorker(s *socket) *worker {
	return &worker{
		socket: s, limits: s.server.limits, directory: s.server.directory, sink: s.server.sink, signer: newSigner(),
	}
}

// packet takes one datagram. A panic ends the work on this one only.
func (w *worker) packet(datagram []byte, from netip.AddrPort) {
	defer w.recovered()
	w.from, w.now = from, w.server.clock.Now()
	w.count(w.take(datagram))
}

// recovered counts a panic. It logs the stack of the first one between two reports.
func (w *worker) recovered() {
	if value := recover(); value != nil {
		w.count(Panicked)
		if w.server.notices.first(noticeKey{result: Panicked}, w.now, nil) {
			w.server.logger.Error("radius packet panicked", "panic", value, "stack", string(debug.Stack()))
		}
	}
}

// note tells support staff about a packet. nas is nil when it is not known whose it is.
func (w *worker) note(r Result, nas *NAS) {
	w.server.notices.add(noticeKey{r, w.from.Addr().Unmap(), nas}, w.now, nil)
}

// unproven tells support staff about a packet that is dropped because its sender is not known, and whose sign-in it is.
func (w *worker) unproven(r Result, nas *NAS, q *Request) Result {
	var name []byte
	if w.port == accessPort {
		name = q.UserName
	}
	w.server.notices.add(noticeKey{r, w.from.Addr().Unmap(), nas}, w.now, name)
	return r
}

// stranger tells support staff about a packet from an address that nobody has.
func (w *worker) stranger(datagram []byte) Result {
	packet, err := cut(datagram)
	if err != nil || code(packet) != radius.CodeAccessRequest || w.request.parse(packet, w.now) != nil {
		return w.doubt(UnknownNAS, nil)
	}
	return w.unproven(UnknownNAS, nil, &w.request)
}

// doubt is note for a packet that is dropped.
func (w *worker) doubt(r Result, nas *NAS) Result {
	w.note(r, nas)
	return r
}

// take decides about one datagram: who sent it, within which limits, is it a repeat, is it genuine.
func (w *worker) take(datagram []byte) Result {
	from := w.server.known.Load().sources[w.from.Addr().Unmap()]
	if from == nil || len(from.clients) == 0 {
		return w.stranger(datagram)
	}
	only := from.only()
	if limiter, rate := from.limiter(w.limits.Rate); !limiter.allow(w.now, rate) {
		return w.doubt(OverLimit, only)
	}
	packet, err := cut(datagram)
	if err != nil {
		return w.doubt(Malformed, only)
	}
	if !w.expected(code(packet)) {
		return w.doubt(Unexpected, only)
	}
	w.key = w.replies.keyOf(packet, w.from)
	if answer, taken := w.replies.look(w.key, w.now, w.again[:]); answer != nil {
		return w.send(answer, w.from, Repeated)
	} else if taken {
		return Swallowed
	}
	if err := w.request.parse(packet, w.now); err != nil {
		return w.doubt(Malformed, only)
	}
	c, doubt := w.sender(from, &w.request)
	switch {
	case c == nil:
		return w.unproven(doubt, only, &w.request)
	case len(from.clients) > 1 && !c.state.rate.allow(w.now, w.limits.Rate):
		return w.doubt(OverLimit, c.NAS)
	}
	return w.serve(c, &w.request)
}

// serve answers a genuine packet.
func (w *worker) serve(c *client, r *Request) Result {
	if r.unreadable > 0 {
		w.count(BadAttribute)
		w.note(BadAttribute, c.NAS)
	}
	var result Result
	switch code(r.raw) {
	case radius.CodeAccountingRequest:
		result = w.account(c, r)
	case radius.CodeStatusServer:
		result = w.alive(c, r)
	default:
		result = w.signIn(c, r)
	}
	if result == Malformed || result == ReplyTooLong {
		w.note(result, c.NAS)
	}
	return result
}

// only is the NAS of an address with one, else nil.
func (s *source) only() *NAS {
	if s.claimants != 1 && !s.own {
		return nil
	}
	return s.clients[0].NAS
}

// sharedRate is how many times the rate of one NAS an address with several secrets may send, before it is known who
// sent a packet. It does not grow with those who claim the address, because anybody may claim it often.
const sharedRate = 2

// limiter is the limit that counts before it is known who sent a packet, and its packets a second.
func (s *source) limiter(rate int) (*limiter, int) {
	if len(s.clients) == 1 {
		return &s.clients[0].state.rate, rate
	}
	return &s.shared.rate, sharedRate * rate
}

// expected reports whether a code belongs to the port.
func (w *worker) expected(c radius.Code) bool {
	switch c {
	case radius.CodeStatusServer:
		return true
	case radius.CodeAccessRequest:
		return w.port == accessPort
	case radius.CodeAccountingRequest:
		return w.port == accountingPort
	}
	return false
}

// sender finds the NAS of an address that made a packet; otherwise it returns why there is none.
func (w *worker) sender(from *source, r *Request) (*client, Result) {
	if code(r.raw) == radius.CodeAccountingRequest {
		return w.prover(from, r, true)
	}
	if r.ma != 0 {
		return w.prover(from, r, false)
	}
	// RFC 3579, 3.2, and RFC 5997, 3: never without one.
	must := r.eap || code(r.raw) == radius.CodeStatusServer
	if must || !from.own || from.clients[0].RequireMessageAuthenticator {
		return nil, Unproven
	}
	return from.clients[0], 0
}

// signIn answers an Access-Request.
func (w *worker) signIn(c *client, r *Request) Result {
	var cred *Credential
	if r.found&seenUserName != 0 {
		cred = w.directory.Find(c.NAS, r)
	}
	q := Question{NAS: c.NAS, Request: r, Credential: cred, Outcome: w.verify(c, r, cred)}
	w.reply.begin()
	w.directory.Decide(q, &w.reply)
	if w.reply.silent {
		return w.doubt(Incomplete, c.NAS)
	}
	answer, err := w.finish(c, q)
	switch {
	case err != nil:
		return w.doubt(Panicked, c.NAS)
	case answer == nil:
		return ReplyTooLong
	case w.reply.accept && w.reply.after != nil:
		return w.later(c, answer)
	case w.reply.accept:
		return w.answer(c, answer, Accepted)
	}
	return w.answer(c, answer, Rejected)
}

// later leaves it to the directory when an accept is sent. The socket goes on with the next packet.
func (w *worker) later(c *client, answer []byte) Result {
	s, key, kept := w.socket, w.key, bytes.Clone(answer)
	s.replies.begin(c.state, key, w.now)
	w.reply.after(func() {
		s.replies.finish(key, kept)
		s.count(s.send(kept, key.from, Accepted))
	})
	return Taken
}

// alive answers Status-Server (RFC 5997): the server is there.
func (w *worker) alive(c *client, r *Request) Result {
	w.reply.begin()
	code := radius.CodeAccessAccept
	if w.port == accountingPort {
		code = radius.CodeAccountingResponse
	}
	answer := w.seal(c, r, code)
	if answer == nil {
		return ReplyTooLong
	}
	return w.answer(c, answer, Alive)
}

// answer keeps an answer for repeats and sends it.
func (w *worker) answer(c *client, answer []byte, result Result) Result {
	w.replies.record(c.state, w.key, w.now, answer)
	return w.send(answer, w.from, result)
}
