package radius

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"
)

// defaultRefusal is the Reply-Message of a reject to which the directory gave none.
const defaultRefusal = "Access denied."

// Errors of MS-CHAP in a reject (RFC 2759, 6).
const (
	msNoPermission = "649"
	msAuthFailure  = "691"
)

// Reply is an answer in the making. It is valid during the call that gets it.
type Reply struct {
	buffer [maxPacket]byte
	list   Attributes // in buffer, behind the header and the Message-Authenticator; elsewhere when too long
	accept bool
	keys   bool
	silent bool              // the router gets no answer
	after  func(send func()) // nil = the reply is sent at once
}

// begin makes the reply empty: a reject without a message.
func (p *Reply) begin() {
	p.accept, p.keys, p.silent, p.after = false, false, false, nil
	p.list = Attributes(p.buffer[:headerSize+authenticatorAttrSize])
}

// Accept makes the reply an accept with these attributes, which are copied. More can follow by Add and Append.
func (p *Reply) Accept(prepared Attributes) {
	p.begin()
	p.accept = true
	p.list = append(p.list, prepared...)
}

// Reject makes the reply a reject that tells the customer why. A message of more than 253 octets is several attributes.
func (p *Reply) Reject(message string) {
	p.begin()
	for len(message) > 0 {
		n := fitting(message, maxValue)
		p.list = p.list.Text(radius.Type(typeReplyMessage), message[:n])
		message = message[n:]
	}
}

// Silence lets the router have no answer, where a reject could be wrong: it keeps the sessions that it has.
func (p *Reply) Silence() { p.silent = true }

// Add is Attributes.Number for the reply, for what differs from one reply to the next, such as a session timeout.
func (p *Reply) Add(t radius.Type, value uint32) { p.list = p.list.Number(t, value) }

// Append adds more attributes of any kind, which are copied.
func (p *Reply) Append(more Attributes) { p.list = append(p.list, more...) }

// After has an accept sent later, for what must be durable before the customer is let in. after is called once, when
// the reply is complete, and must not block; it has send called once, from any goroutine. Repeats of the request get
// no answer until then.
func (p *Reply) After(after func(send func())) { p.after = after }

// EncryptionKeys adds the session keys that routers need to encrypt the customer's link, when an accepted proof was
// MS-CHAP.
func (p *Reply) EncryptionKeys() { p.keys = true }

// finish completes the reply to an Access-Request and returns its octets, which are valid until the next reply. It
// returns nil when they are too many for a packet.
func (w *worker) finish(c *client, q Question) ([]byte, error) {
	p, r := &w.reply, q.Request
	if p.accept && q.Outcome != Verified {
		p.Reject(defaultRefusal)
	}
	code := radius.CodeAccessAccept
	if p.accept {
		if err := w.proveMS(c, q); err != nil {
			return nil, err
		}
	} else {
		code = radius.CodeAccessReject
		if len(p.list) == headerSize+authenticatorAttrSize {
			p.Reject(defaultRefusal)
		}
		p.list = refuseMS(p.list, q)
	}
	return w.seal(c, r, code), nil
}

// proveMS adds the server's own proof and the keys to the accept of a proof by MS-CHAP.
func (w *worker) proveMS(c *client, q Question) (err error) {
	p, r := &w.reply, q.Request
	if r.Method != MethodMSCHAP1 && r.Method != MethodMSCHAP2 || q.Credential.ByMAC {
		return nil
	}
	double := rfc2759.NTPasswordHash(q.Credential.NTHash[:])
	if r.Method == MethodMSCHAP2 {
		p.list = p.list.Vendor(VendorMicrosoft, msCHAP2Success, w.msSuccess(r, double))
	}
	if p.keys {
		p.list, err = w.mppeKeys(p.list, c, r, double)
	}
	return err
}

// seal adds what every answer to an access or status request has: Proxy-State in order, header, and first of all
// attributes the Message-Authenticator, so that nobody can choose the beginning of what is hashed.
func (w *worker) seal(c *client, r *Request, code radius.Code) []byte {
	list := echoProxies(w.reply.list, r)
	if len(list) > maxPacket {
		return nil
	}
	head(list, r.raw, code)
	list[headerSize], list[headerSize+1] = typeAuthenticator, authenticatorAttrSize
	copy(list[headerSize+2:], w.signer.zero[:])
	w.signer.sign(c, list, headerSize+2)
	return list
}

// head writes the header of a reply with the authenticator of the request.
func head(reply, request []byte, code radius.Code) {
	reply[0], reply[1] = byte(code), request[1]
	binary.BigEndian.PutUint16(reply[2:], uint16(len(reply)))
	copy(reply[4:headerSize], request[4:headerSize])
}

// echoProxies appends the Proxy-State attributes of the request in their order (RFC 2865, 5.33).
func echoProxies(to Attributes, r *Request) Attributes {
	if r.proxies == 0 {
		return to
	}
	for rest := r.raw[headerSize:]; len(rest) > 0; rest = rest[rest[1]:] {
		if rest[0] == typeProxyState && rest[1] > 2 {
			to = append(to, rest[:rest[1]]...)
		}
	}
	return to
}

// refuseMS appends MS-CHAP-Error when the request had an answer of MS-CHAP (RFC 2548, 2.1.5). It asks for no other try.
func refuseMS(to Attributes, q Question) Attributes {
	r := q.Request
	number := msAuthFailure
	if q.Outcome == Verified {
		number = msNoPermission
	}
	switch {
	case r.Method == MethodMSCHAP1 && len(r.proof.msResponse) > 0:
		return to.Vendor(VendorMicrosoft, msCHAPError,
			append([]byte{r.proof.msResponse[0]}, "E="+number+" R=0"...))
	case r.Method == MethodMSCHAP2 && len(r.proof.ms2Response) > 0:
		var challenge [msChallenge2Size]byte
		rand.Read(challenge[:]) // never fails
		return to.Vendor(VendorMicrosoft, msCHAPError, append([]byte{r.proof.ms2Response[0]},
			"E="+number+" R=0 C="+hex.EncodeToString(challenge[:])+" V=3 M=Access denied"...))
	}
	return to
}
