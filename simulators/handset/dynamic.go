package handset

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc3576"
)

// The error causes that a NAS gives (docs/facts/radius.md#error-causes); 0 = acknowledged.
const (
	unsupported  = 401
	missing      = 402
	otherNAS     = 403
	invalidValue = 407
	noSession    = 503
	notRemovable = 504
)

// replies keeps the newest answers to requests of the server, so that a repeat gets the same answer and acts once.
type replies struct {
	list [64]struct {
		from   netip.AddrPort
		head   [headerSize]byte // of the request: its authenticator covers the rest
		answer []byte           // nil while it is delayed
	}
	next int
}

// listen takes requests to change and to end sessions until the socket is closed.
func (n *NAS) listen(context.Context) {
	buffer := make([]byte, radius.MaxPacketLength)
	for {
		size, from, err := n.coa.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			n.change(append([]byte(nil), buffer[:size]...), from)
		}
	}
}

// change handles one request. What does not come from the server, with its secret, gets no answer.
func (n *NAS) change(packet []byte, from netip.AddrPort) {
	var p *radius.Packet
	if n.cfg.Hears == nil || n.cfg.Hears() {
		p = request(packet, from, n.servers("", ""))
	}
	n.lock()
	defer n.unlock()
	if p == nil {
		n.stats.Ignored++
		return
	}
	for i := range n.replies.list {
		if kept := &n.replies.list[i]; kept.from == from && kept.head == [headerSize]byte(packet) {
			if kept.answer != nil {
				_, _ = n.coa.WriteToUDPAddrPort(kept.answer, from)
			}
			return
		}
	}
	if n.faults.Dynamic == Silent {
		return
	}
	place := n.replies.next
	n.replies.next = (place + 1) % len(n.replies.list)
	kept := &n.replies.list[place]
	kept.from, kept.head, kept.answer = from, [headerSize]byte(packet), nil
	answer := n.verdict(packet, p, n.obey(p))
	send := func() {
		kept.answer = answer
		n.later(func() { _, _ = n.coa.WriteToUDPAddrPort(answer, from) }) // after the hooks
	}
	if n.faults.Dynamic != Slow {
		send()
		return
	}
	n.agenda.at(n.clock.Now().Add(time.Duration(n.faults.DynamicDelayMs)*time.Millisecond), func() {
		n.lock()
		defer n.unlock()
		send()
	})
}

// request parses a request to change or to end a session that one of the servers has sent; nil = none has.
func request(packet []byte, from netip.AddrPort, servers []Server) *radius.Packet {
	for _, at := range servers {
		p, err := radius.Parse(packet, at.Secret)
		if err == nil && from.Addr().Unmap() == at.Access.Addr().Unmap() && trusted(packet, p) &&
			(p.Code == radius.CodeDisconnectRequest || p.Code == radius.CodeCoARequest) {
			return p
		}
	}
	return nil
}

// trusted checks the signatures of a request that was parsed (RFC 5176, 2.3 and 3.4).
func trusted(packet []byte, p *radius.Packet) bool {
	packet = packet[:headerSize+attributesSize(p)] // what follows is padding
	if !radius.IsAuthenticRequest(packet, p.Secret) {
		return false
	}
	place := signPlace(packet)
	return place == 0 || place > 0 && signedBy(packet, place, make([]byte, 16), p.Secret)
}

// verdict makes the answer to a request. It is signed like the request.
func (n *NAS) verdict(packet []byte, p *radius.Packet, cause uint32) []byte {
	code := p.Code + 1
	if cause != 0 {
		code++
		n.stats.Refused++
	} else if p.Code == radius.CodeCoARequest {
		n.stats.Changed++
	} else {
		n.stats.Disconnected++
	}
	answer := p.Response(code)
	signed := signPlace(packet[:headerSize+attributesSize(p)]) > 0
	if signed {
		answer.Add(radius.Type(signType), make([]byte, signSize-2))
	}
	if cause != 0 {
		number(answer, rfc3576.ErrorCause_Type, cause)
	}
	for _, a := range p.Attributes {
		if a.Type == rfc2865.ProxyState_Type {
			answer.Add(a.Type, a.Attribute)
		}
	}
	if signed {
		if unsigned, err := answer.MarshalBinary(); err == nil {
			answer.Attributes[0].Attribute = keyed(p.Secret, unsigned)
		}
	}
	octets, _ := answer.Encode() // nil for a request so full that no answer fits
	return octets
}

// attributesSize is the length of the attributes of a packet, in octets.
func attributesSize(p *radius.Packet) int {
	size := 0
	for _, a := range p.Attributes {
		size += 2 + len(a.Attribute)
	}
	return size
}

// obey does what a request asks and gives the error cause, 0 when it is done. The lock is held.
func (n *NAS) obey(p *radius.Packet) uint32 {
	s, cause := n.named(p)
	switch {
	case cause != 0:
		return cause
	case n.faults.Dynamic == Refuse:
		return notRemovable
	case n.faults.Dynamic == Deny:
		return noSession
	case p.Code == radius.CodeDisconnectRequest:
		n.drop(s, n.clock.Now(), AdminReset)
		return 0
	}
	return n.turn(s, p)
}

// named finds the session that all of a request's identification fits. A hotspot's must name its address.
func (n *NAS) named(p *radius.Packet) (*session, uint32) {
	if own, err := rfc2865.NASIPAddress_Lookup(p); err == nil {
		if a, ok := netip.AddrFromSlice(own.To4()); !ok || a != n.cfg.Address {
			return nil, otherNAS
		}
	}
	user, userErr := rfc2865.UserName_LookupString(p)
	id, idErr := rfc2866.AcctSessionID_LookupString(p)
	framed, framedErr := rfc2865.FramedIPAddress_Lookup(p)
	address, _ := netip.AddrFromSlice(framed.To4())
	fits := func(s *session) bool {
		return (userErr != nil || s.customer.Name == user) && (idErr != nil || s.id == id) &&
			(framedErr != nil || s.address == address)
	}
	var found *session
	switch {
	case idErr == nil:
		found = n.sessions[id]
	case framedErr == nil:
		found = n.pools.used[address]
	case userErr == nil:
		for _, s := range n.sessions {
			if fits(s) && (found == nil || s.id < found.id) {
				found = s
			}
		}
	default:
		return nil, missing
	}
	switch {
	case found == nil || found.started.IsZero() || !fits(found):
		return nil, noSession
	case found.customer.Service == Hotspot && framedErr != nil:
		return nil, missing
	}
	return found, 0
}
