// Package apikeys makes the texts of API keys, and reads what a request shows as one. A text has the product and the
// environment in front, then the id of its secret, the secret itself and a checksum: programs that look through source
// code recognise a key that was lost there, and a mistyped one is refused before anybody looks for it
// (docs/rules/identity.md#form-of-api-keys).
package apikeys

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// product begins every key, and no access token.
const product = "lastmile_"

// Form is the beginning of the keys of an installation. A key of one form is none in an installation of the other.
type Form string

// The forms.
const (
	Live        Form = product + "live_" // of a production installation
	Development Form = product + "dev_"
)

// Sizes of the parts, in bytes; each byte is two hexadecimal digits of the text.
const (
	idSize       = 16
	secretSize   = 32
	checksumSize = 4
)

// FormOf is the form of a production installation, or of one for development.
func FormOf(production bool) Form {
	if production {
		return Live
	}
	return Development
}

// Looks reports whether a bearer token is meant as an API key, right or wrong.
func Looks(token string) bool { return strings.HasPrefix(token, product) }

// Key is one key as its owner has it.
type Key struct {
	ID     id.APIKeySecret
	Secret secrets.Text // 32 bytes, not their digits
}

// New makes a key with a random secret.
func New(of id.APIKeySecret) Key {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	return Key{ID: of, Secret: secrets.Text(secret)}
}

// Prefix is the part of a key that may be shown at any time: with it somebody finds out which key lies somewhere.
func (f Form) Prefix(of id.APIKeySecret) string { return string(f) + hex.EncodeToString(of[:]) }

// Text is the whole key, which is told once.
func (f Form) Text(k Key) secrets.Text {
	text := f.Prefix(k.ID) + "_" + hex.EncodeToString([]byte(k.Secret.Reveal()))
	return secrets.Text(text + checksum(text))
}

// Parse reads a text. It takes the one spelling that Text gives, and reports false for any other text: of another form,
// another length, in capitals, or with a wrong checksum.
func (f Form) Parse(text string) (Key, bool) {
	rest, ours := strings.CutPrefix(text, string(f))
	if !ours || len(rest) != 2*(idSize+secretSize+checksumSize)+1 || rest[2*idSize] != '_' {
		return Key{}, false
	}
	end := len(text) - 2*checksumSize
	if text[end:] != checksum(text[:end]) {
		return Key{}, false
	}
	var k Key
	var secret [secretSize]byte
	if !digits(k.ID[:], rest[:2*idSize]) || !digits(secret[:], rest[2*idSize+1:len(rest)-2*checksumSize]) ||
		k.ID.IsZero() {
		return Key{}, false
	}
	k.Secret = secrets.Text(secret[:])
	return k, true
}

// checksum is the CRC-32 (IEEE) of what stands before it. It protects from slips and not from anybody.
func checksum(text string) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(text))))
}

// digits reads hexadecimal digits, and reports false for capitals and for what is no digit.
func digits(into []byte, text string) bool {
	_, err := hex.Decode(into, []byte(text))
	return err == nil && strings.ToLower(text) == text
}
