package radius

import (
	"net/netip"
	"sync/atomic"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2866"
)

// Accounting takes what routers report about sessions. Safe for concurrent use.
type Accounting interface {
	// Take takes over a record. It must not block, because a socket waits for it. Later, from any goroutine, the sink
	// calls Acknowledge when the record is durable, or Refuse when it will not be. Of several calls the first counts.
	Take(r *Record)
}

// Status is the event in a session that a record is about (RFC 2866, 5.1).
type Status uint32

// The statuses that reach the sink. On and Off end all sessions of the router.
const (
	StatusStart   = Status(rfc2866.AcctStatusType_Value_Start)
	StatusStop    = Status(rfc2866.AcctStatusType_Value_Stop)
	StatusInterim = Status(rfc2866.AcctStatusType_Value_InterimUpdate)
	StatusOn      = Status(rfc2866.AcctStatusType_Value_AccountingOn)
	StatusOff     = Status(rfc2866.AcctStatusType_Value_AccountingOff)
)

// String is the word for logs and tables, "" for others.
func (s Status) String() string {
	switch s {
	case StatusStart:
		return "start"
	case StatusStop:
		return "stop"
	case StatusInterim:
		return "interim"
	case StatusOn:
		return "on"
	case StatusOff:
		return "off"
	}
	return ""
}

// Record is one accounting request. The sink may keep it. Texts are as the router sent them and need not be UTF-8; a
// field that was not sent is zero. Repeats can reach the sink more than once: after the time for which answers are
// kept, after a restart, and when the router gives the repeat a new identifier.
type Record struct {
	NAS             *NAS
	Source          netip.Addr // from which the router sent it
	Status          Status
	SessionID       string // comes again after some restarts of the router; "" for On and Off
	UserName        string
	CallingStation  string
	CalledStation   string
	NASPortID       string
	MAC             MAC // of CallingStation
	Service         Service
	NASPort         uint32
	FramedIP        netip.Addr
	HostIP          netip.Addr
	FramedIPv6      netip.Addr
	FramedPrefix    netip.Prefix // of the link to the customer
	DelegatedPrefix netip.Prefix // for the customer's own networks
	Class           []byte       // as the accept had it
	BytesIn         uint64       // received from the customer in this session
	BytesOut        uint64       // sent to the customer in this session
	Gigawords       bool         // the upper halves of the counters were sent
	SessionTime     time.Duration
	EventAt         time.Time     // when it happened, by the router's clock; zero = not sent
	Delay           time.Duration // since it happened, by the router's count
	TerminateCause  uint32        // RFC 2866, 5.10; 0 = none
	At              time.Time     // when the packet was read, UTC

	socket *socket
	client *client
	key    key
	answer []byte // the reply, unsigned
	done   atomic.Bool
}

// newRecord copies a request that was parsed.
func (w *worker) newRecord(c *client, r *Request) *Record {
	a := &r.accounting
	rec := &Record{
		NAS: c.NAS, Source: w.key.from.Addr().Unmap(), Status: Status(a.status),
		SessionID:      string(r.SessionID),
		UserName:       string(r.UserName),
		CallingStation: string(r.CallingStation), CalledStation: string(r.CalledStation),
		NASPortID: string(r.NASPortID), MAC: r.MAC, Service: r.Service, NASPort: r.NASPort, FramedIP: r.FramedIP,
		HostIP: r.HostIP, FramedIPv6: a.framedIPv6, FramedPrefix: a.framedPrefix, DelegatedPrefix: a.delegatedPrefix,
		Class:   append([]byte(nil), a.class...),
		BytesIn: octets(a.inputGiga, a.input, a.badInput), BytesOut: octets(a.outputGiga, a.output, a.badOutput),
		Gigawords:   r.found&seenGigawords != 0,
		SessionTime: time.Duration(a.sessionTime) * time.Second, Delay: time.Duration(a.delay) * time.Second,
		TerminateCause: a.cause, At: r.At,
		socket: w.socket, client: c, key: w.key, answer: w.receipt(r),
	}
	if a.timestamp != 0 {
		rec.EventAt = time.Unix(int64(a.timestamp), 0).UTC()
	}
	return rec
}

// receipt is the unsigned reply to an accounting request. It has no Message-Authenticator: no RFC defines one here, and
// clients that check one compute it in different ways.
func (w *worker) receipt(r *Request) []byte {
	answer := echoProxies(make(Attributes, headerSize, headerSize+32), r)
	head(answer, r.raw, radius.CodeAccountingResponse)
	return answer
}

// Acknowledge says that the record is durable: the router gets its answer.
func (r *Record) Acknowledge() {
	if r.done.Swap(true) {
		return
	}
	r.client.state.pending.Add(-1)
	s := r.socket
	w := s.server.signers.Get().(*signer)
	w.sign(r.client, r.answer, 0)
	s.server.signers.Put(w)
	s.replies.finish(r.key, r.answer)
	s.count(s.send(r.answer, r.key.from, Acknowledged))
}

// Refuse says that the record will not be durable: the router gets no answer and repeats it later, to this server or to
// another one.
func (r *Record) Refuse() {
	if r.done.Swap(true) {
		return
	}
	r.client.state.pending.Add(-1)
	r.socket.replies.forget(r.key)
	r.socket.count(Refused)
}

// account takes an Accounting-Request whose sender is known.
func (w *worker) account(c *client, r *Request) Result {
	status := Status(r.accounting.status)
	session := status == StatusStart || status == StatusStop || status == StatusInterim
	switch {
	case r.invalid, r.found&seenStatus == 0, session && r.found&seenSessionID == 0:
		return Malformed // RFC 2866, 5: discarded as a whole
	case status.String() == "":
		return w.answer(c, w.signed(c, r), Acknowledged) // nothing to keep, and a repeat would not change that
	case c.state.pending.Load() >= int64(w.limits.Pending):
		w.note(TooMuchPending, c.NAS)
		return Refused
	}
	rec := w.newRecord(c, r)
	w.replies.begin(c.state, w.key, r.At)
	c.state.pending.Add(1)
	taken := false
	defer func() {
		if !taken { // the sink panicked
			rec.Refuse()
		}
	}()
	w.sink.Take(rec)
	taken = true
	return Taken
}

// signed is a receipt with its signature.
func (w *worker) signed(c *client, r *Request) []byte {
	answer := w.receipt(r)
	w.signer.sign(c, answer, 0)
	return answer
}
