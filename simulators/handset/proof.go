package handset

import (
	"bytes"
	"crypto/md5"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/vendors/microsoft"
)

// proof keeps the values with which the server's own proof in MS-CHAPv2 is checked.
type proof struct {
	challenge, peer, answer []byte
	identifier              byte
}

// prove adds the attributes that prove the password of a customer.
func (n *NAS) prove(p *radius.Packet, c Customer) (proof, error) {
	switch c.Method {
	case PAP:
		value, err := radius.NewUserPassword([]byte(c.Password), p.Secret, p.Authenticator[:])
		if err != nil {
			return proof{}, err
		}
		p.Add(rfc2865.UserPassword_Type, value)
		return proof{}, nil
	case MSCHAP, MSCHAPv2:
		return n.msProof(p, c)
	}
	challenge, identifier := n.random(16), n.random(1)
	sum := md5.New()
	sum.Write(identifier)
	sum.Write([]byte(c.Password))
	sum.Write(challenge)
	p.Add(rfc2865.CHAPChallenge_Type, challenge)
	p.Add(rfc2865.CHAPPassword_Type, sum.Sum(identifier))
	return proof{}, nil
}

// msProof adds the proof of either version of MS-CHAP (RFC 2548, 2.1.3 and 2.3.2).
func (n *NAS) msProof(p *radius.Packet, c Customer) (proof, error) {
	pr := proof{identifier: n.random(1)[0]}
	password, err := rfc2759.ToUTF16([]byte(c.Password))
	if err != nil {
		return proof{}, err
	}
	value := make([]byte, 50)
	value[0] = pr.identifier
	if c.Method == MSCHAP {
		pr.challenge = n.random(8)
		value[1] = 1 // the newer hash, the older one is zero
		copy(value[26:], rfc2759.ChallengeResponse(pr.challenge, rfc2759.NTPasswordHash(password)))
		if err := microsoft.MSCHAPChallenge_Add(p, pr.challenge); err != nil {
			return proof{}, err
		}
		return pr, microsoft.MSCHAPResponse_Add(p, value)
	}
	pr.challenge, pr.peer = n.random(16), n.random(16)
	pr.answer, err = rfc2759.GenerateNTResponse(pr.challenge, pr.peer, []byte(c.Name), []byte(c.Password))
	if err != nil {
		return proof{}, err
	}
	copy(value[2:], pr.peer)
	copy(value[26:], pr.answer)
	if err := microsoft.MSCHAPChallenge_Add(p, pr.challenge); err != nil {
		return proof{}, err
	}
	return pr, microsoft.MSCHAP2Response_Add(p, value)
}

// trusted reports whether an accept proves that the server knows the password too, which MS-CHAPv2 demands: a device
// hangs up otherwise.
func (pr proof) trusted(accept *radius.Packet, c Customer) bool {
	if c.Method != MSCHAPv2 {
		return true
	}
	want, err := rfc2759.GenerateAuthenticatorResponse(pr.challenge, pr.peer, pr.answer, []byte(c.Name),
		[]byte(c.Password))
	got := microsoft.MSCHAP2Success_Get(accept)
	return err == nil && bytes.Equal(got, append([]byte{pr.identifier}, want...))
}
