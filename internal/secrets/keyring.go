// Package secrets seals values that only the platform may read again: AES-256-GCM under
// PLATFORM_ENCRYPTION_KEY (docs/rules/setup.md#platform-key), with key ids so that the key can be rotated.
package secrets

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KeySize is the size of a platform key and of every derived key, in bytes.
const KeySize = 32

// Sizes of the parts of a sealed value: version, key id, salt, then ciphertext and tag.
const (
	version    = 1
	keyIDSize  = 8
	saltSize   = 16
	headerSize = 1 + keyIDSize + saltSize
	nonceSize  = 12
)

// Purpose names the use of a derived key. Two purposes never share a key.
type Purpose string

// The purposes. Their texts enter the derivation, so none may ever change.
const (
	Sealing     Purpose = "sealing"     // stored credentials, callbacks, answers
	Wrapping    Purpose = "wrapping"    // keys of subjects and of the installation
	Claims      Purpose = "claims"      // HMAC of personal values that must be unique
	Lockouts    Purpose = "lockouts"    // HMAC of e-mails in the lock counters
	Cursors     Purpose = "cursors"     // HMAC of page cursors
	Idempotency Purpose = "idempotency" // HMAC of request bodies
	Tokens      Purpose = "tokens"      // access tokens (JWT)
	Classes     Purpose = "classes"     // HMAC of the RADIUS attribute Class
	Vouchers    Purpose = "vouchers"    // HMACs that make the codes of vouchers, and their ids
	APIKeys     Purpose = "api keys"    // HMACs under which the secrets of API keys are stored
)

// ErrUnknownKey reports a value that was sealed under a key which the keyring does not hold.
var ErrUnknownKey = errors.New("sealed under an unknown key: is the previous PLATFORM_ENCRYPTION_KEY missing?")

// ErrTampered reports a value that was changed, cut, or sealed for another place.
var ErrTampered = errors.New("sealed value is damaged or belongs elsewhere")

// KeyID identifies a platform key without revealing it; it stands at the beginning of every sealed value.
type KeyID [keyIDSize]byte

// Keyring holds the platform key in use and those that it replaced. It is immutable and safe for concurrent use.
// Printed, it shows Hidden.
type Keyring struct {
	current KeyID
	keys    map[KeyID][]byte
}

// New makes a keyring of 32-byte keys: seal with current, open with all.
func New(current []byte, previous ...[]byte) (*Keyring, error) {
	k := &Keyring{keys: map[KeyID][]byte{}}
	for i, key := range append([][]byte{current}, previous...) {
		if len(key) != KeySize {
			return nil, fmt.Errorf("platform key %d has %d bytes, want %d", i, len(key), KeySize)
		}
		var id KeyID
		copy(id[:], derive(key, "key id", nil, keyIDSize))
		if i == 0 {
			k.current = id
		}
		k.keys[id] = bytes.Clone(key)
	}
	return k, nil
}

// Parse reads the current key and the previous ones, each 32 bytes in base64.
func Parse(current string, previous ...string) (*Keyring, error) {
	var decoded [][]byte
	for _, text := range append([]string{current}, previous...) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil || len(key) != KeySize {
			return nil, errors.New("a platform encryption key must be 32 bytes in base64 (openssl rand -base64 32)")
		}
		decoded = append(decoded, key)
	}
	return New(decoded[0], decoded[1:]...)
}

// Seal encrypts plaintext. The associated data is not stored: it says where the value belongs, and Open must name the
// same place. Each value has a key of its own, so there is no limit on their number.
func (k *Keyring) Seal(purpose Purpose, plaintext, associated []byte) []byte {
	out := make([]byte, headerSize, headerSize+len(plaintext)+16)
	out[0] = version
	copy(out[1:], k.current[:])
	_, _ = rand.Read(out[1+keyIDSize : headerSize]) // never fails
	aead, nonce := k.cipherFor(k.keys[k.current], purpose, out)
	return aead.Seal(out, nonce, plaintext, place(out[:headerSize], associated))
}

// Open decrypts what Seal made for the same purpose and associated data.
func (k *Keyring) Open(purpose Purpose, sealed, associated []byte) ([]byte, error) {
	id, err := keyOf(sealed)
	if err != nil {
		return nil, err
	}
	key, ok := k.keys[id]
	if !ok {
		return nil, ErrUnknownKey
	}
	header := sealed[:headerSize]
	aead, nonce := k.cipherFor(key, purpose, header)
	plaintext, err := aead.Open(nil, nonce, sealed[headerSize:], place(header, associated))
	if err != nil {
		return nil, ErrTampered
	}
	return plaintext, nil
}

// Stale reports whether a value is under a previous key and so should be sealed anew.
func (k *Keyring) Stale(sealed []byte) bool {
	id, err := keyOf(sealed)
	return err != nil || id != k.current
}

// CurrentPrefix gives the bytes that every value sealed under the current key begins with. SQL finds stale values by
// them.
func (k *Keyring) CurrentPrefix() []byte {
	return append([]byte{version}, k.current[:]...)
}

// String hides the keys from fmt and slog.
func (k *Keyring) String() string { return Hidden }

// GoString hides the keys from %#v.
func (k *Keyring) GoString() string { return Hidden }

// Derive makes a 32-byte key for one purpose from a secret. The same input always gives the same key.
func Derive(secret []byte, purpose Purpose) []byte {
	return derive(secret, "lastmile "+string(purpose), nil, KeySize)
}

// derive is HKDF-SHA256. It panics on lengths beyond the algorithm's limit, which nobody here asks for.
func derive(secret []byte, info string, salt []byte, size int) []byte {
	out, err := hkdf.Key(sha256.New, secret, salt, info, size)
	if err != nil {
		panic(err)
	}
	return out
}

// cipherFor derives the key and nonce of one sealed value from its salt.
func (k *Keyring) cipherFor(key []byte, purpose Purpose, header []byte) (cipher.AEAD, []byte) {
	material := derive(key, "seal "+string(purpose), header[1+keyIDSize:headerSize], KeySize+nonceSize)
	block, err := aes.NewCipher(material[:KeySize])
	if err != nil {
		panic(err) // the size is right
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // the block size is right
	}
	return aead, material[KeySize:]
}

// place joins the header of a value and the caller's associated data: the cipher binds the value to both.
func place(header, associated []byte) []byte {
	return append(bytes.Clone(header), associated...)
}

// keyOf reads the key id of a sealed value. Fails with ErrTampered when the value is too short or of another version.
func keyOf(sealed []byte) (KeyID, error) {
	if len(sealed) < headerSize || sealed[0] != version {
		return KeyID{}, ErrTampered
	}
	return KeyID(sealed[1 : 1+keyIDSize]), nil
}
