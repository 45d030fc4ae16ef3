// Package coa asks routers to change or to end a session: CoA-Request and Disconnect-Request of RFC 5176. The router
// listens on a port of its own (3799), and only to servers that its RADIUS settings list with the same secret.
//
// Repeat: a request that gets no answer is sent again with the same octets, so a router that saw the first one does the
// work once. Forgery: an answer counts only when it comes from the address that was asked and its response
// authenticator was made with the secret, and its Message-Authenticator too where there is one; anything else is
// passed over as if it had not come. Late: the socket of a request that failed stays open for a while, and a genuine
// answer that still comes is told to whoever asked; the next requests to that router wait as long, until one is
// answered in the usual time. Crash: nothing is kept, so whoever asked asks again; to end a session that is gone gives
// the cause SessionNotFound, which Gone reports.
package coa

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3576"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ErrNoAnswer is for a router that did not answer in time, or not with its secret: nobody knows what it did.
var ErrNoAnswer = errors.New("the router did not answer")

// Cause is the Error-Cause of an answer, 0 for none (docs/facts/radius.md#error-causes).
type Cause uint32

// The causes that routers give.
const (
	UnsupportedAttribute   = Cause(rfc3576.ErrorCause_Value_UnsupportedAttribute)
	MissingAttribute       = Cause(rfc3576.ErrorCause_Value_MissingAttribute)
	NASMismatch            = Cause(rfc3576.ErrorCause_Value_NASIdentificationMismatch)
	InvalidRequest         = Cause(rfc3576.ErrorCause_Value_InvalidRequest)
	UnsupportedService     = Cause(rfc3576.ErrorCause_Value_UnsupportedService)
	UnsupportedExtension   = Cause(rfc3576.ErrorCause_Value_UnsupportedExtension)
	InvalidValue           = Cause(407) // RFC 5176, 3.5
	Prohibited             = Cause(rfc3576.ErrorCause_Value_AdministrativelyProhibited)
	SessionNotFound        = Cause(rfc3576.ErrorCause_Value_SessionContextNotFound)
	SessionNotRemovable    = Cause(rfc3576.ErrorCause_Value_SessionContextNotRemovable)
	ResourcesUnavailable   = Cause(rfc3576.ErrorCause_Value_ResourcesUnavailable)
	SeveralSessions        = Cause(508) // RFC 5176, 3.5
	authenticatorAttribute = rfc2869.MessageAuthenticator_Type
)

// String is the name in the standards, or the number.
func (c Cause) String() string {
	switch c {
	case 0:
		return ""
	case InvalidValue:
		return "Invalid-Attribute-Value"
	case SeveralSessions:
		return "Multiple-Session-Selection-Unsupported"
	}
	return rfc3576.ErrorCause(c).String()
}

// Router is the one that is asked, at the address where it takes requests.
type Router struct {
	Org     id.Organization // whose it is: late answers are waited for in equal shares
	Address netip.AddrPort
	Secret  []byte
	// Late is called when the genuine answer comes after the request has failed, at most once, by another goroutine;
	// nil = nobody wants to know.
	Late func()
}

// Session names the session. Routers find it by all that is given, so each part must be right; hotspots insist on the
// address.
type Session struct {
	UserName  string
	SessionID string // Acct-Session-Id
	FramedIP  netip.Addr
	NASIP     netip.Addr // of the router itself; left out when it is zero
}

// isSessionAddress reports whether an address can name a session: one of zeros is of none, and a router refuses it.
func (Session) isSessionAddress(a netip.Addr) bool {
	return a.Unmap().Is4() && !a.IsUnspecified() && !a.Unmap().IsUnspecified()
}

// Answer is the verdict of the router.
type Answer struct {
	Done  bool  // it acknowledged
	Cause Cause // why it refused
}

// Gone reports that the session does not exist: for a disconnect that is success.
func (a Answer) Gone() bool { return !a.Done && a.Cause == SessionNotFound }

// Client asks routers. The zero value asks from any address of this machine, with the usual pauses. Safe for concurrent
// use.
type Client struct {
	// Local is the address to ask from, which must be one that the router lists; zero = the operating system chooses.
	Local netip.Addr
	// Tries is how often a request is sent at most, 0 = 4.
	Tries int
	// Pause is the wait for an answer after the first sending; it doubles each time. 0 = 1 s.
	Pause time.Duration

	late late
}

// The usual values of Client.
const (
	usualTries = 4
	usualPause = time.Second
)

// Disconnect asks to end a session. It fails with ErrNoAnswer, or because ctx ended.
func (c *Client) Disconnect(ctx context.Context, to Router, s Session) (Answer, error) {
	return c.ask(ctx, to, radius.CodeDisconnectRequest, s, nil)
}

// Change asks to change attributes of a session, given as they would stand in an accept. It fails like Disconnect.
func (c *Client) Change(ctx context.Context, to Router, s Session, changes []byte) (Answer, error) {
	return c.ask(ctx, to, radius.CodeCoARequest, s, changes)
}

