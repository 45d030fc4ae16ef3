package radius

import (
	"bytes"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc3079"
)

// Sizes of proofs.
const (
	maxPassword       = 128 // octets, encrypted (RFC 2865, 5.2)
	chapSize          = 17  // identifier and hash
	msResponseSize    = 50  // of both versions (RFC 2548, 2.1.3 and 2.3.2)
	msChallenge1Size  = 8
	msChallenge2Size  = 16
	msFlagNTResponse  = 1
	ntResponseAt      = 26 // place of the answer in both responses
	peerChallengeAt   = 2
	peerChallengeSize = 16
)

// verify checks the proof of a request against a credential, which may be nil.
func (w *worker) verify(c *client, r *Request, cred *Credential) Outcome {
	switch {
	case r.invalid || r.found&seenUserName == 0:
		return BadRequest
	case cred != nil && cred.ByMAC:
		if r.MACLogin {
			return Verified
		}
		return WrongPassword
	}
	ok, outcome := false, r.form()
	switch {
	case outcome != Verified:
		return outcome
	case cred == nil:
		return UnknownUser
	case r.Method == MethodPAP:
		ok = w.pap(c, r, cred)
	case r.Method == MethodCHAP:
		ok = w.chap(r, cred)
	case r.Method == MethodMSCHAP1:
		ok = msAnswers(r, cred, r.proof.msChallenge)
	case r.Method == MethodMSCHAP2:
		ok = w.mschap2(r, cred)
	}
	if ok && len(cred.Password) > 0 {
		return Verified
	}
	return WrongPassword
}

// form checks that the attributes of the one method are complete. It returns Verified when they are.
func (r *Request) form() Outcome {
	p := &r.proof
	good := true
	switch r.Method {
	case MethodNone:
		if r.found&(seenPassword|seenCHAP|seenMSResponse|seenMS2Response) != 0 {
			return BadRequest // several at once
		}
		return NoProof
	case MethodPAP:
		good = len(p.password) <= maxPassword && len(p.password)%16 == 0
	case MethodCHAP:
		good = len(p.chap) == chapSize
	case MethodMSCHAP1:
		good = len(p.msResponse) == msResponseSize && len(p.msChallenge) == msChallenge1Size
		if good && p.msResponse[1]&msFlagNTResponse == 0 {
			return NoProof // the older hash alone
		}
	case MethodMSCHAP2:
		good = len(p.ms2Response) == msResponseSize && len(p.msChallenge) == msChallenge2Size
	}
	if !good {
		return BadRequest
	}
	return Verified
}

// pap decrypts User-Password (RFC 2865, 5.2) and compares it. A text that no person typed makes the secret doubtful.
func (w *worker) pap(c *client, r *Request, cred *Credential) bool {
	plain := w.password[:len(r.proof.password)]
	last := r.raw[4:headerSize]
	for i := 0; i < len(plain); i += 16 {
		block := r.proof.password[i : i+16]
		subtle.XORBytes(plain[i:], block, w.signer.plain(c.Secret, last)[:])
		last = block
	}
	plain = bytes.TrimRight(plain, "\x00")
	if subtle.ConstantTimeCompare(plain, cred.Password) == 1 {
		return true
	}
	if r.ma == 0 && !utf8.Valid(plain) {
		w.note(SecretDoubtful, c.NAS)
	}
	return false
}

// chap compares CHAP-Password with the hash of identifier, password and challenge (RFC 1994, 4.1). Without
// CHAP-Challenge the request authenticator is the challenge.
func (w *worker) chap(r *Request, cred *Credential) bool {
	challenge := r.proof.challenge
	if r.found&seenChallenge == 0 {
		challenge = r.raw[4:headerSize]
	}
	sum := w.signer.plain(r.proof.chap[:1], cred.Password, challenge)
	return subtle.ConstantTimeCompare(sum[:], r.proof.chap[1:]) == 1
}

