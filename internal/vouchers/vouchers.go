// Package vouchers makes the codes of vouchers, reads what people type, and finds the id of a voucher by its code. A
// code is stored nowhere: it follows from its batch and a key of the installation, and so does the voucher's id
// (docs/rules/access-vouchers.md#codes).
package vouchers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/id"
)

const (
	// alphabet has 16 characters that neither the eye nor the ear takes for each other, so a character has 4 bits.
	alphabet = "23456789AHKMRWXY"
	// randomSize is the number of random characters of a code: 48 bits.
	randomSize = 12
	// groupSize is the number of characters between two dashes.
	groupSize = 4
	// MaxPrefix is the longest prefix of a code, in characters.
	MaxPrefix = 10
	// maxTyped bounds what is read at all, in bytes.
	maxTyped = 64
)

// Codes makes codes and ids under a key. The zero value has an empty key and must not be used. Safe for concurrent use.
type Codes struct{ key []byte }

// NewCodes takes the key of an installation (secrets.Vouchers).
func NewCodes(key []byte) Codes { return Codes{key} }

// Make gives the codes of a batch, each once. The same batch always gets the same codes, so a repeated request after a
// lost answer is answered with the codes that exist.
func (c Codes) Make(batch id.VoucherBatch, prefix string, count int) []string {
	codes, made := make([]string, 0, count), make(map[string]bool, count)
	if prefix != "" && !strings.HasSuffix(prefix, "-") {
		prefix += "-"
	}
	for n := uint64(0); len(codes) < count; n++ {
		code := prefix + random(c.mac("code", batch[:], binary.BigEndian.AppendUint64(nil, n)))
		if !made[code] {
			made[code] = true
			codes = append(codes, code)
		}
	}
	return codes
}

// random writes the first bits of some octets in groups of the alphabet.
func random(octets []byte) string {
	var b strings.Builder
	for i := range randomSize {
		if i > 0 && i%groupSize == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(alphabet[octets[i/2]>>(4*(i%2))&15])
	}
	return b.String()
}

// ID is the voucher that a text names within an organization; false when it cannot be a code. The same code in two
// organizations gives two ids.
func (c Codes) ID(org id.Organization, typed string) (id.Voucher, bool) {
	code, ok := Normal(typed)
	if !ok {
		return id.Voucher{}, false
	}
	v := id.Voucher(c.mac("id", org[:], []byte(code))[:16])
	v[6], v[8] = v[6]&0x0f|0x80, v[8]&0x3f|0x80 // a UUID of version 8, whose bits have a meaning of our own
	return v, true
}

// mac is the HMAC of a word and some parts. All parts but the last have one length for each word.
func (c Codes) mac(word string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte(word))
	h.Write([]byte{0})
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// alike replaces characters that people take for others. None of the replaced ones is random, so codes stay apart.
var alike = strings.NewReplacer("0", "O", "1", "I", "L", "I", "Z", "2", "S", "5", "G", "6", "B", "8")

// Normal is the one form of a code, whatever case, spaces and dashes a person typed; false when it cannot be a code.
func Normal(typed string) (string, bool) {
	if len(typed) > maxTyped {
		return "", false
	}
	var b strings.Builder
	for _, r := range typed {
		switch {
		case r >= 'a' && r <= 'z':
			b.WriteRune(r - 'a' + 'A')
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case strings.ContainsRune(" -_.\t\r\n\u00a0\u202f\u2010\u2011\u2012\u2013\u2014\u2212", r):
		default:
			return "", false
		}
	}
	code := alike.Replace(b.String())
	if len(code) < randomSize || len(code) > MaxPrefix+randomSize {
		return "", false
	}
	for _, r := range code[len(code)-randomSize:] {
		if !strings.ContainsRune(alphabet, r) {
			return "", false
		}
	}
	return code, true
}
