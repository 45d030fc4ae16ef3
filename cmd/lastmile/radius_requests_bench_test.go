package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // RADIUS demands it
	"encoding/binary"
	"encoding/hex"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/vendors/microsoft"
)

// signInRequest is a sign-in and what its answer must contain.
type signInRequest struct{ packet, proof []byte }

// signIns are ready requests of the subscribers of a town, for so many callers, of whom each takes every so manyth one.
// Their identifiers are in order. They are more than a caller sends from one port.
func (t *town) signIns(b *testing.B, callers int, prove func(*radius.Packet, int) ([]byte, error)) []signInRequest {
	b.Helper()
	list := make([]signInRequest, max(t.subscribers, portTurns*callers)/callers*callers)
	for n := range list {
		p := radius.New(radius.CodeAccessRequest, []byte(townSecret))
		p.Identifier = byte(n / callers)
		port(b, p, n%t.subscribers)
		proof, err := prove(p, n%t.subscribers)
		if err != nil {
			b.Fatal(err)
		}
		if err := rfc2869.MessageAuthenticator_Set(p, make([]byte, md5.Size)); err != nil {
			b.Fatal(err)
		}
		packet, err := p.Encode()
		if err != nil {
			b.Fatal(err)
		}
		mac := hmac.New(md5.New, []byte(townSecret))
		mac.Write(packet)
		copy(packet[len(packet)-md5.Size:], mac.Sum(nil))
		list[n] = signInRequest{packet, proof}
	}
	return list
}