// msAnswers compares the answer of either version of MS-CHAP to a challenge of 8 octets (RFC 2759, 8.5).
func msAnswers(r *Request, cred *Credential, challenge []byte) bool {
	answer := r.proof.msResponse
	if r.Method == MethodMSCHAP2 {
		answer = r.proof.ms2Response
	}
	want := rfc2759.ChallengeResponse(challenge, cred.NTHash[:])
	return subtle.ConstantTimeCompare(want, answer[ntResponseAt:]) == 1
}

// mschap2 checks an answer of version 2 and keeps the challenge with which it was right. Windows leaves a domain before
// the name out of the challenge (RFC 2759, 4).
func (w *worker) mschap2(r *Request, cred *Credential) bool {
	w.msHash = r.challengeHash(r.UserName)
	if msAnswers(r, cred, w.msHash) {
		return true
	}
	at := bytes.LastIndexByte(r.UserName, '\\')
	if at < 0 {
		return false
	}
	w.msHash = r.challengeHash(r.UserName[at+1:])
	return msAnswers(r, cred, w.msHash)
}

// challengeHash is the challenge of 8 octets of version 2 (RFC 2759, 8.2).
func (r *Request) challengeHash(name []byte) []byte {
	peer := r.proof.ms2Response[peerChallengeAt : peerChallengeAt+peerChallengeSize]
	return rfc2759.ChallengeHash(peer, r.proof.msChallenge, name)
}

// The constants of the server's answer in version 2 (RFC 2759, 8.7).
const (
	magicSigning = "Magic server to client signing constant"
	magicPad     = "Pad to make it do more than one iteration"
)

// msSuccess is the value of MS-CHAP2-Success: the identifier and the server's own proof (RFC 2759, 8.7). double is the
// hash of the NT hash.
func (w *worker) msSuccess(r *Request, double []byte) []byte {
	first := sha1.New()
	first.Write(double)
	first.Write(r.proof.ms2Response[ntResponseAt:])
	first.Write([]byte(magicSigning))
	second := sha1.New()
	second.Write(first.Sum(nil))
	second.Write(w.msHash)
	second.Write([]byte(magicPad))
	return append([]byte{r.proof.ms2Response[0]}, "S="+strings.ToUpper(hex.EncodeToString(second.Sum(nil)))...)
}

// mppeKeys appends the session keys that follow from a verified proof of MS-CHAP (RFC 2548, 2.4). double is the hash of
// the NT hash.
func (w *worker) mppeKeys(to Attributes, c *client, r *Request, double []byte) (Attributes, error) {
	switch r.Method {
	case MethodMSCHAP1:
		// 8 octets of the older hash, which we do not have, 16 of the newer, padding. RFC 2548 says the hash; routers
		// and FreeRADIUS mean the hash of the hash.
		keys := make([]byte, 32)
		copy(keys[8:], double)
		return to.Vendor(VendorMicrosoft, msCHAPMPPEKeys, w.hide(keys, c, r)), nil
	case MethodMSCHAP2:
		master := rfc3079.GetMasterKey(double, r.proof.ms2Response[ntResponseAt:])
		for _, key := range []struct {
			number byte
			send   bool
		}{{msMPPESendKey, true}, {msMPPERecvKey, false}} {
			plain, err := rfc3079.GetAsymmetricStartKey(master, rfc3079.KeyLength128Bit, key.send)
			if err != nil {
				return nil, err
			}
			hidden, err := radius.NewTunnelPassword(plain, w.nextSalt(), c.Secret, r.raw[4:headerSize])
			if err != nil {
				return nil, err
			}
			to = to.Vendor(VendorMicrosoft, key.number, hidden)
		}
	}
	return to, nil
}

// hide encrypts like User-Password (RFC 2548, 2.4.1). The length is a multiple of 16.
func (w *worker) hide(plain []byte, c *client, r *Request) []byte {
	last := r.raw[4:headerSize]
	for i := 0; i < len(plain); i += 16 {
		block := plain[i : i+16]
		subtle.XORBytes(block, block, w.signer.plain(c.Secret, last)[:])
		last = block
	}
	return plain
}

// nextSalt is a salt that no other key of the same reply has; its first bit is set (RFC 2548, 2.4.2).
func (w *worker) nextSalt() []byte {
	w.salt++
	return binary.BigEndian.AppendUint16(nil, 0x8000|w.salt)
}
