package handset

import (
	"crypto/hmac"
	"crypto/md5"
	"encoding/binary"

	"layeh.com/radius"
	"layeh.com/radius/rfc2869"
)

// Places in a packet (RFC 2865, 3).
const (
	headerSize = 20
	signSize   = 2 + md5.Size // of Message-Authenticator
	signType   = byte(rfc2869.MessageAuthenticator_Type)
)

// keyed is the HMAC-MD5 of a packet.
func keyed(secret, packet []byte) []byte {
	sum := hmac.New(md5.New, secret)
	sum.Write(packet)
	return sum.Sum(nil)
}

// signLast appends a Message-Authenticator to an Access-Request, where RouterOS has it.
func signLast(packet, secret []byte) []byte {
	packet = append(packet, signType, signSize)
	packet = append(packet, make([]byte, md5.Size)...)
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
	copy(packet[len(packet)-md5.Size:], keyed(secret, packet))
	return packet
}

// signPlace is the place of the Message-Authenticator's value; 0 = there is none, -1 = the packet is broken.
func signPlace(packet []byte) int {
	for place := headerSize; place < len(packet); {
		if len(packet)-place < 2 || packet[place+1] < 2 || int(packet[place+1]) > len(packet)-place {
			return -1
		}
		if packet[place] == signType {
			if packet[place+1] != signSize {
				return -1
			}
			return place + 2
		}
		place += int(packet[place+1])
	}
	return 0
}

// signedBy reports whether the Message-Authenticator at a place was made with the secret, for a packet that is summed
// with the given authenticator.
func signedBy(packet []byte, place int, authenticator, secret []byte) bool {
	unsigned := append([]byte(nil), packet...)
	copy(unsigned[4:headerSize], authenticator)
	clear(unsigned[place : place+md5.Size])
	return hmac.Equal(keyed(secret, unsigned), packet[place:place+md5.Size])
}

// genuine reports whether an answer belongs to a request and was made with the secret. An answer to an Access-Request
// must begin with a valid Message-Authenticator where the router demands it; a wrong one is never taken.
func genuine(answer, request, secret []byte, demand bool) bool {
	if len(answer) < headerSize || len(answer) < int(binary.BigEndian.Uint16(answer[2:])) || answer[1] != request[1] {
		return false
	}
	answer = answer[:binary.BigEndian.Uint16(answer[2:])]
	if !radius.IsAuthenticResponse(answer, request, secret) || !answers(answer[0], request[0]) {
		return false
	}
	if radius.Code(request[0]) != radius.CodeAccessRequest {
		return true
	}
	place := signPlace(answer)
	if place == 0 {
		return !demand
	}
	return (place == headerSize+2 || place > 0 && !demand) &&
		signedBy(answer, place, request[4:headerSize], secret)
}

// answers reports whether one code answers the other one.
func answers(answer, request byte) bool {
	switch radius.Code(request) {
	case radius.CodeAccessRequest:
		return radius.Code(answer) == radius.CodeAccessAccept || radius.Code(answer) == radius.CodeAccessReject
	case radius.CodeAccountingRequest:
		return radius.Code(answer) == radius.CodeAccountingResponse
	}
	return false
}
