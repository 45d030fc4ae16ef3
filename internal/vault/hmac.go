package vault

import "github.com/google/uuid"

// ClaimKey derives the key of a claimed value, such as a login e-mail. It is an HMAC, since a plain hash of a phone
// could be reversed by trying all phones (docs/rules/engine.md#claims). The key is the same for the life of the
// installation, also after a rotation of the platform key. The caller normalises the value.
func (v *Vault) ClaimKey(kind, value string) uuid.UUID {
	return formedUUID(mac(v.core.claims, kind, value))
}

// FileKey is ClaimKey of the pieces together, without a copy of them.
func (v *Vault) FileKey(kind string, pieces ...[]byte) uuid.UUID {
	return formedUUID(macOf(v.core.claims, kind, pieces...))
}

// formedUUID makes a UUID of the first 16 bytes of an HMAC.
func formedUUID(sum []byte) uuid.UUID {
	key := uuid.UUID(sum[:16])
	key[6] = key[6]&0x0f | 0x80 // version 8: a form of our own
	key[8] = key[8]&0x3f | 0x80 // RFC 9562 variant
	return key
}
