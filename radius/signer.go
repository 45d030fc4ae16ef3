package radius

import (
	"crypto/md5"
	"crypto/subtle"
	"hash"
)

// signer computes the sums of the protocol without allocating. For one goroutine.
type signer struct {
	hash hash.Hash
	sum  [md5.Size]byte
	kept [md5.Size]byte
	zero [md5.Size]byte
}

// newSigner allocates the one hash that the signer uses for all sums.
func newSigner() *signer { return &signer{hash: md5.New()} }

// plain is the MD5 of the parts. The result is overwritten by the next call of any method.
func (s *signer) plain(parts ...[]byte) *[md5.Size]byte {
	s.hash.Reset()
	for _, part := range parts {
		s.hash.Write(part)
	}
	s.hash.Sum(s.sum[:0])
	return &s.sum
}

// keyed is the HMAC-MD5 of a message with the secret of a client.
func (s *signer) keyed(c *client, message []byte) *[md5.Size]byte {
	s.hash.Reset()
	s.hash.Write(c.inner[:])
	s.hash.Write(message)
	s.hash.Sum(s.sum[:0])
	s.hash.Reset()
	s.hash.Write(c.outer[:])
	s.hash.Write(s.sum[:])
	s.hash.Sum(s.sum[:0])
	return &s.sum
}

// authentic reports whether the Message-Authenticator at a place of the packet was made with the secret of the client
// (RFC 3579, 3.2). The packet is the same afterwards.
func (s *signer) authentic(c *client, packet []byte, place int) bool {
	value := packet[place : place+md5.Size]
	copy(s.kept[:], value)
	copy(value, s.zero[:])
	sum := s.keyed(c, packet)
	copy(value, s.kept[:])
	return subtle.ConstantTimeCompare(sum[:], s.kept[:]) == 1
}

// accounted reports whether the request authenticator of an Accounting-Request was made with the secret of the client
// (RFC 2866, 3).
func (s *signer) accounted(c *client, packet []byte) bool {
	sum := s.plain(packet[:4], s.zero[:], packet[headerSize:], c.Secret)
	return subtle.ConstantTimeCompare(sum[:], packet[4:headerSize]) == 1
}

// sign completes a reply that carries the authenticator of its request: first the Message-Authenticator, whose value is
// zero so far, at its place (0 = none), then the response authenticator (RFC 2865, 3).
func (s *signer) sign(c *client, reply []byte, place int) {
	if place > 0 {
		copy(reply[place:], s.keyed(c, reply)[:])
	}
	copy(reply[4:], s.plain(reply, c.Secret)[:])
}