// port adds the attributes that a router begins a packet about the PPPoE session of a subscriber with.
func port(b *testing.B, p *radius.Packet, n int) {
	b.Helper()
	name, _, mac := townCustomer(n)
	for _, err := range []error{
		rfc2865.ServiceType_Add(p, rfc2865.ServiceType_Value_FramedUser),
		rfc2865.FramedProtocol_Add(p, rfc2865.FramedProtocol_Value_PPP),
		rfc2865.NASPort_Add(p, 0x81a00012), rfc2865.NASPortType_Add(p, rfc2865.NASPortType_Value_Ethernet),
		rfc2865.UserName_AddString(p, name), rfc2865.CallingStationID_AddString(p, mac),
		rfc2865.CalledStationID_AddString(p, "service1"), rfc2869.NASPortID_AddString(p, "ether2"),
		rfc2866.AcctSessionID_AddString(p, "81a00012"), rfc2865.NASIdentifier_AddString(p, "MikroTik"),
		rfc2865.NASIPAddress_Add(p, townRouter(n).AsSlice()),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
}

// provePAP adds the hidden password.
func provePAP(p *radius.Packet, n int) ([]byte, error) {
	_, password, _ := townCustomer(n)
	value, err := radius.NewUserPassword([]byte(password), p.Secret, p.Authenticator[:])
	p.Add(rfc2865.UserPassword_Type, value)
	return nil, err
}

// proveCHAP adds the answer to a challenge.
func proveCHAP(p *radius.Packet, n int) ([]byte, error) {
	_, password, _ := townCustomer(n)
	sum := md5.Sum([]byte("\x05" + password + string(p.Authenticator[:]))) //nolint:gosec // RADIUS demands it
	p.Add(rfc2865.CHAPChallenge_Type, p.Authenticator[:])
	return nil, rfc2865.CHAPPassword_Set(p, append([]byte{5}, sum[:]...))
}

// proveMSCHAPv2 adds the answer to a challenge. The accept must contain the proof that the server knows the password.
func proveMSCHAPv2(p *radius.Packet, n int) ([]byte, error) {
	name, password, _ := townCustomer(n)
	response := make([]byte, 50)
	copy(response[2:], peerChallenge)
	answer, err := rfc2759.GenerateNTResponse(ourChallenge, peerChallenge, []byte(name), []byte(password))
	if err != nil {
		return nil, err
	}
	copy(response[26:], answer)
	if err := microsoft.MSCHAPChallenge_Add(p, ourChallenge); err != nil {
		return nil, err
	}
	if err := microsoft.MSCHAP2Response_Add(p, response); err != nil {
		return nil, err
	}
	proof, err := rfc2759.GenerateAuthenticatorResponse(ourChallenge, peerChallenge, answer, []byte(name),
		[]byte(password))
	return []byte(proof), err
}

// reporter makes the accounting requests of a town, of which only some octets differ. Not safe for concurrent use.
type reporter struct {
	packet                                []byte
	name, mac, session, seconds, in, down int // where the values are
}

// Values in the template of a report, which are found in its octets.
const (
	blankSession = "5E551014"
	blankSeconds = 0x5EC05EC0
	blankIn      = 0x0C7E7501
	blankOut     = 0x0C7E7502
)

// newReporter makes the template for one kind of report.
func newReporter(b *testing.B, router int, kind rfc2866.AcctStatusType) *reporter {
	b.Helper()
	p := radius.New(radius.CodeAccountingRequest, []byte(townSecret))
	port(b, p, router)
	for _, err := range []error{
		rfc2866.AcctSessionID_SetString(p, blankSession), rfc2866.AcctStatusType_Add(p, kind),
		rfc2866.AcctAuthentic_Add(p, rfc2866.AcctAuthentic_Value_RADIUS), rfc2866.AcctDelayTime_Add(p, 0),
		rfc2866.AcctSessionTime_Add(p, blankSeconds), rfc2866.AcctInputOctets_Add(p, blankIn),
		rfc2866.AcctOutputOctets_Add(p, blankOut), rfc2865.FramedIPAddress_Add(p, []byte{100, 64, 0, 1}),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
	packet, err := p.Encode()
	if err != nil {
		b.Fatal(err)
	}
	number := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	name, _, mac := townCustomer(router)
	return &reporter{
		packet: packet, name: offset(b, packet, []byte(name)), mac: offset(b, packet, []byte(mac)),
		session: offset(b, packet, []byte(blankSession)), seconds: offset(b, packet, number(blankSeconds)),
		in: offset(b, packet, number(blankIn)), down: offset(b, packet, number(blankOut)),
	}
}

// offset is where octets are in a packet.
func offset(b *testing.B, packet, octets []byte) int {
	b.Helper()
	at := bytes.Index(packet, octets)
	if at < 0 {
		b.Fatalf("no %x in the template", octets)
	}
	return at
}

// about is the request about a session of a subscriber that is online for some seconds.
func (r *reporter) about(subscriber, session int, seconds uint32, identifier byte) []byte {
	name, _, mac := townCustomer(subscriber)
	p := r.packet
	p[1] = identifier
	copy(p[r.name:], name)
	copy(p[r.mac:], mac)
	hex.Encode(p[r.session:], binary.BigEndian.AppendUint32(nil, uint32(session))) //nolint:gosec // fits
	binary.BigEndian.PutUint32(p[r.seconds:], seconds)
	binary.BigEndian.PutUint32(p[r.in:], seconds*1000)
	binary.BigEndian.PutUint32(p[r.down:], seconds*9000)
	clear(p[4:20])
	h := md5.New() //nolint:gosec // RADIUS demands it
	h.Write(p)
	h.Write([]byte(townSecret))
	h.Sum(p[4:4])
	return p
}

// newReports makes the reports of so many callers. about gives what report n is about: subscriber, session, and seconds
// online. Caller c sends the reports c, c + flight, and so on.
func newReports(
	b *testing.B, flight int, kind rfc2866.AcctStatusType, about func(n int) (subscriber, session int, seconds uint32),
) next {
	b.Helper()
	reporters := make([]*reporter, flight)
	for n := range reporters {
		reporters[n] = newReporter(b, n, kind)
	}
	return func(it *caller) ([]byte, byte, []byte) {
		subscriber, session, seconds := about(it.number + it.turn*flight)
		return reporters[it.number].about(subscriber, session, seconds, byte(it.turn)),
			byte(radius.CodeAccountingResponse), nil
	}
}