// ask sends a request until there is an answer.
func (c *Client) ask(ctx context.Context, to Router, code radius.Code, s Session, changes []byte) (Answer, error) {
	request, err := encode(code, to.Secret, s, changes)
	if err != nil {
		return Answer{}, fmt.Errorf("encode %s: %w", code, err)
	}
	dialer := net.Dialer{}
	if c.Local.IsValid() {
		dialer.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.Local, 0))
	}
	conn, err := dialer.DialContext(ctx, "udp", to.Address.String()) // connected: takes packets of this address alone
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	kept := false
	defer func() {
		if !kept {
			_ = conn.Close()
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	tries, pause := c.Tries, c.Pause
	if tries <= 0 {
		tries = usualTries
	}
	if pause <= 0 {
		pause = usualPause
	}
	machine := clock.Steady(clock.System())
	began := machine.Now()
	for ; tries > 0 && ctx.Err() == nil; tries, pause = tries-1, 2*pause {
		if _, err = conn.Write(request); err != nil {
			continue // the last try was refused by the router's machine
		}
		usual := machine.Now().Add(pause)
		until := usual
		if known := began.Add(c.late.patience(to.Address)); tries == 1 && known.After(until) {
			until = known
		}
		if err = conn.SetReadDeadline(until); err != nil || ctx.Err() != nil {
			break
		}
		if answer, ok := await(conn, request, to.Secret); ok {
			if !machine.Now().After(usual) {
				c.late.forget(to.Address)
			}
			return answer, nil
		}
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if err == nil && to.Late != nil {
		kept = stop() && c.late.keep(conn, request, to, began)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	return Answer{}, ErrNoAnswer
}

// encode makes the octets of a request: with a random identifier, Message-Authenticator first, and the request
// authenticator over all of it (RFC 5176, 2.3 and 3.4).
func encode(code radius.Code, secret []byte, s Session, changes []byte) ([]byte, error) {
	if len(secret) == 0 {
		return nil, errors.New("no secret")
	}
	if s.UserName == "" && s.SessionID == "" && !s.isSessionAddress(s.FramedIP) {
		return nil, errors.New("nothing names the session")
	}
	p := &radius.Packet{Code: code, Secret: secret}
	var identifier [1]byte
	rand.Read(identifier[:]) // never fails
	p.Identifier = identifier[0]
	p.Add(authenticatorAttribute, make([]byte, md5.Size))
	for _, text := range []struct {
		t     radius.Type
		value string
	}{{rfc2865.UserName_Type, s.UserName}, {rfc2866.AcctSessionID_Type, s.SessionID}} {
		if text.value != "" {
			p.Add(text.t, radius.Attribute(text.value))
		}
	}
	for _, address := range []struct {
		t     radius.Type
		value netip.Addr
	}{{rfc2865.FramedIPAddress_Type, s.FramedIP}, {rfc2865.NASIPAddress_Type, s.NASIP}} {
		if s.isSessionAddress(address.value) {
			p.Add(address.t, address.value.Unmap().AsSlice())
		}
	}
	more, err := radius.ParseAttributes(changes)
	if err != nil {
		return nil, err
	}
	p.Attributes = append(p.Attributes, more...)
	unsigned, err := p.MarshalBinary()
	if err != nil {
		return nil, err
	}
	p.Attributes[0].Attribute = keyed(secret, unsigned)
	return p.Encode()
}

// keyed is the HMAC-MD5 of a packet.
func keyed(secret, packet []byte) []byte {
	sum := hmac.New(md5.New, secret)
	sum.Write(packet)
	return sum.Sum(nil)
}

// await reads until the answer comes or the connection's deadline is over.
func await(conn net.Conn, request, secret []byte) (Answer, bool) {
	buffer := make([]byte, radius.MaxPacketLength)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return Answer{}, false
		}
		if answer, ok := decode(buffer[:n], request, secret); ok {
			return answer, true
		}
	}
}

// decode reads an answer. ok is false unless it is the genuine answer to the request.
func decode(datagram, request, secret []byte) (answer Answer, ok bool) {
	p, err := radius.Parse(datagram, secret)
	if err != nil || datagram[1] != request[1] {
		return Answer{}, false
	}
	packet := datagram[:binary.BigEndian.Uint16(datagram[2:4])]
	ask := radius.Code(request[0])
	if p.Code != ask+1 && p.Code != ask+2 { // acknowledged, refused
		return Answer{}, false
	}
	if !genuine(packet, request, secret) {
		return Answer{}, false
	}
	answer.Done = p.Code == ask+1
	if cause, err := radius.Integer(p.Get(rfc3576.ErrorCause_Type)); err == nil && !answer.Done {
		answer.Cause = Cause(cause)
	}
	return answer, true
}

// genuine checks the response authenticator, and the Message-Authenticator where there is one. The packet has been
// parsed, so its lengths add up.
func genuine(packet, request, secret []byte) bool {
	sum := md5.New()
	sum.Write(packet[:4])
	sum.Write(request[4:20])
	sum.Write(packet[20:])
	sum.Write(secret)
	if !hmac.Equal(sum.Sum(nil), packet[4:20]) {
		return false
	}
	unsigned := append([]byte(nil), packet...)
	copy(unsigned[4:20], request[4:20])
	for place := 20; place < len(packet); place += int(packet[place+1]) {
		if packet[place] != byte(authenticatorAttribute) {
			continue
		}
		if packet[place+1] != 2+md5.Size {
			return false
		}
		value := unsigned[place+2 : place+2+md5.Size]
		clear(value)
		return hmac.Equal(keyed(secret, unsigned), packet[place+2:place+2+md5.Size])
	}
	return true
}
